package ensemble

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// normalOnVotes is an answer from counts with normal noise, of which one record changes so
// many votes: the counts move by √2 times as many.
func normalOnVotes(sigma float64, affected int) NoisyAnswer {
	return NoisyAnswer{accountant.Gaussian{NoiseMultiplier: sigma / (math.Sqrt2 * float64(affected)),
		Neighbours: accountant.ReplaceOne}, affected}
}

// σ of Table B.2 of Jiang (2025), every printed digit.
func TestGNMaxNoiseReproducesTableB2(t *testing.T) {
	for _, c := range []struct {
		target accountant.Cost
		want   string
	}{{accountant.Cost{Epsilon: 0.2676, Delta: 0.0003}, "21.46"},
		{accountant.Cost{Epsilon: 0.2556, Delta: 0.0003}, "22.46"}} {
		got, err := GNMaxNoise(c.target)
		if err != nil || fmt.Sprintf("%.2f", got) != c.want {
			t.Errorf("GNMaxNoise(%v) = %g, %v, want %s", c.target, got, err, c.want)
		}
		// The exact Gaussian at L2 sensitivity √2 needs less.
		exact, err := accountant.GaussianNoise(c.target)
		if err != nil || !(math.Sqrt2*exact < got) {
			t.Errorf("%v: exact σ %g, GNMax's %g", c.target, math.Sqrt2*exact, got)
		}
	}
	// The smallest σ that eleven unanimous teachers' data-dependent bound helps at is about this.
	if sigma, err := GNMaxNoise(accountant.Cost{Epsilon: 1.17, Delta: 3e-4}); err != nil ||
		math.Abs(sigma-5.026) > 0.02 {
		t.Errorf("σ of (1.17, 3e-4) is %g, %v", sigma, err)
	}
}

// Table B.2 prints orders λ that do not go with its σ: at the printed λ the Rényi bound
// σ² = λ/(ε - ln(1/δ)/(λ-1)) asks for three times the variance, and the order at which the
// printed σ is enough is another.
func TestErratumOrdersOfTableB2(t *testing.T) {
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got/want-1) > tolerance {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	for _, c := range []struct {
		target                       accountant.Cost
		order, sigma, there, smaller float64 // printed λ and σ, σ at the printed λ, the best λ
	}{
		{accountant.Cost{Epsilon: 0.2676, Delta: 3e-4}, 34.31, 21.46, 37.75, 62.12},
		{accountant.Cost{Epsilon: 0.2556, Delta: 3e-4}, 35.74, 22.46, 40.21, 64.97},
	} {
		sigma := func(order float64) float64 {
			return math.Sqrt(order / (c.target.Epsilon - math.Log(1/c.target.Delta)/(order-1)))
		}
		least, err := GNMaxNoise(c.target)
		if err != nil {
			t.Fatal(err)
		}
		near("smallest σ", least, c.sigma, 3e-4)
		near("σ at the printed λ", sigma(c.order), c.there, 3e-4)
		near("σ at the best λ", sigma(c.smaller), least, 1e-6)
	}
}

// No order on a fine grid gives a smaller σ.
func TestGNMaxNoiseIsTheSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := accountant.Cost{Epsilon: rapid.Float64Range(0.01, 20).Draw(t, "ε"),
			Delta: math.Pow(10, rapid.Float64Range(-30, -0.5).Draw(t, "log δ"))}
		got, err := GNMaxNoise(target)
		if err != nil {
			t.Fatal(err)
		}
		l := -math.Log(target.Delta)
		grid := math.Inf(1)
		for i := range 4000 {
			lambda := 1 + l/target.Epsilon*math.Pow(10, float64(i+1)/1000)
			grid = min(grid, math.Sqrt(lambda/(target.Epsilon-l/(lambda-1))))
		}
		if got > grid*(1+1e-12) || got < grid*(1-1e-4) {
			t.Fatalf("%v: σ = %.15g, grid %.15g", target, got, grid)
		}
	})
}

// It is rounded up: never below the closed form in 320 bits, and at most a few units in the
// last place above.
func TestGNMaxNoiseIsOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := accountant.Cost{Epsilon: math.Pow(10, rapid.Float64Range(-6, 2.8).Draw(t, "log ε")),
			Delta: math.Pow(10, rapid.Float64Range(-300, -0.01).Draw(t, "log δ"))}
		got, err := GNMaxNoise(target)
		if err != nil {
			t.Fatal(err)
		}
		eps := num.FromRat(num.Decimal(target.Epsilon))
		l := num.Log(num.FromRat(new(big.Rat).Inv(num.Decimal(target.Delta))))
		exact := num.Sqrt(l).Add(num.Sqrt(l.Add(eps))).Quo(eps)
		// A decimal that is a float64 may lie half a unit off the float64 itself.
		if num.Decimal(got).Cmp(num.Decimal(exact.Lower())) < 0 || got > exact.Upper()*(1+0x1p-50) {
			t.Fatalf("%v: %.17g, exactly in [%.17g, %.17g]", target, got, exact.Lower(), exact.Upper())
		}
	})
}

func TestGNMaxNoiseRefuses(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][2]float64{{0, 0.1}, {1, 0}, {1, 1}, {-1, 0.1}, {nan, 0.1}, {1, nan},
		{1e5, 0.1}} {
		if got, err := GNMaxNoise(accountant.Cost{Epsilon: c[0], Delta: c[1]}); err == nil {
			t.Errorf("GNMaxNoise(%v) = %g", c, got)
		}
	}
}

// Noise that hides one vote does not hide three: the mutant that takes GNMax for disjoint
// data where data overlap claims less than the truth, and is refused where it is stated.
func TestGNMaxForOverlappingDataIsCaught(t *testing.T) {
	raced.Sequential(t)
	const sigma, overlap = 12.0, 3
	g, err := gaussian("sigma", sigma)
	if err != nil {
		t.Fatal(err)
	}
	// Two classes, three votes move from one to the other: the exact δ of the two counts.
	truth := func(eps float64) float64 {
		d, err := g.VotesDelta(overlap, num.Decimal(eps))
		if err != nil {
			t.Fatal(err)
		}
		return d.Lower()
	}
	// The accountant's figure for one answer of the mechanism, for so many votes.
	delta := func(affected int, eps float64) float64 {
		e, err := twoCounts(sigma, Setting{K: 11, Classes: 2, Affected: affected,
			Neighbours: accountant.ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		a, err := accountant.New(accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = a.Charge(e, 1); err != nil {
			t.Fatal(err)
		}
		return must.Get(a.Delta(eps))(t)
	}
	for _, eps := range []float64{0, 0.5, 1} {
		if d := delta(overlap, eps); d < truth(eps) || d > truth(eps)*(1+1e-2) {
			t.Errorf("δ(%g) = %g, exactly %g", eps, d, truth(eps))
		}
		if d := delta(1, eps); d >= truth(eps) {
			t.Errorf("the mutant's δ(%g) = %g is not below %g: the test tells nothing", eps, d, truth(eps))
		}
	}
	r := Answers{Queries: 10, Noise: normalOnVotes(sigma, 1), K: 11, Affected: overlap,
		Randomness: FrozenTeachers, Slack: 1e-5}
	if total, err := r.Total(); err == nil {
		t.Errorf("noise for disjoint data was accepted for overlapping data: %+v", total)
	}
	r.Noise = normalOnVotes(sigma, overlap)
	if total := mustTotal(t, r); total.Cost.Delta != 1e-5 || !total.QueryFoldHolds {
		t.Errorf("%+v", total)
	}
	// Ten classes of which three votes move: no worst case is known, so no noise is charged.
	s := Setting{K: 11, Classes: 10, Affected: overlap, Neighbours: accountant.ReplaceOne}
	m, err := GNMax(s, accountant.Cost{Epsilon: 20, Delta: 0.01}, sigma)
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := m.Event().(accountant.ApproxDP); !ok || e.Cost != m.PerAnswer() {
		t.Errorf("charged %v", m.Event())
	}
}

// The smallest costs that there are round up to something: see accountant's test of the name.
func TestSubnormalCostsAreNotNothing(t *testing.T) {
	const tiny = 5e-324
	for _, k := range []int{1, 2, 3, 1000} {
		for _, each := range []accountant.Cost{{Epsilon: tiny}, {Delta: tiny},
			{Epsilon: tiny, Delta: tiny}, {Epsilon: 1e-310, Delta: 3e-320}} {
			check := func(what string, c accountant.Cost, err error) {
				t.Helper()
				exact := new(big.Rat).Mul(big.NewRat(int64(k), 1), num.Decimal(each.Epsilon))
				if err != nil || num.Decimal(c.Epsilon).Cmp(exact) < 0 {
					t.Errorf("%s of %d × %v: %v, %v", what, k, each, c, err)
				}
				if each.Delta > 0 && !(num.Decimal(c.Delta).Cmp(num.Decimal(each.Delta)) >= 0 &&
					(k == 1 || c.Delta > each.Delta)) {
					t.Errorf("%s of %d × %v: δ = %g, %v", what, k, each, c.Delta, err)
				}
			}
			r := Answers{Queries: k, PerAnswer: each, K: 1, Affected: 1, Randomness: FreshTeachers}
			total, err := r.Total()
			check("Total", total.Cost, err)
			r.PerAnswer, r.Teachers = accountant.Cost{Epsilon: 1, Delta: 0.5}, each
			total, err = r.AnyNumber()
			check("AnyNumber", total.Cost, err)
		}
	}
	// And sums that no float64 holds are refused.
	r := Answers{Queries: 1_000_000, PerAnswer: accountant.Cost{Epsilon: 1e305}, K: 1, Affected: 1,
		Randomness: FreshTeachers}
	if total, err := r.Total(); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("%+v, %v", total, err)
	}
}

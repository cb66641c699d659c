package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/composetest"
	"github.com/darrm/darrm/internal/testing/must"
)

func mustOptimal(t testing.TB, k int, each Cost) *optimalRegion {
	t.Helper()
	return must.Get(equalOptimal(k, each))(t)
}

// pairs returns (ε_i, δ_total,i) for i = 0..⌊k/2⌋.
func (o *optimalRegion) pairs() []Cost {
	pairs := make([]Cost, o.count/2+1)
	for i := range pairs {
		pairs[i] = o.pair(i)
	}
	return pairs
}

// Golden values of the literature (google/differential-privacy's accounting tests):
// over the pairs (ε_i, δ_i), thirty (1, 1e-3) cost ε = 22 at δ = 0.06 and 20 at 0.1.
func TestOptimalGoldenValues(t *testing.T) {
	o := mustOptimal(t, 30, Cost{1, 1e-3})
	for _, c := range []struct{ delta, want float64 }{{0.06, 22}, {0.1, 20}} {
		least := math.Inf(1)
		for _, p := range o.pairs() {
			if p.Delta <= c.delta {
				least = min(least, p.Epsilon)
			}
		}
		if least != c.want {
			t.Errorf("δ = %g: ε = %g, want %g", c.delta, least, c.want)
		}
		// Between the pairs ε is smaller still, by less than one step.
		if got, err := o.epsilon(c.delta); err != nil || !(got <= c.want && got > c.want-2) {
			t.Errorf("δ = %g: ε = %g, %v, want in (%g, %g]", c.delta, got, err, c.want-2, c.want)
		}
	}
}

// theoremSum is δ_i as Kairouz, Oh and Viswanath print it, in 320-bit intervals.
func theoremSum(k, i int, epsilon float64) num.Interval {
	e := func(n int) num.Interval { return num.ExpReal(num.FromRat(times(n, epsilon))) }
	sum := num.FromInt(0)
	for l := range i {
		c := num.FromRat(new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(l))))
		sum = sum.Add(c.Mul(e(k - l).Sub(e(k - 2*i + l))))
	}
	base := num.FromInt(1).Add(e(1))
	for range k {
		sum = sum.Quo(base)
	}
	return sum
}

// The recurrence agrees with the printed sum in at least 200 bits: never below it, and
// at most one unit in the last place above.
func TestOptimalAgainstTheTheoremsSum(t *testing.T) {
	for _, epsilon := range []float64{1e-9, 0.1, 1, 7.5, 40} {
		for _, k := range []int{1, 2, 3, 10, 29, 60} {
			o := mustOptimal(t, k, Cost{epsilon, 0})
			for i := 1; i <= k/2; i += max(1, k/8) {
				got, want := o.excess[i], theoremSum(k, i, epsilon)
				if binaryValue(got).Cmp(want) < 0 {
					t.Errorf("k = %d, ε = %g: δ_%d = %g is below %g", k, epsilon, i, got, want.Upper())
				}
				if got > want.Upper()*(1+3e-16)+5e-324 {
					t.Errorf("k = %d, ε = %g: δ_%d = %g, exactly %g", k, epsilon, i, got, want.Upper())
				}
			}
		}
	}
}

func TestOptimalAgainstConvolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 60).Draw(t, "k")
		each := Cost{rapid.Float64Range(1e-3, 4).Draw(t, "ε"),
			rapid.SampledFrom([]float64{0, 1e-6, 0.01}).Draw(t, "δ")}
		target := rapid.Float64Range(0, 1.1).Draw(t, "part") * float64(k) * each.Epsilon
		o, err := equalOptimal(k, each)
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.delta(target)
		if err != nil {
			t.Fatal(err)
		}
		// The float64 convolution is good to about 1e-13 of the sum of its masses.
		if want := composetest.Delta(k, each.Epsilon, each.Delta, target); math.Abs(got-want) > 1e-13+
			1e-11*want {
			t.Fatalf("%d × %v: δ(%g) = %g, convolution %g", k, each, target, got, want)
		}
	})
}

func TestOptimalEpsilonInvertsDelta(t *testing.T) {
	for seed := range 25 { // a draw takes 50 ms under the race detector
		k := rapid.IntRange(1, 40).Example(seed)
		each := Cost{rapid.Float64Range(1e-3, 4).Example(seed),
			rapid.SampledFrom([]float64{0, 1e-6, 0.01}).Example(seed)}
		delta := math.Pow(10, rapid.Float64Range(-30, -0.01).Example(seed+100))
		o := mustOptimal(t, k, each)
		eps, err := o.epsilon(delta)
		if errors.Is(err, ErrDeltaTooSmall) {
			if d, _ := o.delta(float64(k) * each.Epsilon * 2); d <= delta {
				t.Errorf("refused δ = %g, but kε costs %g", delta, d)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if d, _ := o.delta(eps); d > delta {
			t.Errorf("%d × %v: ε(%g) = %g, but δ there is %g", k, each, delta, eps, d)
		}
		if d, _ := o.delta(eps * (1 - 1e-14)); eps > 1e-300 && d <= delta {
			t.Errorf("%d × %v: ε(%g) = %g is not the smallest", k, each, delta, eps)
		}
	}
}

// δ falls as ε grows, and more mechanisms never cost less.
func TestOptimalIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 100).Draw(t, "k")
		each := Cost{rapid.Float64Range(1e-6, 3).Draw(t, "ε"), rapid.Float64Range(0, 0.01).Draw(t, "δ")}
		a := rapid.Float64Range(0, 1).Draw(t, "a") * float64(k) * each.Epsilon
		b := a + rapid.Float64Range(0, 1).Draw(t, "b")
		o, _ := equalOptimal(k, each)
		more, _ := equalOptimal(k+1, each)
		da, _ := o.delta(a)
		db, _ := o.delta(b)
		dm, _ := more.delta(a)
		if db > da*(1+1e-15) || dm < da*(1-1e-15) {
			t.Fatalf("%d × %v: δ(%g) = %g, δ(%g) = %g; one more: %g", k, each, a, da, b, db, dm)
		}
	})
}

// ε up to 700, δ down to 1e-300, k up to 1e6: finite, in range and not vacuous.
func TestOptimalAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		k     int
		each  Cost
		delta float64
	}{
		{1_000_000, Cost{1e-3, 1e-300}, 1e-200},
		{10_000, Cost{700, 1e-300}, 1e-10},
		{100_000, Cost{1e-300, 1e-300}, 1e-250},
		{3, Cost{700, 1e-300}, 1e-299},
		{3, Cost{1e6, 0}, 1e-300},
		{1, Cost{700, 0}, 1e-300},
	} {
		o := mustOptimal(t, c.k, c.each)
		eps, err := o.epsilon(c.delta)
		if err != nil || math.IsNaN(eps) || eps < 0 || eps > float64(c.k)*c.each.Epsilon*(1+1e-15) {
			t.Errorf("%d × %v at δ = %g: ε = %g, %v", c.k, c.each, c.delta, eps, err)
			continue
		}
		if d, err := o.delta(eps); err != nil || !(d <= c.delta) {
			t.Errorf("%d × %v: δ(%g) = %g, %v, want ≤ %g", c.k, c.each, eps, d, err, c.delta)
		}
		t.Logf("%d × %v at δ = %g: ε = %g", c.k, c.each, c.delta, eps)
	}
	// Advanced composition gives about ε√(2k ln(1/δ)) + kε²/2 = 37.2+0.5 at k = 10⁵, ε
	// = 1e-2.5, δ = 1e-300.
	if eps, _ := mustOptimal(t, 10_000, Cost{0.01, 0}).epsilon(1e-300); eps < 36 || eps > 38 {
		t.Errorf("10,000 of 0.01 cost %g at δ = 1e-300, expected about 37", eps)
	}
}

func TestGeneralAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		k     int
		each  Cost
		slack float64
	}{
		{1_000_000, Cost{1e-3, 1e-300}, 1e-300},
		{1_000_000, Cost{700, 1e-300}, 1e-300},
		{1_000_000, Cost{1e-300, 0}, 1e-300},
		{1, Cost{700, 0}, 0.5},
		{2, Cost{1e5, 0}, 0.5},
		{5, Cost{0, 0.1}, 0.5},
	} {
		got, err := General(c.k, c.each, c.slack)
		if err != nil || math.IsNaN(got.Epsilon) || got.Epsilon > float64(c.k)*c.each.Epsilon*(1+1e-15) ||
			!(got.Delta >= c.slack && got.Delta <= 1) {
			t.Errorf("General(%d, %v, %g) = %v, %v", c.k, c.each, c.slack, got, err)
		}
	}
}

// General never promises less than the optimum allows: it is an upper bound on it.
func TestGeneralIsAboveOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 200).Draw(t, "k")
		each := Cost{rapid.Float64Range(1e-3, 3).Draw(t, "ε"),
			rapid.SampledFrom([]float64{0, 1e-6, 0.01}).Draw(t, "δ")}
		slack := math.Pow(10, rapid.Float64Range(-20, -0.01).Draw(t, "log δ'"))
		general, err := General(k, each, slack)
		if err != nil {
			t.Fatal(err)
		}
		o, _ := equalOptimal(k, each)
		if d, _ := o.delta(general.Epsilon); d > general.Delta {
			t.Fatalf("%d × %v: general claims %v, but δ there is %g", k, each, general, d)
		}
	})
}

func TestCompositionRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		k     int
		each  Cost
		slack float64
	}{
		{-1, Cost{1, 0}, 0.1}, {2, Cost{-1, 0}, 0.1}, {2, Cost{nan, 0}, 0.1}, {2, Cost{inf, 0}, 0.1},
		{2, Cost{1, 1}, 0.1}, {2, Cost{1, -1}, 0.1}, {2, Cost{1, nan}, 0.1},
	} {
		if got, err := General(c.k, c.each, c.slack); err == nil {
			t.Errorf("General(%d, %v) = %v", c.k, c.each, got)
		}
		if _, err := equalOptimal(c.k, c.each); err == nil {
			t.Errorf("equalOptimal(%d, %v) gave no error", c.k, c.each)
		}
	}
	for _, slack := range []float64{0, 1, -1, nan} {
		if got, err := General(2, Cost{1, 0}, slack); err == nil {
			t.Errorf("General with slack %g = %v", slack, got)
		}
	}
	if _, err := equalOptimal(MaxOptimalCount+1, Cost{1, 0}); err == nil {
		t.Error("more than MaxOptimalCount gave no error")
	}
	o := mustOptimal(t, 3, Cost{1, 0.1})
	for _, delta := range []float64{-1, 1, nan} {
		if got, err := o.epsilon(delta); err == nil {
			t.Errorf("Epsilon(%g) = %g", delta, got)
		}
	}
	for _, eps := range []float64{-1, inf, nan} {
		if got, err := o.delta(eps); err == nil {
			t.Errorf("Delta(%g) = %g", eps, got)
		}
	}
	if _, err := o.epsilon(0.2); !errors.Is(err, ErrDeltaTooSmall) {
		t.Errorf("Epsilon below 1-(0.9)³ = 0.271: %v", err)
	}
}

// Mutants that a composition must not be mistaken for.
func TestCompositionMutantsAreCaught(t *testing.T) {
	// A bound at δ is right if the brute convolution agrees that δ holds there.
	honest := func(compose func(k int, each Cost) Cost) error {
		for _, k := range []int{2, 7, 40} {
			for _, each := range []Cost{{0.1, 0}, {1, 1e-3}} {
				c := compose(k, each)
				if d := composetest.Delta(k, each.Epsilon, each.Delta, c.Epsilon); d > c.Delta+1e-12 {
					return fmt.Errorf("%d × %v is not %v: δ is %g", k, each, c, d)
				}
			}
		}
		return nil
	}
	must := func(c Cost, err error) Cost {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	optimal := func(k int, each Cost) Cost {
		o := mustOptimal(t, k, each)
		delta := o.total(0) + 1e-6
		eps, err := o.epsilon(delta)
		return must(Cost{eps, delta}, err)
	}
	for _, c := range []struct {
		name    string
		compose func(k int, each Cost) Cost
		mutant  bool
	}{
		{"Basic", func(k int, e Cost) Cost { return must(Basic(k, e)) }, false},
		{"General", func(k int, e Cost) Cost { return must(General(k, e, 1e-6)) }, false},
		{"optimal", optimal, false},
		{"Basic that ignores the count", func(k int, e Cost) Cost { return must(Basic(1, e)) }, true},
		{"General that ignores the count", func(k int, e Cost) Cost { return must(General(1, e, 1e-6)) },
			true},
		{"optimal that ignores the count", func(k int, e Cost) Cost { return optimal(1, e) }, true},
		{"optimal that is one short", func(k int, e Cost) Cost { return optimal(k-1, e) }, true},
		{"optimal without the mechanisms' δ", func(k int, e Cost) Cost {
			return optimal(k, Cost{e.Epsilon, 0})
		}, true},
	} {
		if err := honest(c.compose); (err != nil) != c.mutant {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func BenchmarkOptimal(b *testing.B) {
	for _, k := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			for b.Loop() {
				mustOptimal(b, k, Cost{0.01, 1e-9})
			}
		})
	}
}

package ensemble

import (
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

var disjoint = Setting{K: 11, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}

// σ of Table B.2 of Jiang (2025), every printed digit, and for exact calibration the
// variance that noise on a grid of integers needs: beside √2 times the σ of Balle and
// Wang's formula for continuous noise (mpmath, 30 digits).
func TestSigmaForGNMaxKnownDigits(t *testing.T) {
	for _, c := range []struct {
		target     accountant.Cost
		renyi      string
		continuous float64
	}{
		{accountant.Cost{Epsilon: 0.2676, Delta: 0.0003}, "21.46", 9.12441371259464891942217016583},
		{accountant.Cost{Epsilon: 0.2556, Delta: 0.0003}, "22.46", 9.49412074901404125286896724757},
	} {
		r, err := SigmaForGNMax(disjoint, c.target, Renyi)
		if err != nil || fmt.Sprintf("%.2f", r) != c.renyi {
			t.Errorf("%v, Rényi: σ = %v, %v; want %s", c.target, r, err, c.renyi)
		}
		e, err := SigmaForGNMax(disjoint, c.target, Exact)
		if err != nil || math.Abs(e/(math.Sqrt2*c.continuous)-1) > 1e-3 {
			t.Errorf("%v, exact: σ = %v, %v; continuous noise would need %v", c.target, e, err,
				math.Sqrt2*c.continuous)
		}
	}
}

// Both calibrations are accepted, with 0.1 % less noise than exact calibration there is no
// proof, and the accountant's own bound on the event is about what is claimed.
func TestCalibrationIsTight(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct {
		classes, affected int
		target            accountant.Cost
		ratio             float64
	}{
		{7, 1, accountant.Cost{Epsilon: 2, Delta: 1e-5}, 0},
		{2, 3, accountant.Cost{Epsilon: 2, Delta: 1e-2}, 0},
		{3, 1, accountant.Cost{Epsilon: 4, Delta: 1e-6}, 4},
		{2, 2, accountant.Cost{Epsilon: 3, Delta: 1e-3}, 0.5},
	} {
		if err := checkCalibration(c.classes, c.affected, c.target, c.ratio); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if os.Getenv("DARRM_LONG") != "1" {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		classes, affected := rapid.IntRange(2, 5).Draw(t, "C"), 1
		if classes == 2 {
			affected = rapid.IntRange(1, 5).Draw(t, "t")
		}
		target := accountant.Cost{
			Epsilon: rapid.Float64Range(0.2, 8).Draw(t, "ε"),
			Delta:   math.Pow(10, rapid.Float64Range(-12, -1).Draw(t, "log δ")),
		}
		if err := checkCalibration(classes, affected, target,
			rapid.SampledFrom([]float64{0, 0.5, 1, 4}).Draw(t, "ratio")); err != nil {
			t.Fatal(err)
		}
	})
}

func checkCalibration(classes, affected int, target accountant.Cost, ratio float64) error {
	s := Setting{K: 50, Classes: classes, Affected: affected, Neighbours: accountant.AddOrRemoveOne}
	build := func(first, sigma float64) (*Mechanism, error) {
		if ratio == 0 {
			return GNMax(s, target, sigma)
		}
		return ConfidentGNMax(s, target, 20, first, sigma)
	}
	calibrate := func(how Calibration) (first, sigma float64, err error) {
		if ratio == 0 {
			sigma, err = SigmaForGNMax(s, target, how)
			return 0, sigma, err
		}
		return sigmasForConfidentGNMax(s, target, how, ratio)
	}
	first, sigma, err := calibrate(Renyi)
	if err != nil {
		return err
	}
	if _, err := build(first, sigma); err != nil {
		return fmt.Errorf("σ = %v, %v: %w", first, sigma, err)
	}
	less, smaller, err := calibrate(Exact)
	if err != nil {
		return err
	}
	if smaller > sigma {
		return fmt.Errorf("exact calibration has more noise, %v, than Rényi's, %v", smaller, sigma)
	}
	a, err := build(less, smaller)
	if err != nil {
		return fmt.Errorf("σ = %v, %v: %w", less, smaller, err)
	}
	if _, err := build(0.999*less, 0.999*smaller); !errors.Is(err, ErrTooLittleNoise) {
		return fmt.Errorf("σ = %v, %v is not the smallest: with 0.1 %% less: %v", less, smaller, err)
	}
	account, err := accountant.New(s.Neighbours)
	if err != nil {
		return err
	}
	if account, err = account.Charge(a.Event(), 1); err != nil {
		return err
	}
	// The accountant's grid of losses costs a little.
	if eps, err := account.Epsilon(target.Delta); err != nil || eps > target.Epsilon*1.01+1e-3 ||
		eps < target.Epsilon*0.98 {
		return fmt.Errorf("σ = %v, %v: the accountant finds %v, %v", less, smaller, eps, err)
	}
	return nil
}

// What must be refused, among it the mutant that matters most: noise that hides one vote,
// for data that all teachers share.
func TestTooLittleNoise(t *testing.T) {
	target := accountant.Cost{Epsilon: 2, Delta: 1e-3}
	for _, classes := range []int{2, 3} {
		for _, how := range []Calibration{Renyi, Exact} {
			one := Setting{K: 9, Classes: classes, Affected: 1, Neighbours: accountant.ReplaceOne}
			sigma, err := SigmaForGNMax(one, target, how)
			if err != nil {
				t.Fatal(err)
			}
			first, sigma2, err := sigmasForConfidentGNMax(one, target, how, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, affected := range []int{2, 9} {
				s := one
				s.Affected = affected
				if a, err := GNMax(s, target, sigma); !errors.Is(err, ErrTooLittleNoise) || a != nil {
					t.Errorf("%d classes: GNMax with noise for one vote is accepted for %d: %v", classes, affected,
						err)
				}
				if a, err := ConfidentGNMax(s, target, 5, first, sigma2); !errors.Is(err, ErrTooLittleNoise) ||
					a != nil {
					t.Errorf("%d classes: Confident-GNMax with noise for one vote is accepted for %d: %v", classes,
						affected, err)
				}
				more, err := SigmaForGNMax(s, target, Renyi)
				if err != nil || more < float64(affected)*0.9999*sigma && how == Renyi {
					t.Errorf("%d classes, %d votes: σ = %v, %v", classes, affected, more, err)
				}
				if _, err := GNMax(s, target, more); err != nil {
					t.Errorf("%d classes: noise for %d votes is refused: %v", classes, affected, err)
				}
			}
		}
	}
	// That the refusal is right: with two classes and all nine votes affected, the mechanism
	// really reveals more.
	sigma, err := SigmaForGNMax(disjoint, target, Renyi)
	if err != nil {
		t.Fatal(err)
	}
	a, err := GNMax(disjoint, target, sigma)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Probabilities([]int{0, 11})
	if err != nil {
		t.Fatal(err)
	}
	q, err := a.Probabilities([]int{11, 0})
	if err != nil {
		t.Fatal(err)
	}
	if eps := trueEpsilon(p, q, target.Delta); eps < 2*target.Epsilon {
		t.Errorf("votes of all teachers change, and ε is only %v: is this example out of date?", eps)
	}
	// LNMax and permute-and-flip scale with t by themselves: see TestExactAudit.
}

func TestMechanismParameters(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := accountant.Cost{Epsilon: 1, Delta: 1e-3}
	with := func(change func(*Setting)) Setting {
		s := disjoint
		change(&s)
		return s
	}
	var parameter *check.Error
	for name, s := range map[string]Setting{
		"K = 0":           with(func(s *Setting) { s.K = 0 }),
		"one class":       with(func(s *Setting) { s.Classes = 1 }),
		"too many":        with(func(s *Setting) { s.Classes = check.MaxClasses + 1 }),
		"affected = 0":    with(func(s *Setting) { s.Affected = 0 }),
		"affected = K+1":  with(func(s *Setting) { s.Affected = 12 }),
		"nothing is said": {},
	} {
		for what, err := range map[string]error{
			"GNMax":                   second(GNMax(s, good, 100)),
			"ConfidentGNMax":          second(ConfidentGNMax(s, good, 5, 100, 100)),
			"LNMax":                   second(LNMax(s, 1)),
			"PermuteAndFlip":          second(PermuteAndFlip(s, 1)),
			"SigmaForGNMax":           second(SigmaForGNMax(s, good, Exact)),
			"sigmasForConfidentGNMax": third(sigmasForConfidentGNMax(s, good, Exact, 1)),
		} {
			if !errors.As(err, &parameter) {
				t.Errorf("%s, %s: %v", what, name, err)
			}
		}
	}
	if _, err := LNMax(with(func(s *Setting) { s.Neighbours = 0 }), 1); err == nil {
		t.Error("no neighbouring relation: no error")
	}
	for _, c := range []accountant.Cost{{}, {Epsilon: 1}, {Delta: 1e-3}, {Epsilon: nan, Delta: 1e-3},
		{Epsilon: -1, Delta: 1e-3}, {Epsilon: 701, Delta: 1e-3}, {Epsilon: inf, Delta: 1e-3},
		{Epsilon: 1, Delta: nan}, {Epsilon: 1, Delta: 1}, {Epsilon: 1, Delta: -1}} {
		for what, err := range map[string]error{
			"GNMax":                   second(GNMax(disjoint, c, 100)),
			"ConfidentGNMax":          second(ConfidentGNMax(disjoint, c, 5, 100, 100)),
			"SigmaForGNMax":           second(SigmaForGNMax(disjoint, c, Exact)),
			"sigmasForConfidentGNMax": third(sigmasForConfidentGNMax(disjoint, c, Exact, 1)),
		} {
			if !errors.As(err, &parameter) {
				t.Errorf("%s, %v: %v", what, c, err)
			}
		}
		if c.Delta == 0 && c.Epsilon != 1 || c.Epsilon > 700 {
			for what, err := range map[string]error{"LNMax": second(LNMax(disjoint, c.Epsilon)),
				"PermuteAndFlip": second(PermuteAndFlip(disjoint, c.Epsilon))} {
				if !errors.As(err, &parameter) {
					t.Errorf("%s, %v: %v", what, c.Epsilon, err)
				}
			}
		}
	}
	for _, sigma := range []float64{0, -1, nan, inf, 1e-9, 1e9} {
		if err := second(GNMax(disjoint, good, sigma)); !errors.As(err, &parameter) {
			t.Errorf("σ = %v: %v", sigma, err)
		}
		if err := second(ConfidentGNMax(disjoint, good, 5, sigma, 100)); !errors.As(err, &parameter) {
			t.Errorf("σ of the check = %v: %v", sigma, err)
		}
	}
	for _, ratio := range []float64{0.01, 100} {
		if err := third(sigmasForConfidentGNMax(disjoint, good, Renyi, ratio)); err != nil {
			t.Errorf("ratio %g: %v", ratio, err)
		}
	}
	for name, err := range map[string]error{
		"threshold 0":         second(ConfidentGNMax(disjoint, good, 0, 100, 100)),
		"threshold K+1":       second(ConfidentGNMax(disjoint, good, 12, 100, 100)),
		"ratio 0":             third(sigmasForConfidentGNMax(disjoint, good, Exact, 0)),
		"ratio below 0.01":    third(sigmasForConfidentGNMax(disjoint, good, Renyi, 0.0099)),
		"ratio above 100":     third(sigmasForConfidentGNMax(disjoint, good, Renyi, 100.1)),
		"ratio NaN":           third(sigmasForConfidentGNMax(disjoint, good, Exact, nan)),
		"laplace too wide":    second(LNMax(disjoint, 3e-5)),
		"flip, no rate":       second(PermuteAndFlip(disjoint, 1e-20)),
		"no calibration":      second(SigmaForGNMax(disjoint, good, 0)),
		"no calibration, two": third(sigmasForConfidentGNMax(disjoint, good, 7, 1)),
		"exact, many ways": second(SigmaForGNMax(with(func(s *Setting) {
			s.Classes, s.Affected = 3, 2
		}), good, Exact)),
		"exact, out of range": second(SigmaForGNMax(disjoint, accountant.Cost{Epsilon: 1e-5, Delta: 1e-9},
			Exact)),
	} {
		if !errors.As(err, &parameter) && !errors.Is(err, accountant.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DaRRM(nil, accountant.ReplaceOne); err == nil {
		t.Error("DaRRM without a certificate")
	}
	if _, err := DaRRM(anyCertified(t, 3, 1, 1), 0); err == nil {
		t.Error("DaRRM without a neighbouring relation")
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

// Where noise is huge the Rényi calibration serves, and is proved without the exact law.
func TestTinyEpsilon(t *testing.T) {
	raced.Sequential(t)
	target := accountant.Cost{Epsilon: 1e-3, Delta: 1e-12}
	sigma, err := SigmaForGNMax(disjoint, target, Renyi)
	if err != nil || sigma < 1e4 {
		t.Fatal(sigma, err)
	}
	a, err := GNMax(disjoint, target, sigma)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Probabilities([]int{2, 9})
	if err != nil || !(p[1] > 0.5 && p[1] < 0.51) {
		t.Errorf("%v, %v", p, err)
	}
	// Laplace noise of the widest scale that is allowed.
	l, err := LNMax(disjoint, 3.1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = l.Probabilities([]int{2, 9}); err != nil || math.Abs(p[0]+p[1]-1) > 1e-11 ||
		!(p[1] > 0.5 && p[1] < 0.501) {
		t.Errorf("LNMax: %v, %v", p, err)
	}
	if _, err := GNMax(disjoint, target, 0.99*sigma); !errors.Is(err, ErrTooLittleNoise) {
		t.Errorf("1 %% less noise: %v", err)
	}
}

func TestFiveDigits(t *testing.T) {
	for x, want := range map[float64]float64{21.46: 21.46, 21.458: 21.458, 21.45801: 21.459,
		99.9991: 100, 0.000123456: 0.00012346, 123456: 123460, 1: 1, 7e-9: 7e-9} {
		if got := fiveDigits(x); got != want {
			t.Errorf("%v becomes %v, want %v", x, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-20, 20).Draw(t, "ln x"))
		if r := fiveDigits(x); num.Decimal(r).Cmp(num.Decimal(x)) < 0 || r > x*(1+1.0001e-4) ||
			fiveDigits(r) != r {
			t.Fatalf("%v becomes %v", x, r)
		}
	})
	if x := fiveDigits(math.NaN()); !math.IsNaN(x) {
		t.Errorf("NaN becomes %v", x)
	}
}

// A claim is proved only if the exact δ of the noise is certainly within it: a δ that is the
// exact one rounded down is refused, rounded up it passes. The exact one itself is tested by
// its definition, in package noise.
func TestExactClaimsAreNotRoundedDown(t *testing.T) {
	for _, c := range []struct {
		sigma, first, epsilon float64 // first = 0: no check
		affected              int
	}{
		{3.7, 0, 0.9, 1}, {5, 0, 1.25, 2}, {2.2, 0, 3, 1}, {11, 0, 0.5, 3},
		{3.7, 6, 0.9, 1}, {5, 5, 1.25, 2}, {2.2, 9, 3, 1},
	} {
		s := Setting{K: 11, Classes: 2, Affected: c.affected, Neighbours: accountant.ReplaceOne}
		g, err := gaussian("sigma", c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		var exact num.Interval
		build := func(delta float64) (*Mechanism, error) {
			return GNMax(s, accountant.Cost{Epsilon: c.epsilon, Delta: delta}, c.sigma)
		}
		if c.first == 0 {
			exact, err = g.VotesDelta(c.affected, num.Decimal(c.epsilon))
		} else {
			first, wrong := gaussian("sigma of the check", c.first)
			if wrong != nil {
				t.Fatal(wrong)
			}
			exact, err = g.CheckedDelta(first, c.affected, num.Decimal(c.epsilon))
			build = func(delta float64) (*Mechanism, error) {
				return ConfidentGNMax(s, accountant.Cost{Epsilon: c.epsilon, Delta: delta}, 6, c.first, c.sigma)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		down, up := exact.DecimalDown(), exact.DecimalUp()
		if !(down < up) {
			t.Fatalf("%+v: δ = %v: this tests nothing", c, down)
		}
		if a, err := build(down); !errors.Is(err, ErrTooLittleNoise) || a != nil {
			t.Errorf("%+v: δ = %v passes, but it is a little more: %v", c, down, err)
		}
		if _, err := build(up); err != nil {
			t.Errorf("%+v: δ = %v, rounded up, is refused: %v", c, up, err)
		}
	}
}

// What accountants are charged with covers what the votes really cost, at every Rényi order:
// the divergence of the answers of any two neighbouring votes, by going through them. That
// of permute-and-flip comes near ε²/2 per order, four times the ε²/8 of a mechanism of
// bounded range such as the exponential one, which it is not.
func TestEventsCoverTheAnswers(t *testing.T) {
	divergence := func(p, q []float64, alpha float64) float64 {
		sum := 0.0
		for y := range p {
			if p[y] > 0 {
				sum += math.Pow(p[y], alpha) * math.Pow(q[y], 1-alpha)
			}
		}
		return math.Log(sum) / (alpha - 1)
	}
	worst := func(a *Mechanism, s Setting, alpha float64) float64 {
		most := 0.0
		law := func(counts []int) []float64 {
			return must.Get(a.Probabilities(counts))(t)
		}
		votesOf(s.K, s.Classes, func(counts []int) {
			p := law(counts)
			neighboursOf(counts, s.Affected, func(other []int) {
				most = max(most, divergence(p, law(other), alpha))
			})
		})
		return most
	}
	for _, s := range []Setting{
		{9, 2, 1, accountant.ReplaceOne, false}, {8, 2, 2, accountant.AddOrRemoveOne, false},
		{5, 3, 1, accountant.ReplaceOne, false},
	} {
		target := accountant.Cost{Epsilon: 0.4, Delta: 0.05}
		sigma, err := SigmaForGNMax(s, target, Exact)
		if err != nil {
			t.Fatal(err)
		}
		first, checked, err := sigmasForConfidentGNMax(s, target, Exact, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, build := range []func() (*Mechanism, error){
			func() (*Mechanism, error) { return GNMax(s, target, sigma) },
			func() (*Mechanism, error) { return ConfidentGNMax(s, target, 4, first, checked) },
			func() (*Mechanism, error) { return LNMax(s, target.Epsilon) },
			func() (*Mechanism, error) { return PermuteAndFlip(s, target.Epsilon) },
		} {
			a, err := build()
			if err != nil {
				t.Fatal(err)
			}
			if a.Event().Relation() != s.Neighbours {
				t.Errorf("%s, %+v: the event is about %v", a.Name(), s, a.Event().Relation())
			}
			for _, alpha := range []float64{1.05, 2, 8, 32} {
				charged, err := accountant.RDP(a.Event(), alpha)
				if err != nil {
					t.Fatalf("%s: %v", a.Name(), err)
				}
				if got := worst(a, s, alpha); got > charged+1e-9 {
					t.Errorf("%s, %+v, order %g: the answers have %g, charged is %g", a.Name(), s, alpha, got,
						charged)
				}
			}
			bounded := target.Epsilon * target.Epsilon / 8 * 1.05
			if got := worst(a, s, 1.05); a.Name() == "permute-and-flip" && s.Classes == 2 &&
				got < 3*bounded {
				t.Errorf("%+v: permute-and-flip has only %g, bounded range %g: this tests nothing", s, got,
					bounded)
			}
		}
	}
}

// Where only the Rényi proof serves (several classes, several votes), its sum
// t²·(1/σ² + 1/(2σ₁²))·n² ≤ 1 is decided to a thousandth in either of the two noises.
func TestRenyiProofCountsBothNoises(t *testing.T) {
	s := Setting{K: 9, Classes: 3, Affected: 2, Neighbours: accountant.ReplaceOne}
	target := accountant.Cost{Epsilon: 2, Delta: 1e-3}
	n, err := GNMaxNoise(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, ratio := range []float64{0.5, 1, 4} {
		sigma := 2 * n * math.Sqrt(1+1/(2*ratio*ratio))
		first := ratio * sigma
		if _, err := ConfidentGNMax(s, target, 5, first*1.001, sigma*1.001); err != nil {
			t.Errorf("ratio %g: %v", ratio, err)
		}
		// 1/σ² and 1/(2σ₁²) have shares of the sum; a thousandth of it is taken from either.
		share := 1 / (2 * ratio * ratio) / (1 + 1/(2*ratio*ratio))
		for _, c := range [][2]float64{{first / math.Sqrt(1+0.001/share), sigma},
			{first, sigma / math.Sqrt(1+0.001/(1-share))}} {
			if a, err := ConfidentGNMax(s, target, 5, c[0], c[1]); !errors.Is(err, ErrTooLittleNoise) ||
				a != nil {
				t.Errorf("ratio %g: noise %g and %g passes, %g and %g is needed: %v", ratio, c[0], c[1], first,
					sigma, err)
			}
		}
	}
}

// An abstention does not show in the number of draws: from the same source, votes that pass
// the check and votes that fail it leave the source in the same place. Only a tie of noisy
// counts draws once more, with noise of σ = 50 about once in 180 times; the seeds are fixed.
func TestAbstainingDrawsAsMuchAsAnswering(t *testing.T) {
	s := Setting{K: 9, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}
	a, err := ConfidentGNMax(s, accountant.Cost{Epsilon: 1, Delta: 0.1}, 5, 6, 50)
	if err != nil {
		t.Fatal(err)
	}
	differ, moved := 0, 0
	for seed := range uint64(400) {
		sure, doubtful := randsrc.NewSeeded(seed), randsrc.NewSeeded(seed)
		one, err := a.answer(sure, []int{9, 0}, 0)
		if err != nil {
			t.Fatal(err)
		}
		two, err := a.answer(doubtful, []int{5, 4}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if (one == Abstained) == (two == Abstained) {
			continue
		}
		differ++
		u, _ := sure.Uint53()
		v, _ := doubtful.Uint53()
		if u != v {
			moved++
		}
	}
	if differ < 50 || moved > 5 {
		t.Errorf("of %d pairs of which one abstains, %d leave the source in other places", differ, moved)
	}
}

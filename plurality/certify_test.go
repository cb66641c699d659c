package plurality

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/check"
)

// E⁻ ≤ e^ε ≤ E⁺ by the exponential series in fractions, and the two are neighbours.
func TestFactorsEncloseTheExponential(t *testing.T) {
	for _, eps := range []float64{1e-9, 0.05, 0.1, 0.3, 0.5, 1, 1.5, 2, 7, 20} {
		s := system(t, Problem{K: 2, Classes: 2, Epsilon: eps, Affected: 1})
		x, ok := new(big.Rat).SetString(big.NewFloat(eps).Text('g', -1))
		if !ok {
			t.Fatal(eps)
		}
		sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
		n := int64(1)
		for ; n < 200; n++ {
			term.Mul(term, new(big.Rat).Quo(x, big.NewRat(n, 1)))
			sum.Add(sum, term)
			if float64(n) > 3*eps && term.Cmp(new(big.Rat).SetFrac(big.NewInt(1),
				new(big.Int).Lsh(big.NewInt(1), 120))) < 0 {
				break
			}
		}
		// what is left out is less than the last term
		above := new(big.Rat).Add(sum, new(big.Rat).Add(term, term))
		if new(big.Rat).SetFloat64(s.below).Cmp(sum) > 0 ||
			new(big.Rat).SetFloat64(s.above).Cmp(above) < 0 {
			t.Errorf("ε = %g: [%.20g, %.20g], but e^ε = %s", eps, s.below, s.above, sum.FloatString(20))
		}
		if s.above > math.Nextafter(s.below, math.Inf(1)) {
			t.Errorf("ε = %g: %.20g and %.20g are not neighbours", eps, s.below, s.above)
		}
		if f := new(big.Rat).SetFrac(new(big.Int).SetUint64(s.factor.n),
			new(big.Int).Lsh(big.NewInt(1), s.factor.shift)); f.Cmp(new(big.Rat).SetFloat64(s.below)) != 0 {
			t.Errorf("ε = %g: the fraction %v is not %v", eps, f, s.below)
		}
	}
	// Beyond 2⁶³ the factor is the smaller one.
	if s := system(t, Problem{K: 2, Classes: 2, Epsilon: 700, Affected: 1}); s.below != 0x1p63 ||
		s.factor != (factor{1 << 63, 0}) {
		t.Errorf("ε = 700: %v, %v", s.below, s.factor)
	}
}

// The integer comparisons are those of fractions, over their whole range.
func TestFactorArithmetic(t *testing.T) {
	masses := []uint64{0, 1, 2, 3, 1 << 20, One / 3, One/2 + 1, One - 1, One}
	classes := []uint64{1, 2, 3, 7, 1000}
	// shifts on either side of the unit
	for _, e := range []float64{1, math.Nextafter(1, 2), 1.1, 2, math.E, 1e3, 0x1.9p43, 0x1.9p44,
		0x1.9p45, 0x1p53 - 1, 0x1p53, 1e18, 0x1p63} {
		f := newFactor(e)
		for _, gi := range masses {
			for _, gj := range masses {
				for _, mi := range classes {
					for _, mj := range classes {
						a, b := gi*mj, gj*mi
						over := new(big.Rat).SetFrac(new(big.Int).SetUint64(a), big.NewInt(1))
						over.Sub(over, new(big.Rat).Mul(new(big.Rat).SetFloat64(e),
							new(big.Rat).SetFrac(new(big.Int).SetUint64(b), big.NewInt(1))))
						if got := f.atMost(a, b); got != (over.Sign() <= 0) {
							t.Fatalf("%d ≤ %v·%d: %t", a, e, b, got)
						}
						for _, n := range []uint64{1, min(mi, mj)} {
							want := new(big.Rat).Mul(over, new(big.Rat).SetFrac(new(big.Int).SetUint64(n<<unitBits),
								new(big.Int).SetUint64(mi*mj)))
							if want.Sign() < 0 {
								want.SetInt64(0)
							}
							got := new(big.Rat).SetInt(new(big.Int).SetUint64(f.excess(a, b, n, mi*mj)))
							if d := new(big.Rat).Sub(got, want); d.Sign() < 0 || d.Cmp(big.NewRat(2, 1)) >= 0 {
								t.Fatalf("excess of %d over %v·%d, %d of %d: %v, want %v rounded up", a, e, b, n, mi*mj,
									got, want.FloatString(3))
							}
						}
					}
				}
			}
		}
	}
}

// δ is rounded down, whatever decimal it is.
func TestAllowedIsRoundedDown(t *testing.T) {
	for _, delta := range []float64{1e-300, 1e-18, 1e-5, 0.1, 0.3, 0.999999999, math.Nextafter(1, 0)} {
		s := system(t, Problem{K: 2, Classes: 2, Epsilon: 1, Delta: delta, Affected: 1})
		exact := new(big.Rat).Mul(s.delta, new(big.Rat).SetInt(new(big.Int).SetUint64(One<<unitBits)))
		got := new(big.Rat).SetInt(new(big.Int).SetUint64(s.allowed()))
		if d := new(big.Rat).Sub(exact, got); d.Sign() < 0 || d.Cmp(big.NewRat(1, 1)) >= 0 {
			t.Errorf("δ = %g: %v units, want %v", delta, got, exact.FloatString(3))
		}
	}
}

// What is no mechanism is not certified, however private it looks.
// What is not private is named with the probabilities of one class on both sides.
func TestViolationHasItsFigures(t *testing.T) {
	s := system(t, Problem{K: 2, Classes: 2, Epsilon: 0.1, Affected: 1})
	masses := make([]uint64, s.Variables())
	for h := range s.Histograms() {
		first, _ := s.Range(h)
		masses[first] = One // the plurality
	}
	_, err := Certify(context.Background(), s, masses)
	var v *ViolationError
	if !errors.As(err, &v) {
		t.Fatal(err)
	}
	law := map[int]float64{2: 1, 1: 0.5, 0: 0} // by the votes of a class, of two teachers'
	if p, ok := law[v.Votes]; !ok || v.P != p || !slices.Contains(v.From, v.Votes) || !(v.P > v.Q) ||
		v.Q != 0.5 && v.Q != 0 {
		t.Errorf("%+v", v)
	}
}

func TestCertifyRefusesWhatIsNoLaw(t *testing.T) {
	s := system(t, Problem{K: 3, Classes: 3, Epsilon: 1, Affected: 1})
	good := s.masses(s.PermuteAndFlip(), 1e-12)
	for name, change := range map[string]func(g []uint64) []uint64{
		"too few":   func(g []uint64) []uint64 { return g[1:] },
		"one less":  func(g []uint64) []uint64 { g[0]--; return g },
		"one more":  func(g []uint64) []uint64 { g[0]++; return g },
		"halves":    func(g []uint64) []uint64 { g[0] /= 2; return g },
		"wrapping":  func(g []uint64) []uint64 { g[0], g[1] = One+5, math.MaxUint64-4; return g },
		"all zeros": func(g []uint64) []uint64 { clear(g); return g },
	} {
		c, err := Certify(context.Background(), s, change(slices.Clone(good)))
		var parameter *check.Error
		if c != nil || !errors.As(err, &parameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Certify(ctx, s, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c, err := Certify(context.Background(), s, good)
	if err != nil {
		t.Fatal(err)
	}
	good[0] = 0 // the certified masses are a copy
	if c.Mass(0) == 0 {
		t.Error("certified masses change afterwards")
	}
}

// Plausible mistakes in a program, each as the masses that it would make: none is certified. More,
// from programs that are solved with the mistake, are in package solve.
func TestMutantMasses(t *testing.T) {
	refuse := func(name string, s *System, p []float64) {
		t.Helper()
		g := s.masses(p, 1e-9)
		c, err := Certify(context.Background(), s, g)
		var v *ViolationError
		if c != nil || !errors.As(err, &v) || v.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
		if private(t, s, g, s.delta) {
			t.Errorf("%s is no mutant: it is private", name)
		}
	}
	// Pairs at d = t only. The optimum is then .5625 instead of .524979187: with votes 2,1 the
	// answer is certain, with 3,0 it is wrong, and two votes lead from either to the other.
	s := system(t, Problem{K: 3, Classes: 2, Epsilon: 0.1, Affected: 2})
	w, err := Objective{Accuracy: 0.75}.Weights(context.Background(), s.Space)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := s.Range(0)
	if h := s.Histogram(0); h[0] != 2 || s.Votes(first) != 2 || math.Abs(w.Low[0]-.5625) > 1e-15 {
		t.Fatalf("the first histogram is %v with weight %g", h, w.Low[0])
	}
	refuse("d = t only", s, []float64{1, 0, 0, 1})
	for _, delta := range []float64{0, 1e-3} {
		// Multiplicity ignored: probabilities of classes taken for masses of groups.
		s = system(t, Problem{K: 5, Classes: 4, Epsilon: 0.1, Affected: 1, Delta: delta})
		p := s.PermuteAndFlip()
		for i := range p {
			p[i] /= float64(s.ClassesOf(i))
		}
		if p, err = s.normalise(p); err != nil {
			t.Fatal(err)
		}
		refuse("multiplicity ignored", s, p)
	}
}

package accountant

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/num"
)

// exactly is the float64 as it is, and not the decimal that it stands for.
func exactly(x float64) num.Interval { return num.FromRat(new(big.Rat).SetFloat64(x)) }

// below reports whether x is certainly less than what the interval holds.
func below(x float64, exact num.Interval) bool { return exactly(x).Cmp(exact) < 0 }

// The probability that some loss is infinite is rounded up: never below 1-Π(1-m)^n, worked out in
// intervals. That 200 random sums fall there by chance has a probability below 2⁻¹⁰⁰.
func TestInfiniteLossesOfASumAreOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s lossSum
		all := num.FromInt(1)
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			m := math.Pow(10, rapid.Float64Range(-15, -0.5).Draw(t, "log mass"))
			n := rapid.IntRange(1, 200).Draw(t, "count")
			s.parts = append(s.parts, newLossPart(lossMass{infinite: m}, n))
			for range n {
				all = all.Mul(num.FromInt(1).Sub(exactly(m)))
			}
		}
		exact := num.FromInt(1).Sub(all)
		if got := s.infinite(); below(got, exact) || got > exact.Nearest()*(1+1e-11) {
			t.Fatalf("%+v: %.17g, exactly %.17g", s.parts, got, exact.Nearest())
		}
	})
}

// The Rényi divergence of atoms is rounded up: never below ln(Σ m·e^{(α-1)·loss})/(α-1) of the very
// masses and losses, worked out in intervals, also where they nearly cancel. There rounding errors
// show in some 13 of 100 even draws, and in fewer of rapid's: so there are 200 of a fixed seed.
func TestDivergenceOfAtomsIsOutward(t *testing.T) {
	wrong := func(logEps, rest, logAlpha float64) string {
		// A randomised response of ε, and a loss of 0.
		eps, alpha := math.Pow(10, logEps), 1+math.Pow(10, logAlpha)
		if (alpha-1)*eps > 5000 {
			return ""
		}
		p := (1 - rest) / (1 + math.Exp(-eps))
		l := atomLoss{atoms: []atom{{-eps, 1 - rest - p}, {0, rest}, {eps, p}}}
		order := exactly(alpha).Sub(num.FromInt(1))
		sum := num.FromInt(0)
		for _, a := range l.atoms {
			sum = sum.Add(exactly(a.mass).Mul(num.ExpReal(order.Mul(exactly(a.loss)))))
		}
		exact := num.Log(sum).Quo(order)
		got := l.rdp(alpha)
		slack := 1e-8*exact.Nearest() + (1e-11*eps+4e-15)/(alpha-1) + 1e-11*eps
		if below(got, exact) || got > exact.Nearest()+slack {
			return fmt.Sprintf("α = %v, %+v: %.17g, exactly %.17g", alpha, l.atoms, got, exact.Nearest())
		}
		return ""
	}
	if w := wrong(math.Log10(800), 0.5, -3); w != "" { // e^800 is no float64, e^0.8 is
		t.Error(w)
	}
	random := rand.New(rand.NewPCG(29, 1))
	for range 200 {
		if w := wrong(-9+10*random.Float64(), 0.9*random.Float64(), -3+6*random.Float64()); w != "" {
			t.Error(w)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		logEps := rapid.Float64Range(-9, 1).Draw(t, "log ε")
		rest := rapid.Float64Range(0, 0.9).Draw(t, "mass at 0")
		if w := wrong(logEps, rest, rapid.Float64Range(-3, 3).Draw(t, "log (α-1)")); w != "" {
			t.Fatal(w)
		}
	})
}

// A part of a step at either end of Laplace's losses is treated unlike a whole step: its losses are
// not known to the last digit, so all its mass is at the upper point.
func TestEndsOfLaplaceLossesAreAtTheUpperPoint(t *testing.T) {
	for _, x := range []struct{ eps, step float64 }{{1, 0.3}, {0.5, 0.07}, {2.25, 0.5}} {
		m, err := laplaceLoss{x.eps}.discretise(x.step)
		if err != nil {
			t.Fatal(err)
		}
		last := int(math.Ceil(x.eps/x.step)) - m.first // the point above the largest loss
		low := x.step * float64(m.first+last-1)
		// Half of the mass is at ε, shared between the two points; the part is from low to ε.
		atom := 0.5 * math.Expm1(low-x.eps) / math.Expm1(-x.step)
		part := -math.Expm1((low-x.eps)/2) / 2
		if got := m.mass[last]; got < atom+part || got > (atom+part)*(1+1e-11) {
			t.Errorf("ε = %v in steps of %v: mass %v at the last point, want %v", x.eps, x.step, got,
				atom+part)
		}
		// At the lower end an atom at -ε and the part from -ε to the first point.
		first := int(math.Floor(-x.eps/x.step)) - m.first
		high := x.step * float64(m.first+first+1)
		share := math.Expm1(high-x.step+x.eps) / math.Expm1(-x.step) // of the atom, at the upper point
		atom = 0.5 * math.Exp(-x.eps) * share
		part = math.Exp(-x.eps) * math.Expm1((high+x.eps)/2) / 2
		whole := lowerPointOf(x.eps, x.step, high)
		if got := m.mass[first+1]; got < atom+part+whole || got > (atom+part+whole)*(1+1e-11) {
			t.Errorf("ε = %v in steps of %v: mass %v at the first point but one, want %v", x.eps, x.step,
				got, atom+part+whole)
		}
	}
}

// lowerPointOf returns the mass that a whole step of Laplace's losses above x leaves at x.
func lowerPointOf(eps, step, x float64) float64 {
	p := math.Exp((x-eps)/2) * math.Expm1(step/2) / 2
	q := math.Exp(-(x+step+eps)/2) * math.Expm1(step/2) / 2
	return p - (p-math.Exp(x)*q)/-math.Expm1(-step)
}

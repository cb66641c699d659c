package accountant

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// DiscreteGaussian adds an integer z with probability proportional to e^{-z²/(2σ²)} to an
// integer that neighbours move by at most s. It is what can be sampled exactly, and it is
// not the normal distribution: its zero-concentrated and Rényi bounds are the same, its
// δ(ε) is not. A vector of integers is one such event per coordinate that may move.
//
// Source: Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy
// (2020), Theorem 4.
type DiscreteGaussian struct {
	Sigma       float64 // σ in counts, between 1e-4 and 1e8; its square is the variance only for σ ≫ 1
	Sensitivity int     // s, between 1 and 1e6
	Neighbours  Relation
}

const maxSensitivity = 1_000_000

// Relation returns the neighbouring relation that the event's parameters are for.
func (e DiscreteGaussian) Relation() Relation { return e.Neighbours }

func (e DiscreteGaussian) String() string {
	return fmt.Sprintf("discrete gaussian noise %g on a count that moves by %d", e.Sigma,
		e.Sensitivity)
}

func (e DiscreteGaussian) check() error {
	if err := noiseRange("sigma", e.Sigma); err != nil {
		return err
	}
	if e.Sensitivity < 1 || e.Sensitivity > maxSensitivity {
		return check.Wantf("sensitivity", e.Sensitivity, "between 1 and %d", maxSensitivity)
	}
	return nil
}

// discreteLoss is the privacy loss of noise around s (P) against noise around 0 (Q): at
// the integer x it is (2xs - s²)/(2σ²). Shifts below s are less revealing: the family has
// a monotone likelihood ratio, so every test of 0 against s is a threshold on x, and a
// smaller shift puts less beyond it. The two directions are mirror images.
type discreteLoss struct{ sigma, shift float64 }

// maxDiscretePoints bounds the integers within reach of the noise.
const maxDiscretePoints = 1 << 20

func (l discreteLoss) loss(x float64) float64 {
	return (2*x - l.shift) * l.shift / (2 * l.sigma * l.sigma)
}

// keptOutcomes returns the outcomes that are kept: those above count as an infinite loss.
func (l discreteLoss) keptOutcomes() (low, high float64) {
	return l.shift - math.Ceil(reachDown*l.sigma+1), l.shift + math.Ceil((reach+1)*l.sigma+1)
}

func (l discreteLoss) span() (low, high, deviation float64) {
	a, b := l.keptOutcomes()
	return l.loss(a), l.loss(b) * (1 + num.Margin), l.shift / l.sigma
}

func (l discreteLoss) discretise(step float64) (lossMass, error) {
	a, b := l.keptOutcomes()
	if b-a > maxDiscretePoints {
		return lossMass{}, fmt.Errorf("discrete gaussian noise %g reaches %g integers, more than %d: %w",
			l.sigma, b-a, maxDiscretePoints, ErrUnsupported)
	}
	low, high, _ := l.span()
	out, err := newLossMass(step, low, high)
	if err != nil {
		return out, err
	}
	const ulp = 0x1p-52
	weight := func(z float64) float64 {
		e := z * z / (2 * l.sigma * l.sigma)
		return math.Exp(-e) * (1 + 4*ulp*(e+1))
	}
	// The normalising sum is at least √(2π)·σ (Poisson summation, all terms positive) and
	// at least any part of itself.
	part := 1.0
	for z := 1.0; z <= 8; z++ {
		part += 2 * math.Exp(-z*z/(2*l.sigma*l.sigma)) * (1 - 1e-12)
	}
	scale := 1 / (max(part, math.Sqrt(2*math.Pi)*l.sigma) * (1 - num.Margin))
	for x := a; x <= b; x++ {
		// The loss is rounded up, which only moves mass up.
		loss := l.loss(x)
		loss += 8 * ulp * math.Abs(loss)
		out.add(step, loss, min(1, weight(x-l.shift)*scale*(1+num.Margin)+math.SmallestNonzeroFloat64))
	}
	// Below: raised to the first outcome that is kept. Above: infinite. From z on, each
	// weight is at most e^{-z/σ²} of the one before.
	tail := func(z float64) float64 {
		return min(1, weight(z)*scale/-math.Expm1(-z/(l.sigma*l.sigma))*(1+1e-9)+
			math.SmallestNonzeroFloat64)
	}
	out.addAt(int(math.Floor(l.loss(a)/step))+1, tail(l.shift-a+1))
	out.infinite = tail(b - l.shift + 1)
	return out, nil
}

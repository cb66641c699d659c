package accountant

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// rdpMargin is the relative amount by which a Rényi divergence is rounded up, on top of
// what its summands' exponents are. It covers sums of up to 2¹⁶ positive terms, each
// off by a few units in the last place.
const rdpMargin = 1e-9

// tiny is added to divergences of which a part may underflow: what is not 0 is not
// reported as 0.
const tiny = 4 * math.SmallestNonzeroFloat64

// MaxSubsampledOrder is the largest order α for events with Poisson sampling.
const MaxSubsampledOrder = 2048

// RDP returns an upper bound on the Rényi divergence of order α that the event allows,
// ρ(α), for real α > 1:
//
//	Gaussian              α/(2σ²)
//	DiscreteGaussian      αs²/(2σ²)
//	Laplace               ln( α/(2α-1)·e^{(α-1)/b} + (α-1)/(2α-1)·e^{-α/b} ) / (α-1)
//	RandomizedResponse    ln( p·e^{(α-1)ε} + (1-p)·e^{-(α-1)ε} ) / (α-1),   p = e^ε/(1+e^ε)
//	ApproxDP with δ = 0   as randomised response, the worst ε-DP mechanism
//	SubsampledGaussian    see below
//	Iteration             see there
//	Composed              the sum of its parts
//
// rounded up, by about 1e-9. Other events, and ApproxDP with δ > 0, have no finite ρ:
// ErrUnsupported. Laplace and randomised response are also bounded by ε and αε²/2.
//
// For SubsampledGaussian and integer α, ρ(α) = ln(A)/(α-1) with
//
//	A = Σ_{k=0}^α C(α,k)·(1-q)^{α-k}·q^k·e^{(k²-k)/(2σ²)}
//
// and for other α the same expectation E[(1-q+q·e^{z/σ-1/(2σ²)})^α], z standard normal,
// by the trapezoidal rule with its error bound added, or by convexity between the integer
// orders around α, whichever is less. Orders are limited to MaxSubsampledOrder, and cost
// up to some milliseconds.
//
// Sources: Mironov, Rényi Differential Privacy (2017), Table II; Mironov, Talwar and
// Zhang, Rényi Differential Privacy of the Sampled Gaussian Mechanism (2019); Bun and
// Steinke, Concentrated Differential Privacy (2016), Proposition 3.3; Canonne, Kamath and
// Steinke, The Discrete Gaussian for Differential Privacy (2020), Theorem 4.
func RDP(e Event, alpha float64) (float64, error) {
	if err := checkEvent(e); err != nil {
		return 0, err
	}
	if err := checkOrder(alpha); err != nil {
		return 0, err
	}
	switch e := e.(type) {
	case Gaussian:
		return gaussianRDP(e.NoiseMultiplier, alpha), nil
	case DiscreteGaussian:
		return gaussianRDP(e.Sigma/float64(e.Sensitivity), alpha), nil
	case Laplace:
		return laplaceRDP(e.Scale, alpha), nil
	case RandomizedResponse:
		return responseRDP(e.Epsilon, alpha), nil
	case ApproxDP:
		if e.Cost.Delta > 0 {
			return 0, fmt.Errorf("finite Rényi divergence of %v: %w", e, ErrUnsupported)
		}
		return responseRDP(e.Cost.Epsilon, alpha), nil
	case SubsampledGaussian:
		if alpha > MaxSubsampledOrder {
			return 0, &check.Error{Name: "order", Value: alpha, Rule: fmt.Sprintf("at most %d with Poisson sampling", MaxSubsampledOrder)}
		}
		return subsampledRDP(e.NoiseMultiplier, e.SamplingRate, alpha), nil
	case Iteration:
		return e.RDP(alpha)
	case Composed:
		return chargesRDP(e.parts, alpha)
	}
	return 0, fmt.Errorf("finite Rényi divergence of %T: %w", e, ErrUnsupported)
}

func checkOrder(alpha float64) error {
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return &check.Error{Name: "order", Value: alpha, Rule: "a finite number > 1"}
	}
	return nil
}

func chargesRDP(charges []Charge, alpha float64) (float64, error) {
	sum := 0.0
	for _, c := range charges {
		rho, err := RDP(c.Event, alpha)
		if err != nil {
			return 0, err
		}
		sum += float64(c.Count) * rho
	}
	return sum * (1 + 1e-15*float64(len(charges)+1)), nil
}

func gaussianRDP(sigma, alpha float64) float64 {
	return alpha / (2 * sigma * sigma) * (1 + rdpMargin)
}

func laplaceRDP(scale, alpha float64) float64 {
	eps := 1 / scale
	w := 1 / (2 - 1/alpha) // α/(2α-1), for any α
	return pureRDP(eps, alpha, w, (alpha-1)*eps, alpha*eps)
}

func responseRDP(eps, alpha float64) float64 {
	if eps == 0 {
		return 0
	}
	p := 1 / (1 + math.Exp(-eps))
	return pureRDP(eps, alpha, p, (alpha-1)*eps, (alpha-1)*eps)
}

// pureRDP returns ln(w·e^x + (1-w)·e^-y)/(α-1), at most ε and αε²/2, for ε > 0.
func pureRDP(eps, alpha, w, x, y float64) float64 {
	// ln = x + ln(w) + ln(1 + (1-w)/w·e^{-x-y}), or with expm1 where x is small. The
	// first-order terms cancel there, hence the absolute margin.
	var log float64
	if x > 1 {
		log = x + math.Log(w) + math.Log1p((1-w)/w*math.Exp(-x-y))
	} else {
		log = math.Log1p(max(0, w*math.Expm1(x)+(1-w)*math.Expm1(-y)))
	}
	log += 1e-15 * (1 + x + y) * min(1, x+y)
	// Where ε² is below the smallest float64 the bound is still not 0.
	return min(log/(alpha-1), eps, alpha*eps*eps/2)*(1+rdpMargin) + math.SmallestNonzeroFloat64
}

package accountant

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// maxSubsampledOrder is the largest order α for events with Poisson sampling.
const maxSubsampledOrder = 2048

// RDP returns an upper bound on the Rényi divergence of order α that the event allows,
// ρ(α), for real α > 1:
//
//	Gaussian              α/(2σ²)
//	DiscreteGaussian      αs²/(2σ²)
//	Laplace               ln( α/(2α-1)·e^{(α-1)/b} + (α-1)/(2α-1)·e^{-α/b} ) / (α-1)
//	RandomizedResponse    ln( p·e^{(α-1)ε} + (1-p)·e^{-(α-1)ε} ) / (α-1),   p = e^ε/(1+e^ε)
//	ApproxDP with δ = 0   as randomised response, the worst ε-DP mechanism
//	SubsampledGaussian    see below
//	Curve                 what was proved, see NewCurve
//	Profile               ln( Σ_j w_j·e^{(α-1)α/(2σ_j²)} ) / (α-1)
//	HockeyStick, δ = 0    that of its dominating pair, see NewHockeyStick
//	what Compose returns  the sum of its parts
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
// orders around α, whichever is less. Orders are limited to 2048, and cost
// up to some milliseconds.
//
// Sources: Mironov, Rényi Differential Privacy (2017), Table II; Mironov, Talwar and
// Zhang, Rényi Differential Privacy of the Sampled Gaussian Mechanism (2019); Bun and
// Steinke, Concentrated Differential Privacy (2016), Proposition 3.3; Canonne, Kamath and
// Steinke, The Discrete Gaussian for Differential Privacy (2020), Theorem 4.
func RDP(e Event, alpha float64) (float64, error) {
	f, err := factsOf(e)
	if err != nil {
		return 0, err
	}
	if err := check.Order(alpha); err != nil {
		return 0, err
	}
	if c, ok := e.(composed); ok {
		return chargesRDP(c.parts, alpha)
	}
	if f.rdp == nil {
		return 0, unsupported("finite Rényi divergence", e)
	}
	if err := f.orderFor(e, alpha); err != nil {
		return 0, err
	}
	return f.rdp(alpha), nil
}

func chargesRDP(charges []Charge, alpha float64) (float64, error) {
	sum, err := newRDPSum(charges)
	if err != nil {
		return 0, err
	}
	for i, f := range sum.known {
		if err := f.orderFor(charges[i].Event, alpha); err != nil {
			return 0, err
		}
	}
	return sum.at(alpha), nil
}

// rdpSum is the divergence of several charges.
type rdpSum struct {
	charges []Charge
	known   []facts // of each
}

func newRDPSum(charges []Charge) (rdpSum, error) {
	known := make([]facts, len(charges))
	for i, c := range charges {
		f, err := factsOf(c.Event)
		if err == nil && f.rdp == nil {
			err = unsupported("finite Rényi divergence", c.Event)
		}
		if err != nil {
			return rdpSum{}, err
		}
		known[i] = f
	}
	return rdpSum{charges, known}, nil
}

// at returns the divergence at an order that all charges have.
func (s rdpSum) at(alpha float64) float64 {
	sum := 0.0
	for i, f := range s.known {
		sum += float64(s.charges[i].Count) * f.rdp(alpha)
	}
	return sum * (1 + 1e-15*float64(len(s.charges)+1))
}

// bestOrder minimises f over the orders that all charges have, and returns NaN and +Inf
// where it is nowhere finite.
func (s rdpSum) bestOrder(f func(alpha float64) float64) (alpha, value float64) {
	high := anyOrder
	var extra []float64
	for _, k := range s.known {
		high = min(high, k.maxOrder)
		extra = append(extra, k.orders...)
	}
	alpha, value = num.BestOrder(high, f)
	slices.Sort(extra)
	for _, a := range slices.Compact(extra) {
		if a > high {
			break
		}
		if v := f(a); v < value {
			alpha, value = a, v
		}
	}
	return alpha, value
}

// epsilon returns the best ε over the orders, and the order.
func (s rdpSum) epsilon(delta float64) (eps, alpha float64, err error) {
	alpha, eps = s.bestOrder(func(a float64) float64 { return improvedEpsilon(a, s.at(a), delta) })
	if math.IsInf(eps, 1) || math.IsNaN(eps) {
		return 0, 0, fmt.Errorf("no order gives a finite epsilon at delta = %g: %w", delta,
			ErrUnsupported)
	}
	return eps, alpha, nil
}

// delta returns the best δ over the orders, and the order.
func (s rdpSum) delta(epsilon float64) (delta, alpha float64) {
	alpha, log := s.bestOrder(func(a float64) float64 { return improvedLogDelta(a, s.at(a), epsilon) })
	if math.IsNaN(log) || math.IsInf(log, 1) {
		return 1, alpha
	}
	return min(1, expUp(log)), alpha
}

func gaussianRDP(sigma, alpha float64) float64 {
	return alpha / (2 * sigma * sigma) * (1 + num.SumMargin)
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
	return min(log/(alpha-1), eps, alpha*eps*eps/2)*(1+num.SumMargin) + math.SmallestNonzeroFloat64
}

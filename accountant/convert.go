package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// EpsilonFromRDP returns an ε for which a mechanism with Rényi divergence at most rho
// at order alpha is (ε, delta)-DP, rounded up:
//
//	ε = ρ + ln((α-1)/α) - (ln δ + ln α)/(α-1)
//
// and 0 where that is negative. It takes alpha > 1, rho ≥ 0 and delta in (0,1), all
// finite.
//
// Sources: Balle, Barthe, Gaboardi, Hsu and Sato, Hypothesis Testing Interpretations
// and Rényi Differential Privacy (2020), Theorem 21; Canonne, Kamath and Steinke, The
// Discrete Gaussian for Differential Privacy (2020), Proposition 12.
func EpsilonFromRDP(alpha, rho, delta float64) (float64, error) {
	if err := checkConversion(alpha, rho, "delta", delta); err != nil {
		return 0, err
	}
	return improvedEpsilon(alpha, rho, delta), nil
}

// ClassicalEpsilonFromRDP is EpsilonFromRDP by the older, weaker conversion
//
//	ε = ρ + ln(1/δ)/(α-1)
//
// which the PATE papers use. Same ranges. Source: Mironov, Rényi Differential Privacy
// (2017), Proposition 3.
func ClassicalEpsilonFromRDP(alpha, rho, delta float64) (float64, error) {
	if err := checkConversion(alpha, rho, "delta", delta); err != nil {
		return 0, err
	}
	return classicalEpsilon(alpha, rho, delta), nil
}

// EpsilonFromZCDP returns an ε for which a ρ-zCDP mechanism is (ε, delta)-DP, rounded
// up:
//
//	ε = ρ + 2√(ρ·ln(1/δ))
//
// It takes rho ≥ 0 finite and delta in (0,1). Source: Bun and Steinke, Concentrated
// Differential Privacy (2016), Proposition 1.3.
func EpsilonFromZCDP(rho, delta float64) (float64, error) {
	if err := checkConversion(2, rho, "delta", delta); err != nil {
		return 0, err
	}
	r := num.FromRat(num.Decimal(rho))
	log := num.FromInt(0).Sub(num.Log(num.FromRat(num.Decimal(delta))))
	return r.Add(num.FromInt(2).Mul(num.Sqrt(r.Mul(log)))).DecimalUp(), nil
}

// floatMargin rounds up what takes a handful of float64 operations, each correct to a
// few units in the last place.
const floatMargin = 1e-14

func checkConversion(alpha, rho float64, name string, delta float64) error {
	if err := checkOrder(alpha); err != nil {
		return err
	}
	if !(rho >= 0) || math.IsInf(rho, 1) {
		return &check.Error{Name: "rho", Value: rho, Rule: "a finite number ≥ 0"}
	}
	if !(delta > 0 && delta < 1) {
		return &check.Error{Name: name, Value: delta, Rule: "in (0,1)"}
	}
	return nil
}

// logDown returns ln δ, to a unit in the last place, or below it where δ is subnormal:
// math.Log is off by up to 35 there on amd64 (-709 for -744), and the decimal of δ may be
// half a unit away from it.
func logDown(delta float64) float64 {
	if delta >= 0x1p-1022 {
		return math.Log(delta)
	}
	return math.Log(delta/math.SmallestNonzeroFloat64-0.5) - 1074*math.Ln2*(1+0x1p-50)
}

func improvedEpsilon(alpha, rho, delta float64) float64 {
	log := logDown(delta)
	a, b := math.Log1p(-1/alpha), (log+math.Log(alpha))/(alpha-1)
	// The 1 is for δ and 1/α near 1: ln δ is off by a unit in the last place of 1, and
	// ln(1-1/α) by that over α-1.
	size := rho - a + (1-log+math.Log(alpha))/(alpha-1)
	return max(0, rho+a-b+floatMargin*size)
}

func classicalEpsilon(alpha, rho, delta float64) float64 {
	return (rho + (4*0x1p-53-logDown(delta))/(alpha-1)) * (1 + floatMargin) // the 4 units as above
}

// improvedLogDelta returns ln δ of the improved conversion at epsilon, rounded up:
// (α-1)(ρ-ε) + (α-1)·ln(1-1/α) - ln α.
func improvedLogDelta(alpha, rho, epsilon float64) float64 {
	m := alpha - 1
	parts := []float64{m * rho, -m * epsilon, m * math.Log1p(-1/alpha), -math.Log(alpha)}
	sum, size := 0.0, 1.0 // the 1 is for 1/α near 1, which ln(1-1/α) magnifies by 1/(α-1)
	for _, p := range parts {
		sum += p
		size += math.Abs(p)
	}
	return sum + floatMargin*size
}

// bestOrder minimises f over orders α in (1, high] by a geometric grid over α-1 and
// golden sections around its best point. f may be +Inf. Every order gives a valid
// bound, so the search need not be exact.
func bestOrder(high float64, f func(alpha float64) float64) (alpha, value float64) {
	const low = 1e-6
	steps := int(12 * math.Log10((high-1)/low))
	at := func(i float64) float64 { return 1 + low*math.Pow((high-1)/low, i/float64(steps)) }
	best, value := 0.0, math.Inf(1)
	for i := range steps + 1 {
		if v := f(at(float64(i))); v < value {
			best, value = float64(i), v
		}
	}
	if math.IsInf(value, 1) {
		return math.NaN(), value
	}
	alpha = at(best)
	golden := (math.Sqrt(5) - 1) / 2
	a, b := max(0, best-1), min(float64(steps), best+1)
	for b-a > 1e-6 {
		c, d := b-golden*(b-a), a+golden*(b-a)
		fc, fd := f(at(c)), f(at(d))
		if fc < value {
			alpha, value = at(c), fc
		}
		if fd < value {
			alpha, value = at(d), fd
		}
		if fc < fd {
			b = d
		} else {
			a = c
		}
	}
	return alpha, value
}

// maxOrder returns the largest order to try for the charges.
func maxOrder(charges []Charge) float64 {
	for _, c := range charges {
		if _, ok := c.Event.(SubsampledGaussian); ok {
			return MaxSubsampledOrder
		}
	}
	return 1e10
}

// rdpEpsilon returns the best ε over the orders, and the order.
func rdpEpsilon(charges []Charge, delta float64) (eps, alpha float64, err error) {
	if _, err := chargesRDP(charges, 2); err != nil {
		return 0, 0, err
	}
	alpha, eps = bestOrder(maxOrder(charges), func(a float64) float64 {
		rho, err := chargesRDP(charges, a)
		if err != nil {
			return math.Inf(1)
		}
		return improvedEpsilon(a, rho, delta)
	})
	if math.IsInf(eps, 1) || math.IsNaN(eps) {
		return 0, 0, fmt.Errorf("no order gives a finite epsilon at delta = %g: %w", delta, ErrUnsupported)
	}
	return eps, alpha, nil
}

// rdpDelta returns the best δ over the orders, and the order.
func rdpDelta(charges []Charge, epsilon float64) (delta, alpha float64, err error) {
	if _, err := chargesRDP(charges, 2); err != nil {
		return 0, 0, err
	}
	alpha, log := bestOrder(maxOrder(charges), func(a float64) float64 {
		rho, err := chargesRDP(charges, a)
		if err != nil {
			return math.Inf(1)
		}
		return improvedLogDelta(a, rho, epsilon)
	})
	if math.IsNaN(log) || math.IsInf(log, 1) {
		return 1, alpha, nil
	}
	return min(1, expUp(log)), alpha, nil
}

// expUp returns e^x rounded up, at least the smallest positive float64.
func expUp(x float64) float64 {
	return math.Exp(x)*(1+floatMargin) + math.SmallestNonzeroFloat64
}

// zcdp returns the ρ of zero-concentrated differential privacy that the charges add up
// to: 1/(2σ²) for Gaussian noise, s²/(2σ²) if discrete, ε²/2 for pure ε-DP, and what an
// Iteration's ZCDP says, rounded up.
// Bun and Steinke (2016), Propositions 1.4 and 1.6, Lemma 1.7; Canonne, Kamath and Steinke
// (2020), Theorem 4.
func zcdp(charges []Charge) (float64, error) {
	sum := num.FromInt(0)
	for _, c := range charges {
		var root *big.Rat // √(2ρ)
		switch e := c.Event.(type) {
		case Gaussian:
			root = num.Decimal(e.NoiseMultiplier)
			root.Inv(root)
		case DiscreteGaussian:
			root = num.Decimal(e.Sigma)
			root.Quo(big.NewRat(int64(e.Sensitivity), 1), root)
		case Iteration:
			rho, err := e.ZCDP()
			if err != nil {
				return 0, err
			}
			exactly := new(big.Rat).SetFloat64(rho)
			if exactly == nil {
				return 0, fmt.Errorf("zCDP of %v, without noise: %w", e, ErrUnsupported)
			}
			sum = sum.Add(num.FromRat(exactly.Mul(exactly, big.NewRat(int64(c.Count), 1))))
			continue
		default:
			cost, err := pureOrApprox(c.Event)
			if err != nil || cost.Delta > 0 {
				return 0, fmt.Errorf("zCDP of %v: %w", c.Event, ErrUnsupported)
			}
			root = num.Decimal(cost.Epsilon)
		}
		root.Mul(root, root)
		sum = sum.Add(num.FromRat(root.Mul(root, big.NewRat(int64(c.Count), 2))))
	}
	return sum.DecimalUp(), nil
}

// zcdpDelta inverts EpsilonFromZCDP: e^{-(ε-ρ)²/(4ρ)} for ε ≥ ρ, rounded up.
func zcdpDelta(rho, epsilon float64) float64 {
	if rho == 0 {
		return 0
	}
	r := num.FromRat(num.Decimal(rho))
	gap := num.FromRat(num.Decimal(epsilon)).Sub(r)
	if gap.Lower() <= 0 {
		return 1
	}
	x := gap.Mul(gap).Quo(num.FromInt(4).Mul(r))
	if x.Upper() >= num.MaxExpReal {
		return math.SmallestNonzeroFloat64
	}
	return min(1, num.ExpReal(num.FromInt(0).Sub(x)).DecimalUp())
}

// pureOrApprox returns the (ε, δ) that the event has by itself.
func pureOrApprox(e Event) (Cost, error) {
	switch e := e.(type) {
	case ApproxDP:
		return e.Cost, nil
	case RandomizedResponse:
		return Cost{Epsilon: e.Epsilon}, nil
	case Laplace:
		return Cost{Epsilon: num.FromInt(1).Quo(num.FromRat(num.Decimal(e.Scale))).DecimalUp()}, nil
	}
	return Cost{}, fmt.Errorf("(epsilon, delta) of %v: %w", e, ErrUnsupported)
}

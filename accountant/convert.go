package accountant

import (
	"cmp"
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
	if err := checkConversion(alpha, rho, delta); err != nil {
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
	if err := checkConversion(alpha, rho, delta); err != nil {
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
	if err := checkConversion(2, rho, delta); err != nil {
		return 0, err
	}
	r := num.FromRat(num.Decimal(rho))
	log := num.FromInt(0).Sub(num.Log(num.FromRat(num.Decimal(delta))))
	return r.Add(num.FromInt(2).Mul(num.Sqrt(r.Mul(log)))).DecimalUp(), nil
}

// ZCDPFor returns the largest ρ for which ρ-zCDP is (ε, δ)-DP by EpsilonFromZCDP, rounded
// down:
//
//	ρ = ε²/(√(ln(1/δ)+ε) + √ln(1/δ))²,
//
// which is (√(ln(1/δ)+ε) - √ln(1/δ))² without its cancellation. It takes ε > 0 finite and
// δ in (0,1).
func ZCDPFor(target Cost) (float64, error) {
	if err := cmp.Or(check.Positive("epsilon", target.Epsilon), check.Within("delta", target.Delta)); err != nil {
		return 0, err
	}
	l := -logDown(target.Delta)
	r := target.Epsilon / (math.Sqrt(l+target.Epsilon) + math.Sqrt(l))
	return r * r * (1 - num.Margin), nil
}

// ZCDPOrder returns the order of the smallest ρα + ln(1/δ)/(α-1): α* = 1 + √(ln(1/δ)/ρ).
// (The source prints it without the 1, which is not optimal.)
func ZCDPOrder(rho, delta float64) float64 { return 1 + math.Sqrt(-math.Log(delta))/math.Sqrt(rho) }

func checkConversion(alpha, rho, delta float64) error {
	return cmp.Or(check.Order(alpha), check.Epsilon("rho", rho), check.Within("delta", delta))
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
	return max(0, rho+a-b+num.Margin*size)
}

func classicalEpsilon(alpha, rho, delta float64) float64 {
	return (rho + (4*0x1p-53-logDown(delta))/(alpha-1)) * (1 + num.Margin) // the 4 units as above
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
	return sum + num.Margin*size
}

// expUp returns e^x rounded up, at least the smallest positive float64.
func expUp(x float64) float64 {
	return math.Exp(x)*(1+num.Margin) + math.SmallestNonzeroFloat64
}

// zcdp returns the ρ of zero-concentrated differential privacy that the charges add up
// to: 1/(2σ²) for Gaussian noise, s²/(2σ²) if discrete, ε²/2 for pure ε-DP, rounded up.
// Bun and Steinke (2016), Propositions 1.4 and 1.6, Lemma 1.7; Canonne, Kamath and Steinke
// (2020), Theorem 4.
func zcdp(charges []Charge) (float64, error) {
	sum := num.FromInt(0)
	for _, c := range charges {
		f, err := factsOf(c.Event)
		if err == nil && f.twoRho == nil {
			err = unsupported("zCDP", c.Event)
		}
		if err != nil {
			return 0, err
		}
		sum = sum.Add(num.FromRat(f.twoRho.Mul(f.twoRho, big.NewRat(int64(c.Count), 2))))
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

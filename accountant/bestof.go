package accountant

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/num"
)

// BestOf returns the event of running a mechanism K times, each with fresh randomness, and
// releasing the one run whose outcome is best in a fixed order, ties included: K of the law, and
// where K = 0 something fixed. The order may look at the outcome only. A score that it goes by has
// to be part of the outcome, and base its event: one that is worked out on private records without
// noise, or with noise that base does not count, is not covered.
//
// With ρ the mechanism's Rényi divergence, its event's at order λ is, for any λ̂ ≥ 1 of the truncated
// negative binomial law,
//
//	ρ(λ) + (1+η)·((1-1/λ̂)·ρ(λ̂) + ln(1/γ)/λ̂) + ln(E[K])/(λ-1),
//
// and for Poisson's, where the mechanism is (ln(1+1/(λ-1)), δ̂)-DP,
//
//	ln( e^-μ + μ·e^{(λ-1)(ρ(λ) + μδ̂)} )/(λ-1).
//
// A mechanism that is ε-DP by itself makes (2+η)ε-DP of the first. All are rounded up. Base must
// have a finite divergence at some order.
//
// # Proof
//
// Let f be the generating function of K. The best outcome y has probability f(Q(≤y)) - f(Q(<y)) =
// Q(y)·E[f′(u)], u uniform on [Q(<y), Q(≤y)], so it is what is left of (y, u) with density Q·f′(u).
// Against a neighbour Q′, with u′ at the same place of [Q′(<y), Q′(≤y)],
//
//	e^{(λ-1)D} ≤ Pr[K = 0] + e^{(λ-1)ρ(λ)}·sup f′(u)^λ·f′(u′)^{1-λ},
//
// and u, u′ are probabilities of one event under Q and Q′ (the outcomes before y, and y with a coin).
// For Poisson's law f′(u) = μe^{μ(u-1)}, so that the supremum is of μ·e^{μ((λ-1)(1-u′) - λ(1-u))};
// 1-u′ ≤ e^ε̂(1-u) + δ̂ with e^ε̂ = λ/(λ-1) makes it at most μ·e^{μ(λ-1)δ̂}. The source leaves out
// Pr[K = 0], without which the figure can be below 0. For the other f′(u) = E[K]·(a/γ)^{-1-η} with
// a = γ+(1-γ)(1-u) ≥ γ, and a′^λ̂·a^{1-λ̂} ≤ e^{(λ̂-1)ρ(λ̂)} by the divergence of that event (or a
// certain one) from its complement, to the power (λ-1)(1+η)/λ̂, makes it the figure above.
//
// Sources: Papernot and Steinke, Hyperparameter Tuning with Rényi Differential Privacy (2022),
// Theorems 2 and 6, Lemma 7; Liu and Talwar, Private Selection from Private Candidates (2019).
func BestOf(base Event, runs Stopping) (Curve, error) {
	if runs == (Stopping{}) {
		return Curve{}, fmt.Errorf("the law of the number of runs must be stated: %w", ErrUnsupported)
	}
	charges := []Charge{{base, 1}}
	if err := checkEvent(base); err != nil {
		return Curve{}, err
	}
	charges, err := flatten(nil, charges[0])
	if err != nil {
		return Curve{}, err
	}
	sum, err := newRDPSum(charges)
	if err != nil {
		return Curve{}, fmt.Errorf("the best of a random number of runs: %w", err)
	}
	var points []CurvePoint // of base
	for _, alpha := range sum.grid() {
		if rho := sum.at(alpha); !math.IsInf(rho, 1) && !math.IsNaN(rho) {
			points = append(points, CurvePoint{alpha, rho})
		}
	}
	pure := math.Inf(1)
	if parts, err := guarantees(charges); err == nil {
		if total, err := BasicHeterogeneous(parts); err == nil && total.Delta == 0 {
			pure = total.Epsilon
		}
	}
	curve := runs.negativeBinomial(points, pure)
	if runs.poisson {
		curve = runs.poissonCurve(charges, points, pure)
	}
	// Divergences rise with the order, so that a bound at one is a bound at those below.
	least := math.Inf(1)
	for i := len(curve) - 1; i >= 0; i-- {
		least = min(least, curve[i].Rho)
		curve[i].Rho = least
	}
	curve = slices.DeleteFunc(curve, func(p CurvePoint) bool { return math.IsInf(p.Rho, 1) })
	if len(curve) == 0 {
		return Curve{}, unsupported("finite Rényi divergence", base)
	}
	return NewCurve(base.Relation(), fmt.Sprintf("best of K runs, K %v", runs), curve)
}

// grid returns orders from 1+2⁻¹⁰ to 1+2³⁰, and those at which a part has to be asked.
func (s rdpSum) grid() []float64 {
	high := anyOrder
	var orders []float64
	for _, k := range s.known {
		high = min(high, k.maxOrder)
		orders = append(orders, k.orders...)
	}
	for j := -60; j <= 180; j++ {
		orders = append(orders, 1+math.Exp2(float64(j)/6))
	}
	if high < anyOrder {
		orders = append(orders, high)
	}
	slices.Sort(orders)
	orders = slices.Compact(orders)
	return slices.DeleteFunc(orders, func(a float64) bool { return a > high })
}

// roundUp makes up for the rounding of a few operations on numbers ≥ 0.
func roundUp(x float64) float64 { return x*(1+num.SumMargin) + num.Tiny }

func (s Stopping) negativeBinomial(base []CurvePoint, pure float64) []CurvePoint {
	log := -math.Log(s.gamma) * (1 + num.Margin) // ln(1/γ)
	extra := min(log, pure)                      // λ̂ = 1, and λ̂ → ∞ for an ε-DP mechanism
	for _, p := range base {
		extra = min(extra, (1-1/p.Alpha)*p.Rho+log/p.Alpha)
	}
	extra *= 1 + s.eta
	logMean := math.Log(s.Mean()) + num.Margin
	all := (2 + s.eta) * pure
	curve := make([]CurvePoint, len(base))
	for i, p := range base {
		rho := roundUp(p.Rho + extra + logMean/(p.Alpha-1))
		if !math.IsInf(all, 1) {
			rho = min(rho, responseRDP(roundUp(all), p.Alpha))
		}
		curve[i] = CurvePoint{p.Alpha, rho}
	}
	return curve
}

func (s Stopping) poissonCurve(charges []Charge, base []CurvePoint, pure float64) []CurvePoint {
	normal, err := summedNoise(charges)
	gaussian := err == nil
	curve := make([]CurvePoint, len(base))
	for i, p := range base {
		m := p.Alpha - 1
		epsilon := math.Log1p(1/m) * (1 - num.Margin)
		delta := 1.0
		switch {
		case epsilon >= pure:
			delta = 0
		case gaussian:
			delta = gaussianDelta(num.Decimal(normal), num.Decimal(epsilon))
		default:
			for _, q := range base {
				delta = min(delta, expUp(improvedLogDelta(q.Alpha, q.Rho, epsilon)))
			}
		}
		x := m*(p.Rho+s.mu*delta) + math.Log(s.mu) // ≥ 0 as μ ≥ 1
		// ln(e^-μ + e^x) = x + ln(1 + e^{-μ-x})
		curve[i] = CurvePoint{p.Alpha, roundUp((x + math.Log1p(math.Exp(-s.mu-x)) + num.Margin*(1+math.Abs(x))) / m)}
	}
	return curve
}

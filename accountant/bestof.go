package accountant

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/darrm/darrm/internal/num"
)

// BestOf returns the event of running a mechanism K times, each with fresh randomness, and
// releasing the one run whose outcome is best in a fixed order, ties included: K of the law, and
// where K = 0 something fixed. The order may look at the outcome only. A score that decides the
// order must be part of the outcome, and base must cover it: a score from private records without
// noise, or with noise that base does not count, is not covered.
//
// With ρ the mechanism's Rényi divergence, its event's at order λ is, for any λ̂ ≥ 1 of the
// truncated negative binomial law,
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
// and u, u′ are probabilities of one event under Q and Q′ (the outcomes before y, and y with a
// coin). For Poisson's law f′(u) = μe^{μ(u-1)}, so that the supremum is of μ·e^{μ((λ-1)(1-u′) -
// λ(1-u))}; 1-u′ ≤ e^ε̂(1-u) + δ̂ with e^ε̂ = λ/(λ-1) makes it at most μ·e^{μ(λ-1)δ̂}. The source
// leaves out Pr[K = 0], without which the figure can be below 0. For the other f′(u) =
// E[K]·(a/γ)^{-1-η} with a = γ+(1-γ)(1-u) ≥ γ, and a′^λ̂·a^{1-λ̂} ≤ e^{(λ̂-1)ρ(λ̂)} by the
// divergence of that event (or a certain one) from its complement, to the power (λ-1)(1+η)/λ̂,
// makes it the figure above.
//
// Sources: Papernot and Steinke, Hyperparameter Tuning with Rényi Differential Privacy (2022),
// Theorems 2 and 6, Lemma 7; Liu and Talwar, Private Selection from Private Candidates (2019).
func BestOf(base Event, runs Stopping) (Curve, error) {
	if runs == (Stopping{}) {
		return Curve{}, fmt.Errorf("the law of the number of runs must be stated: %w", ErrUnsupported)
	}
	charges, sum, err := divergences(base)
	if err != nil {
		return Curve{}, fmt.Errorf("the best of a random number of runs: %w", err)
	}
	points := sum.points(sum.grid())
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
	return risingCurve(base.Relation(), fmt.Sprintf("best of K runs, K %v", runs), curve)
}

// OneOf returns the event of running one of the mechanisms. Coins or earlier releases decide which
// one, and the choice is public. Its divergence is at most the largest of theirs.
func OneOf(events ...Event) (Event, error) {
	if len(events) == 0 {
		return nil, fmt.Errorf("one of no events: %w", ErrUnsupported)
	}
	relation := events[0].Relation()
	var sums []rdpSum
	var orders []float64
	for i, e := range events {
		if e.Relation() != relation {
			return nil, fmt.Errorf("%v is for %q but %v is for %q: %w", events[0], relation, e, e.Relation(),
				ErrUnsupported)
		}
		if i > 0 && reflect.DeepEqual(e, events[i-1]) {
			continue
		}
		_, sum, err := divergences(e)
		if err != nil {
			return nil, err
		}
		sums, orders = append(sums, sum), append(orders, sum.grid()...)
	}
	if len(sums) == 1 {
		return events[0], nil
	}
	slices.Sort(orders)
	orders = slices.Compact(orders)
	worst := map[float64]float64{}
	for _, s := range sums {
		for _, p := range s.points(orders) {
			worst[p.Alpha] = max(worst[p.Alpha], p.Rho)
		}
		for _, a := range orders {
			if a > s.high() {
				worst[a] = math.Inf(1)
			}
		}
	}
	var curve []CurvePoint
	for _, a := range orders {
		curve = append(curve, CurvePoint{a, worst[a]})
	}
	return risingCurve(relation, fmt.Sprintf("the worst of %d mechanisms", len(sums)), curve)
}

// divergences returns an event's parts and the sum of their divergences.
func divergences(e Event) ([]Charge, rdpSum, error) {
	if err := checkEvent(e); err != nil {
		return nil, rdpSum{}, err
	}
	charges, err := flatten(nil, Charge{e, 1})
	if err != nil {
		return nil, rdpSum{}, err
	}
	sum, err := newRDPSum(charges)
	return charges, sum, err
}

// risingCurve is NewCurve for bounds at ascending orders that need not rise and may be +Inf.
// Divergences rise with the order, so a bound at one order holds at all smaller ones.
func risingCurve(relation Relation, theorem string, points []CurvePoint) (Curve, error) {
	least := math.Inf(1)
	for i := len(points) - 1; i >= 0; i-- {
		least = min(least, points[i].Rho)
		points[i].Rho = least
	}
	points = slices.DeleteFunc(points, func(p CurvePoint) bool { return math.IsInf(p.Rho, 1) })
	if len(points) == 0 {
		return Curve{}, fmt.Errorf("finite Rényi divergence of %s: %w", theorem, ErrUnsupported)
	}
	return NewCurve(relation, theorem, points)
}

// high returns the largest order that all charges have.
func (s rdpSum) high() float64 {
	high := anyOrder
	for _, k := range s.known {
		high = min(high, k.maxOrder)
	}
	return high
}

// points returns the finite divergences at orders that all charges have.
func (s rdpSum) points(orders []float64) []CurvePoint {
	var points []CurvePoint
	high := s.high()
	for _, alpha := range orders {
		if alpha > high {
			break
		}
		rho := s.at(alpha)
		if math.IsNaN(rho) {
			rho = math.Inf(1)
		}
		points = append(points, CurvePoint{alpha, rho})
	}
	return points
}

// grid returns orders from 1+2⁻¹⁰ to 1+2³⁰, and those at which a part has to be asked.
func (s rdpSum) grid() []float64 {
	high := s.high()
	var orders []float64
	for _, k := range s.known {
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
		curve[i] = CurvePoint{p.Alpha,
			roundUp((x + math.Log1p(math.Exp(-s.mu-x)) + num.Margin*(1+math.Abs(x))) / m)}
	}
	return curve
}

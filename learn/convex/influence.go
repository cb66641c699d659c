package convex

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/train"
)

// influence sums a record's privacy losses in a round, over the steps from the one that reads it.
type influence struct {
	pure, rho float64 // Σε and Σρ of the worst batch
}

// influences returns the worst batch's Σε and Σρ for a round of the given batch sizes and
// noise scale: the source's uniform account (every step as bad as the worst) gives √2·ε, this
// keeps its noise.
//
// A record of batch k moves the estimate of step k by at most moved_k, and at a later step t by
// that times Π_{j=k+1..t}(1-η_j): given the vertices chosen, iterates and the gradients of all
// other records are the same for neighbours. Scores ⟨v, G⟩/s·2³⁰ change by at most D times
// that, in their range, and by rounding: 1/2 unit and float errors, for two vertices in two
// worlds. The batches of a round do not compose in parallel, since the estimate carries over;
// rounds do, since each starts a new estimate.
func (s smooth) influences(sizes []float64, scale, float float64, c choice) (worst influence) {
	unit := 1.0
	if c.rule == Sup {
		unit = 2
	}
	fixed := unit * (4*float/scale + 3.0/selectionScale)
	// Σ_{t≥k} of the products, and of their squares, from the last step backwards.
	sum, squares, steps := 0.0, 0.0, 0.0
	for k := len(sizes) - 1; k >= 0; k-- {
		keep := 1 - stepSize(k+1)
		sum, squares, steps = 1+keep*sum, 1+keep*keep*squares, steps+1
		first := unit * s.diameter * s.movedBy(k, sizes[k]) / scale
		pure := first*sum + fixed*steps
		worst.pure = max(worst.pure, pure*(1+slack))
		// Σ(x+f)² = Σx² + 2fΣx + kf².
		worst.rho = max(worst.rho, c.rho(1)*(first*first*squares+2*fixed*first*sum+fixed*fixed*steps)*
			(1+slack))
	}
	return worst
}

// influenceCurve is the event of a run where a record is in one of several parts. Part i is pure_i-DP
// and ρ_i-zCDP: no divergence is above the largest of theirs.
func influenceCurve(relation accountant.Relation, theorem string,
	parts []influence) (accountant.Event, error) {
	points := make([]accountant.CurvePoint, 0, curveOrders)
	for i := range curveOrders {
		alpha, rho := curveOrder(i), 0.0
		for _, p := range parts {
			rho = max(rho, min(p.pure, alpha*p.rho)*(1+0x1p-48))
		}
		points = append(points, accountant.CurvePoint{Alpha: alpha, Rho: rho})
	}
	return accountant.NewCurve(relation, theorem, points)
}

// largestRho returns a ρ near the largest that meets the target, from below.
func largestRho(relation accountant.Relation, target accountant.Cost) (float64, error) {
	low, err := accountant.ZCDPFor(target) // by the older conversion, so it fits
	if err != nil {
		return 0, err
	}
	s := train.Search{Start: low, Least: low / 2, Most: 4 * low, Growing: true, Tolerance: 1e-9}
	rho, _, err := train.Calibrate(context.Background(), target.Epsilon, s,
		func(rho float64) (float64, error) { return rhoEpsilon(relation, rho, target.Delta) })
	if err != nil {
		return 0, fmt.Errorf("no rho meets %v: %w", target, err)
	}
	return rho, nil
}

// rhoEpsilon returns ε of ρ-zCDP at δ, by the tight conversion.
func rhoEpsilon(relation accountant.Relation, rho, delta float64) (float64, error) {
	curve, err := zcdpCurve(relation, rho, "zero-concentrated differential privacy")
	if err != nil {
		return 0, err
	}
	best, err := train.LeastEpsilon(curve, relation, delta, accountant.MethodRDP)
	return best.Cost.Epsilon, err
}

// curveOrders is the number of orders of a curve. With so many, rounding to the next order costs a
// few parts in 10⁵.
const curveOrders = 1400

// curveOrder returns order i, from 1.0001 to 1e8.
func curveOrder(i int) float64 { return 1 + 1e-4*math.Exp(float64(i)*0.02) }

// zcdpCurve returns the event of a mechanism that is ρ-zCDP by the named theorem.
func zcdpCurve(relation accountant.Relation, rho float64,
	theorem string) (accountant.Event, error) {
	return influenceCurve(relation, theorem, []influence{{math.Inf(1), rho}})
}

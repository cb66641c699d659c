package lp_test

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/lp"
)

// Check returns an error unless sol satisfies the conditions of optimality of p
// with rows (Karush, Kuhn and Tucker), each within tol: it is independent of the check
// that package lp makes itself.
//
//	l ≤ x ≤ u exactly, A x ≤ b, y ≥ 0 exactly       feasibility
//	y_i (A_i x - b_i) = 0                           complementary slackness
//	d_j > 0 ⇒ x_j = l_j,  d_j < 0 ⇒ x_j = u_j       with d = c + Aᵀy
//	c·x = objective = Lagrangian bound              strong duality
//
// Rows and costs are compared in units of their largest coefficient. It
// is meant for bounds of about 1 in size.
func Check(p lp.Problem, rows []lp.Row, sol lp.Solution, tol float64) error {
	n := len(p.C)
	if sol.Status != lp.Optimal {
		return fmt.Errorf("status %v, want optimal", sol.Status)
	}
	if len(sol.X) != n || len(sol.Dual) != len(rows) {
		return fmt.Errorf("%d values and %d multipliers, want %d and %d", len(sol.X), len(sol.Dual), n,
			len(rows))
	}
	costUnit := largest(p.C)
	objective := 0.0
	reduced := make([]float64, n)
	for j, x := range sol.X {
		if !(x >= p.Lower[j] && x <= p.Upper[j]) {
			return fmt.Errorf("x[%d] = %g is outside [%g, %g]", j, x, p.Lower[j], p.Upper[j])
		}
		objective += p.C[j] * x
		reduced[j] = p.C[j] / costUnit
	}
	bound := 0.0
	for i, r := range rows {
		unit := largest(r.Coef)
		slack := r.RHS / unit
		// The multiplier of the row and costs in their units.
		y := sol.Dual[i] * (unit / costUnit)
		for j, a := range r.Coef {
			slack -= a / unit * sol.X[j]
			reduced[j] += a / unit * y
		}
		bound -= y * (r.RHS / unit)
		if slack < -tol {
			return fmt.Errorf("row %d is broken by %g", i, -slack)
		}
		if !(y >= 0) {
			return fmt.Errorf("multiplier %d is %g, want at least 0", i, y)
		}
		if y*slack > tol {
			return fmt.Errorf("row %d has slack %g and the multiplier %g", i, slack, y)
		}
	}
	for j, d := range reduced {
		at := p.Lower[j]
		if d < 0 {
			at = p.Upper[j]
		}
		if math.IsInf(at, 0) {
			if math.Abs(d) > tol {
				return fmt.Errorf("column %d has reduced cost %g and no bound there", j, d)
			}
			continue
		}
		if math.Abs(d*(sol.X[j]-at)) > tol {
			return fmt.Errorf("x[%d] = %g with reduced cost %g, want %g", j, sol.X[j], d, at)
		}
		bound += d * at
	}
	if math.Abs(sol.Objective-objective) > tol*costUnit {
		return fmt.Errorf("objective %g, want C·X = %g", sol.Objective, objective)
	}
	if math.Abs(objective/costUnit-bound) > tol*float64(n+1) {
		return fmt.Errorf("duality gap: objective %g, bound %g, in units of the largest cost",
			objective/costUnit, bound)
	}
	if sol.Bound > sol.Objective+tol*costUnit || sol.Bound < sol.Objective-tol*costUnit*float64(n+1) {
		return fmt.Errorf("bound %g, objective %g", sol.Bound, sol.Objective)
	}
	if !(sol.PrimalResidual >= 0 && sol.PrimalResidual <= tol) {
		return fmt.Errorf("primal residual %g, want at most %g", sol.PrimalResidual, tol)
	}
	return nil
}

// largest returns the largest |v|, 1 for zeros.
func largest(v []float64) float64 {
	most := 0.0
	for _, a := range v {
		most = max(most, math.Abs(a))
	}
	if most == 0 {
		return 1
	}
	return most
}

package lp

import "math"

// dualSlack is the largest distance below 0 at which a scaled multiplier counts as a rounded 0. One
// further below is wrong.
const dualSlack = 1e-9

// finish turns a solver's scaled answer, x and the multipliers of the scaled
// rows, into a Solution, and checks it: shapes, NaN, bounds, rows as they were given,
// and the gap between the objective and the Lagrangian bound. HiGHS does not check
// the primal residuals of basic solutions again, and the simplex method of this package stops
// within tolerances.
// Cost: O(rows·n).
func (m *model) finish(x, scaledDual []float64) (Solution, error) {
	p := m.problem
	n := len(p.C)
	if len(x) != n || len(scaledDual) != len(m.rows) {
		return Solution{}, statusErrorf(Numerical,
			"solver returned %d values and %d multipliers for %d columns and %d rows", len(x),
			len(scaledDual), n, len(m.rows))
	}
	sol := Solution{Status: Optimal, X: make([]float64, n), Dual: make([]float64, len(m.rows))}

	size := 1.0 // max(1, max|X|)
	for j, v := range x {
		if !finite(v) {
			return Solution{}, statusErrorf(Numerical, "solver returned x[%d] = %g", j, v)
		}
		clipped := min(max(v, p.Lower[j]), p.Upper[j])
		if off := math.Abs(v - clipped); off > Tolerance*max(1, math.Abs(clipped)) {
			return Solution{}, statusErrorf(Numerical, "x[%d] = %g is outside [%g, %g] by %g", j, v,
				p.Lower[j], p.Upper[j], off)
		}
		sol.X[j] = clipped
		size = max(size, math.Abs(clipped))
	}
	sol.Objective = dot(p.C, sol.X)

	// Everything below in scaled units, where nothing over- or underflows.
	reduced := m.scaledCost()
	bound, weight := 0.0, 0.0
	for i, r := range m.rows {
		y := scaledDual[i]
		if !finite(y) || y < -dualSlack {
			return Solution{}, statusErrorf(Numerical,
				"solver returned the multiplier %g for row %d, want at least 0", y, i)
		}
		y = max(y, 0)
		sol.Dual[i] = math.Ldexp(y, m.costExp-r.exp)

		// The row as it was given: with what scaling dropped.
		var activity float64
		rhs := math.Ldexp(r.orig.RHS, -r.exp)
		for j, a := range r.orig.Coef {
			a = math.Ldexp(a, -r.exp)
			activity += a * sol.X[j]
			reduced[j] += y * a
		}
		if y > 0 {
			bound -= y * rhs
			weight += y
		}
		residual := activity - rhs
		if residual > Tolerance*max(1, math.Abs(rhs)) {
			return Solution{}, statusErrorf(Numerical,
				"row %d is broken by %g, scaled to largest coefficient 1", i, residual)
		}
		sol.PrimalResidual = max(sol.PrimalResidual, residual)
	}
	for j, d := range reduced {
		at := p.Lower[j]
		if d < 0 {
			at = p.Upper[j]
		}
		if math.IsInf(at, 0) {
			if math.Abs(d) > Tolerance {
				return Solution{}, statusErrorf(Numerical,
					"column %d has reduced cost %g and no bound on that side", j, d)
			}
			at = sol.X[j] // within the tolerance, d is 0
		}
		bound += d * at
	}
	objective := math.Ldexp(sol.Objective, -m.costExp)
	if gap := objective - bound; !(gap <= Tolerance*(float64(n)*size+weight)) {
		return Solution{}, statusErrorf(Numerical,
			"objective exceeds its bound by %g, scaled to largest cost 1", gap)
	}
	sol.Bound = math.Ldexp(bound, m.costExp)
	return sol, nil
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

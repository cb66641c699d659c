// Package lp solves the small, dense linear programs of the cutting-plane loop,
// with a choice of solver behind one interface.
//
// Use [New]: it takes the best solver of this build. A [Solver] keeps its basis,
// so that rows may be added to a solved program and the next Solve starts from
// where the last one ended:
//
//	s, err := lp.New(lp.Problem{C: c, Lower: lo, Upper: up})
//	defer s.Close()
//	for {
//		err = s.AddRows(violated)
//		sol, err := s.Solve(ctx)
//		…
//	}
//
// # Notation
//
//	minimise  c·x   subject to   A x ≤ b,   l ≤ x ≤ u
//
//	symbol   Go                   meaning
//	n        len(Problem.C)       number of columns (variables)
//	c        Problem.C            cost
//	l, u     Problem.Lower/Upper  bounds, ±Inf where there is none
//	A_i, b_i Row.Coef, Row.RHS    row i, counted from 0 in the order of AddRows
//	x        Solution.X           primal solution
//	y        Solution.Dual        multipliers of the rows, y ≥ 0
//	d        (not stored)         reduced cost, d = c + Aᵀy
//	L(y)     Solution.Bound       -y·b + Σ_j min(d_j l_j, d_j u_j), at most the optimum
//
// # What an answer is worth
//
// An answer is optimal within tolerances, no more. Both solvers' answers are
// checked here, in Go, against the rows as they were given: [Tolerance] bounds the amount by which
// x may break a row and the objective may lie above L(y). An answer that fails is an error, but one
// that passes may still break a row by the tolerance. Whoever claims privacy from x must certify x
// by other means.
//
// # Builds
//
// Plain Go has a simplex method for dense programs: see [NewSimplex]. HiGHS
// (https://highs.dev, at least 1.7) comes with -tags highs and needs cgo;
// `eval "$(scripts/highs env)"` finds or builds it, and sets the tag. [Backend] names the solver of
// a build.
package lp

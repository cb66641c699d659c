// Package solve finds the optimal noise function: Optimal by linear programming,
// Cached the same with a cache in front. Both return certified tables only; what the LP
// solver says is a proposal, and what the cache says is a claim.
//
// # The linear program
//
//	maximise Σ_{l<K/2} weight(l)·γ(l)          (in the worst case: min_l γ(l))
//	subject to  Σ_l row_i(l)·γ(l) ≤ r  for every multiset i,   0 ≤ γ ≤ 1
//
// with weights from gamma.Objective and rows from constraints.System; for shape
// monotone also γ(l+1) ≤ γ(l).
//
// # Cutting planes
//
// There are C(K+7,7) rows and only ⌈K/2⌉ variables, so nearly all rows are
// slack. CuttingPlanes keeps a small program: solve it, search the complete set
// exactly for violated rows (constraints.System.Separate), add the worst, solve
// again from the old basis, until none is violated. Each relaxation's optimum is a
// bound on what any private γ can reach, so the last one proves optimality.
// Exhaustive hands every row to the solver, as the source does, for checking.
package solve

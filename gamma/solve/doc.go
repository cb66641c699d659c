// Package solve finds the optimal noise function: Optimal by linear programming,
// Cached the same with a cache in front. Both return certified tables only; what the LP
// solver says is a proposal, and what the cache says is a claim.
//
// # The linear program
//
//	maximise Σ_{l<K/2} weight(l)·γ(l)          (in the worst case: min_l γ(l))
//	subject to  Σ_l row_i(l)·γ(l) ≤ r  for every multiset i,   0 ≤ γ ≤ 1
//
// and for shape monotone also γ(l+1) ≤ γ(l). Shape any has -1 ≤ γ instead of 0 ≤ γ.
//
//	K, m, ε, Δ, δ   constraints.Problem
//	γ(l), l < K/2   free, the program's variables    gamma.Func afterwards
//	weight(l)       gamma.Objective.Weights
//	row_i(l)        constraints.System.Row
//	r               constraints.System.RHS           rounded down
//	y_i             gamma.Proof                      multipliers, which prove the lower bound
//
// # Cutting planes
//
// There are C(K+7,7) rows and only ⌈K/2⌉ variables, so nearly all rows are
// slack. CuttingPlanes keeps a small program: solve it, search for violated rows, add
// some, solve again from the old basis, until none is violated. Each relaxation's optimum
// is a bound on what any private γ can reach, so the last one proves optimality.
//
// Two things keep the rounds few. The search names the local maxima of the left-hand side,
// so that all dips of γ are repaired at once; and rows of neighbouring multisets, which are
// nearly the same, are not added together. Nearly all tight rows have few teachers at (b,a),
// so the search looks there first, to first order in Δ, which costs O(K²). It looks at
// the rest where that finds nothing, and ends with the complete and exact search.
//
// For more than 256 teachers the first search looks only at the numbers of teachers at (b,a) that rows
// have, at points between a private function and the relaxation's optimum (between.go), and the next
// one at exact values of the splits that are likely the worst: KΔ need not be small.
//
// For more than 256 teachers half of them come first: their optimum, asked of teachers that are drawn,
// is private for all, and nearly optimal (half.go). The searches begin there.
//
// The loop ends where no constraint is broken by more than the certificate's shrinking repairs
// cheaply, or where a certified function is within 1e-10 of the bound (1e-8 for more than 512
// teachers): beside a constant, thousands of multisets are the worst but for rounding errors. Where
// HiGHS fails, plain Go's solver begins anew; where that fails, or where Options.Work is taken
// (solve.go), the loop ends with the best certified function, the last relaxation's proof, and the gap
// that this proof shows.
//
// Where γ comes from proves nothing. It is rounded down to multiples of 2⁻⁵³, and one more
// complete search, of that very function, is its certificate (gamma.CertifyLargest).
//
// # Rare vote counts
//
// A weight below the solver's tolerance leaves γ(l) anywhere, although real queries may have
// just that count. A second program raises γ there, by the same weights made large enough to
// be seen, where the objective cannot tell the difference (rare.go). The first program's
// multipliers stay the proof; error and gap are those of the stated objective. For more than 512
// teachers there is none.
//
// Exhaustive hands every row to the solver, as the source does, for checking.
package solve

// Package solve makes tables for many answers (package plurality/answers). It returns certified
// tables only: what quadrature, bisection and solvers say is a proposal.
//
// # Normal noise, priced by its label
//
// Normal noise of deviation σ is added to each class's count, and the class with the largest one is
// the label:
//
//	p(λ,v) = ∫ φ(x)·Φ(x)^(n_v-1)·Π_{u≠v} Φ(x + (v-u)/σ)^n_u dx
//
// with n_u classes of u votes. The probabilities are made by one rule (noise.NormalMax), rounded to
// integers, and these are priced: only the label leaves, so that it costs less than the noisy
// counts.
//
// # Two classes: chains
//
// A rule about the probabilities of neighbours says the largest that a neighbour of p may have
// (answers.Link). The best table under a rule is chains of leads that are 2t apart, each link the
// largest that the rule allows, of which the beginnings are chosen by the prior
// (answers.Problem.Window). At t = 1 nothing is left to choose. There are three rules:
//
//   - Σ P^α·P'^(1-α) ≤ 1 + R in both orders.
//   - Q coins of both biases are (ε', δ)-indistinguishable, for few answers. At one answer and ε' =
//     ε no table is better. The search is a bisection of ε': Rényi composition tells nothing of few
//     answers.
//   - Each answer is (ε₁, δ₁)-DP by itself, for few answers: ε₁ is the largest by exact composition,
//     for some δ₁ up to δ/Q. What it costs needs no game.
//
// # More classes: a convex program
//
// Of all tables with Σ P^α·P'^(1-α) ≤ 1 + R for all neighbours, the one that agrees most often
// under the prior is found by tangents of the left side, which is convex: see program. Its
// multipliers prove Table.LawBound.
//
// # The search
//
// Each kind is a family of tables of one parameter, σ, R or ε', and the least private one that
// keeps the promise is sought (family.calibrate). A model that costs one pass over the pairs says
// where: the price of the dearest pair alone, which is a sum over a binomial law, or Rényi
// composition for more classes. Each is off by nearly the same factor of δ everywhere, which one
// exact price corrects; the second one is that of the table. Few answers take more of them, of
// milliseconds each. A table is returned only after it was priced itself.
//
// Tables of few answers are priced on finer lattices, since one whose ratios are few is dear on a
// coarse one.
//
//	σ, R   exp(x) and exp(-2x) of family's x
//	α      Options.Order
package solve

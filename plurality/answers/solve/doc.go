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
// # Two classes at t = 1: the chain
//
// From a tie on, each probability of the class that leads is the largest of which the coin, beside
// the one before, has Σ P^α·P'^(1-α) ≤ 1 + R in both orders. All are the largest possible at once:
// where p ≤ p' ≤ q, the coins of p' and q are a post-processing of those of p and q. So no table
// under that bound agrees more often, whatever the prior. For t ≥ 2 no table is largest everywhere.
//
// # Two classes, t = 1, few answers: the chain of Q coins
//
// Each probability is the largest of which Q coins, beside Q coins of the one before, are (ε',
// δ)-indistinguishable. At one answer and ε' = ε no table is better. The search is a bisection of
// ε': Rényi composition tells nothing of few answers.
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
//	σ, R   exp(x) and exp(-2x) of family's x
//	α      Options.Order
package solve

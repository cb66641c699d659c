// Package plan goes from a budget to a mechanism. The request states the privacy of K teachers, the
// number of them that one record reaches, and the budget (E, D) of all Q labels together. New
// returns the mechanisms that keep the budget, each with its noise, its expected agreement with the
// majority, and its cost by every bound.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is tried
//
//	frozen private teachers, t-fold (ε, Δ) ≤ (E, D)   no noise: labels are computed from the training
//	fresh private teachers                            DaRRM with the largest m ≤ t that fits; at m = t no noise
//	teachers that promise nothing, two classes        DaRRM, ε = ∞, with the largest ε₀ that fits
//	more classes, unless frozen teachers fit          the optimum of many classes with the largest ε₀ that fits, δ₀ = 0
//	in every other case besides                       gnmax, lnmax and others (ensemble.Mechanisms) with the largest ε₀ that fits
//
// Frozen private teachers whose training costs more than the budget are treated as teachers
// that promise nothing: their own randomness is the same in every label and does not add up.
// Mechanisms are ranked by expected agreement.
//
// # What fits
//
// Q labels of (ε₀, δ₀) fit if ensemble.Answers.Total ≤ (E, D), which is what a release is
// charged. Its composition spends δ′ besides:
//
//	δ′ = D - Qδ₀ rounded down, so that 1-(1-δ₀)^Q·(1-δ′) ≤ D
//	δ₀ = 0 or D/(2Q) rounded down; of private teachers 1-(1-Δ)^min(m,t)
//
// m and ε₀ are decimals of four digits, searched for downwards; the next decimal does not fit.
// δ₀, δ′ and m depend on the request only, never on votes, nor on what a budget has left.
//
// # What agreement is worth
//
// Expected agreement is over a Law of vote counts: a prior, or votes at hand. It decides how
// useful labels are and never whether they are private. The optimum of many classes is best for the
// prior (Accuracy is its mean), never for the votes at hand. But a choice among mechanisms by
// private votes is a release of its own, which no budget here covers: use a prior or public
// votes.
//
// # Notation
//
//	K, C           Request.K, Classes       teachers, classes
//	(ε, Δ)         Request.Each             what one teacher promises
//	t              Request.Reach            the most teachers that one record reaches
//	(E, D), Q      Request.Budget, Queries  what all labels may cost, and their number
//	m, (ε₀, δ₀)    Mechanism.Problem        what one label costs: ε₀ = mε of private teachers
//	δ′             Choice.Slack             spent on the composition
//	γ, σ, b        Choice.Mechanism         noise function, noise of counts
//
// Sources: S. Jiang, Communication Efficient and Differentially Private Optimization (2025),
// for DaRRM; Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy
// (2015), for compositions. Those of the other mechanisms are named in package ensemble.
package plan

// Package pairwise trains linear scores from pairs of examples, mostly for a high AUC:
// each step pairs the current example with the one before it, so that one example is kept and
// one gradient is worked out a step. Its private methods are
//
//	Cyclic      each phase visits its records 32 times or more in one order, with other partners
//	            each time: the default
//	OnePass     once: a gradient a record, and twice the noise per step
//	Localized   each phase draws its records (Algorithm 3), with six ways to the sensitivity
//	Minimised   noised minimisers over all pairs, for losses that are not smooth (Algorithm 5)
//	FullBatch   gradient descent over all pairs of a phase, the usual baseline (DPEGD)
//
// Metric learns a distance instead of a score, by the phases of OnePass.
//
// The others, SGD (Algorithm 1), Online (Algorithm 2), LocalizedSGD (Algorithm 4),
// RandomPairs, OLP, OAM and SPAUC, promise nothing. A method's parameters become a
// train.Plan, which is priced before any record is read; plan.Compare() has the other ways
// beside it.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is promised
//
// Models of the private methods are (ε, δ)-DP where one record is replaced, by the account of
// Price, in the real-number arithmetic of package train. Sensitivities rest on a public radius, to
// which records are shortened one by one and never refused, on slopes that are cut to their
// bound, and on steps of at most 2/L; on no convergence: Minimised ends at a certified gradient
// norm, and noise covers what that leaves open. Phases have their own records, fixed by their
// numbers, and no pair has records of two phases.
//
// A step size, a ball or a loss that was chosen by how well it does on the private records is
// not covered: choose them on public data, or pay for the choice.
//
// # Notation
//
//	n, d       Price.Records, Dim
//	f, ℓ       Setting.Loss              loss of a pair, of its margin
//	R          Setting.Radius            bound on ‖x‖
//	W, D       Setting.Ball, 2·Ball      a ball around 0 and its diameter
//	G, L       norm, smooth              bounds on ‖∇f‖ and ‖∇²f‖ within R and W
//	c          task.occurrence           an occurrence of a record moves a run by at most cGη
//	n_k, T_k   Block.To - From, steps    records and steps of phase k
//	η_k, ζ_k   Block.StepSize            step size; of Minimised the regulariser's scale
//	Δ_k, σ_k   Block.Sensitivity, Deviation
//	N, γ       occurrences               how often a record is drawn; the chance of more
//	S          averaged                  N, each draw times the share of the iterates that it moves
//	F_S        Risk                      mean loss over the n(n-1) ordered pairs
//
// Source: Yang, Lei, Wang, Yang and Ying, Simple Stochastic and Online Gradient Descent
// Algorithms for Pairwise Learning (2021). Where its constants do not hold the corrected are
// used: Lemma 7 wants √2 before its root for long runs, Algorithm 5's noise lacks a factor √2,
// its accuracy must hold with probability 1-δ/4, and Algorithm 3's step size is too large by
// ln²(4/δ).
package pairwise

// Package ensemble turns the votes of teachers into private labels.
//
// A Mechanism answers from vote counts, for any number of classes: DaRRM (two classes; any
// certified γ, so randomised response, subsampling and the optimum for teachers without
// privacy too), GNMax, ConfidentGNMax, LNMax and PermuteAndFlip. A constructor proves what
// its Mechanism promises, or there is none. Coins say where an answer's randomness comes
// from: the operating system, a job's key, or, for simulations, a seed.
//
// Compare puts all mechanisms that apply to given votes side by side at one (ε, δ), with
// expected scores; Mechanism.Evaluate scores one. Scores are not for release, nor is what
// GNMax's answers cost at the votes that were cast (AtVotes).
//
// # Which votes one record changes
//
// Noise on counts hides as many votes as it was made for: Setting.Affected. One vote is
// all that one record changes only where teachers were trained on disjoint data. DaRRM for
// private teachers hides what their votes say about a record, even if it reaches all.
//
// # Ties
//
// A tie is broken evenly among the classes that tie, with fresh randomness.
//
// # Notation
//
//	K              Setting.K                 number of teachers
//	L              counts[1]                 how many of them answer 1
//	n_c            counts[c]                 how many of them vote for class c
//	C, t           Setting.Classes, Affected classes; most votes that one record changes
//	γ              gamma.Func                noise function
//	Pr[1 | L]      Probabilities             (1+φ(L))/2, φ(l) = sign(l-K/2)·γ(l)
//	Pr[y | n]      Probabilities
//	(mε, δ)        PerAnswer                 what one answer costs
//	σ, σ₁          sigma, checkSigma         discrete Gaussian noise of counts, of the check
package ensemble

// Package ensemble turns the votes of K teachers into private labels, and bounds the joint cost of
// many labels.
//
// A Mechanism answers from vote counts, for any number of classes: DaRRM (two classes; any
// certified γ, so randomised response, subsampling and the optimum for teachers without
// privacy too), Plurality (many classes; any certified table, so the optimum), GNMax,
// ConfidentGNMax, LNMax and PermuteAndFlip. A constructor proves what
// its Mechanism promises, or there is none; Calibrated chooses the noise for a promise. Mechanisms
// describes them all: one table has their names, what each needs, and how each is made and planned.
// Coins are the source of an answer's randomness: the operating system, a job's key, or, for
// simulations, a seed.
//
// Answers is a series of answers. It knows that teachers who were trained once may not be
// charged like teachers who vote afresh: Total is one figure, Bounds all of them side by
// side, AnyNumber what further answers to the same votes cost, however many.
//
// Compare puts all mechanisms that apply to given votes side by side at one (ε, δ), with
// expected scores; Mechanism.Evaluate scores one. Scores are not for release, nor is what
// GNMax's answers cost at the votes that were cast (ComparisonRow.AtVotes).
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Which votes one record changes
//
// Noise on counts hides as many votes as it was made for: Setting.Affected. One vote is
// all that one record changes only where teachers were trained on disjoint data. DaRRM for
// private teachers hides what their votes say about a record, even if it reaches all.
//
// # At given votes
//
// The cost of an answer at the votes that were cast (DataDependent) is often far smaller than
// its cost at any votes. It is computed from private votes and therefore private itself. It is
// no guarantee of differential privacy: it bounds one direction of the divergence, at one
// dataset. Nothing can be charged with it. [Telling] tells others of it, with noise by its smooth
// sensitivity, as a mechanism with a price of its own.
//
// # Ties
//
// A tie is broken evenly among the classes that tie, with fresh randomness. An answer agrees with
// the majority if it is a class with the most votes, whichever of those that tie: labellaw.Plurality.
//
// # Notation
//
//	K              Setting.K                 number of teachers
//	C, t           Setting.Classes, Affected classes; most votes that one record changes
//	n_c            counts[c]                 how many teachers vote for class c
//	L              counts[1]                 how many vote for 1, of two classes
//	γ              gamma.Func                noise function
//	Pr[1 | L]      Probabilities             (1+φ(L))/2, φ(l) = sign(l-K/2)·γ(l)
//	Pr[y | n]      Probabilities             of a plurality g/(D·m): plurality.Certified.Mass
//	σ, σ₁          sigma, checkSigma         discrete Gaussian noise of counts, of the check
//	b              LNMax                     scale of discrete Laplace noise
//	(mε, δ)        PerAnswer                 what one answer costs
//	(ε, Δ)         Answers.Teachers          what one teacher costs
//	Q, δ'          Queries, Slack            number of answers; δ spent on their composition
package ensemble

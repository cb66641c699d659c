// Package answers holds tables for many answers: one randomised table that answers up to Q queries
// under one (ε, δ) for all of them together, its certificate, and bounds on how good such a table
// can be.
//
// To use a solved table, read it with Decode, which prices it again. To make one, see package
// plurality/answers/solve; this package needs no solver.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # The mechanism
//
// K teachers that promise nothing vote for one of C classes each, and one record changes at most t
// of the votes. Queries may be chosen after each label was seen. Each is answered with fresh noise
// from the same table, which gives each histogram of votes the probabilities of its labels. For one
// answer see package plurality, whose histograms, variables and pairs these are.
//
// All answers together are priced as a game (package accountant/game): an adversary knows all
// labels so far and picks the next pair of neighbouring histograms P, P',
//
//	W_0(x) = (1-x)₊,   W_n(x) = max over pairs Σ P·W_(n-1)(x·P'/P),   δ(ε) = W_Q(e^ε)
//
// No smaller δ is true, and the price of Q answers covers every smaller number of them, also one
// that depends on the labels. Every pair of the table at distance 1 to t is in the maximum, in both
// orders, with the classes matched by their names.
//
// A table of few answers may be certified by another proof: by the integers each answer is (ε₁,
// δ₁)-DP by itself, and Q of any such answers are composed exactly (game.Each). The certificate says
// which proof it has.
//
// # Votes that may be missing
//
// With Problem.Missing a vote is one of the classes or none. K is public and counts all teachers,
// and at most t of the K entries differ, a vote that comes or goes among them. How many votes there
// are is as private as the votes. A histogram has at most K votes, and every one is answered. For
// two classes only the lead counts, from 0 to K.
//
// # Notation
//
//	K, C, t, Q, ε, δ   Problem
//	λ, (λ,v)           histogram and variable of System.Space
//	g(λ,v), D          Certified.Mass, plurality.One = 2⁵³
//	h, s               Options.Step of package game: the lattice step h in units of s
//	d                  System.Lead: votes of the first class minus those of the second
//	a_d                Problem.Window: probability of the class that leads by d
//	σ                  Law.Sigma
//	α, R               Law.Order, Law.Moment
//	ε₁, δ₁             Certificate.Each: what each answer keeps by itself
//	w(λ)               Prior.Weights
//	y, ρ, U            Tangent.Value, Tangent.Ratios, Table.LawBound
//
// # What is proved, and of what
//
// The promise rests on the integers g alone: neither the law that a table is said to have, nor who
// made it, nor what the file states about itself enters the price. UpperBound holds for every table
// of two classes that is used for all Q answers, and LawBound for every table under the Law's
// Moment. Neither holds for mechanisms that change between answers.
package answers

// Package plurality holds mechanisms for the private plurality of many classes: their
// exact representation, their certificate, without which none of them may release anything,
// and proofs of how good they are.
//
// To use a solved table, read it with Decode, which certifies it again. To find the best
// mechanism, see package plurality/solve; this package needs no solver.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # The mechanism
//
// K teachers vote for one of C classes each, and one record changes at most t of the votes.
// Nothing else is presumed of the teachers. The answer to a histogram of votes h must be
// (ε,δ)-differentially private: for histograms h, h' that differ by at most t moved votes,
//
//	δ = 0:  p(h,c) ≤ e^ε·p(h',c)                for each class c
//	δ > 0:  Σ_c (p(h,c) - e^ε·p(h',c))₊ ≤ δ
//
// What is best is the mechanism with the largest probability that its answer is a
// plurality class of h, where h has a stated law. Averaging a mechanism over permutations
// of teachers and of classes keeps its privacy and its value. So p(h,c) depends on the sorted
// histogram λ and on the count v of class c only, and the linear program is
//
//	maximise    Σ_λ w(λ)·m(λ,λ₁)·p(λ,λ₁)
//	subject to  Σ_v m(λ,v)·p(λ,v) = 1,  p ≥ 0,  privacy for all pairs 1 ≤ d ≤ t
//
// Proved by machine: mean_private and hits_mean in proofs/ManyVotes.v.
//
// Pairs at every distance up to t count, and so do classes that no moved vote touches: without
// either, the program's optimum is not private.
//
// # Notation
//
//	K, C, ε, δ, t   Problem
//	λ               histogram h of a Space: a partition of K into at most C parts
//	(λ,v)           variable i of a Space: the classes with v votes
//	m(λ,v)          Space.ClassesOf
//	d               half of ‖h-h'‖₁, the moved votes between two histograms
//	pair, column    Pair, Column: two neighbours up to the names of the classes
//	E⁻ ≤ e^ε ≤ E⁺   System.Factor and its upper twin
//	g(λ,v), D       Certified.Mass, One = 2⁵³: with probability g/D a class with v votes
//	μ, A, w(λ)      Objective.Accuracy, Objective.Concentration, Weights
//	y, U(y)         Proof, System.UpperBound
//
// # Why floating point is safe here
//
// What is stored, certified and drawn are the integers g(λ,v), which sum to D in each
// histogram. Groups and not classes have masses, because a multiplicity need not divide D.
// Certify checks every privacy row of exactly these integers, with a rational E⁻ ≤ e^ε.
// Package ensemble draws: it compares a uniform 53-bit integer with them, then takes each class of
// the group with the same probability. Round turns floating-point probabilities into such integers.
package plurality

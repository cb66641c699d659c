// Package game prices many answers of one randomised table together, exactly but for rounding.
//
// A table answers each query with fresh noise, from the histogram of the votes. Two histograms
// that a record can tell apart give a Pair (P, P'): the answer's laws, outcome by outcome. An
// adversary knows all answers so far and chooses the next pair. With x = e^ε·∏P'/P over the
// answers so far,
//
//	W_0(x) = max(0, 1 - x)
//	W_n(x) = max over ordered pairs  Σ_o P_o·W_{n-1}(x·P'_o/P_o)
//
// where an outcome with P_o = 0 adds 0 and one with P'_o = 0 adds P_o. Q answers are (ε, δ)-DP
// for δ = W_Q(e^ε) and for no smaller δ: W_Q is the supremum of the hockey-stick divergence over
// all adaptive sequences of pairs.
//
// W_n does not fall with n. So the price of Q answers covers every smaller number of them, and
// stopping at a time that depends on answers only. Q is fixed before the first answer. One price
// is for one table: several tables are one game only with the union of their pairs.
//
// Proved by machine, of real numbers: game_private and value_W in proofs/Game.v, for the W_n above.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is proved
//
// Each W_n is convex and falling with W_n(0) = 1: W_0 is, and scaling, mixing and maxima keep it.
// Let c_m(x) = Σ m·max(0, 1 - x·r) be the curve of a measure m on ratios r = P'/P. Every such W is
// a constant and a mixture of hats max(0, 1 - x/a). Hence Σ m·W(x·r) of one measure is nowhere
// below that of another if its curve is nowhere below the other's at x ≥ 0. Proved by machine:
// below_worth in proofs/Dominate.v; stands_for and one_more in proofs/Price.v, that such measures
// may stand for pairs at each step.
//
//   - Lattice. A ratio between two points e^{kh} is split between them, so that its P mass and P'
//     mass stay. That spread raises the curve (below_split in proofs/Dominate.v). The ratio 0 is a
//     point too.
//   - Envelope. The largest of several curves at the points e^{kh}, joined by chords, is the curve
//     of a measure, which is dearer than each of them (below_at_kinks in proofs/Dominate.v). Any
//     choice of the several is sound.
//   - Tree. Envelopes of ever fewer pairs find the largest sum without working out all: pairs whose
//     envelope is not above a sum that was found are passed over. Where their envelope is above
//     it by at most 10⁻⁴/Q of it, the envelope stands for them. So a price is at most 10⁻⁴ of
//     itself above that of all pairs.
//   - Groups. Of more pairs than Options.Exact, those of smallest divergence are in groups from the
//     beginning, of each of which only the envelope is kept.
//   - Symmetry. Both orders of every pair are in the game. So W_n(x) = 1 - x + x·W_n(1/x), and
//     points x ≥ 1 are enough (value_mirror in proofs/Price.v).
//   - Window. Above the largest point that is worked out, W is at most its value there. Below the
//     smallest, it is at most the chord to W(0) = 1. Points are left out where they matter by
//     about 10⁻⁷ of the price.
//
// Envelopes are looked at where they save many times their own atoms: of few pairs, all are worked
// out.
//
// All arithmetic rounds to the dearer side. By induction what is worked out is never below W. It
// has the same bytes on every processor: logarithms and exponentials come from internal/num, and
// no product is fused with a sum. Processors that work out four points at a time do for each what
// the others do, in the same order.
//
// Lattice steps of h = s/10, with s the standard deviation of one answer's loss, cost about 2 % of
// δ, those of s/20 about 0.4 %, in four times the time.
//
// # Notation
//
//	P, P'   Outcome.P, PPrime   the answer's laws under two neighbouring histograms
//	Q, n    answers             number of answers
//	ε, δ    epsilon, delta      the guarantee of all answers together
//	r       ratio               P'/P of an outcome
//	h       Game.Step           lattice step of ln r
//	s       Game.Scale          2·√Σ(√P - √P')², the largest over the pairs: to the first order
//	                            the standard deviation of one answer's privacy loss
//	h/s     Options.Step
//	α, D_α  order, Renyi        order of a Rényi divergence, the largest over the pairs
//	W, V    –, values           the true price, and what is worked out, V ≥ W
package game

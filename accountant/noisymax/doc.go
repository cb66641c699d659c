// Package noisymax prices many answers of a noisy largest count by their labels, for every number of
// teachers and of classes.
//
// Each count n_c gets Y_c, a discrete Gaussian of parameter σ² (package internal/noise), and the label
// is the class of the largest sum, equal ones evenly: as if Z_c = Y_c + U_c were added, with U_c uniform
// in [0, 1). The law that is priced is this one. All answers are a game (package accountant/game) of all
// pairs of neighbouring histograms. There are too many to list, and this package needs none of them.
//
// Values of its types are safe for concurrent use while nobody writes to their fields.
//
// # The reduction
//
// A record moves one vote from class i to class j. Let M be the largest n_c + Z_c of the other classes
// and A its class. (M, A) is independent of Z_i and Z_j and has one law under both neighbours. Given
// M = m + f, m whole and 0 ≤ f < 1, the label is i, j or A, with probabilities that depend on
// a = n_i - m, b = n_j - m and f alone; the neighbour has (a-1, b+1). So the label's pair of laws is a
// mixture, with equal weights, of pairs of three outcomes. W_(n-1) is convex, hence Σ P·W_(n-1)(x·P'/P)
// jointly convex in (P, P'), and a mixture gains an adversary at most what its dearest part does. By
// induction the game of all (a, b, f) is nowhere below that of the histograms (proved by machine, of finitely
// many M: mixture_dominated in proofs/Mixture.v). It holds no K and no C;
// K bounds |a - b|. Votes that are none belong to no count: one that comes or goes changes one count,
// which is the limit of a or b at -∞. Two classes have no others: M = -∞. Of these a price is proved by machine from σ
// on: noise_ok in proofs/NoisePrice.v.
//
// # The fraction
//
// With p(y) = Pr[Y = y] and F(y) = Pr[Y ≤ y], each probability is a polynomial of degree 2 in f:
//
//	Pr[i] = Σ_{x ≥ 1} p(x-a)·[F(x-b-1) + F(x-b)]/2 + p(-a)·[(1-f)·F(-b-1) + (1-f²)·p(-b)/2]
//	Pr[A] = [F(-a-1) + f·p(-a)]·[F(-b-1) + f·p(-b)]
//
// so that the pair at f is the mixture of its three Bernstein coefficients. The first and the last are
// those of f = 0 and f = 1, and f = 1 at (a, b) is f = 0 at (a-1, b-1). Pairs at f = 0 (kind 0) and the
// coefficients between (kind 1) are all that is in the game.
//
// # The plane
//
// Pr[i] is a sum over x of p(x-a), which is TP2 in (x, a), times a function that is log-concave in x
// and TP2 in (x, b). So ln Pr[i] is concave in a and in b, and its mixed difference is not negative
// (Karlin's composition). It follows that P'/P of i, of j and of A rise with a and fall with b: two
// corners bound them in a square. Besides, P - x·P' of any set of outcomes has second differences
// of at most
//
//	5·p₂ + p₀·p₁ + 3·p₁·|x - 1|,   p_k the largest size of the k-th difference of p
//
// in a and b together, by which a square is above what its corners say: p₂ times width²/8. Squares are
// split where pairs are dear (game.Family). Farther out than a reach, at which less than 10⁻⁷ of the price
// is left, one count or two are above the others for sure or far below, and are lines and a point.
//
// Everything is rounded to the dearer side, from intervals of internal/num on.
//
// # Few teachers
//
// The plane holds no K. Where K is at most 8σ, that matters: the other classes are near, and hide a vote.
// There M is not told. Its law is known from the counts of the other classes, F_M(y) = Π_c F_Z(y - n_c),
// and what is told is i, j, or about where M is if neither of them is the label. Given M, A is independent of
// the neighbours, so that this tells no less than the label. Each probability is linear in the moments
// ∫F_M(x+f)df and ∫f·F_M(x+f)df of whole x: those of the classes by Pr[Z_j ≤ ·], the rest by parts.
//
// A region is pairs of which n_i - n_j, n_i + n_j, the sum and the largest of the other counts are within
// bounds; no histogram has more than K votes. ln F_Z(y - n) falls with n and is concave. So of
// counts with a sum and a largest one F_M is largest where they are most alike and smallest where few have as many as
// they may, and every F_M of the region is between two. A ratio P'/P is bounded over all F_M between them (a linear
// fractional program, of which each point of F_M is free), at the least and at the largest n_i - n_j: with F_M seen from n_i,
// P'/P of i rises with n_i - n_j, and likewise for j and the rest, since F_M(y+1)/F_M(y) falls with y, which is all
// that was asked of the other factor above. Regions are split where pairs are dear, down to single ones.
//
// # What it costs beside the certified tables
//
// A table of the same noise knows all histograms. In 36 settings of 6 to 20 teachers σ is within .5 % of a certified
// table's in nearly all (TestNotBelowCertifiedTables). Above 8σ teachers the plane's dearest point costs .2 % of σ.
//
// # Notation
//
//	K, C, t, Q, ε, δ   Problem
//	σ                  Noise.Sigma
//	a, b, f, m, M, A   above
//	p, F               law.p, law.f
package noisymax

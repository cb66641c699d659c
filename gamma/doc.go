// Package gamma holds noise functions for the private majority: their exact
// representation, their baselines and errors, and the certificate without which
// none of them may release anything.
//
// To use a solved table, read it with Decode, which certifies it again, and hand
// the result to package ensemble. To find the optimal noise function, see package
// gamma/solve; this package needs no solver.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # The mechanism
//
// K teachers vote 0 or 1; L is the number of ones. With probability γ(L) the
// majority I{L > K/2} is released, otherwise a fair coin. γ(l) = γ(K-l). For even
// K a tie releases a fair coin: γ(K/2) = 0. Beyond the source, γ(L) may be below 0: with
// probability -γ(L) the minority is released, otherwise a fair coin. Nothing else changes: the
// constraints and every formula below are affine in γ. Shape says which γ are meant. Those of ByName treat the
// labels by their names: γ(K-l) may differ from γ(l), and γ(K/2) is of label 1.
//
// The mechanism is DaRRM, Algorithm 1 of S. Jiang, Communication Efficient and Differentially
// Private Optimization (2025), chapter 3.
//
// # Notation
//
//	γ(l)            Func.At(l)            l = 0 … K
//	γ(l)·2⁵³        Func.Numerator(l)     the signed integer that is certified and sampled
//	φ(l)            Func.Phi()            sign(l-K/2)·γ(l)
//	μ               prior mean            E[p_i] under the prior of the teachers' votes
//	½(B(K-l)-B(l))  Weights               B = Binomial(K, μ)
//	ℰ               ExpectedError         Σ_{l<K/2} ½(B(K-l)-B(l))·(1-γ(l))
//	f ≤ E-1+2δ      Certificate           package constraints
//
// # Why floating point is safe here
//
// A stored γ is a vector of integers k_l, γ(l) = k_l/2⁵³. A float64 holds each
// exactly, JSON's shortest decimal brings it back exactly, and the sampler compares a
// uniform 53-bit integer with |k_l|. So the function that is certified is, bit for
// bit, the one that is sampled.
package gamma

// Package noise samples the integer laws that mechanisms add to vote counts, exactly.
//
// Every sampler works on integers and fractions of integers. There is no floating point
// in it, so that what comes out has, given a source that is uniform, exactly the
// probability that the formula says: noise that is drawn in floating point has broken
// privacy proofs (Mironov, On Significance of the Least Significant Bits for
// Differential Privacy, 2012). The samplers are those of Canonne, Kamath and Steinke,
// The Discrete Gaussian for Differential Privacy (2020), Algorithms 1 to 3.
//
// How long a sampler takes depends on what it draws. Nothing is promised about timing.
//
// # Where exactness ends
//
// A sampler gives up with errSource after 2¹⁶ coins in a row that fell the same way. With
// a working source that has probability below 10^-2900; a source that is stuck would keep
// it busy for ever.
//
// # Notation
//
//	e^{-num/den}   fair.exp         a coin
//	b = num/den    Laplace          Pr[y] ∝ e^{-|y|/b}
//	σ² = num/den   Gaussian         Pr[y] ∝ e^{-y²/(2σ²)}
//	Pr[Y = k]      Law.Mass         as an interval that certainly holds it
//	δ(ε)           VotesDelta       what moving votes reveals
package noise

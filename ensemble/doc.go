// Package ensemble turns the votes of private teachers into private labels.
//
// New takes a certified noise function, there is no other way, and Release answers
// one query with the operating system's randomness. Aggregate answers a whole
// file. Simulate does the same from a seed, for experiments: whoever knows the seed
// knows the votes, so its results must be kept apart from released ones. Evaluate says how each noise function would do
// on the votes, also not for release.
//
// # Notation
//
//	K              Mechanism.K               number of teachers
//	L              ones                      how many of them answer 1
//	γ              gamma.Func                noise function
//	Pr[1 | L]      ProbabilityOfOne          (1+φ(L))/2, φ(l) = sign(l-K/2)·γ(l)
//	(mε, δ)        Mechanism.PerAnswer       what one answer costs
package ensemble

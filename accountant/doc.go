// Package accountant bounds the joint privacy cost of several private answers.
//
// Make an Accountant for a neighbouring relation with New, Charge it events, and ask for a
// Report at a δ or at an ε. The Report holds every bound that applies, the smallest first, and the
// methods that do not apply, with their reasons. An event is a mechanism of this package (Gaussian,
// Laplace, ApproxDP and others), several together (Compose), or what another package proved: a
// Curve of Rényi divergences, a Profile, a dominating pair, or a HockeyStick, (ε, δ) at several ε.
//
// BestOf prices the best of a random number of runs, as in tuning.
//
// Basic, General and Optimal are composition theorems by themselves, and
// GaussianNoise calibrates noise to a target. What answers of an ensemble cost is in package
// ensemble, what shuffled training costs in learn/shuffled/iteration.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is promised
//
// Every figure is rounded outward: what is reported is never less than what was spent.
// Compositions and Gaussian formulas are worked out in intervals of 320 bits; Rényi
// divergences and privacy loss distributions in float64 with the error bound added. The
// bounds hold for adaptively chosen mechanisms with fresh randomness in each. What the
// accountant does not know it refuses: an event, or a combination, that it cannot
// account for is ErrUnsupported, and nothing is charged.
//
// An event is for one neighbouring relation, and relations are not mixed. The sampler
// is part of the event: figures for Poisson sampling do not hold for shuffled data, nor
// those of the normal distribution for discrete noise.
//
// # What adds up
//
// A series is composed as one only if its events, their number and its slack were fixed
// before anything was drawn. What is asked for later, having seen answers, is another series:
// the (ε, δ) of several add up, which holds for any choice, also of when to stop. Earlier
// series are never composed anew together with later ones, and no slack depends on what is
// left of a budget.
//
// # Which bound
//
//	basic     (ε, δ)-DP events          the sum
//	general   (ε, δ)-DP events          what publications print
//	optimal   (ε, δ)-DP events          exact for what (ε, δ) alone says; refused where different ε make too many outcomes
//	gaussian  Gaussian                  exact
//	zcdp      Gaussian, discrete, pure  a closed form
//	rdp       all but δ > 0             the best order
//	pld       all but Curve             near exact for any mixture, by convolution
//
// # Notation
//
//	ε, δ    Cost.Epsilon, Delta     a privacy guarantee
//	k       Count, k                how many mechanisms of one guarantee are composed
//	δ'      slack                   probability spent on top of the mechanisms' own δ
//	σ       NoiseMultiplier         standard deviation per unit of L2 sensitivity
//	σ, s    Sigma, Sensitivity      of discrete noise, in counts
//	b       Laplace.Scale           per unit of L1 sensitivity
//	q       SamplingRate            of Poisson sampling
//	α, λ    Alpha, alpha, lambda    order of a Rényi divergence; PATE writes λ
//	ρ(α)    Rho, rho                Rényi divergence of order α; ρ alone is the zCDP parameter
//	w       ProfilePart.Weight      probability of one part of a dominating pair
package accountant

// Package accountant says what several private answers cost together.
//
// For a series of answers of one ensemble, use Release: it knows that teachers who were
// trained once may not be charged like teachers who answer afresh. For anything else,
// make an Accountant for a neighbouring relation with New, charge it events (Gaussian,
// Laplace, ApproxDP and others) and ask for a Report, which holds every bound that
// applies and begins with the smallest. Basic, General and OptimalHomogeneous are the
// composition theorems by themselves; GaussianNoise and GNMaxNoise calibrate noise to a
// target.
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
// is part of the event: figures for Poisson sampling do not hold for shuffled data.
//
// # Notation
//
//	(ε, δ)  Cost             a privacy guarantee
//	k       count            how many mechanisms of one guarantee are composed
//	δ'      slack            probability spent on top of the mechanisms' own δ
//	(ε, Δ)  Release.Teachers what one teacher costs
//	(mε, δ) PerAnswer        what one answer of the ensemble costs
//	Q, K, t Queries, K, Affected
//	σ       NoiseMultiplier  standard deviation per unit of L2 sensitivity
//	b       Scale            Laplace scale per unit of L1 sensitivity
//	q       SamplingRate     of Poisson sampling
//	α, λ    alpha, order     order of a Rényi divergence; PATE writes λ
//	ρ(α)    rho              Rényi divergence of order α; ρ alone is the zCDP parameter
package accountant

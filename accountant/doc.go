// Package accountant says what several private answers cost together.
//
// Make an Accountant for a neighbouring relation with New, charge it events
// (Gaussian, Laplace, ApproxDP and others) and ask for a Report, which holds every bound
// that applies, begins with the smallest, and says why. Basic, General and
// Optimal, and the Heterogeneous forms for different guarantees, are the composition
// theorems by themselves; GaussianNoise calibrates noise to a target. What answers of
// an ensemble cost, whose teachers were trained once or answer afresh, is package ensemble's.
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
//	pld       all                       near exact for any mixture, by convolution
//
// # Notation
//
//	(ε, δ)  Cost             a privacy guarantee
//	k       count            how many mechanisms of one guarantee are composed
//	δ'      slack            probability spent on top of the mechanisms' own δ
//	σ       NoiseMultiplier  standard deviation per unit of L2 sensitivity
//	σ, s    Sigma, Sensitivity  of discrete noise, in counts
//	b       Scale            Laplace scale per unit of L1 sensitivity
//	q       SamplingRate     of Poisson sampling
//	α, λ    alpha, order     order of a Rényi divergence; PATE writes λ
//	ρ(α)    rho              Rényi divergence of order α; ρ alone is the zCDP parameter
package accountant

// Package iteration computes the privacy cost of shuffled gradient training. It uses privacy
// amplification by iteration: the noise of the steps after a record's own also protects that
// record.
//
// State a run of epochs as Steps and ask for its Report at a δ, or let Calibrate find the noise for
// a target. Account adds up several runs of one training. Steps.Event makes the run an event of an
// accountant.Accountant, beside other events. SampledSteps is the baseline.
//
// Conditions are fields of Steps. What is not stated does not hold, and a Mode whose
// conditions fail is ErrNotCertified. Figures are rounded up, and hold when one record is
// replaced (accountant.ReplaceOne). The proofs are in docs/training.md.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	n     Records         steps in an epoch
//	n_d   Private         of which touch private records
//	K_p   Epochs          private epochs
//	G     Clip            norm bound of one private gradient
//	σ     Noise           standard deviation per coordinate, on the gradient
//	η, L  StepSize, Smoothness
//	m     Amplification   noise that protects the worst record over σ²
//	ρ, α  Rho, Alpha      Rényi divergence over its order; the order
package iteration

// Package shuffled is the train.Algorithm of shuffled gradient methods on private and public
// data, and what is known of their risk. A Config with its data becomes a Plan,
//
//	plan, err := shuffled.NewPlan(config, private, public)
//	release, err := train.NewRelease(plan.Algorithm())
//	model, err := release.Run(ctx, nil) // costs plan.Cost()
//
// Every method is a schedule over one loop. In epoch k it visits n_d private records and
// then n-n_d public ones, x ← x - η·(clip_G(∇f(x; q)) + N(0, σ²I)) for each, and applies the
// proximal map of nη·ψ once, at the end.
//
// The model is (ε, δ)-DP under replacement of one record, by the account of package iteration, if
// the loss has the properties that it states, and the start point, step size and public data do not
// depend on the private data. Package train states the limits of its float64s. Amplification needs
// steps that are non-expansive for neighbouring data as well, so a bound on the records must not
// come from the records: Config.Radius states it. Without it iteration.Best counts no amplification
// that needs it, and a plan in another mode that could need it is simulated, as the source does,
// but not released. The only fact about the private records in a report is their number. Proofs:
// docs/training.md.
//
//	n, d      Records.Len, Dim              steps in an epoch, dimension
//	K         Config.Epochs                 epochs
//	η, x_1    Config.StepSize, Start
//	G         Config.Clip                   norm bound of a gradient
//	σ         Block.Noise, PublicNoise      per coordinate, on the gradient
//	n_d, p    Block.Private, Config.Fraction  private steps in an epoch, their share
//	f, L_i    Config.Task, its Smoothness   of one sample; L* the largest
//	ψ, μ_ψ    Config.Regularizer, its StrongConvexity
//	m, ρ      iteration.Report
//	C_i       Dissimilarity
//
// Source: Improving the Convergence of Private Shuffled Gradient Methods with Public Data
// (2026).
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package shuffled

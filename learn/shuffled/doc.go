// Package shuffled trains models privately with shuffled gradient methods, on private
// data and, where there is some, public data.
//
// Describe a run in a Config, make a Plan of it and its data with NewPlan, and either
// release one private model,
//
//	plan, err := shuffled.NewPlan(config, private, public)
//	release, err := plan.NewRelease()
//	model, err := release.Run(ctx, nil) // costs plan.Cost()
//
// or repeat experiments from a seed with plan.Simulate: whoever knows the seed knows the
// noise, so nothing that a Simulation returns is private, nor are objectives, traces and
// whatever was tuned by them.
//
// Every method is a schedule over one loop. In epoch k it visits n_d private records and
// then n-n_d public ones, one at a time,
//
//	x ← x - η·(clip_G(∇f(x; q)) + N(0, σ²I)),
//
// and applies the proximal map of nη·ψ once, at the end of the epoch.
//
// # What is promised
//
// The released model is (ε, δ)-DP under replacement of one record, by the account of
// package accountant, if what the Task says of its losses is true, the start point, step
// size and public data do not depend on the private data, and real-number arithmetic is
// taken for granted. The model is in float64, and so is the noise: the low bits of
// floating-point results can tell more than the proof allows (Mironov 2012). Against the
// known attacks each normal of a release is the sum of four (Holohan and Braghin, Secure
// Random Sampling in Differential Privacy, 2021), its uniforms come from ChaCha8 keyed by
// the operating system, and the model is rounded to 2⁻²⁰ of the noise's scale before it
// leaves. That makes the attacks harder; it is no proof. Running time depends on the data
// and is not hidden.
//
// Amplification needs every step to be non-expansive, for neighbouring data as well. So a
// bound on the records must not come from the records: Config.Radius states it, and longer
// private records are shortened to it. Without it the default, iteration.Best, counts
// no amplification that needs it. A plan in another mode whose amplification could rest on
// the data at hand can be simulated, as the source does, but not released. What the report
// of a plan that can be says does not depend on the private records, only on how many
// they are. docs/training-accounting.md has the statements of all modes, with proofs.
//
// # Notation
//
//	D, P      private, public Records
//	n, d      Records.Len, Records.Dim          steps in an epoch, dimension
//	K         Config.Epochs                     epochs
//	η         Config.StepSize
//	G         Config.Clip                       norm bound of a gradient
//	σ         Run.Noise, Run.PublicNoise        per coordinate, on the gradient
//	n_d       Run.Private                       private steps in an epoch
//	p         Config.Fraction                   share of private steps
//	f, ψ      Task, Regularizer
//	L_i       Task.Smoothness                   of one sample; L* the largest
//	μ_ψ       Regularizer.StrongConvexity
//	m, ρ      iteration.Report
//	x_1       Config.Start
//	C_i       Dissimilarity
//
// Source: Improving the Convergence of Private Shuffled Gradient Methods with Public Data
// (2026).
package shuffled

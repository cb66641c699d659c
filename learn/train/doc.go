// Package train holds the parts that all methods of private learning share: one release, its
// checkpoint, simulations from a seed, and grids of them.
//
// A method plans a run of given parameters, which fixes what its model costs: a Plan. With data it is
// an Algorithm. From that comes one private model,
//
//	algorithm, err := plan.Train(records)
//	release, err := train.NewRelease(algorithm)
//	model, err := release.Run(ctx, nil) // costs plan.Price.Cost, to be paid for before
//
// or experiments from a seed, with train.Simulate and Grid: whoever knows the seed knows the
// noise, so nothing that a Simulation returns is private, nor are objectives, traces and
// whatever was tuned by them.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is promised
//
// The privacy cost of a release is the promise of its Algorithm, in real-number arithmetic. The
// model is in float64, and so is the noise: the low bits of floating-point
// results can tell more than a proof allows (Mironov 2012). Against the known attacks each
// normal of a release is the sum of four (Holohan and Braghin 2021), its uniforms come from
// ChaCha8 keyed by the operating system, and the model is rounded to 2⁻²⁰ of the noise's
// scale before it leaves. That makes the attacks harder; it is no proof. Running time depends
// on the data and is not hidden.
//
// # Notation
//
//	x, x*     Run.Output, Optimum.X    model, optimum
//	G(x; D)   Problem.Objective        (1/n)Σ f(x; d_i) + ψ(x)
//	k         Release.Round            rounds done
//	η         Grid.StepSizes           step sizes
//	Δ, σ      Block.Sensitivity, Deviation   of what a block releases, and of its noise
package train

// Package convex has private methods for generalised linear losses φ(⟨w,x⟩, y) without
// smoothness, for weakly convex ones, and the baselines that they are measured against. A method's
// parameters become a Plan, which is priced before any record is read,
//
//	plan, err := convex.PhasedSGD{Setting: setting, Ball: 1}.Plan(n, d)
//	plan.Price // ε, by which rule; plan.Compare() has the source's printed noise beside it
//
// and with records a train.Algorithm:
//
//	algorithm, err := plan.Train(records)
//	release, err := train.NewRelease(algorithm)
//	model, err := release.Run(ctx, nil) // costs plan.Price.Cost
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # What is promised
//
// Models are (ε, δ)-DP under Setting.Neighbours by the account of Price, in the real-number
// arithmetic of package train. Sensitivities rest on a public radius, to which records are
// shortened one by one, and on slopes that are clipped; on no scale that was taken from the data,
// and on no convergence: solvers end at a certified gradient norm, and noise covers what
// that leaves open. Where the source's printed noise breaks its promise the corrected is used;
// Plan.Compare has both. Proofs: docs/convex.md.
//
// # Notation
//
//	n, d      Price.Records, Dim
//	R         Setting.Radius            bound on ‖x‖
//	L0        Setting.Clip, or the link's own   bound on |φ′|
//	W, D      Ball, 2·Ball              a ball around 0 and its diameter
//	η_k, T_k  Block.StepSize, To - From
//	Δ_k, σ_k  Block.Sensitivity, Deviation
//	β, α      of PhasedSGD's oracle        Moreau parameter, accuracy
//	θ         PhasedSGD.Rank
//	V, J      FrankWolfe.Set, its Vertices  a polytope; W, D, ‖·‖_p of geometry.Set
//	T, s, M   of FrankWolfe                 steps, scale, levels
//	ε₀        of FrankWolfe                 what one choice of a vertex costs
//	R, b      Batches.Rounds, Size          of PolySFW and NSFW
//	s₁, s₂, Y of SufficientStatistics       R²/σ₁, R·Y/σ₂, a bound on responses
//	m         batch.records                 the real ⌊b/(t+1)⌋
//
// Sources: Bassily, Guzmán and Menart, Differentially Private Stochastic Optimization: New
// Results in Convex and Non-Convex Settings (2021); Feldman, Koren and Talwar, Private
// Stochastic Convex Optimization (2020); Wang, Revisiting Differentially Private Linear
// Regression (2018), for SufficientStatistics.
package convex

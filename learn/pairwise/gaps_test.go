package pairwise

import "math"

// The bounds of the source in closed form, corrected where its proofs lose a constant. They are for
// steps of size eta on losses with gradients of norm at most g, over draws with replacement from n
// records, and iterates averaged as they say. None of them is part of an account.

// StabilityGap bounds E[F(w̄_t) - F_S(w̄_t)] for convex losses that need not be smooth (Theorem 4):
//
//	4√e·g²η(√(5t) + 2t/n).
func StabilityGap(g, eta float64, t, n int) float64 {
	steps := float64(t)
	return 4 * math.Sqrt(math.E) * g * g * eta * (math.Sqrt(5*steps) + 2*steps/float64(n))
}

// SmoothStabilityGap bounds the same for convex smooth losses and η ≤ 2/L (Theorem 5): 8g²ηt/n.
func SmoothStabilityGap(g, eta float64, t, n int) float64 {
	return 8 * g * g * eta * float64(t) / float64(n)
}

// OptimisationGap bounds E F_S(w̄_t) - F_S(w) for convex losses, Lagged averages and a w at most
// distance from the start (Theorem 6a): distance²/(2ηt) + 3g²η/2.
func OptimisationGap(distance, g, eta float64, t int) float64 {
	return distance*distance/(2*eta*float64(t)) + 3*g*g*eta/2
}

// StrongOptimisationGap bounds the same for α-strongly convex losses, StrongSchedule and
// LaggedStrong averages (Theorem 6b): 6g²/(α(t+1)).
func StrongOptimisationGap(g, alpha float64, t int) float64 {
	return 6 * g * g / (alpha * float64(t+1))
}

// LikelyOptimisationGap is StrongOptimisationGap but for probability delta, for losses in [0, most]
// (Theorem 7b, whose text has 28 and 8 where its proof gives 44 and 16):
//
//	(44g²/α + 16·most)·ln(2/δ)/(t+1).
func LikelyOptimisationGap(g, alpha, most, delta float64, t int) float64 {
	return (44*g*g/alpha + 16*most) * math.Log(2/delta) / float64(t+1)
}

// RequiredSteps returns the number of steps with which Algorithm 1 reaches Algorithm 5's accuracy
// G²ζ_k/n_k on n records with probability 1-δ/4. It is ⌈294·n²·ln(8/δ)⌉ by Theorem 7b, within the
// ball where the regularised loss is 3G-Lipschitz and at most 6G²ζ_k·n_k. Minimised spends
// gradients over all pairs instead, and no probability.
func RequiredSteps(n int, delta float64) float64 {
	return math.Ceil((44*9/2 + 16*6) * float64(n) * float64(n) * math.Log(8/delta))
}

// LikelySumGap bounds, but for probability delta, Ση_j(F_S(w_{j-2}) - F_S(w)) over t steps of size
// eta for convex losses in [0, most] and a w at most distance from the start (Theorem 7a, whose
// text has 2√2 where its proof gives 4):
//
//	4·most·√(tη²·ln(2/δ)) + distance²/2 + 3g²tη²/2.
func LikelySumGap(distance, g, eta, most, delta float64, t int) float64 {
	steps := float64(t)
	return 4*most*eta*math.Sqrt(steps*math.Log(2/delta)) + distance*distance/2 + 1.5*g*g*steps*eta*eta
}

// StationarityGap bounds (1/t)Σ E‖∇F_S(w_{j-2})‖² for losses that need not be convex, but are
// L-smooth, with gradients whose mean square is at most moment, F_S(w_0) = start and 4L²η² ≤ 1
// (Theorem 8, whose text has L for L² in that condition): start/(ηt) + 8L·moment·η. It is +Inf for
// longer steps.
func StationarityGap(start, moment, smooth, eta float64, t int) float64 {
	if 2*smooth*eta > 1 {
		return math.Inf(1)
	}
	return start/(eta*float64(t)) + 8*smooth*moment*eta
}

// PLGap bounds E F_S(w_t) - F_S(w_S) for L-smooth objectives with the PL property of mu and steps
// 2/(μ(j+1)) (Theorem 9, whose text lacks L in the last term):
//
//	32L·moment/(μ²t(t+1))·Σ_{j≤t} (1 + L/(jμ)).
//
// Its proof wants 4L²η_j² ≤ 1, which steps before 4L/μ break (PLSchedule leaves them out): it is
// the source's bound and no promise of ours where L > μ/2.
func PLGap(moment, smooth, mu float64, t int) float64 {
	sum := 0.0
	for j := 1; j <= t; j++ {
		sum += 1 + smooth/(float64(j)*mu)
	}
	return 32 * smooth * moment / (mu * mu * float64(t) * float64(t+1)) * sum
}

// phasesOf returns the number of phases of n records, each of 2 or more.
func phasesOf(n int) int { return max(0, int(math.Floor(math.Log2(float64(n))))-1) }

// LocalizedGap bounds the expected excess risk of Algorithm 3 with the noise that it prints, over a
// ball of this diameter and as its proof gives it (Theorem 10; δ by δ₀ = delta):
//
//	Σ_k 2^{-k}·(8D²/(ηn) + 18·ln(4/δ)·G²η) + 16GD/n².
//
// The last term is for phases that end at 2 records; in the source it is GD/n².
func LocalizedGap(diameter, g, eta, delta float64, n int) float64 {
	one := 8*diameter*diameter/(eta*float64(n)) + 18*math.Log(4/delta)*g*g*eta
	return one*(1-math.Exp2(-float64(phasesOf(n)))) + 16*g*diameter/(float64(n)*float64(n))
}

// MinimisedGap bounds the expected excess risk of Algorithm 5 at scale ζ (Theorem F.1, whose
// arithmetic was corrected: 16 for 8, 3 for an unsupported 9): 16D²/(ζn) + 3G²ζ + 16GD/n².
func MinimisedGap(diameter, g, zeta float64, n int) float64 {
	size := float64(n)
	return 16*diameter*diameter/(zeta*size) + 3*g*g*zeta + 16*g*diameter/(size*size)
}

// MinimisedRate is MinimisedGap at the source's ζ with its corrected noise:
// GD·(16/√n + 64√(2d·ln(2.5/δ))/(nε) + 16/n²).
func MinimisedRate(diameter, g, epsilon, delta float64, n, d int) float64 {
	size := float64(n)
	return g * diameter * (16/math.Sqrt(size) + 64*math.Sqrt(2*float64(d)*math.Log(2.5/delta))/
		(size*epsilon) + 16/(size*size))
}

// StrongSchedule returns 2/(α(t+1)), for α-strongly convex objectives.
func StrongSchedule(alpha float64) Schedule { return Schedule{StepSize: 2 / alpha, Decay: Inverse} }

// PLSchedule returns 2/(μ(t+1+⌈4L/μ⌉)), for L-smooth objectives with the PL property of μ: from
// the first step on 4L²η² ≤ 1, which 2/(μ(t+1)) breaks for t+1 < 4L/μ.
func PLSchedule(mu, smooth float64) Schedule {
	return Schedule{StepSize: 2 / mu, Decay: Inverse, Shift: math.Ceil(4 * smooth / mu)}
}

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

// RequiredSteps returns how many steps of Algorithm 1 reach Algorithm 5's accuracy G²ζ_k/n_k on n
// records with probability 1-δ/4, by Theorem 7b within the ball where the regularised loss is
// 3G-Lipschitz and at most 6G²ζ_k·n_k: ⌈294·n²·ln(8/δ)⌉. Minimised spends gradients over all
// pairs instead, and no probability.
func RequiredSteps(n int, delta float64) float64 {
	return math.Ceil((44*9/2 + 16*6) * float64(n) * float64(n) * math.Log(8/delta))
}

package loss

import "math"

// SquaredSigmoid is the smooth link (σ(z)-y)², σ(z) = 1/(1+e^-z), for labels 0 and 1. It is
// not convex. |φ′| = 2|σ-y|σ(1-σ) ≤ 8/27, at σ = 2/3, and |φ″| is largest at
// σ = (15-√33)/24.
type SquaredSigmoid struct{}

func (SquaredSigmoid) Name() string          { return "squared-sigmoid" }
func (SquaredSigmoid) Check(y float64) error { return checkLabel(y) }
func (SquaredSigmoid) Value(z, y float64) float64 {
	s := sign(y)
	return sigmoid(-s*z) * sigmoid(-s*z)
}

// Slope returns 2(σ-y)σ(1-σ), without cancellation.
func (SquaredSigmoid) Slope(z, y float64) float64 {
	s := sign(y)
	p := sigmoid(-s * z) // |σ-y|
	return -s * 2 * p * p * sigmoid(s*z)
}
func (SquaredSigmoid) Curvature() float64        { return 0.1540585701213506 }
func (SquaredSigmoid) Lipschitz(float64) float64 { return 8.0 / 27 * (1 + 0x1p-50) }
func (l SquaredSigmoid) WeakConvexity() float64  { return l.Curvature() }

// PhaseRetrieval is the link |z²-y|, of recovering x from the squares ⟨a,x⟩² with some of
// them wrong. It is neither convex nor smooth: z² is 2-weakly convex below the kink, so
// f is 2R²-weakly convex.
type PhaseRetrieval struct{}

func (PhaseRetrieval) Name() string               { return "phase-retrieval" }
func (PhaseRetrieval) Check(float64) error        { return nil }
func (PhaseRetrieval) Value(z, y float64) float64 { return math.Abs(z*z - y) }
func (PhaseRetrieval) Slope(z, y float64) float64 { return 2 * z * signum(z*z-y) }
func (PhaseRetrieval) Curvature() float64         { return math.Inf(1) }

// Lipschitz returns 2·within.
func (PhaseRetrieval) Lipschitz(within float64) float64 { return 2 * within }
func (PhaseRetrieval) WeakConvexity() float64           { return 2 }

// Prox takes β > 2. For y > 0 it pushes m from 0 towards ±√y up to there, and from beyond back
// to there; m = 0 stays.
func (PhaseRetrieval) Prox(m, y, beta float64) float64 {
	root := math.Sqrt(max(y, 0))
	switch a := math.Abs(m); {
	case a < root*(1-2/beta):
		return m * (beta / (beta - 2))
	case a > root*(1+2/beta) || root == 0:
		return m * (beta / (beta + 2))
	default:
		return math.Copysign(root, m)
	}
}

// EnvelopeSlope returns β(m - Prox), worked out without the difference where that is small.
func (l PhaseRetrieval) EnvelopeSlope(m, y, beta float64) float64 {
	root := math.Sqrt(max(y, 0))
	switch a := math.Abs(m); {
	case a < root*(1-2/beta):
		return -2 * m * (beta / (beta - 2))
	case a > root*(1+2/beta) || root == 0:
		return 2 * m * (beta / (beta + 2))
	default:
		return beta * (m - math.Copysign(root, m))
	}
}

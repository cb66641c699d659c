package loss

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Absolute is the link |z-y|, of robust regression.
type Absolute struct{}

func (Absolute) Name() string               { return "absolute" }
func (Absolute) Check(float64) error        { return nil }
func (Absolute) Value(z, y float64) float64 { return math.Abs(z - y) }
func (Absolute) Slope(z, y float64) float64 { return signum(z - y) }
func (Absolute) Curvature() float64         { return math.Inf(1) }
func (Absolute) Lipschitz(float64) float64  { return 1 }
func (Absolute) WeakConvexity() float64     { return 0 }

// Prox moves m towards y by 1/β, at most to y.
func (Absolute) Prox(m, y, beta float64) float64 {
	if r := m - y; math.Abs(r) > 1/beta {
		return m - math.Copysign(1/beta, r)
	}
	return y
}

// EnvelopeSlope is Huber's: β(m-y) between -1 and 1.
func (Absolute) EnvelopeSlope(m, y, beta float64) float64 { return clamp(beta*(m-y), -1, 1) }

// Hinge is the link max(0, 1-sz), s = ±1 for the labels 1 and 0.
type Hinge struct{}

func (Hinge) Name() string               { return "hinge" }
func (Hinge) Check(y float64) error      { return checkLabel(y) }
func (Hinge) Value(z, y float64) float64 { return max(0, 1-sign(y)*z) }

// Slope returns -s below the kink, 0 at it and above.
func (Hinge) Slope(z, y float64) float64 {
	if s := sign(y); s*z < 1 {
		return -s
	}
	return 0
}
func (Hinge) Curvature() float64        { return math.Inf(1) }
func (Hinge) Lipschitz(float64) float64 { return 1 }
func (Hinge) WeakConvexity() float64    { return 0 }

// Prox raises sm by 1/β, at most to 1.
func (Hinge) Prox(m, y, beta float64) float64 {
	switch s := sign(y); {
	case s*m >= 1:
		return m
	case s*m <= 1-1/beta:
		return m + s/beta
	default:
		return s
	}
}

// EnvelopeSlope returns -s·β(1-sm), with β(1-sm) between 0 and 1.
func (Hinge) EnvelopeSlope(m, y, beta float64) float64 {
	s := sign(y)
	return -s * clamp(beta*(1-s*m), 0, 1)
}

// Pinball is the link max(τ(y-z), (τ-1)(y-z)), whose minimum is the τ-quantile. The zero
// value has τ = 0; make it with NewPinball.
type Pinball struct{ tau float64 }

// NewPinball returns the link of the τ-quantile, τ in (0,1).
func NewPinball(tau float64) (Pinball, error) {
	return Pinball{tau}, check.Within("tau", tau)
}

func (p Pinball) Name() string               { return fmt.Sprintf("pinball:%v", p.tau) }
func (Pinball) Check(float64) error          { return nil }
func (p Pinball) Value(z, y float64) float64 { return max(p.tau*(y-z), (p.tau-1)*(y-z)) }

// Slope returns -τ below y, 1-τ above it and 0 at it.
func (p Pinball) Slope(z, y float64) float64 {
	switch {
	case z < y:
		return -p.tau
	case z > y:
		return 1 - p.tau
	}
	return 0
}
func (Pinball) Curvature() float64          { return math.Inf(1) }
func (p Pinball) Lipschitz(float64) float64 { return max(p.tau, 1-p.tau) }
func (Pinball) WeakConvexity() float64      { return 0 }

// Prox moves m towards y by τ/β from below and by (1-τ)/β from above, at most to y.
func (p Pinball) Prox(m, y, beta float64) float64 {
	switch r := y - m; {
	case r > p.tau/beta:
		return m + p.tau/beta
	case r < -(1-p.tau)/beta:
		return m - (1-p.tau)/beta
	}
	return y
}

// EnvelopeSlope returns β(m-y) between -τ and 1-τ.
func (p Pinball) EnvelopeSlope(m, y, beta float64) float64 {
	return clamp(beta*(m-y), -p.tau, 1-p.tau)
}

// Insensitive is the link max(0, |z-y|-e), of support vector regression. The zero value has
// e = 0 and is Absolute.
type Insensitive struct{ e float64 }

// NewInsensitive returns the link for a finite e ≥ 0.
func NewInsensitive(e float64) (Insensitive, error) {
	return Insensitive{e}, check.Epsilon("insensitive width", e)
}

func (l Insensitive) Name() string               { return fmt.Sprintf("insensitive:%v", l.e) }
func (Insensitive) Check(float64) error          { return nil }
func (l Insensitive) Value(z, y float64) float64 { return max(0, math.Abs(z-y)-l.e) }

// Slope returns ±1 beyond e, and 0 within it.
func (l Insensitive) Slope(z, y float64) float64 {
	if r := z - y; math.Abs(r) > l.e {
		return signum(r)
	}
	return 0
}
func (Insensitive) Curvature() float64        { return math.Inf(1) }
func (Insensitive) Lipschitz(float64) float64 { return 1 }
func (Insensitive) WeakConvexity() float64    { return 0 }

// Prox moves m towards y by 1/β, at most to y ± e.
func (l Insensitive) Prox(m, y, beta float64) float64 {
	switch r, a := m-y, math.Abs(m-y); {
	case a <= l.e:
		return m
	case a >= l.e+1/beta:
		return m - math.Copysign(1/beta, r)
	default:
		return y + math.Copysign(l.e, r)
	}
}

// EnvelopeSlope returns sgn(m-y)·β(|m-y|-e), with β(|m-y|-e) between 0 and 1.
func (l Insensitive) EnvelopeSlope(m, y, beta float64) float64 {
	r := m - y
	return math.Copysign(clamp(beta*(math.Abs(r)-l.e), 0, 1), r)
}

// Prox solves β(u-m) = s/(1+e^{su}), s = ±1 for the labels 1 and 0.
func (Logit) Prox(m, y, beta float64) float64 {
	s := sign(y)
	return s * logisticProx(s*m, beta)
}

// EnvelopeSlope returns the loss's slope at the proximal map, which is the envelope's.
func (l Logit) EnvelopeSlope(m, y, beta float64) float64 {
	s := sign(y)
	return -s * sigmoid(-logisticProx(s*m, beta))
}

// logisticProx returns the root v of h(v) = β(v-q) - 1/(1+e^v), which grows: Newton's method,
// held in an interval around the root that each step shrinks.
func logisticProx(q, beta float64) float64 {
	low, high := q, q+1/beta
	v := q + sigmoid(-q)/(beta+1)
	for range 100 {
		p := sigmoid(-v)
		h := beta*(v-q) - p
		if h > 0 {
			high = v
		} else {
			low = v
		}
		next := v - h/(beta+p*(1-p))
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if next == v || !(low < next && next < high) {
			break
		}
		v = next
	}
	return v
}

// signum returns the sign of x, 0 for 0.
func signum(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func clamp(x, low, high float64) float64 { return max(low, min(high, x)) }

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

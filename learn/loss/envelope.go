package loss

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Proximal is a Link whose proximal map is known in closed form, or to all digits. β must be
// above 0, and above WeakConvexity.
type Proximal interface {
	Link
	// Prox returns argmin_u φ(u, y) + (β/2)(u-m)².
	Prox(m, y, beta float64) float64
	// EnvelopeSlope returns β(m - Prox(m, y, β)), the derivative at m of the Moreau envelope.
	// It is worked out without the difference, so that its size is never above Lipschitz.
	EnvelopeSlope(m, y, beta float64) float64
}

// Envelope is the Moreau envelope of a convex link, itself a link:
//
//	env(z, y) = min_u φ(u, y) + (β/2)(u-z)².
//
// It is convex, β-smooth, as Lipschitz as φ (the source says twice that: Rockafellar and
// Wets, Variational Analysis, 1998, Theorem 2.26 with β(z-u) ∈ ∂φ(u)), at most φ, and below it
// by at most L0²/(2β). Make it with NewEnvelope.
type Envelope struct {
	of   Proximal
	beta float64
}

// NewEnvelope returns the envelope of a convex link at a finite β > 0.
func NewEnvelope(of Proximal, beta float64) (Envelope, error) {
	if err := check.Positive("Moreau parameter beta", beta); err != nil {
		return Envelope{}, err
	}
	if of.WeakConvexity() != 0 {
		return Envelope{}, &check.Error{Name: "link of an envelope", Value: of.Name(), Rule: "convex"}
	}
	return Envelope{of, beta}, nil
}

// Name returns the link's name and β.
func (e Envelope) Name() string { return fmt.Sprintf("%s smoothed at %v", e.of.Name(), e.beta) }

// Of returns the link that is smoothed, and β.
func (e Envelope) Of() (Proximal, float64) { return e.of, e.beta }

// Check is the link's.
func (e Envelope) Check(y float64) error { return e.of.Check(y) }

// Value returns env(z, y).
func (e Envelope) Value(z, y float64) float64 {
	u := e.of.Prox(z, y, e.beta)
	return e.of.Value(u, y) + e.beta/2*(u-z)*(u-z)
}

// Slope returns β(z - prox(z)).
func (e Envelope) Slope(z, y float64) float64 { return e.of.EnvelopeSlope(z, y, e.beta) }

// Curvature returns a bound on env″: β, or the link's own where that is less (the envelope of
// a C-smooth φ is Cβ/(C+β)-smooth).
func (e Envelope) Curvature() float64 { return min(e.beta, e.of.Curvature()) }

// Lipschitz returns the link's bound over all z: the minimiser u can lie beyond |z|.
func (e Envelope) Lipschitz(float64) float64 { return e.of.Lipschitz(math.Inf(1)) }

// WeakConvexity returns 0.
func (e Envelope) WeakConvexity() float64 { return 0 }

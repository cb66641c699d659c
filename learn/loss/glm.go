package loss

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
)

// Link is φ(z, y), a loss of the prediction z. Unless its comment states otherwise its zero value
// is ready. The properties that its methods state are trusted: accounts of privacy rest on them.
type Link interface {
	// Name names the link and its parameters; it goes into a plan's digest.
	Name() string
	// Check returns an error for an unsuitable response. y is NaN where there are no responses.
	Check(y float64) error
	Value(z, y float64) float64
	// Slope returns φ′(z, y), where there are several any of them.
	Slope(z, y float64) float64
	// Curvature returns a bound on |φ″| for every z and y, +Inf where φ has kinks.
	Curvature() float64
	// Lipschitz returns a bound on |φ′(z, y)| for |z| ≤ within and every y, rounded up, +Inf
	// where there is none. within may be +Inf.
	Lipschitz(within float64) float64
	// WeakConvexity returns a ρ for which φ(z, y) + (ρ/2)z² is convex in z, rounded up: 0 for
	// a convex φ.
	WeakConvexity() float64
}

// GLM is the generalised linear loss φ(⟨a,x⟩, y). Its smoothness for ‖a‖ ≤ R is the curvature
// times R², its Lipschitz constant the link's times R, and where φ is convex so is f, and
// clipping its gradient clamps φ′, which leaves φ′ monotone: its clipped steps are
// non-expansive.
type GLM[L Link] struct{ Link L }

// Linear is a loss that a GLM is.
type Linear interface {
	Loss
	// Scalar returns φ.
	Scalar() Link
}

// Scalar returns the link.
func (l GLM[L]) Scalar() Link { return l.Link }

// Name returns the link's name.
func (l GLM[L]) Name() string { return l.Link.Name() }

// Check refuses samples without a response, and those that the link refuses.
func (l GLM[L]) Check(_ []float64, y float64) error {
	if math.IsNaN(y) {
		return errors.New("no response, but the task needs one")
	}
	return l.Link.Check(y)
}

// Loss returns φ(⟨a,x⟩, y).
func (l GLM[L]) Loss(x, a []float64, y float64) float64 { return l.Link.Value(floats.Dot(a, x), y) }

// Gradient sets g to φ′(⟨a,x⟩, y)·a.
func (l GLM[L]) Gradient(g, x, a []float64, y float64) {
	slope := l.Link.Slope(floats.Dot(a, x), y)
	a = a[:len(g)]
	for j := range g {
		g[j] = slope * a[j]
	}
}

// Curvature returns the link's, for which -Curvature()·aaᵀ ≼ ∇²f ≼ Curvature()·aaᵀ.
func (l GLM[L]) Curvature() float64 { return l.Link.Curvature() }

// Smoothness returns Curvature()·radius².
func (l GLM[L]) Smoothness(radius float64) float64 {
	return timesSquare(l.Link.Curvature(), radius)
}

// Lipschitz returns a bound on ‖∇f(x; a, y)‖ for ‖a‖ ≤ radius, ‖x‖ ≤ model and every y,
// rounded up; model may be +Inf. The norms are ℓ2, or any other and its dual.
func (l GLM[L]) Lipschitz(radius, model float64) float64 {
	return l.Link.Lipschitz(radius*model*(1+0x1p-50)) * radius * (1 + 0x1p-50)
}

// WeakConvexity returns a ρ for which f + (ρ/2)‖x‖² is convex for every ‖a‖ ≤ radius,
// rounded up.
func (l GLM[L]) WeakConvexity(radius float64) float64 {
	return timesSquare(l.Link.WeakConvexity(), radius)
}

// timesSquare returns c·radius², rounded up, and 0 for c = 0 whatever the radius is.
func timesSquare(c, radius float64) float64 {
	if c == 0 || math.IsInf(c, 1) {
		return c
	}
	return c * radius * radius * (1 + 0x1p-50)
}

// Convex reports whether φ is convex.
func (l GLM[L]) Convex() bool { return l.Link.WeakConvexity() == 0 }

// ClipKeepsContraction reports whether φ is convex.
func (l GLM[L]) ClipKeepsContraction() bool { return l.Convex() }

// LeastSquares is f(x; a, y) = (⟨a,x⟩-y)², without the usual half. L = 2‖a‖².
type LeastSquares = GLM[Square]

// Square is the link (z-y)², of ridge regression and named after it.
type Square struct{}

func (Square) Name() string               { return "ridge" }
func (Square) Check(float64) error        { return nil }
func (Square) Value(z, y float64) float64 { return (z - y) * (z - y) }
func (Square) Slope(z, y float64) float64 { return 2 * (z - y) }
func (Square) Curvature() float64         { return 2 }
func (Square) Lipschitz(float64) float64  { return math.Inf(1) }
func (Square) WeakConvexity() float64     { return 0 }

// Prox returns (2y+βm)/(2+β).
func (Square) Prox(m, y, beta float64) float64 { return m + 2*(y-m)/(2+beta) }

// EnvelopeSlope returns 2β(m-y)/(2+β).
func (Square) EnvelopeSlope(m, y, beta float64) float64 { return 2 * (m - y) * (beta / (2 + beta)) }

// Logistic is f(x; a, y) = -y·ln h - (1-y)·ln(1-h), h = 1/(1+e^-⟨a,x⟩), y in {0, 1}.
// L = ‖a‖²/4. (The source prints the second logarithm without its 1-.)
type Logistic = GLM[Logit]

// Logit is the link max(z,0) + ln(1+e^-|z|) - y·z, which is Logistic's without overflow.
type Logit struct{}

func (Logit) Name() string { return "logistic" }

// Check refuses labels other than 0 and 1.
func (Logit) Check(y float64) error { return checkLabel(y) }

// checkLabel is the one rule of classes: 0 or 1.
func checkLabel(y float64) error {
	if y != 0 && y != 1 {
		return fmt.Errorf("label = %v, but it must be 0 or 1", y)
	}
	return nil
}

func (Logit) Value(z, y float64) float64 {
	return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - y*z
}

func (Logit) Slope(z, y float64) float64 { return sigmoid(z) - y }

// Slopes replaces four predictions by their slopes at four responses, by vec.Exp: the same bits on every processor. Of nil
// it replaces nothing.
func (Logit) Slopes(z, y *[vec.Quad]float64) {
	if z == nil || y == nil {
		return
	}
	for q, v := range z {
		z[q] = -v
	}
	vec.Exps(z)
	for q, e := range z {
		z[q] = 1/(1+e) - y[q]
	}
}

func (Logit) Curvature() float64        { return 0.25 }
func (Logit) Lipschitz(float64) float64 { return 1 }
func (Logit) WeakConvexity() float64    { return 0 }

// sigmoid returns 1/(1+e^-z).
func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// sign returns -1 for the label 0 and 1 for the label 1.
func sign(y float64) float64 { return 2*y - 1 }

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
	if of == nil {
		return Envelope{}, check.Want("link of an envelope", "nil", "given")
	}
	if of.WeakConvexity() != 0 {
		return Envelope{}, check.Want("link of an envelope", of.Name(), "convex")
	}
	return Envelope{of, beta}, nil
}

// noLink is the link of a zero value. It has no values, and nothing bounds it.
type noLink struct{}

func (noLink) Name() string                          { return "none" }
func (noLink) Check(float64) error                   { return errors.New("link must be given") }
func (noLink) Value(_, _ float64) float64            { return math.NaN() }
func (noLink) Slope(_, _ float64) float64            { return math.NaN() }
func (noLink) Curvature() float64                    { return math.Inf(1) }
func (noLink) Lipschitz(float64) float64             { return math.Inf(1) }
func (noLink) WeakConvexity() float64                { return math.Inf(1) }
func (noLink) Prox(_, _, _ float64) float64          { return math.NaN() }
func (noLink) EnvelopeSlope(_, _, _ float64) float64 { return math.NaN() }

// link returns the link that is smoothed.
func (e Envelope) link() Proximal {
	if e.of == nil {
		return noLink{}
	}
	return e.of
}

// Name returns the link's name and β.
func (e Envelope) Name() string { return fmt.Sprintf("%s smoothed at %v", e.link().Name(), e.beta) }

// Of returns the link that is smoothed, and β.
func (e Envelope) Of() (Proximal, float64) { return e.link(), e.beta }

// Check is the link's.
func (e Envelope) Check(y float64) error { return e.link().Check(y) }

// Value returns env(z, y).
func (e Envelope) Value(z, y float64) float64 {
	u := e.link().Prox(z, y, e.beta)
	return e.link().Value(u, y) + e.beta/2*(u-z)*(u-z)
}

// Slope returns β(z - prox(z)).
func (e Envelope) Slope(z, y float64) float64 { return e.link().EnvelopeSlope(z, y, e.beta) }

// Curvature returns a bound on env″: β, or the link's own where that is less (the envelope of
// a C-smooth φ is Cβ/(C+β)-smooth).
func (e Envelope) Curvature() float64 { return min(e.beta, e.link().Curvature()) }

// Lipschitz returns the link's bound over all z: the minimiser u can lie beyond |z|.
func (e Envelope) Lipschitz(float64) float64 { return e.link().Lipschitz(math.Inf(1)) }

// WeakConvexity returns 0.
func (e Envelope) WeakConvexity() float64 { return 0 }

package loss

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Link is φ(z, y), a loss of the prediction z that is convex in it. Its zero value is ready.
type Link interface {
	Name() string
	// Check says what is wrong with a response, which is NaN where there are none.
	Check(y float64) error
	Value(z, y float64) float64
	// Slope returns φ′(z, y).
	Slope(z, y float64) float64
	// Curvature returns a bound on φ″ for every z and y.
	Curvature() float64
}

// GLM is the generalised linear loss φ(⟨a,x⟩, y). It is convex, its smoothness for ‖a‖ ≤ R is
// the curvature times R², and clipping its gradient clamps φ′, which leaves φ′ monotone: its
// clipped steps are non-expansive.
type GLM[L Link] struct{ Link L }

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

// Curvature returns the link's, for which ∇²f ≼ Curvature()·aaᵀ.
func (l GLM[L]) Curvature() float64 { return l.Link.Curvature() }

// Smoothness returns Curvature()·radius².
func (l GLM[L]) Smoothness(radius float64) float64 {
	return l.Link.Curvature() * radius * radius * (1 + 0x1p-50)
}

// Convex returns true.
func (GLM[L]) Convex() bool { return true }

// ClipKeepsContraction returns true.
func (GLM[L]) ClipKeepsContraction() bool { return true }

// LeastSquares is f(x; a, y) = (⟨a,x⟩-y)², without the usual half. L = 2‖a‖².
type LeastSquares = GLM[Square]

// Square is the link (z-y)², of ridge regression and named after it.
type Square struct{}

func (Square) Name() string               { return "ridge" }
func (Square) Check(float64) error        { return nil }
func (Square) Value(z, y float64) float64 { return (z - y) * (z - y) }
func (Square) Slope(z, y float64) float64 { return 2 * (z - y) }
func (Square) Curvature() float64         { return 2 }

// Logistic is f(x; a, y) = -y·ln h - (1-y)·ln(1-h), h = 1/(1+e^-⟨a,x⟩), y in {0, 1}.
// L = ‖a‖²/4. (The source prints the second logarithm without its 1-.)
type Logistic = GLM[Logit]

// Logit is the link max(z,0) + ln(1+e^-|z|) - y·z, which is Logistic's without overflow.
type Logit struct{}

func (Logit) Name() string { return "logistic" }

// Check refuses labels other than 0 and 1.
func (Logit) Check(y float64) error {
	if y == -1 {
		return errors.New("label = -1, but it must be 0 or 1: map -1 to 0")
	}
	if y != 0 && y != 1 {
		return fmt.Errorf("label = %v, but it must be 0 or 1", y)
	}
	return nil
}

func (Logit) Value(z, y float64) float64 {
	return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - y*z
}

func (Logit) Slope(z, y float64) float64 { return 1/(1+math.Exp(-z)) - y }
func (Logit) Curvature() float64         { return 0.25 }

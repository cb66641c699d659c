// Package loss has the losses f(x; a, y) of a model x on a record with features a and
// response y, and what is known of each: whether it is convex, how smooth it is for records
// within a radius, and whether clipping keeps its gradient steps non-expansive. Accounts of
// privacy rest on these statements.
//
// # Notation
//
//	f, ∇f    Loss.Loss, Loss.Gradient
//	L(R)     Loss.Smoothness          of f for every ‖a‖ ≤ R, rounded up
//	x        model                    a, y: features and response
package loss

import (
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/vec"
)

// Loss is a loss f(x; q) for a model x and a sample q = (a, y): features a and response y.
// What its last three methods say is taken on trust: the account of a run rests on it. A
// Loss is safe for concurrent use.
type Loss interface {
	// Name names the task; it goes into a plan's digest, with the parameters if any.
	Name() string
	// Check says what is wrong with a sample, such as a label outside the task. Where there
	// are no responses y is NaN.
	Check(a []float64, y float64) error
	// Loss returns f(x; a, y).
	Loss(x, a []float64, y float64) float64
	// Gradient sets g to ∇f(x; a, y), not clipped.
	Gradient(g, x, a []float64, y float64)
	// Smoothness returns an L for which f is L-smooth for every sample with ‖a‖ ≤ radius
	// and any response, rounded up. The radius may be +Inf, and so may the result.
	Smoothness(radius float64) float64
	// Convex says whether f is convex in x for every sample.
	Convex() bool
	// ClipKeepsContraction says whether x - η·clip_G(∇f(x)) is non-expansive for every G
	// and every η ≤ 2/L. For convex smooth f it need not be; it is for generalised linear
	// losses φ(⟨a,x⟩), where clipping clamps φ', and for ½‖x-q‖².
	ClipKeepsContraction() bool
}

// needResponse is the check of tasks with responses.
func needResponse(y float64) error {
	if math.IsNaN(y) {
		return errors.New("no response, but the task needs one")
	}
	return nil
}

// MeanEstimation is f(x; a) = ½‖x-a‖², without responses. L = 1; clipped it is Huber's
// function.
type MeanEstimation struct{}

// Name returns "mean".
func (MeanEstimation) Name() string { return "mean" }

// Check accepts every sample.
func (MeanEstimation) Check([]float64, float64) error { return nil }

// Loss returns ½‖x-a‖².
func (MeanEstimation) Loss(x, a []float64, _ float64) float64 {
	s := 0.0
	for j, v := range x {
		s += (v - a[j]) * (v - a[j])
	}
	return s / 2
}

// Gradient sets g to x - a.
func (MeanEstimation) Gradient(g, x, a []float64, _ float64) {
	a = a[:len(g)]
	x = x[:len(g)]
	for j := range g {
		g[j] = x[j] - a[j]
	}
}

// Smoothness returns 1.
func (MeanEstimation) Smoothness(float64) float64 { return 1 }

// Convex returns true.
func (MeanEstimation) Convex() bool { return true }

// ClipKeepsContraction returns true: what is clipped is Huber's function's gradient.
func (MeanEstimation) ClipKeepsContraction() bool { return true }

// LeastSquares is f(x; a, y) = (⟨a,x⟩-y)², without the usual half. L = 2‖a‖².
type LeastSquares struct{}

// Name returns "ridge", after the task that it is for.
func (LeastSquares) Name() string { return "ridge" }

// Check refuses samples without a response.
func (LeastSquares) Check(_ []float64, y float64) error { return needResponse(y) }

// Loss returns (⟨a,x⟩-y)².
func (LeastSquares) Loss(x, a []float64, y float64) float64 {
	r := vec.Dot(a, x) - y
	return r * r
}

// Gradient sets g to 2(⟨a,x⟩-y)·a.
func (LeastSquares) Gradient(g, x, a []float64, y float64) { scaled(g, 2*(vec.Dot(a, x)-y), a) }

// Smoothness returns 2·radius².
func (LeastSquares) Smoothness(radius float64) float64 { return 2 * radius * radius * (1 + 0x1p-50) }

// Convex returns true.
func (LeastSquares) Convex() bool { return true }

// ClipKeepsContraction returns true: the loss is generalised linear.
func (LeastSquares) ClipKeepsContraction() bool { return true }

// Logistic is f(x; a, y) = -y·ln h - (1-y)·ln(1-h), h = 1/(1+e^-⟨a,x⟩), y in {0, 1}.
// L = ‖a‖²/4. (The source prints the second logarithm without its 1-.)
type Logistic struct{}

// Name returns "logistic".
func (Logistic) Name() string { return "logistic" }

// Check refuses labels other than 0 and 1.
func (Logistic) Check(_ []float64, y float64) error {
	if err := needResponse(y); err != nil {
		return err
	}
	if y == -1 {
		return errors.New("label = -1, but it must be 0 or 1: map -1 to 0")
	}
	if y != 0 && y != 1 {
		return fmt.Errorf("label = %v, but it must be 0 or 1", y)
	}
	return nil
}

// Loss returns max(z,0) + ln(1+e^-|z|) - y·z, z = ⟨a,x⟩, which is the loss without
// overflow.
func (Logistic) Loss(x, a []float64, y float64) float64 {
	z := vec.Dot(a, x)
	return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - y*z
}

// Gradient sets g to (h-y)·a.
func (Logistic) Gradient(g, x, a []float64, y float64) {
	scaled(g, 1/(1+math.Exp(-vec.Dot(a, x)))-y, a)
}

// Smoothness returns radius²/4.
func (Logistic) Smoothness(radius float64) float64 { return radius * radius / 4 * (1 + 0x1p-50) }

// Convex returns true.
func (Logistic) Convex() bool { return true }

// ClipKeepsContraction returns true: the loss is generalised linear.
func (Logistic) ClipKeepsContraction() bool { return true }

// scaled sets g to s·a.
func scaled(g []float64, s float64, a []float64) {
	a = a[:len(g)]
	for j := range g {
		g[j] = s * a[j]
	}
}

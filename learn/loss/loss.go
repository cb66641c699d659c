// Package loss has the losses f(x; a, y) of a model x on a record with features a and response y,
// and what is known of each: whether it is convex, how smooth it is for records within a radius,
// and whether clipping keeps its gradient steps non-expansive. Accounts of privacy rest on these
// statements. MeanEstimation and the generalised linear models, GLM of a Link, are ready to use,
// and so is a Network of one hidden layer. Proximal links have an exact proximal map, and an
// Envelope that smooths them. A Pair is a loss of a linear score on two examples, for maximising
// the AUC.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	f, ∇f    Loss.Loss, Loss.Gradient
//	L(R)     Loss.Smoothness          of f for every ‖a‖ ≤ R, rounded up
//	φ(z, y)  Link                     z = ⟨a,x⟩, the prediction
//	L0, ρ    Link.Lipschitz, WeakConvexity
//	β, env   Envelope                 Moreau parameter and envelope
//	ℓ(s)     Pair.Value               loss of the margin s between a positive and a negative example
//	G, L     Pair.Lipschitz, Smoothness   for examples of norm at most R
//	h, p     Network, its features    hidden units, features
//	x        model                    a, y: features and response
//
// Sources: Parikh and Boyd, Proximal Algorithms (2014), Sections 3.1 and 6; Bassily, Guzmán
// and Menart, Differentially Private Stochastic Optimization: New Results in Convex and
// Non-Convex Settings (2021), for the envelope of generalised linear losses; Yang, Lei, Wang,
// Yang and Ying, Simple Stochastic and Online Gradient Descent Algorithms for Pairwise Learning
// (2021), for pairs.
package loss

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// Loss is a loss f(x; q) for a model x and a sample q = (a, y): features a and response y. The
// results of its last three methods are trusted: the account of a run rests on them. A Loss is safe
// for concurrent use.
type Loss interface {
	// Name names the task; it goes into a plan's digest, with the parameters if any.
	Name() string
	// Check returns an error for an unsuitable sample, such as a label outside the task. Where
	// there are no responses y is NaN.
	Check(a []float64, y float64) error
	// Loss returns f(x; a, y).
	Loss(x, a []float64, y float64) float64
	// Gradient sets g to ∇f(x; a, y), not clipped.
	Gradient(g, x, a []float64, y float64)
	// Smoothness returns an L for which f is L-smooth for every sample with ‖a‖ ≤ radius
	// and any response, rounded up. The radius may be +Inf, and so may the result.
	Smoothness(radius float64) float64
	// Convex reports whether f is convex in x for every sample.
	Convex() bool
	// ClipKeepsContraction reports whether x - η·clip_G(∇f(x)) is non-expansive for every G and
	// every η ≤ 2/L. For convex smooth f it need not be. It is for generalised linear losses
	// φ(⟨a,x⟩), where clipping clamps φ', and for ½‖x-q‖².
	ClipKeepsContraction() bool
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

// Names returns the names that Parse takes, with a letter for what follows the colon.
func Names() []string {
	return []string{"mean", "ridge", "logistic", "absolute", "hinge", "pinball:τ", "insensitive:e",
		"squared-sigmoid", "phase-retrieval"}
}

// plain are the losses without a parameter.
var plain = []Loss{MeanEstimation{}, LeastSquares{}, Logistic{}, GLM[Absolute]{}, GLM[Hinge]{},
	GLM[SquaredSigmoid]{}, GLM[PhaseRetrieval]{}}

// Parse returns the loss of a name, such as "hinge" or "pinball:0.9", in the form that Name
// returns. The error names the rule that the name, or the number in it, breaks.
func Parse(name string) (Loss, error) {
	for _, l := range plain {
		if l.Name() == name {
			return l, nil
		}
	}
	family, number, _ := strings.Cut(name, ":")
	v, notNumber := strconv.ParseFloat(number, 64)
	switch {
	case notNumber != nil:
	case family == "pinball":
		l, err := NewPinball(v)
		return GLM[Pinball]{l}, err
	case family == "insensitive":
		l, err := NewInsensitive(v)
		return GLM[Insensitive]{l}, err
	}
	return nil, check.Want("task", fmt.Sprintf("%q", name), "one of "+strings.Join(Names(), ", "))
}

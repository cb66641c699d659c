package model

import (
	"cmp"
	"math"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/geometry"
)

// What follows is worked out in one stated order with one rounding an operation, so that a program in another language
// has the same numbers to the last digit, on every processor (docs/formats.md). float64() around a product keeps it from
// being fused with a sum.

// dot returns Σ a_j·w_j, added from the first to the last.
func dot(a, w []float64) float64 {
	s := 0.0
	for j, v := range a {
		s += float64(v * w[j])
	}
	return s
}

// linear returns f·⟨a,w⟩ + b, f the factor that shortens a to the radius.
func (m *Model) linear(a []float64) float64 {
	return float64(m.factor(a)*dot(a, m.Weights)) + m.Intercept
}

// Between them a sum of squares has all its digits.
const leastSquare, leastRadius = 1e-290, 1e-100

// factor returns what features are multiplied by to be within the radius.
func (m *Model) factor(a []float64) float64 {
	if m.Radius == 0 {
		return 1
	}
	q := cmp.Or(m.Norm, 2)
	if q != 2 {
		return geometry.Shortening(a, m.Radius, q)
	}
	square := dot(a, a)
	switch {
	case square < leastSquare && m.Radius >= leastRadius:
		return 1
	case !(square >= leastSquare) || math.IsInf(square, 1):
		return geometry.Shortening(a, m.Radius, q)
	}
	norm := math.Sqrt(square) * (1 + (vec.Slack(len(a)) + 0x1p-44)) // at least the exact norm
	if norm <= m.Radius {
		return 1
	}
	return m.Radius / norm * (1 - 0x1p-50)
}

// Probability returns the probability of class 1 that LinkLogit gives a score.
func Probability(z float64) float64 { return 1 / (1 + vec.Exp(-z)) }

// chances sets scores to e^z_k over their sum.
func chances(scores []float64) {
	if len(scores) == 0 {
		return
	}
	top, sum := scores[0], 0.0
	for _, z := range scores {
		top = max(top, z)
	}
	for k, z := range scores {
		scores[k] = vec.Exp(z - top)
		sum += scores[k]
	}
	for k := range scores {
		scores[k] /= sum
	}
}

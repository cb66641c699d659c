package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// several makes a model of several classes of a document whose task is read: for each class a model of its
// score, against the rest or of a softmax, with the same columns, rules and radius.
func (m *Model) several(d Document) (*Model, error) {
	count := len(d.Classes)
	softmax, joint := m.Task.(loss.Softmax)
	switch {
	case joint && count != softmax.Classes():
		return nil, check.Wantf("classes", fmt.Sprintf("%q", d.Classes),
			"the %d of the task %s", softmax.Classes(), d.Task)
	case !m.Link.Classes() || m.network != nil:
		return nil, check.Want("classes", fmt.Sprintf("%q", d.Classes), "left out for the task "+d.Task)
	case count < 3:
		return nil, check.Want("classes", fmt.Sprintf("%q", d.Classes),
			"three or more: a model of two has one score")
	case len(m.Weights)%count != 0 || len(m.Weights) == 0:
		return nil, check.Wantf("number of weights", len(m.Weights), "a multiple of the %d classes", count)
	}
	for i, word := range d.Classes {
		if slices.Contains(d.Classes[:i], word) {
			return nil, fmt.Errorf("class %q is named twice", word)
		}
	}
	if p := d.Preparation; p != nil && p.Response != nil && p.Response.Categories != nil &&
		!slices.Equal(p.Response.Categories, d.Classes) {
		return nil, fmt.Errorf("preparation: the words of the response are not the model's classes")
	}
	m.Classes, m.constant = d.Classes, d.Intercept
	each := len(m.Weights) / count
	for k := range count {
		one := d
		one.Classes, one.Simulated = nil, nil
		if joint { // a class by itself has a score, and no probability
			one.Task, one.Link = loss.LeastSquares{}.Name(), LinkIdentity
		}
		one.Model = slices.Clone(m.Weights[k*each : (k+1)*each])
		part, err := New(one)
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", d.Classes[k], err)
		}
		m.Parts = append(m.Parts, part)
	}
	m.Radius, m.Norm = m.Parts[0].Radius, m.Parts[0].Norm
	return m, nil
}

// Scores returns the score of each class, that of several, or the one score of another model. The
// error is the error of Score.
func (m *Model) Scores(a []float64) ([]float64, error) {
	m = handle.Made(m)
	parts := m.Parts
	if parts == nil {
		parts = []*Model{m}
	}
	scores := make([]float64, len(parts))
	for k, part := range parts {
		var err error
		if scores[k], err = part.Score(a); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// Class returns the number of the class that a model of several predicts: of the highest score, the
// first of equals.
func (m *Model) Class(a []float64) (int, error) {
	m = handle.Made(m)
	if m.Parts == nil {
		return 0, fmt.Errorf("the model has no several classes")
	}
	scores, err := m.Scores(a)
	if err != nil {
		return 0, err
	}
	return Highest(scores), nil
}

// Highest returns the number of the highest score, the first of equals.
func Highest(scores []float64) int {
	best := 0
	for k, z := range scores {
		if z > scores[best] {
			best = k
		}
	}
	return best
}

// Probabilities returns the probability of each of several classes by their scores, nil for links
// that have none: of LinkSoftmax e^z_k over their sum, of LinkLogit that of each against the rest, divided by
// their sum.
func (l Link) Probabilities(scores []float64) []float64 {
	out, sum := slices.Clone(scores), 0.0
	switch l {
	case LinkSoftmax:
		chances(out)
		return out
	case LinkLogit:
	default:
		return nil
	}
	for k, z := range scores {
		out[k] = Probability(z)
		sum += out[k]
	}
	for k := range out {
		if sum == 0 { // all underflow: nothing is likelier than the other
			out[k] = 1 / float64(len(out))
		} else {
			out[k] /= sum
		}
	}
	return out
}

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

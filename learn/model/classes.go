package model

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// several makes a model of several classes of a document whose task is read: a model of two for
// each class, that class against the rest, with the same columns, rules and radius.
func (m *Model) several(d Document) (*Model, error) {
	count := len(d.Classes)
	switch {
	case !m.Link.Classes() || m.network != nil:
		return nil, &check.Error{Name: "classes", Value: fmt.Sprintf("%q", d.Classes),
			Rule: "left out for the task " + d.Task}
	case count < 3:
		return nil, &check.Error{Name: "classes", Value: fmt.Sprintf("%q", d.Classes),
			Rule: "three or more: a model of two has one score"}
	case len(m.Weights)%count != 0 || len(m.Weights) == 0:
		return nil, &check.Error{Name: "number of weights", Value: len(m.Weights),
			Rule: fmt.Sprintf("a multiple of the %d classes", count)}
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

// Probabilities returns what LinkLogit makes of the scores of several classes: the probability of
// each against the rest, divided by their sum.
func Probabilities(scores []float64) []float64 {
	out, sum := make([]float64, len(scores)), 0.0
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

// checkClass refuses a response that is no class.
func (m *Model) checkClass(y float64) error {
	for k := range m.Classes {
		if y == float64(k) {
			return nil
		}
	}
	return &check.Error{Name: "response", Value: y,
		Rule: fmt.Sprintf("a class, a whole number from 0 to %d", len(m.Classes)-1)}
}

package ensemble

import (
	"errors"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/internal/handle"
)

// NoiseOfAnswers returns the mechanism of discrete Gaussian noise on each vote count, of which the label
// alone was priced, for all of its answers together (package accountant/noisymax). A certificate is all
// that makes one. neighbours is the relation for which its t was counted. Costs are as of ManyAnswers.
func NoiseOfAnswers(c *noisymax.Certified, neighbours accountant.Relation) (*Mechanism, error) {
	c = handle.Copy(c)
	p := c.Problem()
	if p.Teachers < 1 {
		return nil, errors.New("many answers need certified noise")
	}
	s := Setting{K: p.Teachers, Classes: p.Classes, Affected: p.Affected, Neighbours: neighbours,
		Missing: p.Missing}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	g, err := gaussian("sigma", c.Sigma())
	if err != nil {
		return nil, err
	}
	m := countMechanism(s, accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta}, labelMax{gaussianMax(g)},
		fmt.Sprintf("the price of the label of up to %d answers over all counts, of its discrete noise", p.Answers))
	m.name, m.figures = LabelNoise, Figures{Answers: p.Answers, Sigma: c.Sigma()}
	m.priced = c
	return m, nil
}

// PricedNoise returns the noise of NoiseOfAnswers, nil of other mechanisms.
func (m *Mechanism) PricedNoise() *noisymax.Certified { return handle.Copy(handle.Made(m).priced) }

// labelMax is noisyMax whose document is all of it.
type labelMax struct{ noisyMax }

func (labelMax) exact() string { return "" }

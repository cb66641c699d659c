package ensemble

import (
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/randsrc"
)

// DaRRM returns the mechanism of a certified noise function as an Aggregator over two
// classes; counts are those of 0 and of 1. Randomised response and subsampling are DaRRM
// with their own γ (see Baseline), and so is the best mechanism for teachers without
// privacy (ε = ∞). The relation is that of the teachers' own promise, or that for which
// affected was counted where they have none.
func DaRRM(c *gamma.Certified, neighbours accountant.Relation) (*Aggregator, error) {
	if c == nil || c.Problem().K < 1 {
		return nil, errors.New("DaRRM needs a certified noise function")
	}
	p := c.Problem()
	s := Setting{K: p.K, Classes: 2, Affected: p.Affected, Neighbours: neighbours}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	m := New(c)
	return &Aggregator{
		name: "darrm", title: "DaRRM", setting: s,
		cost:     m.PerAnswer(),
		event:    accountant.ApproxDP{Cost: m.PerAnswer(), Neighbours: neighbours},
		basis:    certificateBasis(c),
		assumes:  append(teachersPromise(p), s.reach()),
		anyVotes: math.IsInf(p.Epsilon, 1),
		rule:     gammaRule{m},
		secure:   m.secure,
	}, nil
}

// Baseline returns the mechanism of a baseline: DaRRM with its noise function, under its
// own name. What it needs of the teachers is what DaRRM needs.
func Baseline(b gamma.Baseline, neighbours accountant.Relation) (*Aggregator, error) {
	a, err := DaRRM(b.Certified, neighbours)
	if err != nil {
		return nil, err
	}
	a.name, a.title = b.Name, b.Title
	return a, nil
}

func certificateBasis(c *gamma.Certified) string {
	if c.Certificate().Method == gamma.PostProcessing {
		return "the teachers' own privacy: the answer is computed from their votes"
	}
	return "a certificate that every privacy constraint holds, rounding errors included"
}

func teachersPromise(p constraints.Problem) []string {
	if math.IsInf(p.Epsilon, 1) {
		return []string{"the teachers need no privacy of their own"}
	}
	return []string{
		fmt.Sprintf("each teacher's vote is (%g, %g)-differentially private by itself", p.Epsilon, p.TeacherDelta),
		"the teachers vote independently of each other",
	}
}

// gammaRule is Mechanism over counts.
type gammaRule struct{ m *Mechanism }

func (r gammaRule) draw(src randsrc.Source, counts []int) (int, error) {
	one, err := r.m.answer(src, counts[1])
	if err != nil || !one {
		return 0, err
	}
	return 1, nil
}

func (r gammaRule) law(counts []int) []float64 {
	one, err := r.m.ProbabilityOfOne(counts[1])
	if err != nil {
		panic(fmt.Sprintf("ensemble: counts %v were checked, but: %v", counts, err))
	}
	const whole = 2 * gamma.One
	return []float64{float64(whole-one) / float64(whole), float64(one) / float64(whole)}
}

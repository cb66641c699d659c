package ensemble

import (
	"errors"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/plurality/answers"
)

// Together is the joint price of many answers: up to Most of them cost Cost, however many are asked
// for. The number is fixed before the first answer. See package accountant/game.
type Together struct {
	Cost accountant.Cost
	Most int // Q ≥ 1; 0 where answers are priced one by one
}

// checkTogether refuses more answers than have a price, and other costs beside it.
func (r Answers) checkTogether() error {
	if r.PerAnswer != (accountant.Cost{}) || r.Noise.Event != nil {
		return check.Want("cost of one answer", r.PerAnswer, "left out where all answers have one price")
	}
	if r.Queries > r.Together.Most {
		return check.Wantf("queries", r.Queries, "at most %d, the number of answers that the table was made for",
			r.Together.Most)
	}
	return checkCost("answers' ", r.Together.Cost)
}

// together returns the one bound on answers that have one price.
func (r Answers) together() Report {
	report := Report{Queries: r.Queries, Delta: r.Together.Cost.Delta}
	if r.Delta > 0 && r.Delta < r.Together.Cost.Delta {
		report.Delta = r.Delta
		report.Refused = []Refusal{{OfAnswers, r.Together.Most, methodGame,
			fmt.Errorf("the table's delta is %g: %w", r.Together.Cost.Delta, accountant.ErrDeltaTooSmall)}}
		return report
	}
	report.Bounds = []Bound{{OfAnswers, r.Together.Most, methodGame, r.Together.Cost, true, ""}}
	return report
}

// methodGame is the Method of a Bound that follows from Together or from a JointPrice.
const methodGame accountant.Method = "game"

// ManyAnswers returns the mechanism of a table that was priced for all of its answers together
// (package plurality/answers). A certificate is all that makes one. neighbours is the relation for
// which the table's t was counted.
//
// PerAnswer is the price of all Q answers: the first one alone is certified to cost no more.
// Answers charges it once, and refuses more than Q. One answer's votes cost nothing more when they
// are answered again by another table, since nothing is presumed of the teachers.
//
// Cost: nothing.
func ManyAnswers(c *answers.Certified, neighbours accountant.Relation) (*Mechanism, error) {
	if c.Problem().K < 1 {
		return nil, errors.New("many answers need a certified table")
	}
	c = handle.Copy(c)
	p := c.Problem()
	s := Setting{K: p.K, Classes: p.Classes, Affected: p.Affected, Neighbours: neighbours,
		Missing: p.Missing}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	m := countMechanism(s, accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta}, answersTable{c},
		"the price of "+upTo(p.Answers)+" over every pair of neighbours, from integers")
	m.name, m.figures.Answers = TableOfAnswers, p.Answers
	m.abstains, m.answers = p.Abstain, c
	if p.Labels > 0 {
		tables := make(labelTables, p.Labels)
		for label := range tables {
			own, err := c.OfLabel(label)
			if err != nil {
				return nil, err
			}
			tables[label] = answersTable{own}
		}
		m.rule = tables
	}
	return m, nil
}

// LabelTables returns how many labels of a question have masses of their own, 0 where one table answers all
// queries. Such a mechanism answers nothing itself: OfLabel does.
func (m *Mechanism) LabelTables() int {
	tables, _ := handle.Made(m).rule.(labelTables)
	return len(tables)
}

// OfLabel returns the mechanism that answers one label of a question, from 0: m itself where one table answers all.
// It is charged as m is, and names what m is one of. The error is that of a label that is none.
func (m *Mechanism) OfLabel(label int) (*Mechanism, error) {
	m = handle.Made(m)
	tables, each := m.rule.(labelTables)
	switch {
	case !each:
		return m, nil
	case label < 0 || label >= len(tables):
		return nil, check.Wantf("label", label, "one of the %d of a question, from 0", len(tables))
	}
	one := *m
	one.rule = tables[label]
	return &one, nil
}

// errWhichLabel is the error where all labels of a question are asked for one law.
var errWhichLabel = errors.New("each label of a question has a table of its own: say of which label (OfLabel)")

// labelTables are the tables of the labels of a question. They answer nothing: a query must say which label it is.
type labelTables []answersTable

func (labelTables) draw(randsrc.Source, []int) (int, error) { return noAnswer, errWhichLabel }

func (labelTables) exact() string { return "" }

func (labelTables) law([]int) []float64 { panic("ensemble: " + errWhichLabel.Error()) }

// Named reports whether the mechanism may treat the classes by their names: then how often a label agrees is
// another number for each class.
func (m *Mechanism) Named() bool {
	m = handle.Made(m)
	return m.answers != nil && m.answers.Problem().Named || m.noise != nil && !m.noise.Func().Symmetric()
}

// AnswersTable returns the table of ManyAnswers, nil of other mechanisms.
func (m *Mechanism) AnswersTable() *answers.Certified { return handle.Copy(handle.Made(m).answers) }

// Together returns the price that all answers have in common; its Most is 0 where each answer is
// paid for by itself.
func (m *Mechanism) Together() Together {
	m = handle.Made(m)
	if m.HashOfAll() == "" {
		return Together{}
	}
	return Together{Cost: m.cost, Most: m.figures.Answers}
}

// HashOfAll names what was priced for all answers together, and what that promises: a table for many
// answers, or noise. It is "" where each answer is paid for by itself.
func (m *Mechanism) HashOfAll() string {
	m = handle.Made(m)
	switch {
	case m.answers != nil:
		return m.answers.Hash()
	case m.priced != nil:
		return m.priced.Hash()
	}
	return ""
}

// answersTable is a certified table by itself.
type answersTable struct{ *answers.Certified }

func (t answersTable) draw(src randsrc.Source, counts []int) (int, error) {
	masses, err := t.Masses(counts)
	if err != nil {
		return noAnswer, err
	}
	if t.Problem().Named {
		return drawClass(src, masses)
	}
	return drawGroup(src, masses, counts)
}

func (t answersTable) exact() string { return "" }

func (t answersTable) law(counts []int) []float64 {
	p, err := t.Law(counts)
	if err != nil {
		panic(fmt.Sprintf("ensemble: %v", err)) // counts of the Setting are those of the table
	}
	return p
}

// NoiseOfAnswers returns the mechanism of discrete Gaussian noise on each vote count, whose label alone
// was priced, for all of its answers together (package accountant/noisymax). Only a certificate
// makes one. neighbours is the relation for which its t was counted. Costs are as of ManyAnswers.
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
		"the price of the label of "+upTo(p.Answers)+" over all counts, of its discrete noise")
	m.name, m.figures = LabelNoise, Figures{Answers: p.Answers, Sigma: c.Sigma()}
	m.priced = c
	return m, nil
}

// PricedNoise returns the noise of NoiseOfAnswers, nil of other mechanisms.
func (m *Mechanism) PricedNoise() *noisymax.Certified { return handle.Copy(handle.Made(m).priced) }

// labelMax is noisyMax whose document is all of it.
type labelMax struct{ noisyMax }

func (labelMax) exact() string { return "" }

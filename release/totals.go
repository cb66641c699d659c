package release

import (
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
)

// Release is a series of answers of one mechanism.
type Release struct {
	Problem constraints.Problem // what the teachers promise, and how many one record reaches
	Answers *ensemble.Mechanism
	Queries int
}

// Totals is what the answers of a release cost together, by who votes.
type Totals struct {
	Fresh  ensemble.Total
	Frozen *ensemble.Total // nil where the teachers promise nothing
	// Again is what any number of further answers to the same votes of fresh teachers cost
	// together; nil where the teachers promise nothing, since then every answer pays.
	Again *ensemble.Total
}

// Slack returns the δ' that the composition of fresh answers spends where the user did not
// say: ensemble.SlackFor one answer.
func (r Release) Slack() float64 { return ensemble.SlackFor(r.Answers.PerAnswer()) }

// Totals accounts for the answers. slack is the δ' that the composition of fresh answers
// may spend. Where the teachers promise nothing, all privacy is the mechanism's own noise,
// fresh in every answer. The errors are those of [ensemble.Answers.Total].
func (r Release) Totals(slack float64) (t Totals, err error) {
	p := r.Problem
	a := ensemble.Answers{
		Queries: r.Queries, PerAnswer: r.Answers.PerAnswer(), K: p.K, Affected: p.Affected,
		Teachers:   accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		Randomness: ensemble.FreshTeachers, Slack: slack,
	}
	if noise, ok := r.Answers.Noise(); ok {
		a.Noise = noise
	}
	if t.Fresh, err = a.Total(); err != nil {
		return t, err
	}
	if math.IsInf(p.Epsilon, 1) {
		return t, nil
	}
	// A slack of its own: what is charged once must not depend on who asks first.
	a.Slack = ensemble.SlackFor(a.Teachers)
	again, err := a.AnyNumber()
	if err != nil {
		return t, err
	}
	frozen, err := Frozen(p)
	t.Frozen, t.Again = &frozen, &again
	return t, err
}

// Frozen returns what any number of answers of teachers that were trained once costs.
func Frozen(p constraints.Problem) (ensemble.Total, error) {
	return ensemble.Answers{
		K: p.K, Affected: p.Affected, Randomness: ensemble.FrozenTeachers,
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
	}.AnyNumber()
}

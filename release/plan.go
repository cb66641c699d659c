package release

import (
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
)

// Plan says what answers, how often, and for which teachers.
type Plan struct {
	Mechanism *ensemble.Mechanism
	// Problem is what the teachers promise, and how many one record reaches; ε = +Inf where
	// the mechanism presumes nothing of them.
	Problem constraints.Problem
	// Certified is the noise function of DaRRM and its baselines, nil of other mechanisms.
	Certified *gamma.Certified
	Queries   int
}

// DaRRM returns answers with a certified noise function to the votes of the teachers that it
// is certified for. neighbours is the relation of their promise.
func DaRRM(c *gamma.Certified, neighbours accountant.Relation) (Plan, error) {
	m, err := ensemble.DaRRM(c, neighbours)
	return Plan{Mechanism: m, Problem: c.Problem(), Certified: c}, err
}

// Totals is what the answers cost together, by who votes.
type Totals struct {
	Slack  float64 // δ' that Fresh spends
	Fresh  ensemble.Total
	Frozen *ensemble.Total // nil where the teachers promise nothing
	// Again is what any number of further answers to the same votes of fresh teachers cost
	// together; nil where the teachers promise nothing, since then every answer pays.
	Again *ensemble.Total
}

// Totals accounts for the answers. slack is [Charge.Slack]. Where the teachers promise
// nothing, all privacy is the mechanism's own noise, fresh in every answer. The errors are
// those of [ensemble.Answers.Total].
func (plan Plan) Totals(slack *float64) (t Totals, err error) {
	p, per := plan.Problem, plan.Mechanism.PerAnswer()
	if t.Slack = ensemble.SlackFor(per); slack != nil {
		t.Slack = *slack
	}
	r := plan.Mechanism.Answers(plan.Queries, accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta}, t.Slack)
	if t.Fresh, err = r.Total(); err != nil || !plan.promise() {
		return t, err
	}
	// A slack of its own: what is charged once must not depend on who asks first.
	r.Slack = ensemble.SlackFor(r.Teachers)
	again, err := r.AnyNumber()
	if err != nil {
		return t, err
	}
	frozen, err := Frozen(p)
	t.Frozen, t.Again = &frozen, &again
	return t, err
}

// promise says whether the teachers are private themselves.
func (plan Plan) promise() bool { return !math.IsInf(plan.Problem.Epsilon, 1) }

// Frozen returns what any number of answers of teachers that were trained once costs.
func Frozen(p constraints.Problem) (ensemble.Total, error) {
	return ensemble.Answers{
		K: p.K, Affected: p.Affected, Randomness: ensemble.FrozenTeachers,
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
	}.AnyNumber()
}

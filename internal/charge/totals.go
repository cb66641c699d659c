package charge

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
)

// Release is a series of answers of one mechanism.
type Release struct {
	Problem constraints.Problem // what the teachers promise, and how many one record reaches
	Answers *ensemble.Aggregator
	Queries int
}

// Totals is what the answers of a release cost together, by who votes.
type Totals struct {
	Fresh  accountant.ReleaseTotal
	Frozen *accountant.ReleaseTotal // nil where the teachers promise nothing
}

// Totals accounts for the answers. slack is the δ' that the composition of fresh answers
// may spend. Where the teachers promise nothing, all privacy is the mechanism's own noise,
// fresh in every answer. The errors are those of [accountant.Release.Total].
func (r Release) Totals(slack float64) (t Totals, err error) {
	if r.Queries > accountant.MaxOptimalCount {
		return r.manyTotals()
	}
	p := r.Problem
	a := accountant.Release{
		Queries: r.Queries, PerAnswer: r.Answers.PerAnswer(), K: p.K, Affected: p.Affected,
		Teachers:   accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		Randomness: accountant.FreshTeachers, Slack: slack,
	}
	if t.Fresh, err = a.Total(); err != nil {
		return t, err
	}
	if noise, ok := r.Answers.Noise(); ok {
		t.Fresh = withNoise(a, noise, t.Fresh)
	}
	if math.IsInf(p.Epsilon, 1) {
		return t, nil
	}
	a.Randomness, a.Slack = accountant.FrozenTeachers, 0
	frozen, err := a.Total()
	t.Frozen = &frozen
	return t, err
}

// manyTotals is Totals beyond what the optimal composition takes: answers add up by the
// basic one, which is never less, and what frozen teachers cost does not depend on them.
func (r Release) manyTotals() (t Totals, err error) {
	t.Fresh.Rule = fmt.Sprintf("basic composition of %d answers", r.Queries)
	t.Fresh.Cost, err = accountant.Basic(r.Queries, r.Answers.PerAnswer())
	if err != nil || math.IsInf(r.Problem.Epsilon, 1) {
		return t, err
	}
	frozen, err := Frozen(r.Problem, r.Answers.PerAnswer())
	t.Frozen = &frozen
	return t, err
}

// Frozen returns what any number of answers costs of teachers that were trained once,
// where one answer costs per. It is that of two answers: a single one has a total of its
// own, which may be smaller, and too little for the next.
func Frozen(p constraints.Problem, per accountant.Cost) (accountant.ReleaseTotal, error) {
	return accountant.Release{
		Queries: 2, PerAnswer: per, K: p.K, Affected: p.Affected, Randomness: accountant.FrozenTeachers,
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
	}.Total()
}

// withNoise returns the total at the same δ by the noise itself, which adds up better than
// the (ε, δ) of one answer, or the total at hand where that is smaller.
func withNoise(a accountant.Release, noise accountant.NoisyAnswer, total accountant.ReleaseTotal) accountant.ReleaseTotal {
	if a.Queries == 0 || !(total.Cost.Delta > 0 && total.Cost.Delta < 1) {
		return total
	}
	a.PerAnswer, a.Noise, a.Slack, a.Delta = accountant.Cost{}, noise, 0, total.Cost.Delta
	if t, err := a.Total(); err == nil && t.Cost.Epsilon < total.Cost.Epsilon && t.Cost.Delta <= total.Cost.Delta {
		return t
	}
	return total
}

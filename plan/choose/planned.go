package choose

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
)

// Planned returns the release of a choice of the plan for r, and what it presumes of the teachers.
// A choice without noise is refused: the majority itself is released, by nothing that draws. So is
// what [CheckPlanned] refuses.
func Planned(c plan.Choice, r plan.Request) (release.Plan, ensemble.Stated, error) {
	if c.NoNoise {
		return release.Plan{}, ensemble.Stated{}, usagef("the teachers' own privacy keeps the budget "+
			"(%v, %s): no noise is needed, and the majority of their votes may be released as it is",
			c.Total, c.Rule)
	}
	if err := CheckPlanned(c, r.Queries); err != nil {
		return release.Plan{}, ensemble.Stated{}, err
	}
	p, err := PlanOf(c)
	return p, Presumes(c.Mechanism, r.Reach(r.K)), err
}

// Presumes returns what a mechanism presumes of teachers, the number that one record reaches included. Of teachers
// whose promise costs too much that is nothing.
func Presumes(m *ensemble.Mechanism, affected int) ensemble.Stated {
	each := m.Teachers()
	s := ensemble.Stated{Epsilon: &each.Epsilon, Affected: &affected}
	if !math.IsInf(each.Epsilon, 1) {
		s.TeacherDelta = &each.Delta
	}
	return s
}

// PlanOf returns the release of a choice, with its table.
func PlanOf(c plan.Choice) (release.Plan, error) {
	p, err := release.NewPlan(c.Mechanism)
	return p.WithTable(release.Table{Gamma: c.Noise, Plurality: c.Optimum, Answers: c.Answers, Noise: c.Priced}), err
}

// CheckPlanned refuses a choice of a plan that a release of these labels would charge otherwise
// than was planned: package release works out the charge, and package plan the plan.
func CheckPlanned(c plan.Choice, labels int) error {
	p, err := release.NewPlan(c.Mechanism)
	if err != nil {
		return err
	}
	charged, err := p.WithQueries(labels).Totals(&c.Slack)
	if err != nil {
		return err
	}
	cost := charged.Fresh.Cost
	if c.Frozen {
		cost = charged.Frozen.Cost
	}
	if cost != c.Total {
		return fmt.Errorf("%s was planned to cost %v, but a release would charge %v",
			c.Name, c.Total, cost)
	}
	return nil
}

// Price is the cost of one answer.
type Price struct {
	Problem   constraints.Problem
	PerAnswer accountant.Cost
	Answer    accountant.Event // with the noise of the mechanism, where that is known without solving
	Mechanism string           // as ensemble.Describe knows it
	Teachers  bool             // the mechanism rests on the teachers' own promise
}

// Priced returns the price of an answer of the mechanism that is stated or decided on, and solves
// nothing: of an optimum no more is known than what one answer costs. K must be stated. The table
// is not looked at.
func Priced(ctx context.Context, r Request) (x Price, err error) {
	if err := r.CheckThreshold(); err != nil {
		return x, err
	}
	r.noVotes = true
	if _, err := r.validate(); err != nil {
		return x, err
	}
	d := r.mechanism()
	x.Mechanism, x.Teachers = d.Name, d.Teachers
	if d.Table == ensemble.NoiseTable && r.PresumesNothing() {
		x.Mechanism = ensemble.OptimalCounts
	}
	switch {
	case d.Table == ensemble.PluralityTable:
		p := r.plurality(r.K, r.Classes)
		if err := p.Validate(); err != nil && TooLong(err) == nil {
			return x, err
		}
		s := ensemble.Setting{K: p.K, Classes: p.Classes, Affected: p.Affected, Neighbours: r.Neighbours}
		x.PerAnswer = accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta}
		x.Problem = ensemble.OfCounts(s, x.PerAnswer)
	case d.Teachers:
		if x.Problem, err = r.Stated.Problem(r.K); err != nil {
			return x, err
		}
		if d.Table != ensemble.NoiseTable { // what is not private has no cost
			if _, err := release.Baseline(ctx, d.Name, x.Problem, r.Neighbours); err != nil {
				return x, err
			}
		}
		x.PerAnswer.Epsilon, x.PerAnswer.Delta = x.Problem.Total()
	default:
		g, err := r.calibrated(d.Name, r.K, r.Classes)
		if err != nil {
			return x, err
		}
		m := g.Mechanism()
		x.Problem, x.PerAnswer, x.Answer = m.Problem(), m.PerAnswer(), m.Event()
		return x, nil
	}
	x.Answer = accountant.ApproxDP{Cost: x.PerAnswer, Neighbours: r.Neighbours}
	return x, nil
}

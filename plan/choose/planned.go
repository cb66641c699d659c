package choose

import (
	"fmt"
	"math"

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
	return p, Presumes(c.Mechanism, r.Affected), err
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
// than was planned: what is charged is worked out by package release, and the plan by package plan.
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

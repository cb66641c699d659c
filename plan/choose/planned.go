package choose

import (
	"fmt"

	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
)

// CheckPlanned refuses a choice of a plan that a release of so many labels would charge otherwise
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

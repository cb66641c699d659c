package label

import (
	"cmp"
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/release"
)

// answers returns how queries are answered: by the mechanism that the flags state, or by what is
// best within a budget of all labels.
func (f *serveFlags) answers(c *cobra.Command, a *cli.App) (o release.OnlineOptions, err error) {
	k, classes := f.read.options.K, len(f.read.options.Classes)
	if !f.within.asked(c) {
		if err := cmp.Or(f.within.checkQueries(c), f.prepare(c, a, true)); err != nil {
			return o, err
		}
		f.charge.settle(c)
		k = f.read.options.K // a table has it
		g, err := f.choose(c, k, classes)
		if err == nil && f.within.queries > 0 {
			g.Plan, err = g.Plan.ForLabels(f.within.queries, f.charge.Slack)
		}
		return release.OnlineOptions{Plan: g.Plan, Stated: f.chooser.Stated(), Charge: f.charge.Charge,
			Missing: f.read.options.Missing}, err
	}
	if err := cmp.Or(f.within.prepare(c, f.planning()), cli.Require(c, "queries", "K")); err != nil {
		return o, err
	}
	stated, err := f.statement(c, true)
	if err != nil {
		return o, err
	}
	reach, _, err := f.Reach(c, k)
	if err != nil {
		return o, err
	}
	stated.K, stated.Classes, stated.Affected, stated.Labels = k, classes, reach, f.within.queries
	stated.Missing = f.read.abstain()
	nothing := math.Inf(1) // of which labels of several releases are made
	o = release.OnlineOptions{Stated: release.Stated{Epsilon: &nothing, Affected: &reach},
		Charge: f.charge.Charge, Missing: f.read.options.Missing, Budget: f.within.budget,
		Statement: stated}
	// What is stated of private teachers decides on the plan, which then spends none of it.
	o.Charge.Teachers, o.Charge.Ensemble, o.Charge.EnsembleDigest = "", "", ""
	o.Within = func(_ context.Context, budget accountant.Cost) (release.Plan, float64, error) {
		g, slack, err := f.within.plan(c, a, f.planning(), budget, k, classes, f.within.queries)
		return g.Plan, slack, err
	}
	return o, nil
}

package mechanisms

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// checkAnswers checks the flags of a table for many answers.
func (f *solveFlags) checkAnswers(c *cobra.Command) error {
	return cmp.Or(cli.Refuse(c, "is of one label and does not go with --queries: state --budget-eps "+
		"and --budget-delta, of all labels", "m", "label-eps", "delta"),
		cli.Refuse(c, "does not go with --queries", "prior", "prior-mean", "shape", "method", "gap", "plot-gap"),
		f.CheckByVotes("queries", f.private()), cli.Require(c, "K", "budget-eps", "budget-delta", "affected|data"))
}

// answers makes the table for many answers.
func (f *solveFlags) answers(c *cobra.Command, a *cli.App) error {
	p := answers.Problem{K: f.K, Classes: 2, Answers: f.queries, Epsilon: f.budget.Epsilon,
		Delta: f.budget.Delta}
	if c.Flags().Changed("num-classes") {
		p.Classes = f.Classes
	}
	var err error
	if p.Affected, _, err = f.Reach(c, f.K); err != nil {
		return err
	}
	losses, err := f.losses(p.Classes)
	if err != nil {
		return err
	}
	p.Named = losses.Stated()
	prior := answers.Prior{Shares: losses.Shares, Costs: losses.Costs}
	p.Abstain, p.Missing = f.Many.Abstain != nil, f.missing == votes.MissingAbstain
	if err := cmp.Or(renamed(p.Validate()), f.CheckTimeout(c)); err != nil { // before a file is read
		return err
	}
	prior.Objective, err = f.Many.WithCounts(c.Context(), f.Noise.PriorCounts, f.K, p.Classes,
		problem.Histograms(a))
	if p.Missing && prior.Counts == nil { // how many votes there are is private
		prior.Present = answers.DefaultPresent
	}
	if err := cmp.Or(err, prior.Validate(p)); err != nil {
		return err
	}
	s, err := f.SolveAnswers(c.Context(), a, p, prior, f.Noise.OnInterrupt == choose.Best)
	if err != nil {
		return err
	}
	origin := fmt.Sprintf("Made in %v.", s.Took.Round(time.Millisecond))
	if s.Cached {
		origin = fmt.Sprintf("Read from the cache and priced again: %s", s.Path)
	}
	return f.files.write(c, a, release.Table{Answers: s.Table}, origin, s.Unsaved)
}

// losses returns what is stated of the classes, which have numbers here.
func (f *solveFlags) losses(classes int) (plan.Losses, error) {
	l, err := f.Many.Losses(choose.Numbered(classes))
	if err == nil && l.Stated() && f.Noise.PriorCounts != "" {
		err = cli.Usagef("--shares and --cost go with --accuracy or --concentration, and not with --prior-counts, " +
			"whose histograms are sorted")
	}
	return l, err
}

// renamed returns the error of a problem with the name that its number of answers has here.
func renamed(err error) error {
	bad := (*check.Error)(nil)
	if !errors.As(err, &bad) || bad.Name != "answers" {
		return err
	}
	here := *bad
	here.Name = "queries"
	return &here
}

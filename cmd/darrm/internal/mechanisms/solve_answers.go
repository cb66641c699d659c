package mechanisms

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// answersSolve holds the flags of solve for tables whose answers have one price, beside the others.
type answersSolve struct {
	*pluralitySolve
	queries int
	budget  accountant.Cost
	missing string
}

func (f *answersSolve) register(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&f.queries, "queries", 0,
		"how many labels the table may release: asks for the best table for all of them together, "+
			"within --budget-eps and --budget-delta")
	fl.Float64Var(&f.budget.Epsilon, "budget-eps", 0, "ε that all labels together may cost")
	fl.Float64Var(&f.budget.Delta, "budget-delta", 0, "δ that all labels together may cost")
	fl.StringVar(&f.missing, "missing", votes.MissingError.String(),
		"a missing vote is an \"error\" for the table, or \"abstain\": it is for votes of which some may be "+
			"none (with --queries)")
	cli.OneOf(c, "missing", votes.MissingError.String(), votes.MissingAbstain.String())
}

// asked reports whether a table for many answers is asked for.
func (f *answersSolve) asked(c *cobra.Command) bool { return c.Flags().Changed("queries") }

// check refuses flags of tables for one answer beside --queries, and the other way round.
func (f *answersSolve) check(c *cobra.Command) error {
	if !f.asked(c) {
		for _, name := range []string{"budget-eps", "budget-delta"} {
			if c.Flags().Changed(name) {
				return cli.Usagef("--%s goes with --queries, the number of labels that share it", name)
			}
		}
		if f.missing != votes.MissingError.String() {
			return cli.Usagef("--missing %s goes with --queries: a table for one label %w", f.missing,
				ensemble.ErrMissing)
		}
		return f.pluralitySolve.check(c)
	}
	for _, name := range []string{"m", "label-eps", "delta"} {
		if c.Flags().Changed(name) {
			return cli.Usagef("--%s is of one label and does not go with --queries: state --budget-eps "+
				"and --budget-delta, of all labels", name)
		}
	}
	for _, name := range []string{"prior", "prior-mean", "shape", "method", "gap", "plot",
		"plot-gap"} {
		if c.Flags().Changed(name) {
			return cli.Usagef("--%s does not go with --queries", name)
		}
	}
	switch {
	case f.Name == choose.Source:
		return cli.Usagef("objective = %q, but with --queries it is always %q", f.Name, choose.Agreement)
	case c.Flags().Changed("eps") && !math.IsInf(f.Epsilon, 1),
		c.Flags().Changed("teacher-delta") && f.TeacherDelta != 0:
		return cli.Usagef("--eps and --teacher-delta do not go with --queries: nothing is presumed of " +
			"the teachers")
	}
	return cli.Require(c, "K", "budget-eps", "budget-delta", "affected|data")
}

// run makes the table and delivers it.
func (f *answersSolve) run(c *cobra.Command, a *cli.App, k int, out string) error {
	p := answers.Problem{K: k, Classes: 2, Answers: f.queries, Epsilon: f.budget.Epsilon,
		Delta: f.budget.Delta}
	if c.Flags().Changed("num-classes") {
		p.Classes = f.classes
	}
	var err error
	if p.Affected, _, err = f.Reach(c, k); err != nil {
		return err
	}
	many := f.Many(c)
	p.Abstain = many.Abstain != nil
	if p.Missing, err = f.takesMissing(); err != nil {
		return err
	}
	if err := cmp.Or(renamed(p.Validate()), f.CheckTimeout(c)); err != nil { // before a file is read
		return err
	}
	var prior answers.Prior
	prior.Objective, err = many.WithCounts(c.Context(), f.PriorCounts, k, p.Classes,
		problem.Histograms(a))
	if p.Missing && prior.Counts == nil { // how many votes there are is private
		prior.Present = answers.DefaultPresent
	}
	if err := cmp.Or(err, prior.Validate(p)); err != nil {
		return err
	}
	began := time.Now()
	s, err := f.SolveAnswers(c, a, p, prior, f.OnInterrupt == choose.Best)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if out != "" && out != "-" {
		if err := a.Deliver(out, s.Table.Encode); err != nil {
			return err
		}
	}
	if a.JSON || out == "-" {
		err = a.Deliver("", s.Table.Encode)
	} else {
		err = a.Print(func(w *terminal.Page) error {
			if err := renderAnswers(w, s.Table); err != nil {
				return err
			}
			if s.Cached {
				w.Text("  ", fmt.Sprintf("Read from the cache and priced again: %s", s.Path))
			} else {
				w.Text("  ", fmt.Sprintf("Made in %v.", took.Round(time.Millisecond)))
			}
			return nil
		})
	}
	return cmp.Or(err, s.Unsaved)
}

// takesMissing reports whether the table is for votes that may be none.
func (f *answersSolve) takesMissing() (bool, error) {
	missing, err := votes.ParseMissingPolicy(f.missing)
	switch {
	case err != nil:
		return false, &release.UsageError{Err: err}
	case missing == votes.MissingCoin:
		return false, cli.Usagef("--missing %s needs no table of its own: a coin is a vote", missing)
	}
	return missing == votes.MissingAbstain, nil
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

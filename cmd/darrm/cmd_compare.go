package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	problemFlags
	optimal   optimalFlags
	mechanism mechanismFlags // its relation, threshold and ratio
	read      readFlags
}

func newCompare(a *app) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare FILE...",
		Short: "Put every mechanism side by side on your votes (not private)",
		Long: `Put every mechanism that applies side by side on files of votes, all with the same
promise for one answer: how often each agrees with the plain majority and how often
it is right, in expectation over its noise, and what it assumes. Nothing is drawn.
The 95 % intervals (Wilson's) say how far both may be for other queries of the same
kind; the noise is not in them, since it is averaged out exactly.

  optimal γ                for your teachers (--eps, --teacher-delta)
  best of the vote counts  the same linear program for teachers that promise nothing
                           (--eps inf): the best that any mechanism can do that sees
                           two counts only, to compare GNMax and LNMax with
  optimal plurality        the same for more than two classes, best for uneven shares,
                           --accuracy or --prior-counts, if --solve-within suffices
  ` + strings.Join(mechanismNames(isBaseline), ", ") + `
  ` + strings.Join(mechanismNames(ensemble.Description.Calibrated), ", ") + `,
  as aggregate --mechanism makes them

What one record can change decides how much noise each needs: say --affected, or
--data. Equal (ε,δ) are equal promises only about the same neighbouring datasets.

All figures are computed from the raw votes: NOT PRIVATE, do not release them.

For GNMax it also shows what answers to all queries would cost together at these very
votes: PATE's data-dependent bound (Papernot et al., 2018, Theorem 6), beside the cost
at any votes. It is small where most teachers agree. It is a statement about these
votes and not a promise: the figure itself tells of them, and darrm has no sanitised
form of it (smooth sensitivity). No ledger takes it, and aggregate and account, whose
figures hold for any votes, do not use it.`,
		Example: `  darrm compare votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --data disjoint
  darrm compare votes.csv --total-eps 0.4 --delta 3e-4 --eps inf --data disjoint
  darrm compare pets.csv --classes cat,dog,bird --total-eps 0.5 --data disjoint`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFiles(votes.FileEndings()...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.problemFlags.register(c, 0, 0)
	f.optimal.register(c)
	f.read.register(c)
	f.mechanism.registerRelation(c)
	fl := c.Flags()
	fl.IntVar(&f.mechanism.threshold, "threshold", 0, checkedMechanisms()+": votes that it wants for the most popular class (default ⌈0.6·K⌉)")
	fl.Float64Var(&f.mechanism.checkRatio, "check-ratio", ensemble.CheckRatio, "noise of that check, in units of the noise of the counts")
	return c
}

func (f *compareFlags) run(c *cobra.Command, a *app, paths []string) error {
	if err := f.prepare(c); err != nil {
		return err
	}
	ballots, err := f.ballots(c.Context(), a, paths)
	if err != nil {
		return err
	}
	p, err := f.problem(c, ballots.K())
	if err != nil {
		return err
	}
	epsilon, delta := p.Total()
	o := ensemble.CompareOptions{
		Target:   accountant.Cost{Epsilon: epsilon, Delta: delta},
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		Affected: p.Affected, Neighbours: f.mechanism.relation,
		Check: ensemble.Check{Threshold: f.mechanism.threshold, Ratio: f.mechanism.checkRatio},
	}
	var unsaved error
	if ballots.Classes() == 2 {
		o.Tables, err = ensemble.OptimalTables(p, func(p constraints.Problem) (*gamma.Certified, error) {
			s, err := f.solveProblem(c, a, p)
			if err != nil {
				return nil, err
			}
			unsaved = cmp.Or(unsaved, s.unsaved)
			return s.Table.Certified, nil
		})
		if err != nil {
			return err
		}
	}
	if ballots.Classes() > 2 || c.Flags().Changed("abstain") {
		named, err := f.optimalPlurality(c, a, ballots, o.Target, o.Affected)
		if err != nil {
			return err
		}
		unsaved = cmp.Or(unsaved, named.unsaved)
		o.Pluralities = append(o.Pluralities, named.NamedPlurality)
	}
	bar := newProgress(a)
	bar.wait("comparing")
	result, err := ensemble.Compare(c.Context(), ballots, o)
	bar.stop()
	if err != nil {
		return err
	}
	if a.json {
		err = a.deliverJSON("", comparisonJSON(result))
	} else {
		err = a.print(func(w *terminal.Page) error { return renderComparison(w, result) })
	}
	if err != nil {
		return err
	}
	return unsaved
}

// namedOptimum is the optimal plurality to compare.
type namedOptimum struct {
	ensemble.NamedPlurality
	unsaved error
}

// optimalPlurality is the best that any mechanism can do that sees the vote counts, or why it is
// not known.
func (f *compareFlags) optimalPlurality(c *cobra.Command, a *app, ballots *ensemble.Ballots, target accountant.Cost, affected int) (namedOptimum, error) {
	k, classes := ballots.K(), ballots.Classes()
	named := namedOptimum{NamedPlurality: ensemble.NamedPlurality{Name: ensemble.OptimalPlurality, Title: "optimal plurality"}}
	p := plurality.Problem{
		K: k, Classes: classes, Epsilon: target.Epsilon, Delta: target.Delta, Affected: affected, Abstain: c.Flags().Changed("abstain"),
	}
	objective, _, err := f.optimal.pluralityObjective(c, a, f.priorCounts, k, classes)
	if err != nil {
		return named, err
	}
	t, err := f.optimal.solve(c, a, &f.problemFlags, p, objective, f.optimal.within)
	if named.Refused = tooLong(err); named.Refused != nil {
		return named, nil
	}
	if err != nil {
		return named, err
	}
	named.Certified, named.unsaved = t.Certified, t.unsaved
	return named, nil
}

func (f *compareFlags) prepare(c *cobra.Command) error {
	if err := f.read.prepare(c); err != nil {
		return err
	}
	if err := f.mechanism.prepareRelation(); err != nil {
		return err
	}
	if err := f.optimal.checkCompared(c, len(f.read.options.Classes)); err != nil {
		return err
	}
	// What serves more than two classes presumes nothing of the teachers.
	if len(f.read.options.Classes) > 2 && c.Flags().Changed("total-eps") && !c.Flags().Changed("eps") {
		if err := c.Flags().Set("eps", "inf"); err != nil {
			return err
		}
	}
	if err := require(c, f.needed()...); err != nil {
		return err
	}
	if err := f.checkWithoutK(c, f.read.options.K); err != nil {
		return err
	}
	_, err := f.options(c)
	return err
}

func (f *compareFlags) ballots(ctx context.Context, a *app, paths []string) (*ensemble.Ballots, error) {
	r, err := f.read.open(ctx, a.in, paths)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s, err := newScores(r.K(), len(r.Classes()))
	if err != nil {
		return nil, err
	}
	bar := newProgress(a)
	defer bar.stop()
	show := bar.rows("reading")
	for b, err := range r.Batches() {
		if err != nil {
			return nil, release.Unreadable(ctx, err)
		}
		if b.Missing != nil {
			// Whatever stood for a missing vote would be a draw, and nothing is drawn here.
			return nil, inputError{Err: fmt.Errorf("the votes have missing ones, which compare does not take")}
		}
		if err := s.add(b, nil); err != nil {
			return nil, err
		}
		b.Release()
		show(r.Progress())
	}
	return s.ballots, nil
}

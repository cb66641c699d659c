package label

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	problem.Flags
	read      readFlags
	within    within
	tables    []string
	verbose   bool
	plot      string
	sanitised sanitisedFlags
}

// NewCompare makes the command that compares mechanisms on given votes.
func NewCompare(a *cli.App) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare FILE...",
		Short: "Compare all mechanisms on your votes (not private)",
		Long: `Compare all mechanisms that apply on files of votes, all with the same promise for one
answer: how often each agrees with the plain majority, how often it is right, and what
it assumes. Both figures are expectations over the noise; nothing is drawn. The 95 %
intervals (Wilson's) are for other queries of the same kind, and have no noise in them. With FILEs
and no flags it describes them, prints commands that fit, and exits 2.

With --budget-eps and --budget-delta each mechanism has the noise with which --queries labels
together cost no more than this budget (default: as many labels as the FILEs have queries).
One of them is the table for that many labels. The row marked → is the mechanism that aggregate takes
with the same flags. The prior chooses it, before the votes are read: a choice by this comparison
would be one by private votes, which no budget covers.

The row "always" answers every query by one class, the one that agrees most often. Labels that
agree less often tell less than that answer.

  optimal-teachers  of two classes the optimum for your teachers' promise (--eps,
                    --teacher-delta), for agreement with the majority unless
                    --objective or --prior says else
  optimal-counts    the optimum for teachers that promise nothing: the best that any
                    mechanism on the counts can do, to compare gnmax and
                    lnmax with. Of more than two classes it is best for uneven shares,
                    --accuracy or --prior-counts, unless it takes too much work
  ` + strings.Join(problem.MechanismNames(problem.IsBaseline), ", ") + `
  ` + strings.Join(problem.MechanismNames(ensemble.Description.Calibrated), ", ") + `,
  as aggregate --mechanism makes them

--table FILE, also several times, puts tables beside them: a mechanism of your own that
darrm certify proved, or a solved one. Without --m and --label-eps all mechanisms then
have the promise of the first of these tables. With --budget-eps they are tables of which all
labels keep the budget, those for many answers (solve --queries) among them.

For two classes it prints what no mechanism on the counts with this promise exceeds at these
very votes that presumes nothing of the teachers and treats the classes alike.

What one record can change decides how much noise each needs: say --affected, or
--data. Equal (ε,δ) are equal promises only about the same neighbouring datasets.

All figures are computed from the raw votes: NOT PRIVATE, do not release them.

For gnmax it also shows what answers to all queries would cost together at these very
votes: PATE's data-dependent bound (Papernot et al., 2018, Theorem 6), beside the cost
at any votes. It is small where most teachers agree. It is a statement about these
votes and not a promise: the figure itself tells of them. No ledger takes it, and aggregate
and account, whose figures hold for any votes, do not use it.

--sanitised FILE releases that cost for publication instead of all else: an estimate with noise
by its smooth sensitivity, with its interval, drawn once for each --request-id and charged to
--ledger. It gives nothing back. State the number of queries and the order before the votes
(--tell-queries, --tell-order). docs/plan.md has the proof and the limits.`,
		Example: `  darrm compare votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --data disjoint
  darrm compare votes.csv --label-eps 0.4 --delta 3e-4 --data disjoint
  darrm compare votes.csv --budget-eps 3 --budget-delta 1e-6 --data disjoint --queries 800
  darrm compare pets.csv --classes cat,dog,bird --label-eps 0.5 --data disjoint --plot pets.svg
  darrm compare votes.csv --table mine.json --table theirs.json
  darrm compare votes.csv --label-eps 0.4 --delta 3e-4 --data disjoint --sanitised told.json \
    --ledger patients.ledger --request-id cost-march --tell-queries 1866 --tell-order 8`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cli.CompleteFiles(votes.FileEndings()...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.RegisterRelease(c, choose.Agreement)
	f.RegisterPlurality(c, choose.DefaultGap)
	f.Register(c, "solve-within", "neighbours", "threshold", "check-ratio", "teachers")
	f.read.register(c)
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "print what proves each promise, too")
	c.Flags().StringVar(&f.plot, "plot", "", "draw how often each mechanism agrees, with its interval, into this file ("+
		figure.Formats+"), for your eyes only")
	cli.TakesFile(c, "plot", cli.PictureFiles...)
	f.sanitised.register(c)
	f.within.register(c, &f.Flags) // before --table, which goes with a budget here
	fl := c.Flags()
	fl.StringArrayVar(&f.tables, "table", nil, "a table made by certify or solve, to compare besides; may "+
		"be given several times")
	cli.TakesFile(c, "table", cli.TableFiles...)
	c.Flag("threshold").Usage =
		choose.CheckNames() + ": votes that it wants for the most popular class (default ⌈0.6·K⌉)"
	c.Flag("check-ratio").Usage = "noise of that check, in units of the noise of the counts"
	c.Flag("teachers").Usage = "with --budget-eps and --eps: \"fresh\" or \"frozen\", as aggregate takes it"
	cli.Exclude(c, "", "sanitised", "budget-eps")
	cli.First(c, problem.FlagGroups, "label-eps", "delta", "budget-eps", "budget-delta", "queries", "data",
		"classes", "K", "m", "eps", "teacher-delta")
	return c
}

func (f *compareFlags) run(c *cobra.Command, a *cli.App, paths []string) error {
	if err := cmp.Or(f.checkSanitised(c), picture.CheckPlot(f.plot),
		(release.FileOutput{Path: f.plot, Name: "--plot"}).CheckPlace()); err != nil {
		return err
	}
	if f.sanitised.out != "" {
		return f.tell(c, a, paths)
	}
	if bare(c) {
		s := survey{&f.read, &f.Flags, true}
		return s.tell(c, a, paths)
	}
	if f.within.asked(c) {
		return f.compareWithin(c, a, paths)
	}
	if err := f.withoutBudget(c); err != nil {
		return err
	}
	prepared, err := f.prepare(c, a, paths)
	if err != nil {
		return err
	}
	s, names, err := f.ballots(c.Context(), a, paths)
	if err != nil {
		return err
	}
	ballots := s.ballots
	o, err := prepared.Options(c.Context(), s.teachers)
	if err != nil {
		return err
	}
	for i := range o.Tables {
		o.Tables[i].Refused = cli.NameFlag(c, o.Tables[i].Refused)
	}
	bar := cli.NewProgress(a)
	o.Progress = bar.Count("comparing", "mechanisms")
	result, err := ensemble.Compare(c.Context(), ballots, o)
	bar.Stop()
	if err != nil {
		return err
	}
	if result.Several, err = f.read.several().Of(s.teachers); err != nil {
		return err
	}
	return f.deliver(a, result, s, names)
}

// deliver prints the comparison, and then returns a cache's error.
func (f *compareFlags) deliver(a *cli.App, result *ensemble.Comparison, s *scores, names []string) (err error) {
	result.Classes = classNames(f.read.several(), names)
	var sets *setScores
	if s.sets != nil {
		if sets, err = setScoresOfRows(s, result); err != nil {
			return err
		}
	}
	if err := picture.Deliver(a, "plot", f.plot, func() (figure.Sheet, error) { return comparisonPicture(result) }); err != nil {
		return err
	}
	err = a.Show(struct {
		*ensemble.ComparisonReport
		Sets *setScores `json:"sets,omitempty"`
	}{result.Report(), sets}, func(w *terminal.Page) error {
		if err := renderComparison(w, result, f.verbose); err != nil || sets == nil {
			return err
		}
		return sets.render(w)
	})
	return cmp.Or(err, f.Unsaved)
}

// withoutBudget refuses what goes with a budget of all labels only.
func (f *compareFlags) withoutBudget(c *cobra.Command) error {
	return cli.Refuse(c, "goes with --budget-eps and --budget-delta", "queries", "teachers")
}

// compareWithin compares the mechanisms that a plan within a budget of all labels has, which is the
// plan of aggregate.
func (f *compareFlags) compareWithin(c *cobra.Command, a *cli.App, paths []string) error {
	if err := f.read.prepare(c, paths); err != nil {
		return err
	}
	f.read.tell(&f.Request)
	if err := f.within.prepare(c, &f.Flags); err != nil {
		return err
	}
	budget, err := f.within.budget.Left(c.Context(), f.sanitised.ledger)
	if err != nil {
		return err
	}
	s, names, err := f.ballots(c.Context(), a, paths)
	if err != nil {
		return err
	}
	ballots := s.ballots
	p, r, err := f.within.plans(c, a, &f.Flags, budget, s.teachers, ballots.Classes(),
		cmp.Or(f.within.queries*max(1, f.Several.Labels), ballots.Len()))
	if err != nil {
		return err
	}
	given, err := f.given(c, a)
	if err != nil {
		return err
	}
	result, err := p.Compare(c.Context(), r, ballots, given...)
	if err != nil {
		return err
	}
	for i := range result.Rows {
		result.Rows[i].Refused = cli.NameFlag(c, result.Rows[i].Refused)
	}
	return f.deliver(a, result, s, names)
}

// given returns the mechanisms of the tables, to compare within a budget of all labels.
func (f *compareFlags) given(c *cobra.Command, a *cli.App) (out []plan.Given, err error) {
	for _, path := range f.tables {
		t, err := f.ReadAnyTable(c, a, path)
		if err != nil {
			return nil, err
		}
		p, err := t.Plan(f.Neighbours)
		if err != nil {
			return nil, err
		}
		out = append(out, plan.Given{Title: ensemble.OtherTable + ", " + path, Mechanism: p.Mechanism()})
	}
	return out, nil
}

// request checks the flags about votes and mechanisms.
func (f *compareFlags) request(c *cobra.Command, a *cli.App, paths []string) (r choose.Request, err error) {
	if err := f.read.prepare(c, paths); err != nil {
		return r, err
	}
	f.read.tell(&f.Request)
	return f.Asked(c, a, 0)
}

// prepare checks the flags.
func (f *compareFlags) prepare(c *cobra.Command, a *cli.App, paths []string) (*choose.Comparison, error) {
	r, err := f.request(c, a, paths)
	if err != nil {
		return nil, err
	}
	for _, path := range f.tables {
		t, err := f.ReadAnyTable(c, a, path)
		if err != nil {
			return nil, err
		}
		r.Tables = append(r.Tables, choose.NamedTable{Name: path, Table: t})
	}
	return choose.PrepareComparison(r)
}

// ballots reads the votes, and returns the names of the classes too.
func (f *compareFlags) ballots(ctx context.Context, a *cli.App,
	paths []string) (*scores, []string, error) {
	var s *scores
	var r *votes.Reader
	err := f.read.each(ctx, a, paths, func(opened *votes.Reader) error {
		r = opened
		several, err := f.read.several().Of(r.K())
		if err != nil {
			return &release.UsageError{Err: err}
		}
		if s, err = newScores(several.Votes(r.K()), len(r.Classes()), f.read.abstain(), f.read.options.Labels); err == nil {
			s.teachers, s.several = r.K(), several
		}
		return err
	}, func(b *votes.Batch) error { return s.add(b, nil) })
	if err != nil {
		return nil, nil, err
	}
	s.dropped = r.Dropped()
	return s, r.Classes(), nil
}

package mechanisms

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// accountFlags are the flags of account.
type accountFlags struct {
	problem.Flags
	queries *cli.List[int]
	charge  release.Charge // its slack and records
	plot    string
	table   string
}

// NewAccount makes the command that prices answers; train prices trainings and comes with them.
func NewAccount(a *cli.App, train *cobra.Command) *cobra.Command {
	f := accountFlags{queries: cli.NewList("1,10,100,1000,10000", cli.IntList(func(q int) error {
		return check.Whole("queries", q, 1, accountant.MaxOptimalCount)
	}))}
	c := &cobra.Command{
		Use:   "account --K teachers --m allowance --eps ε --teacher-delta Δ | --table FILE",
		Short: "Price a plan before it is run",
		Long: `Print what Q answers cost together, before any is released: by every bound that applies,
for each number of queries in --queries.

Two things decide what the total is, and both must be right for it to hold:

  --teachers  "fresh": every vote is a new run of a private mechanism. The answers
              compose, and the total grows with Q. "frozen": the teachers were trained
              once and vote ever after. Their answers share the randomness of the
              training and do not compose; all of them are post-processing of the
              training, whose cost is the total for any Q.
  --affected  how many teachers one person's record reaches (or --data).

Without --teachers both totals are shown. For teachers that promise nothing (--eps
inf) the noise is the mechanism's own, fresh in every answer.

The columns are bounds of the smallest ε at the same δ: "basic" adds ε up, "general"
is Theorem 3.4 of Kairouz, Oh and Viswanath (2015), which publications print,
"optimal" their exact Theorem 3.3, "pld" a privacy loss distribution; noisy counts
(--mechanism) have others. "by the votes" composes the fresh votes themselves, since
the answers follow from them. All hold at once; every figure is rounded up.

With --table the answers are those of a solved table, and cost what aggregate charges for
them. Many answers of an optimal-counts table may cost less than its ε alone implies;
--mechanism optimal-counts prints that larger figure without solving.

No figure depends on votes. What answers of gnmax would cost at given votes (PATE's
data-dependent bound) is computed from private votes: darrm compare shows it.

--plot draws ε against Q, as SVG or PNG by the name of the file.`,
		Example: `  darrm account --K 11 --m 3 --eps 0.1 --teacher-delta 1e-5 --queries 1,20,50,100 --slack 1e-4
  darrm account --K 11 --m 1 --eps 0.1 --teacher-delta 0 --teachers frozen --data disjoint
  darrm account --K 250 --label-eps 0.05 --eps inf --data disjoint --plot eps.svg
  darrm account --table table.json --queries 100,1000 --slack 1e-6
  darrm account --K 50 --num-classes 4 --label-eps 0.1 --data disjoint --queries 2000 --slack 1e-6`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	f.Register(c, "K", "teachers")
	f.RegisterPromise(c)
	f.RegisterMechanism(c)
	fl.IntVar(&f.Classes, "num-classes", 2, "number of classes")
	fl.Var(f.queries, "queries", "numbers of answers, and ranges first:last:step, separated by commas")
	c.Flag("teachers").Usage = "\"fresh\" or \"frozen\" (default: show both)"
	cli.Register(c, &f.charge, "slack", "records")
	fl.StringVar(&f.table, "table", "",
		"a table made by solve (\"-\" is stdin): what its answers cost")
	cli.TakesFile(c, "table", "json")
	fl.StringVar(&f.plot, "plot", "", "draw ε against the number of queries into this file ("+
		figure.Formats+")")
	cli.TakesFile(c, "plot", cli.PictureFiles...)
	cli.ExcludeEach(c, "the table says it", "table", toldByTable...)
	c.AddCommand(train)
	cli.First(c, problem.FlagGroups, "K", "label-eps", "delta", "data", "mechanism", "table",
		"queries", "slack")
	return c
}

func (f *accountFlags) run(c *cobra.Command, a *cli.App) error {
	o, err := f.options(c, a)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	o.Progress = bar.Count("composing", "numbers of answers")
	queries := slices.Compact(slices.Sorted(slices.Values(f.queries.Values)))
	if o.Queries = queries; f.plot != "" {
		o.Queries = ensemble.QueriesBetween(queries, plotPoints)
	}
	s, err := ensemble.NewStatement(c.Context(), o)
	if err != nil {
		return err
	}
	bar.Stop()
	if err := picture.Deliver(a, "plot", f.plot, func() (figure.Sheet, error) { return statementPicture(s, o) }); err != nil {
		return err
	}
	s = s.Only(queries)
	if a.JSON {
		return a.DeliverJSON("", s)
	}
	if err := a.Print(func(w *terminal.Page) error { return renderStatement(w, s, o) }); err != nil {
		return err
	}
	for _, warning := range s.Warnings {
		a.Fact("WARNING:", warning)
	}
	return nil
}

// options checks the flags and returns one answer's mechanism and cost.
func (f *accountFlags) options(c *cobra.Command,
	a *cli.App) (o ensemble.StatementOptions, err error) {
	o.Randomness = f.Teachers
	if err := release.CheckRecords(f.charge.Records); err != nil {
		return o, err
	}
	if err := picture.CheckPlot(f.plot); err != nil {
		return o, err
	}
	o.Records, o.Slack = f.charge.Records, f.charge.Slack
	r, err := f.Asked(c, a, f.K)
	if err := cmp.Or(err, r.CheckThreshold()); err != nil {
		return o, err
	}
	if f.table != "" {
		err := f.tableOptions(c, a, &o)
		return o, err
	}
	x, err := choose.Priced(c.Context(), r)
	if err != nil {
		return o, err
	}
	if o.Randomness != ensemble.NothingPromised && !x.Teachers {
		return o, cli.Usagef("--teachers goes with --mechanism %s or one of its baselines: the noise "+
			"of %s is new in every answer", ensemble.OptimalTeachers, x.Mechanism)
	}
	o.Problem, o.Answer, o.PerAnswer = x.Problem, x.Answer, x.PerAnswer
	return o, nil
}

// toldByTable are the flags that a table replaces.
var toldByTable = []string{"K", "m", "label-eps", "eps", "teacher-delta", "delta", "affected",
	"data", "num-classes", "mechanism"}

// tableOptions sets the options of a table's answers, which compose by their own event and not by
// (ε, δ) alone.
func (f *accountFlags) tableOptions(c *cobra.Command, a *cli.App,
	o *ensemble.StatementOptions) error {
	table, err := f.ReadAnyTable(c, a, f.table)
	if err != nil {
		return err
	}
	p, err := table.Plan(f.Neighbours)
	if err != nil {
		return err
	}
	if o.Randomness != ensemble.NothingPromised && promiseNothing(p.Mechanism().Problem()) {
		return cli.Usagef("--teachers goes with tables of teachers that promise something: the noise of "+
			"%s is new in every answer", f.table)
	}
	m := p.Mechanism()
	o.Problem, o.Answer, o.PerAnswer = m.Problem(), m.Event(), m.PerAnswer()
	o.Together, o.Joint = m.Together(), m.Joint()
	return nil
}

package mechanisms

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/sweep"
)

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	k, affected, classes           *cli.List[int]
	m, labelEps, eps, teacherDelta *cli.List[float64]
	problem.ObjectiveFlags
	problem.PluralityFlags
	problem.CacheFlags
	problem.TimeoutFlag
	delta       float64
	data        string
	jobs        int
	skipInvalid bool
	format, out string
	plot        string
}

// NewSweep makes the command that solves grids of problems.
func NewSweep(a *cli.App) *cobra.Command {
	f := sweepFlags{
		k:        cli.NewList("", cli.IntList(check.Teachers)),
		classes:  cli.NewList("", cli.IntList(check.Classes)),
		m:        cli.NewList("", cli.FloatList(check.Allowance)),
		labelEps: cli.NewList("", cli.FloatList(check.LabelEpsilon)),
		eps: cli.NewList("0.1", cli.EpsilonList(func(x float64) error {
			return check.Epsilon("epsilon", x)
		})),
		teacherDelta: cli.NewList("1e-5", cli.FloatList(func(x float64) error {
			return check.Delta("teacher delta", x)
		})),
		affected: cli.NewList("all", cli.AffectedList(func(t int) error {
			if t < 1 {
				return &check.Error{Name: "affected", Value: t, Rule: `"all" or at least 1`}
			}
			return nil
		})),
	}
	c := &cobra.Command{
		Use:   "sweep --K list --m list",
		Short: "Solve a grid of problems and print one row each",
		Long: `Solve every combination of the values of --K, --m (or --label-eps), --eps,
--teacher-delta and --affected, and print one row for each: the expected error of the
optimal noise function, the proved lower bound, and the errors of the baselines. Every
row is certified, as by solve, whose flags mean the same here.

A list has numbers and ranges first:last or first:last:step, separated by commas,
such as 1:3,5 or 0.1:0.5:0.1. Ranges are stepped exactly, in decimals. A range ends
at the last value that is not above its end. --affected may have "all" in its list, and
--eps "inf". The rows come in the order of the lists, the last of the flags above varying
fastest; a problem that is named twice has one row.

Combinations that are no valid problem, such as 5 affected of 3 teachers, are an
error before anything is solved, unless --skip-invalid leaves them out. If one
problem cannot be solved, nothing is printed.

Solved tables go to the cache one by one, so a sweep that was interrupted, or had no more
time, goes on where it was when it is started again. The output does not depend on what
was in the cache, nor on --jobs.

With --num-classes, the problems are the combinations of --num-classes, --K, --label-eps and
--affected for the plurality of many classes, whose value is the probability that the
answer is a plurality class. A row's value is within --gap of the optimum's; a table in
the cache may be nearer than that.

--plot draws the errors against the flag with the most values: one curve for each
combination of the others, or the optimum and the baselines where there are none.`,
		Example: `  darrm sweep --K 11 --m 1:11 --plot errors.svg
  darrm sweep --K 11,21,41 --m 1:5:0.5 --eps 0.1,0.5 --format csv --out sweep.csv
  darrm sweep --K 11 --m 3 --affected 1:11 --shape monotone --json
  darrm sweep --K 101 --label-eps 0.1:1:0.1 --eps inf --data disjoint --prior worst-case
  darrm sweep --num-classes 3,4 --K 25 --label-eps 0.1:0.5:0.1 --affected 1 --gap 1e-4`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	fl.Var(f.k, "K", "numbers of teachers")
	fl.Var(f.m, "m", problem.UsageM)
	fl.Var(f.labelEps, "label-eps", problem.UsageLabelEpsilon)
	fl.Var(f.eps, "eps", problem.UsageEpsilon)
	fl.Var(f.teacherDelta, "teacher-delta", problem.UsageTeacherDelta)
	fl.Var(f.affected, "affected", problem.UsageAffected)
	fl.Lookup("affected").DefValue = "" // the usage says it
	fl.StringVar(&f.data, "data", "", problem.UsageData)
	cli.OneOf(c, "data", release.DataNames()...)
	cli.Exclude(c, "", "affected", "data")
	fl.Float64Var(&f.delta, "delta", 0, problem.UsageDelta)
	f.RegisterObjective(c, choose.Source)
	fl.Var(f.classes, "num-classes",
		"numbers of classes: asks for the best mechanisms for the plurality of many classes")
	f.RegisterPlurality(c)
	f.RegisterGap(c, solve.DefaultGap)
	fl.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "how many problems to solve at once")
	fl.Lookup("jobs").DefValue = "0" // keeps the number of this machine's cores out of the help
	fl.Lookup("jobs").Usage += " (default the number of cores)"
	fl.BoolVar(&f.skipInvalid, "skip-invalid", false,
		"leave out combinations that are no valid problem")
	fl.StringVar(&f.format, "format", "table", `"table", "csv" or "json"`)
	cli.OneOf(c, "format", "table", "csv", "json")
	fl.StringVarP(&f.out, "out", "o", "", "write the rows to this file instead of stdout")
	cli.TakesFile(c, "out", "csv", "json", "txt")
	fl.StringVar(&f.plot, "plot", "", "draw the errors into this file ("+figure.Formats+")")
	cli.TakesFile(c, "plot", cli.PictureFiles...)
	f.RegisterTimeout(c, "give up after this time, such as 90s (default none)")
	f.RegisterCache(c)
	cli.First(c, problem.FlagGroups, "K", "m", "label-eps", "eps", "teacher-delta", "num-classes",
		"objective", "out")
	return c
}

func (f *sweepFlags) run(c *cobra.Command, a *cli.App) error {
	if err := f.PluralityFlags.Check(c, f.Name, slices.Contains(f.eps.Values, math.Inf(1)) &&
		len(f.eps.Values) == 1, slices.Equal(f.teacherDelta.Values, []float64{0}), "gap"); err != nil {
		return err
	}
	if f.classes.Given {
		return f.runClasses(c, a)
	}
	o, err := f.options(c, a)
	if err != nil {
		return err
	}
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	points, invalid, err := f.points(ctx, c)
	if err != nil {
		return f.Late("list the problems", err)
	}
	var plan sweepPlan[constraints.Problem]
	if f.plot != "" {
		if plan, err = planMajority(points); err != nil {
			return err
		}
	}
	if o.Store, err = f.outputs(); err != nil {
		return err
	}
	rows := newSweepRows(len(points), f.format == "json")
	if o.Counts != nil {
		if rows.priorCounts = f.Noise(c).LawOfCounts(); rows.priorCounts == choose.BinomialCounts {
			rows.priorMean = f.PriorMean
		}
	}
	o.Each = rows.set
	return f.solveAll(a, len(points), invalid, sweepWork{
		run: func(progress func(done int)) (sweep.Result, error) {
			o.Progress = progress
			return sweep.Run(ctx, points, o)
		},
		write:   rows.write,
		picture: func() (figure.Sheet, error) { return rows.picture(plan) },
	})
}

// outputs checks the places of the files and opens the cache.
func (f *sweepFlags) outputs() (*cache.Store, error) {
	store, err := f.Store()
	return store, cmp.Or(err, (release.FileOutput{Path: f.out}).CheckPlace(),
		(release.FileOutput{Path: f.plot, Name: "--plot"}).CheckPlace())
}

// sweepWork is a checked sweep.
type sweepWork struct {
	run     func(progress func(done int)) (sweep.Result, error)
	write   func(w *terminal.Page, format string) error
	picture func() (figure.Sheet, error)
}

// solveAll solves the tables, writes the rows and the picture, and reports how many were cached.
func (f *sweepFlags) solveAll(a *cli.App, points int, invalid []error, work sweepWork) error {
	p := cli.NewProgress(a)
	defer p.Stop()
	count := p.Count("solving", "problems")
	start := time.Now()
	r, err := work.run(func(done int) { count(done, points) })
	err = f.Late("solve all", err)
	p.Stop()
	for _, rejected := range r.Rejected {
		a.Say("darrm: not used, and solved again: %v", rejected)
	}
	if err != nil {
		return err
	}
	if err := a.Deliver(f.out, func(w io.Writer) error {
		return work.write(a.Page(w), f.format)
	}); err != nil {
		return err
	}
	if f.plot != "" {
		sheet, err := work.picture()
		if err != nil {
			return err
		}
		if err := picture.DeliverPlot(a, f.plot, sheet); err != nil {
			return err
		}
	}
	if len(invalid) > 0 {
		a.Say("invalid combinations left out: %d, the first: %v", len(invalid), invalid[0])
	}
	a.Say("%d solved and %d read from the cache (certified again) in %v", r.Solved, r.Cached,
		time.Since(start).Round(time.Millisecond))
	if r.Unsaved > 0 {
		return &release.OutputError{Err: fmt.Errorf(
			"the rows are complete, but %d tables are not in the cache: %w", r.Unsaved, r.UnsavedErr)}
	}
	return nil
}

// checkFormat checks the flags of the output and the time limit.
func (f *sweepFlags) checkFormat(c *cobra.Command, a *cli.App) error {
	if a.JSON {
		if c.Flags().Changed("format") && f.format != "json" {
			return cli.Usagef("--json and --format %s exclude each other", f.format)
		}
		f.format = "json"
	}
	return cmp.Or(f.CheckTimeout(c), picture.CheckPlot(f.plot))
}

// options checks the flags that do not describe the grid, and returns the sweep's options.
func (f *sweepFlags) options(c *cobra.Command, a *cli.App) (o sweep.Options, err error) {
	if err := cmp.Or(cli.Require(c, "K", problem.RequiredBudget), f.checkFormat(c, a)); err != nil {
		return o, err
	}
	o.Jobs = f.jobs
	if err := o.CheckJobs(); err != nil {
		return o, err
	}
	if o.Solve, err = f.Noise(c).Options(); err != nil {
		return o, err
	}
	o.Solve.Version = cli.Version
	o.Counts, err = f.countsOf(c, a)
	return o, err
}

// points returns the problems of the grid, and the errors of invalid combinations.
func (f *sweepFlags) points(ctx context.Context,
	c *cobra.Command) (points []sweep.Point, invalid []error, err error) {
	g := sweep.Grid{
		K: f.k.Values, M: f.m.Values, TotalEpsilon: f.labelEps.Values, Epsilon: f.eps.Values,
		TeacherDelta:       f.teacherDelta.Values,
		TeacherDeltaStated: f.teacherDelta.Given,
	}
	if c.Flags().Changed("delta") {
		if err := check.Delta("delta", f.delta); err != nil {
			return nil, nil, err
		}
		g.Delta = &f.delta
	}
	if g.Affected, err = f.affectedValues(c); err != nil {
		return nil, nil, err
	}
	points, invalid, err = g.Points(ctx)
	if err == nil {
		err = f.checkGrid(len(points), invalid)
	}
	return points, invalid, err
}

// affectedValues returns the values of --affected, or those that --data implies.
func (f *sweepFlags) affectedValues(c *cobra.Command) ([]int, error) {
	if !c.Flags().Changed("data") {
		return f.affected.Values, nil
	}
	affected, err := release.AffectedByData(f.data)
	return []int{affected}, err
}

// checkGrid returns nil if the grid has valid combinations, and invalid ones only where
// --skip-invalid leaves them out.
func (f *sweepFlags) checkGrid(valid int, invalid []error) error {
	switch {
	case len(invalid) > 0 && !f.skipInvalid:
		return &release.UsageError{Err: fmt.Errorf("%w (invalid combinations: %d; --skip-invalid leaves "+
			"them out)",
			invalid[0], len(invalid))}
	case valid == 0:
		return &release.UsageError{Err: fmt.Errorf("no combination is valid: %w", invalid[0])}
	}
	return nil
}

// countsOf returns the vote counts of the objective for each K, nil where it has none. A
// file of counts is for one K.
func (f *sweepFlags) countsOf(c *cobra.Command, a *cli.App) (map[int][]float64, error) {
	noise := f.Noise(c)
	if agreement, err := noise.ForAgreement(); err != nil || !agreement {
		return nil, err
	}
	first := f.k.Values[0]
	if i := slices.IndexFunc(f.k.Values, func(k int) bool { return k != first }); i > 0 &&
		noise.CountsFile() {
		return nil, cli.Usagef("a file of --prior-counts goes with one K, but --K has %d and %d", first,
			f.k.Values[i])
	}
	out := map[int][]float64{}
	for _, k := range f.k.Values {
		if out[k] != nil {
			continue
		}
		counts, err := noise.Counts(c.Context(), k, problem.Histogram(a))
		if err != nil {
			return nil, err
		}
		if err := (gamma.Objective{Counts: counts, Shape: gamma.Any}).Validate(k); err != nil {
			return nil, err
		}
		out[k] = counts
	}
	return out, nil
}

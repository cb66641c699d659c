package mechanisms

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/gamma"
	noisesolve "github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/sweep"
)

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	k, affected, classes           *cli.List[int]
	m, labelEps, eps, teacherDelta *cli.List[float64]
	problem.Flags
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
				return check.Want("affected", t, `"all" or at least 1`)
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

With --shares and --cost, as of solve, the two classes are told apart, and the errors are the
expected costs of an answer. Without --cost a wrong answer costs 1.

--plot draws the errors against the flag with the most values: one curve for each
combination of the others, or the optimum and the baselines where there are none.`,
		Example: `  darrm sweep --K 11 --m 1:11 --plot errors.svg
  darrm sweep --K 11,21,41 --m 1:5:0.5 --eps 0.1,0.5 --format csv --out sweep.csv
  darrm sweep --K 11 --m 3 --affected 1:11 --shape monotone --json
  darrm sweep --K 101 --label-eps 0.1:1:0.1 --eps inf --data disjoint --prior worst-case
  darrm sweep --K 11,25 --label-eps 0.1:0.5:0.1 --eps inf --data disjoint --shares .95,.05
  darrm sweep --num-classes 3,4 --K 25 --label-eps 0.1:0.5:0.1 --affected 1 --gap 1e-4`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	fl.Var(f.k, "K", "numbers of teachers")
	fl.Var(f.m, "m", problem.Usage("m"))
	fl.Var(f.labelEps, "label-eps", problem.Usage("label-eps"))
	fl.Var(f.eps, "eps", problem.Usage("eps"))
	fl.Var(f.teacherDelta, "teacher-delta", problem.Usage("teacher-delta"))
	fl.Var(f.affected, "affected", problem.Usage("affected"))
	fl.Lookup("affected").DefValue = "" // the usage says it
	problem.RegisterData(c, &f.Data)
	f.Register(c, "delta")
	f.RegisterObjective(c, choose.Source)
	fl.Var(f.classes, "num-classes",
		"numbers of classes: asks for the best mechanisms for the plurality of many classes")
	f.RegisterPlurality(c, solve.DefaultGap)
	f.Register(c, "shares", "cost")
	fl.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "how many problems to solve at once")
	fl.Lookup("jobs").DefValue = "0" // keeps the number of this machine's cores out of the help
	fl.Lookup("jobs").Usage += " (default the number of cores)"
	fl.BoolVar(&f.skipInvalid, "skip-invalid", false,
		"leave out combinations that are no valid problem")
	f.format = "table"
	cli.Enum(c, &f.format, "format", `"table", "csv" or "json"`, "table", "csv", "json")
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
	if err := f.CheckClasses(c, f.eps.Given && !slices.Equal(f.eps.Values, []float64{math.Inf(1)}) ||
		f.teacherDelta.Given && !slices.Equal(f.teacherDelta.Values, []float64{0}), "gap"); err != nil {
		return err
	}
	if f.classes.Given {
		if err := cli.Refuse(c, "goes with two classes, and so without --num-classes", "shares", "cost"); err != nil {
			return err
		}
		return f.runClasses(c, a)
	}
	return f.runNoise(c, a)
}

// runNoise runs a sweep of two classes.
func (f *sweepFlags) runNoise(c *cobra.Command, a *cli.App) error {
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
	first := o[f.k.Values[0]]
	k := noiseSweep(points, gamma.Objective{Counts: first.Counts, Costs: first.Costs})
	k.invalid, k.shares, k.cost = invalid, f.Many.Shares, f.Many.Cost
	if first.Counts != nil {
		if k.priorCounts = f.Noise.LawOfCounts(); k.priorCounts == choose.BinomialCounts {
			k.priorMean = cli.Or(f.Noise.PriorMean, gamma.DefaultPriorMean)
		}
	}
	return runSweep(ctx, f, a, k, func(s *cache.Store) sweep.Solver[sweep.Point, *gamma.Table] {
		return sweep.Noise(s, o)
	})
}

// outputs checks the places of the files and opens the cache.
func (f *sweepFlags) outputs() (*cache.Store, error) {
	store, err := f.Store()
	return store, cmp.Or(err, (release.FileOutput{Path: f.out}).CheckPlace(),
		(release.FileOutput{Path: f.plot, Name: "--plot"}).CheckPlace())
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

// options checks the flags that do not describe the grid, and returns the solver's options for each K.
func (f *sweepFlags) options(c *cobra.Command, a *cli.App) (map[int]noisesolve.Options, error) {
	if err := cmp.Or(cli.Require(c, "K", problem.RequiredBudget), f.checkFormat(c, a),
		sweep.CheckJobs(f.jobs)); err != nil {
		return nil, err
	}
	if _, err := f.Noise.Options(); err != nil { // before a file is read
		return nil, err
	}
	return f.optionsOf(c, a)
}

// points returns the problems of the grid, and the errors of invalid combinations.
func (f *sweepFlags) points(ctx context.Context,
	c *cobra.Command) (points []sweep.Point, invalid []error, err error) {
	g := sweep.Grid{
		K: f.k.Values, M: f.m.Values, TotalEpsilon: f.labelEps.Values, Epsilon: f.eps.Values,
		TeacherDelta:       f.teacherDelta.Values,
		TeacherDeltaStated: f.teacherDelta.Given,
	}
	if g.Delta = f.Delta; g.Delta != nil {
		if err := check.Delta("delta", *g.Delta); err != nil {
			return nil, nil, err
		}
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
	affected, err := release.AffectedByData(f.Data)
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

// optionsOf returns the solver's options for each K. A file of counts is for one K.
func (f *sweepFlags) optionsOf(c *cobra.Command, a *cli.App) (map[int]noisesolve.Options, error) {
	first := f.k.Values[0]
	if i := slices.IndexFunc(f.k.Values, func(k int) bool { return k != first }); i > 0 && f.Noise.CountsFile() {
		return nil, cli.Usagef("a file of --prior-counts goes with one K, but --K has %d and %d", first,
			f.k.Values[i])
	}
	out := map[int]noisesolve.Options{}
	for _, k := range f.k.Values {
		if _, ok := out[k]; ok {
			continue
		}
		o, err := f.Many.CompleteNoise(c.Context(), f.Noise, k, choose.Numbered(2), problem.Histogram(a))
		if err != nil {
			return nil, err
		}
		if o.Counts != nil {
			if err := (gamma.Objective{Counts: o.Counts, Shape: gamma.Any}).Validate(k); err != nil {
				return nil, err
			}
		}
		o.Version = cli.Version
		out[k] = o
	}
	return out, nil
}

package mechanisms

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/sweep"
)

// runClasses runs a sweep of many classes.
func (f *sweepFlags) runClasses(c *cobra.Command, a *cli.App) error {
	if err := cmp.Or(f.checkFormat(c, a), check.Delta("delta", f.delta),
		check.Within("gap", f.Gap)); err != nil {
		return err
	}
	o := sweep.ClassOptions{Jobs: f.jobs, Solve: solve.Options{Gap: f.Gap, Version: cli.Version}}
	if err := o.CheckJobs(); err != nil {
		return err
	}
	g := sweep.ClassGrid{Classes: f.classes.Values, K: f.k.Values, TotalEpsilon: f.labelEps.Values,
		Delta: f.delta, Abstain: c.Flags().Changed("abstain")}
	var err error
	if g.Affected, err = f.affectedValues(c); err != nil {
		return err
	}
	problems, invalid, err := g.Problems()
	if err != nil {
		return err
	}
	if err := f.checkGrid(len(problems), invalid); err != nil {
		return err
	}
	objectives, err := f.objectives(c, a, problems)
	if err != nil {
		return err
	}
	o.Objective = func(p plurality.Problem) plurality.Objective { return objectives[p.Classes] }
	var plan sweepPlan[plurality.Problem]
	if f.plot != "" {
		if plan, err = planSweepPicture(problems, classAxes); err != nil {
			return err
		}
	}
	if o.Store, err = f.outputs(); err != nil {
		return err
	}
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	rows := &classRows{rows: make([]classRow, len(problems)), priorCounts: f.PriorCounts}
	o.Each = rows.set
	return f.solveAll(a, len(problems), invalid, sweepWork{
		run: func(progress func(done int)) (sweep.Result, error) {
			o.Progress = progress
			return sweep.RunClasses(ctx, problems, o)
		},
		write:   rows.write,
		picture: func() (figure.Sheet, error) { return rows.picture(plan, problems) },
	})
}

// objectives returns the objective for each number of classes. A file of counts fits one number and
// one K.
func (f *sweepFlags) objectives(c *cobra.Command, a *cli.App,
	problems []plurality.Problem) (map[int]plurality.Objective, error) {
	first := problems[0]
	for _, p := range problems {
		if f.PriorCounts != "" && (p.K != first.K || p.Classes != first.Classes) {
			return nil, cli.Usagef("a file of --prior-counts goes with one K and one number of classes, "+
				"but there are K = %d with %d classes and K = %d with %d", first.K, first.Classes, p.K,
				p.Classes)
		}
	}
	out := map[int]plurality.Objective{}
	for _, p := range problems {
		if _, ok := out[p.Classes]; ok {
			continue
		}
		o, err := f.Many(c).WithCounts(c.Context(), f.PriorCounts, p.K, p.Classes, problem.Histograms(a))
		if err != nil {
			return nil, err
		}
		if err := o.Validate(p); err != nil {
			return nil, err
		}
		out[p.Classes] = o
	}
	return out, nil
}

var classAxes = []sweepAxis[plurality.Problem]{
	{"label-eps", "ε of one answer", func(p plurality.Problem) float64 { return p.Epsilon }},
	{"K", "K, teachers", func(p plurality.Problem) float64 { return float64(p.K) }},
	{"num-classes", "C, classes", func(p plurality.Problem) float64 { return float64(p.Classes) }},
	{"affected", "votes that one record changes", func(p plurality.Problem) float64 {
		return float64(p.Affected)
	}},
}

// classRows are the rows that a sweep of many classes prints, in the order of its problems.
type classRows struct {
	rows        []classRow
	priorCounts string // the value of --prior-counts
}

// classRow is the row of a sweep for one table of many classes.
type classRow struct {
	problem                plurality.Problem
	objective              plurality.Objective
	certificate            plurality.Certificate
	value, upperBound, gap float64
	baselines              []plurality.Baseline
	json                   []byte
}

// set makes the i-th row. Several goroutines may set rows of their own.
func (s *classRows) set(i int, t *plurality.Table) (err error) {
	s.rows[i] = classRow{
		problem: t.Problem(), objective: t.Objective, certificate: t.Certificate(),
		value: t.Value, upperBound: t.UpperBound, gap: t.Gap, baselines: t.Baselines(),
	}
	s.rows[i].json, err = t.Summary()
	return err
}

func (s *classRows) columns() []sweepColumn[classRow] {
	number, given := numberColumn[classRow], givenColumn[classRow]
	whole := func(name string, of func(plurality.Problem) int) sweepColumn[classRow] {
		return given(name, func(r classRow) string { return strconv.Itoa(of(r.problem)) })
	}
	columns := []sweepColumn[classRow]{
		whole("classes", func(p plurality.Problem) int { return p.Classes }),
		whole("K", func(p plurality.Problem) int { return p.K }),
		given("label_eps", func(r classRow) string { return cli.Shortest(r.problem.Epsilon) }),
		given("delta", func(r classRow) string { return cli.Shortest(r.problem.Delta) }),
		whole("affected", func(p plurality.Problem) int { return p.Affected }),
		given("accuracy", func(r classRow) string { return unlessZero(r.objective.Accuracy) }),
		given("concentration", func(r classRow) string { return unlessZero(r.objective.Concentration) }),
		given("prior_counts", func(classRow) string { return s.priorCounts }),
		given("abstain", func(r classRow) string {
			if !r.problem.Abstain {
				return ""
			}
			return cli.Shortest(r.objective.AbstainValue)
		}),
		{
			name: "constraints", cell: func(r classRow) string {
				return strconv.FormatInt(r.certificate.Rows, 10)
			},
			human: func(r classRow) string { return num.Thousands(big.NewInt(r.certificate.Rows)) },
		},
		number("value", func(r classRow) float64 { return r.value }, "%.6f"),
		number("upper_bound", func(r classRow) float64 { return r.upperBound }, "%.6f"),
		number("gap", func(r classRow) float64 { return r.gap }, "%.1e"),
	}
	for i, b := range s.rows[0].baselines {
		column := number("baseline_"+strings.ReplaceAll(b.Name, "-", "_"),
			func(r classRow) float64 { return r.baselines[i].Value }, "%.6f")
		column.title = b.Name
		columns = append(columns, column)
	}
	return columns
}

// unlessZero writes a number, "" for one that was not given.
func unlessZero(x float64) string {
	if x == 0 {
		return ""
	}
	return cli.Shortest(x)
}

// write writes all rows.
func (s *classRows) write(w *terminal.Page, format string) error {
	return writeSweep(w, format, s.rows, s.columns(), func(r classRow) []byte { return r.json },
		[]string{"classes", "K", "label_eps"})
}

// picture draws the values of the rows.
func (s *classRows) picture(plan sweepPlan[plurality.Problem],
	problems []plurality.Problem) (figure.Sheet, error) {
	var titles []string
	for _, b := range s.rows[0].baselines {
		titles = append(titles, b.Name)
	}
	y := "Pr[a plurality class]"
	if s.rows[0].problem.Abstain {
		y = "value"
	}
	return plan.picture("What the optimum reaches", y, ensemble.OptimalCounts, problems, titles,
		func(row, result int) (float64, bool) {
			if result == ownResult {
				return s.rows[row].value, true
			}
			return s.rows[row].baselines[result].Value, true
		})
}

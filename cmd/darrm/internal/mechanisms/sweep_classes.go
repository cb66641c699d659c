package mechanisms

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/sweep"
)

// runClasses runs a sweep of many classes.
func (f *sweepFlags) runClasses(c *cobra.Command, a *cli.App) error {
	delta, gap := f.PerAnswer().Delta, cli.Or(f.Many.Gap, solve.DefaultGap)
	if err := cmp.Or(f.checkFormat(c, a), check.Delta("delta", delta), check.Within("gap", gap),
		sweep.CheckJobs(f.jobs)); err != nil {
		return err
	}
	g := sweep.ClassGrid{Classes: f.classes.Values, K: f.k.Values, TotalEpsilon: f.labelEps.Values,
		Delta: delta, Abstain: f.Many.Abstain != nil}
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
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	k := classSweep(problems)
	k.invalid, k.priorCounts = invalid, f.Noise.PriorCounts
	o := solve.Options{Gap: gap, Version: cli.Version}
	return runSweep(ctx, f, a, k, func(s *cache.Store) sweep.Solver[plurality.Problem, *plurality.Table] {
		return sweep.Classes(s, o, func(p plurality.Problem) plurality.Objective { return objectives[p.Classes] })
	})
}

// objectives returns the objective for each number of classes. A file of counts fits one number and
// one K.
func (f *sweepFlags) objectives(c *cobra.Command, a *cli.App,
	problems []plurality.Problem) (map[int]plurality.Objective, error) {
	first := problems[0]
	for _, p := range problems {
		if f.Noise.PriorCounts != "" && (p.K != first.K || p.Classes != first.Classes) {
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
		o, err := f.Many.WithCounts(c.Context(), f.Noise.PriorCounts, p.K, p.Classes, problem.Histograms(a))
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

// classSweep is the sweep of problems of many classes.
func classSweep(problems []plurality.Problem) *sweepOf[plurality.Problem, *plurality.Table] {
	y := "Pr[a plurality class]"
	if problems[0].Abstain {
		y = "value"
	}
	k := &sweepOf[plurality.Problem, *plurality.Table]{
		points: problems, always: []string{"classes", "K", "label_eps"}, drawn: "value",
		title: "What the optimum reaches", y: y, own: ensemble.OptimalCounts,
		axes: []sweepAxis{
			axisOf(problems, "label-eps", "ε of one answer", func(p plurality.Problem) float64 { return p.Epsilon }),
			axisOf(problems, "K", "K, teachers", func(p plurality.Problem) float64 { return float64(p.K) }),
			axisOf(problems, "num-classes", "C, classes", func(p plurality.Problem) float64 { return float64(p.Classes) }),
			axisOf(problems, "affected", "votes that one record changes",
				func(p plurality.Problem) float64 { return float64(p.Affected) }),
		},
	}
	k.row = func(t *plurality.Table) (r sweepRow) {
		p, o := t.Problem(), t.Objective
		r.given("classes", strconv.Itoa(p.Classes))
		r.given("K", strconv.Itoa(p.K))
		r.given("label_eps", num.Shortest(p.Epsilon))
		r.given("delta", num.Shortest(p.Delta))
		r.given("affected", strconv.Itoa(p.Affected))
		r.given("accuracy", unlessZero(o.Accuracy))
		r.given("concentration", unlessZero(o.Concentration))
		r.given("prior_counts", k.priorCounts)
		abstain := ""
		if p.Abstain {
			abstain = num.Shortest(o.AbstainValue)
		}
		r.given("abstain", abstain)
		r.count("constraints", fmt.Sprint(t.Certificate().Rows))
		r.number("value", t.Value, "%.6f")
		r.number("upper_bound", t.UpperBound, "%.6f")
		r.number("gap", t.Gap, "%.1e")
		for _, b := range t.Baselines() {
			r.baseline(b.Name, num.Shortest(b.Value), b.Value, "%.6f")
		}
		return r
	}
	return k
}

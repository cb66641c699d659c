package mechanisms

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/figure"
)

// gammaPicture draws γ and the baselines against the votes, each with its value of the table's
// metric.
func gammaPicture(t *gamma.Table) (figure.Sheet, error) {
	p := t.Func()
	problem := t.Problem()
	m := metrics(t)[0]
	c := picture.NewChart(fmt.Sprintf("%d teachers, one answer (%s, %.3g)-DP", problem.K,
		problem.TotalDecimal(), problem.Delta), "l, votes for 1", "γ(l)")
	add := func(i int, name string, f gamma.Func) error {
		var points plotter.XYs
		for l := range p.K() + 1 {
			if 2*l != p.K() { // a tie is a coin, whatever γ
				points = append(points, plotter.XY{X: float64(l), Y: f.At(l)})
			}
		}
		return c.Curve(i, fmt.Sprintf("%s: %s %.3g", name, m.name, m.of(f)), points)
	}
	if err := add(0, ensemble.NoiseName(t), p); err != nil {
		return figure.Sheet{}, err
	}
	for i, b := range t.Baselines {
		if err := add(1+i, b.Title(), b.Certified.Func()); err != nil {
			return figure.Sheet{}, err
		}
	}
	c.Y.Min, c.Y.Max = min(0, 1.04*c.Y.Min), 1.04 // as low as γ goes
	c.X.Min, c.X.Max = 0, float64(p.K())
	return c.Sheet(), nil
}

// sweepAxis is a parameter of a grid of problems P.
type sweepAxis[P any] struct {
	name, title string
	of          func(P) float64
}

var sweepAxes = []sweepAxis[constraints.Problem]{
	{"m", "m, allowance", func(p constraints.Problem) float64 { return p.M }},
	{"label-eps", "ε of one answer", func(p constraints.Problem) float64 { return p.TotalEpsilon }},
	{"K", "K, teachers", func(p constraints.Problem) float64 { return float64(p.K) }},
	{"eps", "ε of each teacher", func(p constraints.Problem) float64 { return p.Epsilon }},
	{"teacher-delta", "Δ of each teacher",
		func(p constraints.Problem) float64 { return p.TeacherDelta }},
	{"affected", "teachers that one record reaches", func(p constraints.Problem) float64 {
		return float64(p.Affected)
	}},
}

// sweepPlan assigns the rows of a sweep to the x axis and the curves of a picture.
type sweepPlan[P any] struct {
	x      sweepAxis[P]
	curves []string    // the other parameters that vary, of each curve; one "" where none does
	rows   map[int]int // which curve a row belongs to
}

// planSweepPicture chooses the parameter with the most values for the horizontal axis, and one
// curve for each combination of the others. It is a usage error if no parameter varies, or if
// more curves are needed than can be told apart.
func planSweepPicture[P any](points []P, axes []sweepAxis[P]) (sweepPlan[P], error) {
	distinct := func(a sweepAxis[P]) int {
		seen := map[float64]bool{}
		for _, p := range points {
			seen[a.of(p)] = true
		}
		return len(seen)
	}
	var varying []sweepAxis[P]
	best := 0
	for _, a := range axes {
		if distinct(a) < 2 {
			continue
		}
		varying = append(varying, a)
		infinite := slices.ContainsFunc(points, func(p P) bool { return math.IsInf(a.of(p), 0) })
		if n := distinct(a); !infinite && n > best {
			best = n
		}
	}
	i := slices.IndexFunc(varying, func(a sweepAxis[P]) bool {
		return distinct(a) == best
	})
	if i < 0 {
		var names []string
		for _, a := range axes {
			names = append(names, "--"+a.name)
		}
		return sweepPlan[P]{}, cli.Usagef("--plot needs a list with two finite values or more, of %s "+
			"or %s", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
	}
	plan := sweepPlan[P]{x: varying[i], rows: map[int]int{}}
	varying = splitting(points, slices.Insert(slices.Delete(varying, i, i+1), 0, plan.x))[1:]
	for row, p := range points {
		name := ""
		for _, a := range varying {
			if name != "" {
				name += ", "
			}
			name += a.name + " = " + strconv.FormatFloat(a.of(p), 'g', 6, 64)
		}
		at := slices.Index(plan.curves, name)
		if at < 0 {
			at = len(plan.curves)
			plan.curves = append(plan.curves, name)
		}
		plan.rows[row] = at
	}
	if len(plan.curves) > len(picture.CurveStyles) {
		return plan, cli.Usagef(
			"--plot would need %d curves, but can draw at most %d: sweep fewer values beside --%s",
			len(plan.curves), len(picture.CurveStyles), plan.x.name)
	}
	return plan, nil
}

// splitting returns the axes that distinguish points which the axes before them do not. Where a
// record may reach all teachers, the number of teachers already determines the reach.
func splitting[P any](points []P, axes []sweepAxis[P]) (out []sweepAxis[P]) {
	groups := make([]string, len(points))
	distinct := 1
	for _, a := range axes {
		finer, seen := slices.Clone(groups), map[string]bool{}
		for i, p := range points {
			finer[i] += fmt.Sprint(a.of(p), " ")
			seen[finer[i]] = true
		}
		if len(seen) > distinct {
			groups, distinct, out = finer, len(seen), append(out, a)
		}
	}
	return out
}

// ownResult selects the row's own result in picture; the baselines have the numbers from 0.
const ownResult = -1

// picture draws a result of the problems in rows: of the optimum, by its name, and the baselines if
// there is one curve, otherwise of the optimum of each.
func (p sweepPlan[P]) picture(title, y, own string, problems []P, baselines []string,
	of func(row, result int) (float64, bool)) (figure.Sheet, error) {
	if len(p.curves) == 1 {
		title += ", and the baselines"
	}
	c := picture.NewChart(title, p.x.title, y)
	lo, hi, top := math.Inf(1), 0.0, 0.0
	add := func(i int, name string, result, curve int) error {
		var points plotter.XYs
		for row, problem := range problems {
			if e, ok := of(row, result); ok && p.rows[row] == curve {
				x := p.x.of(problem)
				points = append(points, plotter.XY{X: x, Y: e})
				lo, hi, top = min(lo, x), max(hi, x), max(top, e)
			}
		}
		slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		return c.Curve(i, name, points)
	}
	for i, name := range p.curves {
		if err := add(i, cmp.Or(name, own), ownResult, i); err != nil {
			return figure.Sheet{}, err
		}
	}
	if len(p.curves) == 1 {
		for i, title := range baselines {
			if err := add(1+i, title, i, 0); err != nil {
				return figure.Sheet{}, err
			}
		}
	}
	if lo > 0 && hi/lo > 50 {
		c.X.Scale, c.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(figure.LogTicks)
	}
	if top == 0 {
		top = 1
	}
	c.Y.Min, c.Y.Max = 0, 1.04*top
	return c.Sheet(), nil
}

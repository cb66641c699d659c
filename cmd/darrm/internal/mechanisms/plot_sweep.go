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
	"github.com/darrm/darrm/internal/figure"
)

// sweepAxis is a parameter of a grid of problems.
type sweepAxis struct {
	name, title string
	at          []float64 // its value in each row
}

func axisOf[P any](points []P, name, title string, of func(P) float64) sweepAxis {
	a := sweepAxis{name: name, title: title}
	for _, p := range points {
		a.at = append(a.at, of(p))
	}
	return a
}

// distinct returns how many values the axis has.
func (a sweepAxis) distinct() int {
	seen := map[float64]bool{}
	for _, x := range a.at {
		seen[x] = true
	}
	return len(seen)
}

// sweepPlan assigns the rows of a sweep to the x axis and the curves of a picture.
type sweepPlan struct {
	x      sweepAxis
	curves []string // the other parameters that vary, of each curve; one "" where none does
	rows   []int    // which curve a row belongs to
}

// planSweepPicture chooses the parameter with the most values for the horizontal axis, and one
// curve for each combination of the others. It is a usage error if no parameter varies, or if
// more curves are needed than can be told apart.
func planSweepPicture(axes []sweepAxis) (sweepPlan, error) {
	var varying []sweepAxis
	best := 0
	for _, a := range axes {
		n := a.distinct()
		if n < 2 {
			continue
		}
		varying = append(varying, a)
		infinite := slices.ContainsFunc(a.at, func(x float64) bool { return math.IsInf(x, 0) })
		if !infinite && n > best {
			best = n
		}
	}
	i := slices.IndexFunc(varying, func(a sweepAxis) bool { return a.distinct() == best })
	if i < 0 {
		var names []string
		for _, a := range axes {
			names = append(names, "--"+a.name)
		}
		return sweepPlan{}, cli.Usagef("--plot needs a list with two finite values or more, of %s "+
			"or %s", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
	}
	plan := sweepPlan{x: varying[i]}
	varying = splitting(slices.Insert(slices.Delete(varying, i, i+1), 0, plan.x))[1:]
	for row := range plan.x.at {
		name := ""
		for _, a := range varying {
			if name != "" {
				name += ", "
			}
			name += a.name + " = " + strconv.FormatFloat(a.at[row], 'g', 6, 64)
		}
		at := slices.Index(plan.curves, name)
		if at < 0 {
			at = len(plan.curves)
			plan.curves = append(plan.curves, name)
		}
		plan.rows = append(plan.rows, at)
	}
	if len(plan.curves) > len(figure.CurveStyles) {
		return plan, cli.Usagef(
			"--plot would need %d curves, but can draw at most %d: sweep fewer values beside --%s",
			len(plan.curves), len(figure.CurveStyles), plan.x.name)
	}
	return plan, nil
}

// splitting returns the axes that distinguish rows which the axes before them do not. Where a
// record may reach all teachers, the number of teachers already determines the reach.
func splitting(axes []sweepAxis) (out []sweepAxis) {
	groups := make([]string, len(axes[0].at))
	distinct := 1
	for _, a := range axes {
		finer, seen := slices.Clone(groups), map[string]bool{}
		for i, x := range a.at {
			finer[i] += fmt.Sprint(x, " ")
			seen[finer[i]] = true
		}
		if len(seen) > distinct {
			groups, distinct, out = finer, len(seen), append(out, a)
		}
	}
	return out
}

// picture draws the column that is drawn of the rows, and the baselines if there is one curve.
func (k *sweepOf[P, T]) picture(p sweepPlan, rows []sweepRow) (figure.Sheet, error) {
	title := k.title
	if len(p.curves) == 1 {
		title += ", and the baselines"
	}
	c := figure.NewChart(title, p.x.title, k.y)
	lo, hi, top := math.Inf(1), 0.0, 0.0
	add := func(i int, name string, column, curve int) error {
		var points plotter.XYs
		for row, r := range rows {
			if e := r.cells[column]; e.text != "" && p.rows[row] == curve {
				x := p.x.at[row]
				points = append(points, plotter.XY{X: x, Y: e.value})
				lo, hi, top = min(lo, x), max(hi, x), max(top, e.value)
			}
		}
		slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		return c.Curve(i, name, points)
	}
	columns := rows[0].columns
	own := slices.IndexFunc(columns, func(c sweepColumn) bool { return c.name == k.drawn })
	for i, name := range p.curves {
		if err := add(i, cmp.Or(name, k.own), own, i); err != nil {
			return figure.Sheet{}, err
		}
	}
	baselines := 0
	for i, column := range columns {
		if len(p.curves) == 1 && strings.HasPrefix(column.name, baselineColumn) {
			baselines++
			if err := add(baselines, column.title, i, 0); err != nil {
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

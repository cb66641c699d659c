package mechanisms

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// marginPicture draws how often the answer is right against the lead of the first class, for the
// table and for the baselines, each with its value.
func marginPicture(t *plurality.Table) (figure.Sheet, error) {
	p := t.Problem()
	margins := t.Margins(0)
	baselines := t.Baselines()
	c := picture.NewChart(fmt.Sprintf("%d teachers, %d classes, one answer (%v, %.3g)-DP", p.K,
		p.Classes,
		p.Epsilon, p.Delta),
		"lead of the first class, in votes", "Pr[a plurality class]")
	add := func(i int, name string, of func(plurality.Margin) float64) error {
		var points plotter.XYs
		for _, m := range margins {
			points = append(points, plotter.XY{X: float64(m.Lead), Y: of(m)})
		}
		return c.Curve(i, name, points)
	}
	if err := add(0, fmt.Sprintf("this table: value %.4f", t.Value),
		func(m plurality.Margin) float64 { return m.Right }); err != nil {
		return figure.Sheet{}, err
	}
	if p.Abstain {
		if err := add(1, "no answer", func(m plurality.Margin) float64 { return m.Abstained }); err !=
			nil {
			return figure.Sheet{}, err
		}
	}
	for i, b := range baselines {
		if err := add(2+i, fmt.Sprintf("%s: %.4f", b.Name, b.Value),
			func(m plurality.Margin) float64 { return m.Baselines[i] }); err != nil {
			return figure.Sheet{}, err
		}
	}
	c.Y.Min, c.Y.Max = 0, 1.04
	c.X.Min, c.X.Max = 0, max(1, float64(margins[len(margins)-1].Lead))
	c.X.Tick.Marker = plot.TickerFunc(figure.WholeTicks)
	return c.Sheet(), nil
}

// gapPicture draws the gap against the time that it took to prove it.
func gapPicture(t *plurality.Table, gaps []solve.Progress) (figure.Sheet, error) {
	p := t.Problem()
	c := picture.NewChart(fmt.Sprintf("%d teachers, %d classes: how far from the optimum", p.K,
		p.Classes),
		"seconds", "gap between value and bound")
	var points plotter.XYs
	low, high := math.Inf(1), 0.0
	for _, at := range gaps {
		// A gap of 0 has no place on a logarithmic axis.
		y := max(at.Gap(), 1e-16)
		points = append(points, plotter.XY{X: at.Elapsed.Seconds(), Y: y})
		low, high = min(low, y), max(high, y)
	}
	if err := c.Curve(0, t.Solver, points); err != nil {
		return figure.Sheet{}, err
	}
	c.Y.Min, c.Y.Max = figure.Fit(low, high)
	c.Y.Scale, c.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(figure.LogTicks)
	c.X.Min, c.X.Max = 0, max(1e-3, points[len(points)-1].X)
	return c.Sheet(), nil
}

package page

import (
	"fmt"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/release"
)

// spendingPicture draws how much of ε and of δ was spent, in percent of the budget, from the first
// charge to now. The sums are of float64s: half a pixel is more than they are wrong by.
func spendingPicture(r *release.BudgetReport, now time.Time) (string, error) {
	first := r.Releases[0].Time
	unit, name := axisUnit(now.Sub(first))
	c := &chart{Plot: figure.New("", name+" since the first charge", "spent, % of the budget")}
	end := max(0, now.Sub(first).Seconds()/unit)
	points := [2]plotter.XYs{}
	var spent [2]float64
	granted := [2]float64{number(r.Granted.Epsilon.String()), number(r.Granted.Delta.String())}
	for i, e := range r.Releases {
		spent[0] += number(e.Cost.Epsilon.String())
		spent[1] += number(e.Cost.Delta.String())
		// What is not drawn is level with its neighbours on the picture.
		if n := len(r.Releases); n > 4*most && i%(n/(4*most)+1) != 0 && i != n-1 {
			continue
		}
		// Clocks of several machines may disagree: the axis has no way back.
		x := max(0, e.Time.Sub(first).Seconds()/unit)
		if n := len(points[0]); n > 0 {
			x = max(x, points[0][n-1].X)
		}
		end = max(end, x)
		for j := range points {
			points[j] = append(points[j], plotter.XY{X: x, Y: 100 * spent[j] / max(granted[j], 1e-300)})
		}
	}
	for j, style := range []struct {
		name string
		of   int
	}{{"ε", 0}, {"δ", 1}} {
		if granted[j] == 0 {
			continue // there is none to spend
		}
		p := append(plotter.XYs{{X: 0, Y: 0}}, points[j]...)
		p = append(p, plotter.XY{X: end, Y: p[len(p)-1].Y})
		line := figure.Line(figure.Blue)
		if j == 1 {
			line = figure.Line(figure.Vermillion, 5, 3)
		}
		if err := c.curve(style.name, p, line, true); err != nil {
			return "", err
		}
	}
	c.Y.Min, c.Y.Max = 0, 104
	c.X.Min, c.X.Max = 0, max(end, 1e-3)
	c.X.Tick.Marker, c.Y.Tick.Marker = plot.TickerFunc(figure.FewTicks), plot.TickerFunc(figure.FewTicks)
	last := r.Share
	return c.sheet().Inline(fmt.Sprintf("The budget over time: %v %% of ε and %v %% of δ are spent", last[0], last[1]))
}

// axisUnit returns the unit of a time axis of that length, in seconds, and its name.
func axisUnit(d time.Duration) (seconds float64, name string) {
	switch {
	case d >= 72*time.Hour:
		return 86400, "days"
	case d >= 3*time.Hour:
		return 3600, "hours"
	case d >= 3*time.Minute:
		return 60, "minutes"
	}
	return 1, "seconds"
}

// number reads a decimal of the ledger, which is one.
func number(s string) float64 {
	x, _ := strconv.ParseFloat(s, 64)
	return x
}

package page

import (
	"encoding/json"
	"fmt"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/release"
)

// spendingPicture draws how much of ε and of δ was spent, in percent of the budget, from the first
// charge to now.
func spendingPicture(b *release.BudgetView, now time.Time) (string, error) {
	first := b.Spending[0].Time
	unit, name := axisUnit(now.Sub(first))
	c := &chart{Plot: figure.New("", name+" since the first charge", "spent, % of the budget")}
	end := max(0, now.Sub(first).Seconds()/unit)
	points := [2]plotter.XYs{}
	granted := [2]float64{number(b.Granted.Epsilon), number(b.Granted.Delta)}
	x := 0.0
	for _, s := range b.Spending {
		// Clocks of several machines may disagree: the axis has no way back.
		x = max(x, s.Time.Sub(first).Seconds()/unit)
		for j, spent := range [2]float64{s.Epsilon, s.Delta} {
			points[j] = append(points[j], plotter.XY{X: x, Y: 100 * spent / max(granted[j], 1e-300)})
		}
	}
	end = max(end, x)
	for j, name := range [2]string{"ε", "δ"} {
		if granted[j] == 0 {
			continue // there is none to spend
		}
		p := append(plotter.XYs{{X: 0, Y: 0}}, points[j]...)
		p = append(p, plotter.XY{X: end, Y: p[len(p)-1].Y})
		line := figure.Line(figure.Blue)
		if j == 1 {
			line = figure.Line(figure.Vermillion, 5, 3)
		}
		if err := c.curve(name, p, line, true); err != nil {
			return "", err
		}
	}
	c.Y.Min, c.Y.Max = 0, 104
	c.X.Min, c.X.Max = 0, max(end, 1e-3)
	c.X.Tick.Marker, c.Y.Tick.Marker = plot.TickerFunc(figure.FewTicks),
		plot.TickerFunc(figure.FewTicks)
	return c.sheet().Inline(fmt.Sprintf("The budget over time: %v %% of ε and %v %% of δ are spent",
		b.Share[0], b.Share[1]))
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
func number(n json.Number) float64 {
	x, _ := n.Float64()
	return x
}

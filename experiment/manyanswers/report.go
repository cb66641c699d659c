package manyanswers

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/experiment"
)

func (p *parameters) report(r *experiment.Run, found []point) error {
	p.table(r, found)
	p.judge(r, found)
	if err := p.picture(r, found); err != nil {
		return err
	}
	return p.small(r, found)
}

// title names a set in a picture.
func (x point) title() string { return fmt.Sprintf("%s, K = %d", x.Title, x.K) }

// columns are the columns of the table that are mechanisms.
var columns = []string{gnmax, flip, single, normal, best}

func (p *parameters) table(r *experiment.Run, found []point) {
	t := r.TableOf("agreement", nil)
	for _, x := range found {
		cells := []any{x.Votes, x.K, x.Classes, x.budget.Epsilon, x.budget.Delta, x.queries}
		for _, name := range columns {
			if m := x.of(name); m != nil {
				cells = append(cells, m.Agrees)
			} else {
				cells = append(cells, nil)
			}
		}
		if x.Bound < 1 {
			cells = append(cells, x.Bound)
		} else {
			cells = append(cells, nil)
		}
		t.Add(append(cells, x.of(best).Title, x.Refused)...)
	}
	r.Table(t)
}

// panel draws how often answers agree against the number of queries, on one set at one budget.
func (p *parameters) panel(found []point, votes string, b budget) experiment.Panel {
	chart := experiment.Panel{X: fmt.Sprintf("queries, (%g, %g)-DP together", b.Epsilon, b.Delta),
		Y: "agreement with the plurality", LogX: true, YRange: [2]float64{0, 1}}
	for _, name := range []string{above, best, normal, gnmax, flip, single} {
		line := experiment.Series{Method: experiment.Method(lookPrefix + name), Plain: name == above}
		for _, x := range found {
			if x.Votes != votes || x.budget != b {
				continue
			}
			chart.Title = x.title()
			if x.Classes == 2 {
				chart.Y, chart.YRange[0] = "agreement with the majority", 0.5
			}
			if slices.Contains(marked, x.queries) &&
				!slices.Contains(chart.XTicks, float64(x.queries)) {
				chart.XTicks = append(chart.XTicks, float64(x.queries))
			}
			if m := x.of(name); m != nil {
				line.Add(float64(x.queries), m.Agrees)
			} else if name == above && x.Bound < 1 {
				line.Add(float64(x.queries), x.Bound)
			}
		}
		if len(line.X) > 0 {
			chart.Series = append(chart.Series, line)
		}
	}
	return chart
}

// across is the horizontal axis of the glance, whose title names the budget.
const across = "queries that are answered"

// marked are the numbers of queries that have a mark: more would not be told apart.
var marked = []int{1, 10, 100, 1000, 10_000}

// picture draws every set at every budget.
func (p *parameters) picture(r *experiment.Run, found []point) error {
	var panels []experiment.Panel
	for _, s := range p.Sets {
		for _, b := range p.Budgets {
			panels = append(panels, p.panel(found, s.Votes, b))
		}
	}
	return r.Figure("agreement", "How often an answer has the most votes, against the number of "+
		"queries that are answered under one budget.", len(p.Budgets), panels)
}

// small draws the sets of the glance at its ε, one below the other: it must be read on a telephone. The first chart is
// how often tables agree, each other one what the other mechanisms are above or below the table, in points: lines that
// would lie on each other in the first are told apart there. All have one horizontal scale, and the differences one
// vertical.
func (p *parameters) small(r *experiment.Run, found []point) error {
	var panels []experiment.Panel
	for _, b := range p.Budgets {
		if b.Epsilon != p.Glance.Epsilon {
			continue
		}
		first := experiment.Panel{Title: fmt.Sprintf("Tables for many answers, all (%g, %g)-DP together", b.Epsilon, b.Delta),
			X: across, Y: "agreement, %", YRange: [2]float64{0, 100}}
		var rest []experiment.Panel
		for _, votes := range p.Glance.Votes {
			chart := p.panel(found, votes, b)
			chart.X = across
			table := chart.Series[slices.IndexFunc(chart.Series, func(s experiment.Series) bool { return s.Method == lookPrefix+best })]
			level := experiment.Series{Method: table.Method, Name: chart.Title, X: table.X}
			for _, y := range table.Y {
				level.Y = append(level.Y, 100*y)
			}
			first.Series = append(first.Series, level)
			chart.Y, chart.YRange = "points from the table", [2]float64{}
			for i, s := range chart.Series {
				chart.Series[i].Name, chart.Series[i].Y = beside[s.Method], behind(s, table)
			}
			rest = append(rest, chart)
		}
		panels = append(append(panels, first), rest...)
	}
	var ticks []float64
	for _, chart := range panels {
		ticks = append(ticks, chart.XTicks...)
	}
	slices.Sort(ticks)
	ticks = slices.Compact(ticks)
	for i := range panels {
		panels[i].Direct, panels[i].LogX, panels[i].XTicks = true, true, ticks
		if len(ticks) > 0 { // else each chart has its own scale: no number of queries is a marked one
			panels[i].XRange = [2]float64{ticks[0], ticks[len(ticks)-1]}
		}
	}
	return r.Figure("glance", "How often an answer has the most votes, at one budget: of tables for many answers, and what other "+
		"mechanisms are above or below them.", 1, panels)
}

// beside are the names of lines where they stand beside them.
var beside = map[experiment.Method]string{lookPrefix + above: "no table is above", lookPrefix + best: "table for many answers",
	lookPrefix + normal: "noise priced by its label", lookPrefix + gnmax: "GNMax", lookPrefix + flip: "permute-and-flip",
	lookPrefix + single: "optimum of one answer"}

// behind returns how many points a line is above the table's, at the line's numbers of queries.
func behind(s, table experiment.Series) (out []float64) {
	for i, x := range s.X {
		out = append(out, 100*(s.Y[i]-table.Y[slices.Index(table.X, x)]))
	}
	return out
}

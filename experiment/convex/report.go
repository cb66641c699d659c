package convex

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/sweep"
)

// axis maps the parameter of a sweep to its label.
var axis = map[string]string{"n": "records n", "d": "dimension d", "eps": "ε"}

func (p *parameters) report(r *experiment.Run, found [][]sweep.Scores) error {
	t := p.task()
	if t.draw == nil {
		label := "generated stand-in"
		if r.Inputs != nil {
			label = "real data"
			r.Note("%d clients of the real file, %d of them to score on.", p.Records, p.Fresh)
		} else {
			r.Note("%d clients of a generated stand-in (seed %d), %d of them to score on. It keeps what "+
				"the comparison depends on; its figures are not those of the real data.", p.Records, p.DataSeed,
				p.Fresh)
		}
		r.Result.Title += " (" + label + ")"
	}
	r.Note("Means over %d repeats; a repeat draws records and noise anew%s.", p.Repeats,
		map[bool]string{true: ", of a data set the noise alone"}[t.draw == nil])
	measures := []string{""}
	if found[0][0].By["accuracy"] != nil {
		measures = append(measures, "accuracy", "auc")
	}
	columns := []experiment.Column{{Name: p.Sweep, Title: axis[p.Sweep]},
		{Name: "line", Title: "line"}, {Name: "method", Title: "method"},
		{Name: "eps_accounted", Title: "ε accounted", Format: "%.4g"}}
	for _, m := range measures {
		columns = append(columns, experiment.Column{Name: p.column(m), Title: p.title(m), Format: "%.4f"},
			experiment.Column{Name: p.column(m) + "_sd", Title: "± standard deviation", Format: "%.1g"})
	}
	table := experiment.Table{Name: "scores", Caption: "Scores on fresh records.", Columns: columns}
	for i, at := range p.At {
		for j, l := range p.Lines {
			s := found[i][j]
			row := []any{at, l.Name, l.Method, s.Epsilon}
			if s.Epsilon == 0 {
				row[3] = nil
			}
			for _, m := range measures {
				v, sd := experiment.MeanDeviation(s.By[m])
				row = append(row, v, sd)
			}
			table.Add(row...)
		}
	}
	r.Table(table)
	p.judge(r, found)
	if slices.ContainsFunc(p.Lines, func(l line) bool { return l.Method == "dp-sgd" }) {
		r.Note("DP-SGD's ε is for adding or removing a record, which its accountant knows; that of the " +
			"others for replacing one, which is the stronger promise.")
	}
	return p.figure(r, found, measures)
}

func (p *parameters) column(measure string) string {
	if measure == "" {
		return "value"
	}
	return measure
}

func (p *parameters) title(measure string) string {
	switch {
	case measure == "auc":
		return "AUC"
	case measure != "":
		return measure
	case p.Iterates:
		return p.task().measure + ", mean over iterates"
	}
	return p.task().measure
}

func (p *parameters) figure(r *experiment.Run, found [][]sweep.Scores, measures []string) error {
	panels := make([]experiment.Panel, len(measures))
	for k, m := range measures {
		panels[k] = experiment.Panel{Title: p.title(m), X: axis[p.Sweep], Y: p.title(m), LogX: true,
			LogY: m == "" && !p.Linear, XTicks: p.At}
		if len(p.At) == 1 {
			panels[k] = experiment.Panel{Title: p.title(m), X: p.title(m), Bars: true}
		}
		for j, l := range p.Lines {
			s := experiment.Series{Method: l.As(methodPrefix), Name: l.Name,
				Dashed: looks()[l.As(methodPrefix)].Dashes != nil, Plain: l.Method == zero}
			for i, at := range p.At {
				v, sd := experiment.MeanDeviation(found[i][j].By[m])
				s.Add(at, v)
				s.Spread = append(s.Spread, sd/math.Sqrt(float64(p.Repeats)))
			}
			panels[k].Series = append(panels[k].Series, s)
		}
	}
	return r.Figure("scores",
		fmt.Sprintf("%s on fresh records; error bars are one standard error over repeats.",
			strings.ToUpper(p.title("")[:1])+p.title("")[1:]), len(panels), panels)
}

// judge states the claims.
func (p *parameters) judge(r *experiment.Run, found [][]sweep.Scores) {
	line := func(name string) int {
		return slices.IndexFunc(p.Lines, func(l line) bool { return l.Name == name })
	}
	at := func(name, measure string, i int) float64 {
		v, _ := experiment.MeanDeviation(found[i][line(name)].By[measure])
		return v
	}
	var budgets sweep.Budgets
	for i, x := range p.At {
		_, _, target := p.place(x)
		for j, l := range p.Lines {
			budgets.Add(found[i][j].Epsilon, cmp.Or(l.Epsilon, target.Epsilon),
				fmt.Sprintf("%s at %s = %g", l.Name, axis[p.Sweep], x))
		}
	}
	budgets.Claim(r)
	for _, c := range p.Claims {
		what := p.title(c.Measure)
		if len(c.Slope) == 2 && c.Slope != [2]float64{} {
			slope := p.slope(func(i int) float64 { return at(c.Line, c.Measure, i) })
			r.Claim(slope >= c.Slope[0] && slope <= c.Slope[1],
				fmt.Sprintf("%s: %s goes with a power of %s between %g and %g", c.Line, what, axis[p.Sweep],
					c.Slope[0], c.Slope[1]), "%.3f", slope)
			continue
		}
		for i, x := range p.At {
			if c.At != 0 && c.At != x {
				continue
			}
			here := fmt.Sprintf("%s = %g", axis[p.Sweep], x)
			v := at(c.Line, c.Measure, i)
			switch {
			case len(c.Order) > 0:
				holds, values := true, []string{fmt.Sprintf("%.4g", v)}
				for _, name := range c.Order {
					next := at(name, c.Measure, i)
					holds = holds && v < next
					values = append(values, fmt.Sprintf("%.4g", next))
					v = next
				}
				r.Claim(holds, fmt.Sprintf("%s: in the order of %s: %s, %s", here, what, c.Line,
					strings.Join(c.Order, ", ")), "%s", strings.Join(values, ", "))
			case c.Below != "":
				other := at(c.Below, c.Measure, i)
				r.Claim(v <= c.Factor*other, fmt.Sprintf("%s: %s of %s is at most %g times that of %s", here,
					what, c.Line, c.Factor, c.Below), "%.4g and %.4g", v, other)
			default:
				sweep.ClaimRange(r, here, what, c.Line, c.Range, c.Published, v)
			}
		}
	}
}

// slope returns the slope of ln value over ln of what is swept, by least squares; NaN where a value
// is not above 0.
func (p *parameters) slope(value func(i int) float64) float64 {
	var x, y []float64
	for i, at := range p.At {
		x, y = append(x, math.Log(at)), append(y, math.Log(value(i)))
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}

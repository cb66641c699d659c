package pairwise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/learn/pairwise"
)

// estimate is a mean over repeats with its standard deviation and 95 % confidence interval, by
// Student's t. Those that are not known are NaN.
type estimate struct{ mean, sd, low, high float64 }

func estimated(v []float64) estimate {
	if len(v) < 2 {
		return estimate{stat.Mean(v, nil), math.NaN(), math.NaN(), math.NaN()}
	}
	d := experiment.Paired(v, make([]float64, len(v)))
	return estimate{d.Mean, stat.StdDev(v, nil), d.Low, d.High}
}

// seen are the numbers that a report and its claims are about.
type seen struct {
	// at returns the score of a line at a place, both by their numbers.
	at func(place, line int, measure string) estimate
	// over returns by how much a line exceeds another.
	over func(place, line, other int, measure string) experiment.Difference
	cost func(place, line int) float64 // accounted ε
}

func (p *parameters) report(r *experiment.Run, found [][]sweep.Scores) error {
	p.notes(r)
	s := seen{
		at: func(i, j int, measure string) estimate {
			if l := p.Lines[j]; l.Method == published {
				return estimate{l.Printed[i], l.deviation(i), math.NaN(), math.NaN()}
			}
			return estimated(found[i][j].By[measure])
		},
		over: func(i, j, k int, measure string) experiment.Difference {
			return experiment.Paired(found[i][j].By[measure], found[i][k].By[measure])
		},
		cost: func(i, j int) float64 { return found[i][j].Epsilon },
	}
	p.table(r, s)
	p.judge(r, s)
	return p.figures(r, s)
}

func (p *parameters) notes(r *experiment.Run) {
	if p.Task != gaussians {
		label, where := "generated stand-in", "of a generated stand-in (seed "+fmt.Sprint(p.DataSeed)+
			"), two Gaussian classes; its figures are not those of the real data"
		if r.Inputs != nil {
			label, where = "real data", "of the real file"
		}
		r.Result.Title += " (" + label + ")"
		r.Note("%d records %s. A repeat shuffles them, trains on %d and scores on a fifth of all.",
			p.size(), where, p.places()[0].records)
		r.Note("Columns are scaled by their own least and largest values, as the source does, which a " +
			"private release must not do.")
	}
	r.Note("Means over %d repeats with 95 %% confidence intervals (Student's t).", p.Repeats)
	if slices.ContainsFunc(p.Lines, func(l line) bool { return pairwise.Private(l.Method) }) {
		r.Note("A step size or a ball that was chosen by its scores is not covered by ε: tuning is " +
			"not charged.")
	}
}

// measures returns the names of the scores.
func (p *parameters) measures() []string {
	if p.Risk {
		return []string{"", "risk"}
	}
	return []string{""}
}

var titles = map[string]string{"": "AUC", "risk": "mean pair loss"}

func (p *parameters) table(r *experiment.Run, s seen) {
	columns := []experiment.Column{{Name: "records", Title: "records"}, {Name: "eps", Title: "ε"},
		{Name: "passes", Title: "passes"}, {Name: "line", Title: "line"},
		{Name: "method", Title: "method"}, {Name: "eps_accounted", Title: "ε accounted", Format: "%.4g"}}
	for _, m := range p.measures() {
		name := map[string]string{"": "auc", "risk": "risk"}[m]
		for _, c := range [][2]string{{"", ""}, {"_sd", " ± standard deviation"}, {"_low", " from"},
			{"_high", " to"}} {
			columns = append(columns, experiment.Column{Name: name + c[0], Title: titles[m] + c[1],
				Format: "%.4f"})
		}
	}
	printed := slices.ContainsFunc(p.Lines, func(l line) bool {
		return l.Method != published && l.Printed != nil
	})
	if printed {
		columns = append(columns, experiment.Column{Name: "printed", Title: "printed"},
			experiment.Column{Name: "printed_sd", Title: "± printed"})
	}
	t := experiment.Table{Name: "scores",
		Caption: "Scores on records that were not trained on; mean pair losses on those that were.",
		Columns: columns}
	number := func(v float64) any {
		if math.IsNaN(v) || v == 0 {
			return nil
		}
		return v
	}
	for i, at := range p.places() {
		for j, l := range p.Lines {
			row := []any{at.records, number(at.epsilon), number(at.passes), l.Name, l.Method,
				number(s.cost(i, j))}
			for _, m := range p.measures() {
				if m != "" && l.Method == published {
					row = append(row, nil, nil, nil, nil)
					continue
				}
				e := s.at(i, j, m)
				row = append(row, e.mean, number(e.sd), number(e.low), number(e.high))
			}
			if printed && l.Printed != nil {
				row = append(row, l.Printed[i], l.deviation(i))
			} else if printed {
				row = append(row, nil, nil)
			}
			t.Add(row...)
		}
	}
	r.Table(t)
	d := experiment.Table{Name: "differences",
		Caption: "Paired differences that claims are about: the line's score minus the other's on the " +
			"same records, with 95 % confidence intervals.", Columns: []experiment.Column{
			{Name: "records", Title: "records"}, {Name: "eps", Title: "ε"},
			{Name: "passes", Title: "passes"},
			{Name: "line", Title: "line"}, {Name: "other", Title: "minus"},
			{Name: "measure", Title: "score"},
			{Name: "difference", Title: "difference", Format: "%+.4f"},
			{Name: "low", Title: "from", Format: "%+.4f"}, {Name: "high", Title: "to", Format: "%+.4f"}}}
	p.eachDifference(func(i int, at place, c claim, other string) {
		v := s.over(i, p.line(c.Line), p.line(other), c.Measure)
		d.Add(at.records, number(at.epsilon), number(at.passes), c.Line, other, titles[c.Measure], v.Mean,
			v.Low, v.High)
	})
	if len(d.Rows) > 0 {
		r.Table(d)
	}
}

// eachDifference visits the differences that claims are about, each once.
func (p *parameters) eachDifference(visit func(i int, at place, c claim, other string)) {
	type difference struct {
		place                int
		line, other, measure string
	}
	seen := map[difference]bool{}
	for _, c := range p.Claims {
		other := c.Over + c.Near
		for i, at := range p.places() {
			if d := (difference{i, c.Line, other, c.Measure}); other != "" && c.holds(at) && !seen[d] {
				seen[d] = true
				visit(i, at, c, other)
			}
		}
	}
}

func (p *parameters) line(name string) int {
	return slices.IndexFunc(p.Lines, func(l line) bool { return l.Name == name })
}

// text names a place by what is different among places.
func (p *parameters) text(at place) string {
	s := ""
	if len(p.Records) > 1 || len(p.Epsilon)+len(p.Passes) == 0 {
		s = fmt.Sprintf("n = %d", at.records)
	}
	for _, part := range []struct {
		name string
		v    float64
	}{{"ε", at.epsilon}, {"passes", at.passes}} {
		if part.v != 0 {
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("%s = %g", part.name, part.v)
		}
	}
	return s
}

// judge states the claims.
func (p *parameters) judge(r *experiment.Run, s seen) {
	var budgets sweep.Budgets
	for i, at := range p.places() {
		for j, l := range p.Lines {
			budgets.Add(s.cost(i, j), cmp.Or(l.Epsilon, at.epsilon), l.Name+", "+p.text(at))
		}
	}
	budgets.Claim(r)
	for _, c := range p.Claims {
		for i, at := range p.places() {
			if !c.holds(at) {
				continue
			}
			what, here := titles[c.Measure], p.text(at)
			switch {
			case c.Over != "":
				d := s.over(i, p.line(c.Line), p.line(c.Over), c.Measure)
				r.Claim(d.Low > c.Least,
					fmt.Sprintf("%s: %s of %s minus that of %s is above %g, with 95 %% confidence", here, what,
						c.Line, c.Over, c.Least), "%+.4f [%+.4f, %+.4f]", d.Mean, d.Low, d.High)
			case c.Near != "":
				d := s.over(i, p.line(c.Line), p.line(c.Near), c.Measure)
				r.Claim(math.Abs(d.Mean) < c.Within,
					fmt.Sprintf("%s: %s of %s and that of %s differ by less than %g", here, what, c.Line, c.Near,
						c.Within), "%+.4f [%+.4f, %+.4f]", d.Mean, d.Low, d.High)
			default:
				sweep.ClaimRange(r, here, what, c.Line, c.Range, c.Published,
					s.at(i, p.line(c.Line), c.Measure).mean)
			}
		}
	}
}

// figures draws a panel for each measure and number of records, of lines over ε or passes with
// their confidence bands; or over the number of records.
func (p *parameters) figures(r *experiment.Run, s seen) error {
	places := p.places()
	x, axis, split := func(at place) float64 { return float64(at.records) }, "records n", false
	switch {
	case len(p.Epsilon) > 1:
		x, axis, split = func(at place) float64 { return at.epsilon }, "ε", true
	case len(p.Passes) > 1:
		x, axis, split = func(at place) float64 { return at.passes }, "passes", true
	}
	var panels []experiment.Panel
	for _, m := range p.measures() {
		for _, n := range orZero(p.Records) {
			title := titles[m]
			if split && len(p.Records) > 1 {
				title = fmt.Sprintf("n = %d", n)
			}
			panel := experiment.Panel{Title: title, X: axis, Y: titles[m], LogX: true, LogY: m == "risk"}
			bars := len(places) == 1
			if bars {
				panel = experiment.Panel{Title: title, X: title, Bars: true}
			}
			for j, l := range p.Lines {
				if m != "" && l.Method == published {
					continue
				}
				c := experiment.Series{Method: l.As(lookPrefix), Name: l.Name,
					Dashed: looks()[l.As(lookPrefix)].Dashes != nil}
				for i, at := range places {
					if split && n != 0 && at.records != n {
						continue
					}
					e := s.at(i, j, m)
					c.Add(x(at), e.mean)
					if l.Method != published && !bars && !math.IsNaN(e.high) {
						c.Band = append(c.Band, e.high-e.mean)
					}
					if !slices.Contains(panel.XTicks, x(at)) && !bars {
						panel.XTicks = append(panel.XTicks, x(at))
					}
				}
				panel.Series = append(panel.Series, c)
			}
			panels = append(panels, panel)
			if !split {
				break // one panel has all numbers of records
			}
		}
	}
	return r.Figure("scores",
		"AUC on records that were not trained on; shades are 95 % confidence intervals of the mean "+
			"over repeats.", min(2, len(panels)), panels)
}

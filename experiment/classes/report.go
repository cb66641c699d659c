package classes

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/experiment"
)

func (p *parameters) report(r *experiment.Run, found [][]outcome) error {
	p.table(r, found)
	p.judge(r, found)
	return p.picture(r, found)
}

// title names a set in a picture.
func (s set) title(o outcome) string { return fmt.Sprintf("%s, K = %d", s.Title, o.K) }

func (p *parameters) table(r *experiment.Run, found [][]outcome) {
	columns := []experiment.Column{{Name: "votes", Title: "votes"}, {Name: "teachers", Title: "K"},
		{Name: "classes", Title: "C"}, {Name: "queries", Title: "queries"}, {Name: "eps", Title: "ε"},
		{Name: "mechanism", Title: "mechanism"}, {Name: "prior", Title: "prior"}}
	intervals := []struct{ name, title, format string }{
		{"agrees", "agrees", "%.4f"}, {"right", "right", "%.4f"},
		{"agrees_over", "agrees more than permute-and-flip", "%+.4f"},
		{"right_over", "right more than permute-and-flip", "%+.4f"},
	}
	for _, c := range intervals {
		columns = append(columns, experiment.Column{Name: c.name, Title: c.title, Format: c.format},
			experiment.Column{Name: c.name + "_low", Title: "from", Format: c.format},
			experiment.Column{Name: c.name + "_high", Title: "to", Format: c.format})
	}
	columns = append(columns, experiment.Column{Name: "abstains", Title: "abstains", Format: "%.4f"},
		experiment.Column{Name: "flip_eps", Title: "ε at which permute-and-flip agrees as often",
			Format: "%.4f"}, experiment.Column{Name: "bound", Title: "bound under the prior",
			Format: "%.4f"}, experiment.Column{Name: "gap", Title: "gap", Format: "%.1e"},
		experiment.Column{Name: "refused", Title: "why there is no optimum"})
	t := experiment.Table{Name: "scores",
		Caption: "How often an answer has the most votes and how often it is right, expected over the " +
			"mechanism's randomness, with 95 % intervals for other queries of the same kind; differences " +
			"are paired.", Columns: columns, Long: true}
	unless0 := func(v float64) any {
		if v == 0 {
			return nil
		}
		return v
	}
	for i, s := range p.Sets {
		for j, eps := range s.Epsilons {
			o := found[i][j]
			for _, x := range o.Rows {
				cells := []any{s.Votes, o.K, s.Classes, o.Queries, eps, x.Mechanism, x.Prior}
				for _, m := range []measured{x.Agrees, x.Right, x.OverAgrees, x.OverRight} {
					cells = append(cells, m.Mean, m.Low, m.High)
				}
				t.Add(append(cells, x.Abstains, unless0(x.FlipEpsilon), unless0(x.Bound), unless0(x.Gap),
					o.Refused)...)
			}
		}
	}
	r.Table(t)
}

// picture draws how often answers agree against ε, one panel for each set.
func (p *parameters) picture(r *experiment.Run, found [][]outcome) error {
	var panels []experiment.Panel
	for i, s := range p.Sets {
		chart := experiment.Panel{Title: s.title(found[i][0]), X: "ε of one label",
			Y: "answer has the most votes", LogX: true, XTicks: s.Epsilons, YRange: [2]float64{0, 1}}
		for _, l := range []struct{ mechanism, prior, look string }{
			{ceiling, "", ceiling}, {optimum, prior(s.Accuracies[0]), optimum}, {optimum, uneven, uneven},
			{optimum, public, public},
			{flip, "", flip}, {"lnmax", "", "lnmax"}, {"gnmax", "", "gnmax"},
		} {
			line := experiment.Series{Method: experiment.Method(lookPrefix + l.look),
				Plain: l.mechanism == ceiling}
			for j, eps := range s.Epsilons {
				x := found[i][j].of(l.mechanism, l.prior)
				if x == nil {
					continue
				}
				y := x.Agrees.Mean
				if l.mechanism == ceiling {
					y = x.Bound
				} else {
					line.Spread = append(line.Spread, math.Max(x.Agrees.High-y, y-x.Agrees.Low))
				}
				line.Add(eps, y)
			}
			if len(line.X) > 0 {
				chart.Series = append(chart.Series, line)
			}
		}
		panels = append(panels, chart)
	}
	return r.Figure("agreement",
		"How often an answer has the most votes, against ε; bars are 95 % intervals for other queries "+
			"of the same kind.", min(3, len(panels)), panels)
}

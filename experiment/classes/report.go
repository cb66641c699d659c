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
	t := r.TableOf("scores", nil)
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

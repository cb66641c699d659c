package pairwise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/learn/pairwise"
)

// conditions are the places as sweeps and claims have them, named by what is different among them.
func (p *parameters) conditions() (out []sweep.Place) {
	for _, at := range p.places() {
		var name []string
		if len(p.Records) > 1 || len(p.Epsilon)+len(p.Passes) == 0 {
			name = append(name, fmt.Sprintf("n = %d", at.records))
		}
		of := map[string]float64{"records": float64(at.records)}
		if at.epsilon != 0 {
			of["eps"], name = at.epsilon, append(name, fmt.Sprintf("ε = %g", at.epsilon))
		}
		if at.passes != 0 {
			of["passes"], name = at.passes, append(name, fmt.Sprintf("passes = %g", at.passes))
		}
		out = append(out, sweep.Place{
			Place: experiment.Place{Name: strings.Join(name, ", "), At: of},
			Step:  fmt.Sprintf("n-%d-eps-%g-passes-%g", at.records, at.epsilon, at.passes),
			Key:   []any{at.records, at.epsilon, at.passes}})
	}
	return out
}

// found returns the scores, and what the source prints.
func (p *parameters) found(scores [][]sweep.Scores) *experiment.Found {
	f := sweep.Found(p.conditions(), p.lines(), lookPrefix, "auc", scores)
	beside := slices.ContainsFunc(p.Lines, func(l line) bool {
		return l.Method != published && l.Printed != nil
	})
	for j, l := range p.Lines {
		for i, v := range l.Printed {
			for _, m := range []string{"auc", "printed"} {
				if m == "auc" && l.Method != published || m == "printed" && !beside {
					continue
				}
				if f.Add(i, j, m, v); l.Deviations != nil {
					f.Add(i, j, m+"_sd", l.Deviations[i])
				}
			}
		}
	}
	return f
}

func (p *parameters) report(r *experiment.Run, f *experiment.Found) error {
	p.notes(r)
	r.Grid("scores", nil, f)
	p.differences(r, f)
	p.judge(r, f)
	return p.figures(r, f)
}

func (p *parameters) notes(r *experiment.Run) {
	if p.Task != gaussians {
		where := "of a generated stand-in (seed " + fmt.Sprint(p.DataSeed) +
			"), two Gaussian classes; its figures are not those of the real data"
		if r.NameData() {
			where = "of the real file"
		}
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

// differences tables the differences that claims are about, each once.
func (p *parameters) differences(r *experiment.Run, f *experiment.Found) {
	d := &experiment.Found{}
	seen := map[string]bool{}
	for _, c := range p.Claims {
		for i, at := range f.Places {
			if key := fmt.Sprint(i, c.Line, c.Of, c.Measure); c.Of != "" && c.About(at) && !seen[key] {
				seen[key] = true
				at.Text = map[string]string{"line": c.Line, "other": c.Of, "measure": titles[c.Measure]}
				measure := cmp.Or(c.Measure, "auc")
				d.Places = append(d.Places, at)
				d.Lines = make([]experiment.Line, 1)
				v := experiment.Paired(f.Values(i, f.Line(c.Line), measure),
					f.Values(i, f.Line(c.Of), measure))
				d.Add(len(d.Places)-1, 0, "difference", v.Mean)
				d.Add(len(d.Places)-1, 0, "low", v.Low)
				d.Add(len(d.Places)-1, 0, "high", v.High)
			}
		}
	}
	if d.Places != nil {
		r.Grid("differences", nil, d)
	}
}

var titles = map[string]string{"": "AUC", "risk": "mean pair loss"}

// judge states the claims.
func (p *parameters) judge(r *experiment.Run, f *experiment.Found) {
	places := p.places()
	sweep.ClaimBudgets(r, f, func(i, j int) float64 {
		return cmp.Or(p.Lines[j].Epsilon, places[i].epsilon)
	})
	r.State(f, p.Claims, nil)
}

// figures draws a panel for each measure and number of records, of lines over ε or passes with
// their confidence bands; or over the number of records.
func (p *parameters) figures(r *experiment.Run, f *experiment.Found) error {
	x, axis, split := "records", "records n", false
	switch {
	case len(p.Epsilon) > 1:
		x, axis, split = "eps", "ε", true
	case len(p.Passes) > 1:
		x, axis, split = "passes", "passes", true
	}
	var panels []experiment.Panel
	for _, m := range []string{"", "risk"} {
		if m != "" && !p.Risk {
			continue
		}
		for _, n := range orZero(p.Records) {
			var shown []int
			var ticks []float64
			for i, at := range f.Places {
				if split && n != 0 && at.At["records"] != float64(n) {
					continue
				}
				if shown = append(shown, i); !slices.Contains(ticks, at.At[x]) {
					ticks = append(ticks, at.At[x])
				}
			}
			title := titles[m]
			if split && len(p.Records) > 1 {
				title = fmt.Sprintf("n = %d", n)
			}
			panel := experiment.Panel{Title: title, X: axis, Y: titles[m], LogX: true, LogY: m == "risk",
				XTicks: ticks}
			if len(f.Places) == 1 {
				panel = experiment.Panel{Title: title, X: title, Bars: true}
			}
			measure := cmp.Or(m, "auc")
			panels = append(panels, r.Curves(f, panel, shown, x, measure, "", measure+"_half"))
			if !split {
				break // one panel has all numbers of records
			}
		}
	}
	return r.Figure("scores",
		"AUC on records that were not trained on; shades are 95 % confidence intervals of the mean "+
			"over repeats.", min(2, len(panels)), panels)
}

package federated

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
)

// tidy returns the figures of all lines at the end, of runs that failed no number; nothing if all is
// nil.
func (p *training) tidy(all []found) *experiment.Found {
	f := &experiment.Found{Places: []experiment.Place{{}}}
	for _, l := range p.Lines {
		f.Lines = append(f.Lines, experiment.Line{Name: l.Name, Look: prefix + l.Look, Plain: true,
			Text: map[string]string{"reports": l.Reports}})
	}
	for j, x := range all {
		steps, failures, fall := 0.0, 0.0, 0.0
		for _, o := range x.Runs {
			steps += math.Log2(o.Step) / float64(len(x.Runs))
			last, kept := o.Trace[len(o.Trace)-1], o.Kept.Train
			fall = max(fall, last.Train/o.Trace[0].Train)
			if o.failed() {
				failures++
				none := math.NaN()
				last, kept, fall = measures{Train: none, Test: none, Gradient: none}, none, math.Inf(1)
			}
			f.Add(0, j, "train", last.Train)
			f.Add(0, j, "test", last.Test)
			f.Add(0, j, "gradient", last.Gradient)
			f.Add(0, j, "kept", kept)
		}
		f.Add(0, j, "fall", fall)
		f.Add(0, j, "failed", failures)
		f.Add(0, j, "step", math.Exp2(steps))
		for name, v := range map[string]float64{"eps": x.Epsilon, "eps0": x.LocalEpsilon,
			"megabytes": float64(x.Reports*x.ReportBytes) / 1e6} {
			if v > 0 {
				f.Add(0, j, name, v)
			}
		}
	}
	return f
}

func (p *training) report(r *experiment.Run, h datasets.Housing, all []found) error {
	label := "generated stand-in"
	if !h.Standin {
		label = "real data"
	}
	r.Result.Title += " (" + label + ")"
	how := "districts in any order"
	if p.ByLatitude {
		how = "a belt of latitude each"
	}
	r.Note("%d training records in %d silos, %s; %d to test on. Features and response are scaled by "+
		"the training records, as in the experiment that is repeated; the account does not pay for that.",
		h.Train.Len(), len(h.Sizes), how, h.Test.Len())
	r.Note("The step size is chosen by the training loss, which is outside the account as well: in " +
		"earnest it is fixed beforehand, or paid for.")
	r.Note("Means over %d starts. Rehearsed lines have normal noise of the reports' deviation in "+
		"place of reports; ε is that of the run they stand for, and nothing was released.", p.Repeats)
	f := p.tidy(all)
	r.Grid("models", nil, f)
	p.judge(r, f)
	return p.figure(r, f.Lines, all)
}

// judge states the claims.
func (p *training) judge(r *experiment.Run, f *experiment.Found) {
	for j, l := range p.Lines {
		if eps := f.Stat(0, j, "eps"); l.Epsilon > 0 {
			r.Sentence("cost", eps <= l.Epsilon, map[string]any{"line": l.Name, "eps": l.Epsilon,
				"value": eps})
		}
	}
	r.State(f, p.Claims, map[string]any{"repeats": p.Repeats,
		"least": p.Step.First / float64(uint64(1)<<p.Step.Halvings)})
}

func (p *training) figure(r *experiment.Run, lines []experiment.Line, all []found) error {
	f := &experiment.Found{Lines: lines}
	for j, x := range all {
		for k, at := range x.Runs[0].Trace {
			if k == len(f.Places) {
				f.Places = append(f.Places, experiment.Place{At: map[string]float64{"round": float64(at.Round)}})
			}
			for _, o := range x.Runs {
				if k < len(o.Trace) && !o.failed() {
					f.Add(k, j, "train", o.Trace[k].Train)
					f.Add(k, j, "gradient", o.Trace[k].Gradient)
					f.Add(k, j, "test", o.Trace[k].Test)
				}
			}
		}
	}
	var panels []experiment.Panel
	for _, m := range [][3]string{{"train", "training error", "mean squared error"},
		{"gradient", "squared gradient norm", "squared norm"},
		{"test", "test error", "mean squared error"}} {
		panels = append(panels, r.Curves(f, experiment.Panel{Title: m[1], X: "round", Y: m[2], LogY: true},
			nil, "round", m[0], "", ""))
	}
	return r.Figure("curves",
		fmt.Sprintf("The last iterate after each round, means over %d starts; lines whose every run "+
			"failed are left out.", p.Repeats), len(panels), panels)
}

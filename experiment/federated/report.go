package federated

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
)

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
	table := experiment.Table{Name: "models", Caption: "Errors at the end, of the scaled response.",
		Columns: []experiment.Column{
			{Name: "line", Title: "line"}, {Name: "reports", Title: "reports"},
			{Name: "eps", Title: "ε", Format: "%.4g"}, {Name: "eps0", Title: "ε₀", Format: "%.4g"},
			{Name: "step", Title: "step chosen", Format: "%.3g"}, {Name: "failed", Title: "failed"},
			{Name: "train", Title: "training error", Format: "%.4f"},
			{Name: "train_sd", Title: "±", Format: "%.1g"},
			{Name: "test", Title: "test error", Format: "%.4f"},
			{Name: "test_sd", Title: "±", Format: "%.1g"},
			{Name: "gradient", Title: "squared gradient norm", Format: "%.2g"},
			{Name: "kept", Title: "of a uniform iterate", Format: "%.4f"},
			{Name: "megabytes", Title: "reports, MB", Format: "%.4g"},
		}}
	for i, l := range p.Lines {
		f := all[i]
		steps, failed := 0.0, 0
		for _, o := range f.Runs {
			steps += math.Log2(o.Step) / float64(len(f.Runs))
			if o.failed() {
				failed++
			}
		}
		row := []any{l.Name, l.Reports, positive(f.Epsilon), positive(f.LocalEpsilon), math.Exp2(steps),
			failed}
		for _, m := range []string{"", "test"} {
			v, sd := f.mean(m)
			row = append(row, finite(v), finite(sd))
		}
		g, _ := f.mean("gradient")
		k, _ := f.mean("kept")
		table.Add(append(row, finite(g), finite(k), positive(float64(f.Reports*f.ReportBytes)/1e6))...)
	}
	r.Table(table)
	p.judge(r, all)
	return p.figure(r, all)
}

// positive returns nil, an empty cell, for 0; and finite for what is no number.
func positive(v float64) any {
	if v > 0 {
		return v
	}
	return nil
}

func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

func (p *training) figure(r *experiment.Run, all []found) error {
	panels := []experiment.Panel{
		{Title: "training error", X: "round", Y: "mean squared error", LogY: true},
		{Title: "squared gradient norm", X: "round", Y: "squared norm", LogY: true},
		{Title: "test error", X: "round", Y: "mean squared error", LogY: true},
	}
	for k := range panels {
		for i, l := range p.Lines {
			s := experiment.Series{Method: prefix + l.Look, Name: l.Name, Plain: true,
				Dashed: looks()[prefix+l.Look].Dashes != nil}
			for j := range all[i].Runs[0].Trace {
				sum, n := 0.0, 0.0
				for _, o := range all[i].Runs {
					if j < len(o.Trace) && !o.failed() {
						sum += []float64{o.Trace[j].Train, o.Trace[j].Gradient, o.Trace[j].Test}[k]
						n++
					}
				}
				if n > 0 {
					s.Add(float64(all[i].Runs[0].Trace[j].Round), sum/n)
				}
			}
			if len(s.X) > 0 {
				panels[k].Series = append(panels[k].Series, s)
			}
		}
	}
	return r.Figure("curves",
		fmt.Sprintf("The last iterate after each round, means over %d starts; lines whose every run "+
			"failed are left out.", p.Repeats), len(panels), panels)
}

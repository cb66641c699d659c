package sketch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/sketch"
)

// place returns the setting as a place of claims and tables.
func (s setting) place(number int) experiment.Place {
	return experiment.Place{Name: s.String(), Text: map[string]string{"task": s.Task, "split": s.Split},
		At: map[string]float64{"setting": float64(number), "n": float64(s.Clients), "k": float64(s.Sent)}}
}

// methodLines returns a line for each method.
func methodLines(methods []experiment.Method) []experiment.Line {
	lines := make([]experiment.Line, len(methods))
	for j, m := range methods {
		lines[j] = experiment.Line{Name: string(m), Title: looks()[m].Title, Look: m,
			Text: map[string]string{"estimator": string(m), "method": string(m)}}
	}
	return lines
}

// summarise returns the figures of runs by setting, repeat and estimator: means over iterations, and
// the loss after the last. Without runs it has lines and places alone.
func (p *tasksParameters) summarise(runs [][][]trace) (*experiment.Found, error) {
	f := &experiment.Found{Lines: methodLines(p.Estimators)}
	for i, s := range p.Settings {
		f.Places = append(f.Places, s.place(i+1))
		if runs == nil {
			continue
		}
		d := map[string]int{datasets.FashionMNIST: 1024, datasets.Indoor: 512}[s.dataSet()]
		for j, m := range p.Estimators {
			made, err := newEstimator(m, sketch.Config{N: s.Clients, K: s.Sent, D: d}, 0)
			if err != nil {
				return nil, err
			}
			f.Add(i, j, "bits", made.Bits)
			for _, run := range runs[i] {
				t := run[j]
				f.Add(i, j, "error", stat.Mean(t.Error, nil))
				f.Add(i, j, "predicted", stat.Mean(t.Predicted, nil))
				f.Add(i, j, "rho", stat.Mean(t.Rho, nil))
				f.Add(i, j, "loss", t.Loss[len(t.Loss)-1])
			}
		}
	}
	return f, nil
}

// traces returns the figures of one setting's runs by iteration.
func (p *tasksParameters) traces(i int, runs [][]trace) *experiment.Found {
	f := &experiment.Found{Lines: methodLines(p.Estimators)}
	for t := range p.Settings[i].Iterations {
		at := p.Settings[i].place(i + 1)
		at.At["iteration"] = float64(t + 1)
		f.Places = append(f.Places, at)
		for j := range p.Estimators {
			f.Lines[j].Plain = true
			for _, run := range runs {
				f.Add(t, j, "error", run[j].Error[t])
				f.Add(t, j, "loss", run[j].Loss[t])
			}
		}
	}
	return f
}

// shown returns the iterations of a figure. Those of a regression begin with the tenth: before it the loss falls so far
// that nothing else would be seen.
func (s setting) shown() (out []int) {
	first := 0
	if s.Task == taskRegression {
		first = min(9, s.Iterations-1)
	}
	for t := first; t < s.Iterations; t++ {
		out = append(out, t)
	}
	return out
}

func (p *tasksParameters) report(r *experiment.Run, found [][][]trace) error {
	p.notes(r)
	summary, err := p.summarise(found)
	if err != nil {
		return err
	}
	traces := make([]*experiment.Found, len(p.Settings))
	var errors, losses []experiment.Panel
	for i, s := range p.Settings {
		traces[i] = p.traces(i, found[i])
		title := fmt.Sprintf("%s, %s, n = %d, k = %d", s.Task, s.Split, s.Clients, s.Sent)
		panel := r.Curves(traces[i], experiment.Panel{Title: title, X: "iteration",
			Y: "squared error, " + s.Task, LogY: true}, s.shown(), "iteration", "error", "", "error_sd")
		panel.Series = slices.DeleteFunc(panel.Series,
			func(l experiment.Series) bool { return l.Method == methodUncompressed })
		errors = append(errors, panel)
		losses = append(losses, r.Curves(traces[i], experiment.Panel{Title: title, X: "iteration",
			Y: "loss, " + s.Task, LogY: s.Task == taskKMeans}, s.shown(), "iteration", "loss", "", "loss_sd"))
	}
	r.Grid("summary", nil, summary)
	r.Grid("traces", nil, traces...)
	p.judge(r, summary)
	columns := min(3, len(errors))
	if len(errors) == 4 {
		columns = 2
	}
	if err := r.Figure("error",
		"Squared error of the server's mean by iteration; shades are one standard deviation "+
			"over repeats.", columns, errors); err != nil {
		return err
	}
	return r.Figure("loss", "Loss by iteration; shades are one standard deviation over repeats.",
		columns, losses)
}

func (p *tasksParameters) notes(r *experiment.Run) {
	r.NameData()
	for _, name := range p.dataSets() {
		if slices.ContainsFunc(slices.Collect(maps.Keys(r.Inputs)), func(file string) bool {
			return strings.HasPrefix(file, name+": ")
		}) {
			r.Note("%s: %d points of the real files.", name, p.Points)
		} else {
			r.Note("%s: %d points of a generated stand-in, seed %d. It keeps what the comparison of "+
				"estimators depends on; its figures are not those of the real data. Real files go into the "+
				"folder %s of the data folder.", name, p.Points, p.DataSeed, name)
		}
	}
	if p.Repeats != 10 || p.Points != 10_000 {
		r.Note("The source has 10 repeats over 10000 points; here are %d over %d.", p.Repeats, p.Points)
	}
	r.Note("Every estimator drives a trajectory of its own, so that squared errors compare through "+
		"the predicted error of the same vectors. β: %s.", p.Beta)
}

// judge states the claims.
func (p *tasksParameters) judge(r *experiment.Run, f *experiment.Found) {
	for i, s := range p.Settings {
		var ratios []string
		holds := true
		for j, m := range p.Estimators {
			if m == methodUncompressed {
				continue
			}
			ratio := f.Stat(i, j, "error") / f.Stat(i, j, "predicted")
			holds = holds && math.Abs(ratio-1) <= s.Within
			ratios = append(ratios, fmt.Sprintf("%s %.3f", r.Title(m), ratio))
		}
		r.Sentence("predicted", holds, map[string]any{"at": s, "percent": 100 * s.Within,
			"ratios": strings.Join(ratios, ", ")})
	}
	if p.Real == (r.Inputs == nil) {
		r.Note("The further claims of this experiment are about other data, and are not judged.")
		return
	}
	r.State(f, p.Claims, nil)
}

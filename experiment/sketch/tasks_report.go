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

// outcome holds the results of one estimator in one setting.
type outcome struct {
	rho                   float64 // mean ρ*
	err, errSD, predicted float64 // squared error: mean over iterations, deviation over repeats
	loss, lossSD          float64 // after the last iteration
	errors, errorsSD      []float64
	losses, lossesSD      []float64
	bits                  float64
	method                experiment.Method
}

func (o outcome) measure(name string) float64 {
	if name == "loss" {
		return o.loss
	}
	return o.err
}

// summarise works the traces of one setting out, by estimator.
func (p *tasksParameters) summarise(s setting, d int, runs [][]trace) ([]outcome, error) {
	out := make([]outcome, len(p.Estimators))
	for e, m := range p.Estimators {
		made, err := newEstimator(m, sketch.Config{N: s.Clients, K: s.Sent, D: d}, 0)
		if err != nil {
			return nil, err
		}
		o := outcome{method: m, bits: made.Bits}
		var errors, predicted, rho, losses []float64
		for _, run := range runs {
			t := run[e]
			errors, predicted, rho = append(errors, stat.Mean(t.Error, nil)),
				append(predicted, stat.Mean(t.Predicted, nil)), append(rho, stat.Mean(t.Rho, nil))
			losses = append(losses, t.Loss[len(t.Loss)-1])
		}
		o.err, o.errSD = experiment.MeanDeviation(errors)
		o.loss, o.lossSD = experiment.MeanDeviation(losses)
		o.predicted, o.rho = stat.Mean(predicted, nil), stat.Mean(rho, nil)
		for i := range s.Iterations {
			var errors, losses []float64
			for _, run := range runs {
				errors, losses = append(errors, run[e].Error[i]), append(losses, run[e].Loss[i])
			}
			mean, sd := experiment.MeanDeviation(errors)
			o.errors, o.errorsSD = append(o.errors, mean), append(o.errorsSD, sd)
			mean, sd = experiment.MeanDeviation(losses)
			o.losses, o.lossesSD = append(o.losses, mean), append(o.lossesSD, sd)
		}
		out[e] = o
	}
	return out, nil
}

var settingColumns = []experiment.Column{{Name: "task", Title: "task"},
	{Name: "split", Title: "split"}, {Name: "n", Title: "n"}, {Name: "k", Title: "k"},
	{Name: "estimator", Title: "estimator"}}

func (s setting) cells(m experiment.Method) []any {
	return []any{s.Task, s.Split, s.Clients, s.Sent, string(m)}
}

// firstShown is the first iteration of a picture: the loss of a regression falls by so much at the
// start that nothing else could be seen.
func (s setting) firstShown() int {
	if s.Task == taskRegression {
		return min(9, s.Iterations-1)
	}
	return 0
}

func (p *tasksParameters) report(r *experiment.Run, found [][][]trace) error {
	label := "generated stand-in"
	if r.Inputs != nil {
		label = "real data"
	}
	r.Result.Title += " (" + label + ")"
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
	summary := experiment.Table{Name: "summary",
		Caption: "Squared error of the estimated mean, averaged over iterations and repeats, beside " +
			"the error that is predicted from the vectors; the loss after the last iteration. ρ* is how " +
			"alike the clients' vectors are.",
		Columns: slices.Concat(settingColumns, []experiment.Column{
			{Name: "rho", Title: "ρ*", Format: "%.3f"},
			{Name: "error", Title: "squared error", Format: "%.4g"},
			{Name: "error_sd", Title: "± standard deviation", Format: "%.2g"},
			{Name: "predicted", Title: "predicted", Format: "%.4g"},
			{Name: "loss", Title: "last loss", Format: "%.4g"},
			{Name: "loss_sd", Title: "± standard deviation", Format: "%.2g"},
			{Name: "bits", Title: "bits per client and mean", Format: "%.0f"}})}
	traces := experiment.Table{Name: "traces",
		Caption: "Means and standard deviations over repeats, by iteration.", Long: true,
		Columns: slices.Concat(settingColumns, []experiment.Column{
			{Name: "iteration", Title: "iteration"}, {Name: "error", Title: "squared error"},
			{Name: "error_sd", Title: "±"}, {Name: "loss", Title: "loss"}, {Name: "loss_sd", Title: "±"}})}
	var errors, losses []experiment.Panel
	all := make([][]outcome, len(p.Settings))
	for i, s := range p.Settings {
		d := map[string]int{datasets.FashionMNIST: 1024, datasets.Indoor: 512}[s.dataSet()]
		outcomes, err := p.summarise(s, d, found[i])
		if err != nil {
			return err
		}
		all[i] = outcomes
		title := fmt.Sprintf("%s, %s, n = %d, k = %d", s.Task, s.Split, s.Clients, s.Sent)
		errorPanel := experiment.Panel{Title: title, X: "iteration", Y: "squared error, " + s.Task,
			LogY: true}
		lossPanel := experiment.Panel{Title: title, X: "iteration", Y: "loss, " + s.Task,
			LogY: s.Task == taskKMeans}
		for _, o := range outcomes {
			summary.Add(append(s.cells(o.method), o.rho, o.err, o.errSD, o.predicted, o.loss, o.lossSD,
				o.bits)...)
			errorLine, lossLine := experiment.Series{Method: o.method, Plain: true},
				experiment.Series{Method: o.method, Plain: true}
			for t := range s.Iterations {
				traces.Add(append(s.cells(o.method), t+1, o.errors[t], o.errorsSD[t], o.losses[t],
					o.lossesSD[t])...)
				if t < s.firstShown() {
					continue
				}
				if o.method != methodUncompressed {
					errorLine.Add(float64(t+1), o.errors[t])
					errorLine.Band = append(errorLine.Band, o.errorsSD[t])
				}
				lossLine.Add(float64(t+1), o.losses[t])
				lossLine.Band = append(lossLine.Band, o.lossesSD[t])
			}
			if len(errorLine.X) > 0 {
				errorPanel.Series = append(errorPanel.Series, errorLine)
			}
			lossPanel.Series = append(lossPanel.Series, lossLine)
		}
		errors, losses = append(errors, errorPanel), append(losses, lossPanel)
	}
	r.Table(summary)
	r.Table(traces)
	p.judge(r, all)
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

// judge states the claims.
func (p *tasksParameters) judge(r *experiment.Run, all [][]outcome) {
	for i, s := range p.Settings {
		var ratios []string
		holds := true
		for _, o := range all[i] {
			if o.method == methodUncompressed {
				continue
			}
			ratio := o.err / o.predicted
			holds = holds && math.Abs(ratio-1) <= s.Within
			ratios = append(ratios, fmt.Sprintf("%s %.3f", r.Title(o.method), ratio))
		}
		r.Claim(holds, fmt.Sprintf("%s: every mean squared error is within %g %% of the predicted one", s,
			100*s.Within), "measured by predicted: %s", strings.Join(ratios, ", "))
	}
	if p.Real == (r.Inputs == nil) {
		r.Note("The further claims of this experiment are about other data, and are not judged.")
		return
	}
	for _, c := range p.Claims {
		s := p.Settings[c.Setting-1]
		of := func(m experiment.Method) float64 {
			return all[c.Setting-1][slices.Index(p.Estimators, m)].measure(c.Measure)
		}
		what := map[string]string{"error": "mean squared error", "loss": "last loss"}[c.Measure]
		switch {
		case len(c.Order) > 0:
			holds := true
			values := make([]string, len(c.Order))
			for j, m := range c.Order {
				holds = holds && (j == 0 || of(c.Order[j-1]) < of(m))
				values[j] = fmt.Sprintf("%.4g", of(m))
			}
			r.Claim(holds, fmt.Sprintf("%s: in the order of the %s: %s", s, what, r.Titles(c.Order)), "%s",
				strings.Join(values, " < "))
		case c.Over != "":
			ratio := of(c.Estimator) / of(c.Over)
			r.Claim(ratio >= c.Range[0] && ratio <= c.Range[1],
				fmt.Sprintf("%s: %s of %s is %g to %g times that of %s", s, what, r.Title(c.Estimator),
					c.Range[0], c.Range[1], r.Title(c.Over)), "%.4f", ratio)
		default:
			v := of(c.Estimator)
			r.Claim(v >= c.Range[0] && v <= c.Range[1],
				fmt.Sprintf("%s: %s of %s is in [%g, %g]", s, what, r.Title(c.Estimator), c.Range[0],
					c.Range[1]), "%.4f", v)
		}
	}
}

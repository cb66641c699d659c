package shuffled

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/shuffled"
)

// report turns what was found into tables, claims and pictures.
func (p *trainingParameters) report(r *experiment.Run, lab laboratory, found map[training]trained,
	bounds []bounded) error {
	r.Result.Title += " (" + datasets.Label(lab.set) + ")"
	d := lab.summary
	if lab.set.Standin {
		r.Note("The data are a generated stand-in (seed %d), not the real ones. It keeps what the "+
			"comparison of methods depends on; its figures are not those of the real data. Put the real "+
			"files into the folder %s of the data folder to run on them.", p.DataSeed, p.Data)
	} else {
		r.Note("The data are the real ones.")
	}
	r.Note("%d private and %d public records of dimension %d; the largest smoothness of a private "+
		"loss is %.4g, of a public one %.4g; the means are %.4g apart; training starts %.4g above "+
		"the optimum.",
		d.N, d.PublicN, d.Dim, d.PrivateSmoothness, d.PublicSmoothness, d.MeanGap, d.StartExcess)
	if d.Degenerate {
		r.Note("Training starts less than 0.01 above the optimum: there is nothing to learn from " +
			"these data.")
	}
	if p.Repeats != 10 {
		r.Note("The source has 10 repeats; here are %d.", p.Repeats)
	}
	p.noteGrid(r, lab, found)
	r.Note("Noise is calibrated to (ε, %g) by the source's accounting, for the replacement of one "+
		"record; clip norm %g, %d epochs.", p.Delta, p.Clip, p.Epochs)

	if slices.Contains(p.Methods, shuffled.Interleaved) &&
		math.IsInf(lab.set.Task.Smoothness(math.Inf(1)), 1) {
		r.Note("Interleaved's amplification rests here on the longest record of these data, as in the " +
			"source. That can be simulated, not released: a release needs a public bound on the length " +
			"of records.")
	}

	p.reportSummary(r, found)
	p.reportGrid(r, found)
	if len(bounds) > 0 {
		p.reportBounds(r, found, bounds)
	}
	p.judge(r, lab.set.Private.Len(), found)
	return p.reportFigures(r, lab, found)
}

// line is a training as tables have it.
func (t training) line() experiment.Line {
	return experiment.Line{Name: t.String(),
		Text: map[string]string{"method": string(t.Method), "order": t.Order}}
}

// addUnlessZero adds the numbers that are not 0: 0 is none.
func addUnlessZero(f *experiment.Found, place, line int, numbers map[string]float64) {
	for name, v := range numbers {
		if v != 0 {
			f.Add(place, line, name, v)
		}
	}
}

func (p *trainingParameters) reportSummary(r *experiment.Run, found map[training]trained) {
	f := &experiment.Found{Places: make([]experiment.Place, 1)}
	for j, line := range p.trainings() {
		x := found[line]
		f.Lines = append(f.Lines, line.line())
		f.Add(0, j, "excess", x.Mean)
		f.Add(0, j, "std", x.Std)
		f.Add(0, j, "step_size", x.StepSize)
		f.Say(0, j, "edge", x.gridEdge())
		addUnlessZero(f, 0, j, map[string]float64{"p": line.Fraction, "eps": line.Epsilon,
			"sigma": x.Noise, "amplification": x.Amplification, "eps_accounted": x.Epsilon})
	}
	r.Grid("summary", map[string]any{"repeats": p.Repeats}, f)
}

func (p *trainingParameters) reportGrid(r *experiment.Run, found map[training]trained) {
	var all []*experiment.Found
	for _, line := range p.trainings() {
		f := &experiment.Found{Lines: []experiment.Line{line.line()}}
		cells := found[line].Cells
		for len(cells) > 0 {
			runs, diverged, sum := 0, 0, 0.0
			for runs < len(cells) && cells[runs].StepSize == cells[0].StepSize {
				if cells[runs].Diverged {
					diverged++
				}
				sum += cells[runs].Last.Excess
				runs++
			}
			i := len(f.Places)
			f.Places = append(f.Places, experiment.Place{
				At: map[string]float64{"step_size": cells[0].StepSize}})
			f.Add(i, 0, "runs", float64(runs))
			f.Add(i, 0, "diverged", float64(diverged))
			if diverged == 0 {
				f.Add(i, 0, "excess", sum/float64(runs))
			}
			addUnlessZero(f, i, 0, map[string]float64{"p": line.Fraction, "eps": line.Epsilon})
			cells = cells[runs:]
		}
		all = append(all, f)
	}
	r.Grid("grid", nil, all...)
}

func (p *trainingParameters) reportBounds(r *experiment.Run, found map[training]trained,
	bounds []bounded) {
	f := &experiment.Found{Places: make([]experiment.Place, 1)}
	for j, b := range bounds {
		x := found[p.mainTraining(b.Method, b.Epsilon)]
		f.Lines = append(f.Lines, experiment.Line{Text: map[string]string{"method": string(b.Method),
			"fails": strings.Join(b.Fails, "; ")}})
		for name, v := range map[string]float64{"eps": b.Epsilon, "measured": x.Mean,
			"printed": b.Printed, "corrected": b.Corrected, "step_cap": b.StepCap} {
			f.Add(0, j, name, v)
		}
		r.Sentence("bound", b.Corrected >= x.Mean, map[string]any{
			"line": r.Title(experiment.Method(b.Method)), "eps": b.Epsilon, "bound": b.Corrected,
			"value": x.Mean})
	}
	r.Grid("bounds", nil, f)
	r.Note("The printed noise term bounds an inner product with the wrong sign; there are runs " +
		"whose exact risk is above the printed bound. Dissimilarity is estimated at the start and " +
		"the optimum.")
}

// judge tests the claims of the definition and what holds whatever the data are, for n
// private records.
func (p *trainingParameters) judge(r *experiment.Run, n int, found map[training]trained) {
	for _, c := range p.Claims {
		// The worst of the better ones, the best of the worse ones.
		var better, worse *trained
		var evidence [2]string
		for _, m := range c.Better {
			if x := found[p.mainTraining(m, c.Epsilon)]; better == nil || x.Mean > better.Mean {
				better, evidence[0] = &x, x.evidence(r, m)
			}
		}
		for _, m := range c.Worse {
			if x := found[p.mainTraining(m, c.Epsilon)]; worse == nil || x.Mean < worse.Mean {
				worse, evidence[1] = &x, x.evidence(r, m)
			}
		}
		times := ""
		if c.Factor > 1 {
			times = fmt.Sprintf(", %g times", c.Factor)
		}
		r.Sentence("better", c.Factor*better.Mean < worse.Mean, map[string]any{"eps": c.Epsilon, "lines": titles(r, c.Better),
			"others": titles(r, c.Worse), "times": times, "value": evidence[0], "second": evidence[1]})
	}
	over := 0.0 // largest ε accounted over the one asked for
	for line, x := range found {
		if line.Epsilon > 0 {
			over = max(over, x.Epsilon/line.Epsilon)
		}
	}
	if over > 0 {
		r.Sentence("cost", over <= 1, map[string]any{"value": over})
	}
	p.judgeNoise(r, n, found)
	p.judgeMoreBudget(r, found)
}

// evidence is the excess of a method, as claims quote it.
func (x trained) evidence(r *experiment.Run, m shuffled.Scheme) string {
	edge := x.gridEdge()
	if edge != "" {
		edge = ", at the " + edge + " step size tried"
	}
	return fmt.Sprintf("%.4g (%s%s)", x.Mean, r.Title(experiment.Method(m)), edge)
}

// judgeNoise tests that noise on public steps replaces noise on private ones:
// (n+1-n_d)·σ² is the same for all methods that use private data in every epoch.
func (p *trainingParameters) judgeNoise(r *experiment.Run, n int, found map[training]trained) {
	worst, pairs := 0.0, 0
	for line, x := range found {
		plain, ok := found[trainingFor(shuffled.DPShuffleG, line.Order, 0, line.Epsilon)]
		if line.Method != shuffled.Interleaved || !ok {
			continue
		}
		schedule, err := line.Method.Schedule(n, p.Epochs, line.Fraction)
		if err != nil {
			continue // it was run with this schedule
		}
		m := float64(n + 1 - schedule[0].Private)
		worst = max(worst, math.Abs(m*x.Noise*x.Noise/(plain.Noise*plain.Noise)-1))
		pairs++
	}
	if pairs > 0 {
		r.Sentence("noise", worst < 1e-6, map[string]any{"value": worst, "pairs": pairs})
	}
}

// judgeMoreBudget tests that more ε does not make the main variant worse by more than two
// standard errors.
func (p *trainingParameters) judgeMoreBudget(r *experiment.Run, found map[training]trained) {
	eps := slices.Sorted(slices.Values(p.Epsilons))
	for _, m := range p.Methods {
		for i := 1; i < len(eps) && m.IsPrivate(); i++ {
			less, more := found[p.mainTraining(m, eps[i-1])], found[p.mainTraining(m, eps[i])]
			se := math.Hypot(less.Std, more.Std) / math.Sqrt(float64(p.Repeats))
			r.Sentence("budget", more.Mean <= less.Mean+2*se, map[string]any{"line": r.Title(experiment.Method(m)), "low": eps[i-1],
				"high": eps[i], "value": more.Mean, "second": less.Mean, "error": se})
		}
	}
}

func titles(r *experiment.Run, methods []shuffled.Scheme) string {
	names := make([]experiment.Method, len(methods))
	for i, m := range methods {
		names[i] = experiment.Method(m)
	}
	return r.Titles(names)
}

// reportFigures draws excess by epoch: the main variant, then the other orders and fractions
// where there are any.
func (p *trainingParameters) reportFigures(r *experiment.Run, lab laboratory,
	found map[training]trained) error {
	what := fmt.Sprintf(
		"Excess risk after each epoch at each method's best step size, %s: mean and ± one standard "+
			"deviation over %d repeats", datasets.Label(lab.set), p.Repeats)
	first := p.Variants[0]
	// One panel for each ε and each of some orders and fractions, which title names.
	type shown struct {
		title    string
		order    string
		fraction float64
	}
	draw := func(name, caption string, columns int, list ...shown) error {
		var panels []experiment.Panel
		for _, eps := range p.Epsilons {
			for _, s := range list {
				title := fmt.Sprintf("%sε = %g, %s", s.title, eps, datasets.Label(lab.set))
				panels = append(panels, p.curves(r, found, title, s.order, s.fraction, eps))
			}
		}
		return r.Figure(name, what+". "+caption, columns, panels)
	}
	if err := draw("excess", fmt.Sprintf("Order %s, p = %g.", first.Order, first.middleFraction()),
		len(p.Epsilons), shown{"", first.Order, first.middleFraction()}); err != nil {
		return err
	}
	if len(p.Variants) > 1 {
		var list []shown
		for _, v := range p.Variants {
			list = append(list, shown{v.Order + ", ", v.Order, v.middleFraction()})
		}
		if err := draw("orders", fmt.Sprintf("Each order with p = %g.", first.middleFraction()),
			len(list), list...); err != nil {
			return err
		}
	}
	if len(first.Fractions) > 1 {
		var list []shown
		for _, f := range first.Fractions {
			list = append(list, shown{fmt.Sprintf("p = %g, ", f), first.Order, f})
		}
		return draw("fractions", fmt.Sprintf("Order %s, fractions p of private steps.", first.Order),
			len(list), list...)
	}
	return nil
}

// curves is one panel. The run without privacy is left to the table: its risk is orders of
// magnitude smaller.
func (p *trainingParameters) curves(r *experiment.Run, found map[training]trained, title,
	order string, fraction, epsilon float64) experiment.Panel {
	f := &experiment.Found{}
	for _, m := range p.Methods {
		x, ok := found[trainingFor(m, order, fraction, epsilon)]
		if !ok || m == shuffled.ShuffleG {
			continue
		}
		j := len(f.Lines)
		f.Lines = append(f.Lines, experiment.Line{Name: string(m), Look: experiment.Method(m), Plain: true})
		for epoch := range x.Best[0].Trace {
			if epoch == len(f.Places) {
				f.Places = append(f.Places, experiment.Place{At: map[string]float64{"epoch": float64(epoch)}})
			}
			for _, cell := range x.Best {
				f.Add(epoch, j, "excess", cell.Trace[epoch].Excess)
			}
			// The optimum is found to 1e-11, so an excess below is no number to draw.
			f.Add(epoch, j, "drawn", max(f.Stat(epoch, j, "excess"), 1e-9))
		}
	}
	return r.Curves(f, experiment.Panel{Title: title, X: "epoch", Y: "excess risk", LogY: true}, nil,
		"epoch", "drawn", "", "excess_sd")
}

package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/darrm/darrm/learn/shuffled"
	"gonum.org/v1/gonum/stat"
)

// of returns the way of that name.
func ofMethod(list []pipelined, m Method) pipelined {
	return list[slices.IndexFunc(list, func(x pipelined) bool { return x.Method == m })]
}

func (x pipelined) mean() float64 { return stat.Mean(x.Accuracy, nil) }

func (p *PipelineParameters) tell(r *run, w workshop, references []pipelined, found map[shuffled.Method][][]pipelined) error {
	r.result.Title += " (" + label(w.set) + ")"
	if w.set.Standin {
		r.note("The data are a generated stand-in for %s (seed %d), not the real ones. Put the real files into the folder %s of the data folder to run on them.", p.Data, p.DataSeed, p.Data)
	} else {
		r.note("The data are the real ones.")
	}
	r.note("%d private records are trained on, %d others are asked about; %d public ones go with the methods that use them. K = %d teachers have disjoint parts of about %d records, except for γ_opt with t = K, where every teacher has all.",
		w.train.Len(), w.queries.Len(), w.set.Public.Len(), p.Teachers, w.train.Len()/p.Teachers)
	r.note("Disjoint parts: one record reaches one teacher, so the models, their votes and any number of answers cost together what one teacher does. The best noise function at that cost is γ ≡ 1, the plain majority.")
	r.note("γ_opt with t = K: every teacher is trained on all records at 1/%d of the total, and one answer costs the total. A second answer of the same teachers would cost more; these teachers are frozen.", p.Allowance)
	r.note("Each way has the step size with the highest mean accuracy of %d; that choice is not paid for in ε.", len(p.StepSizes))

	edges := map[string]int{}
	for _, x := range slices.Concat(append(slices.Concat(slices.Collect(maps.Values(found))...), references)...) {
		edges[p.edge(x.StepSize)]++
	}
	if n := edges["largest"] + edges["smallest"]; n > 0 {
		r.note("Of %d ways, %d have their best step size at the largest and %d at the smallest that was tried: a better one may lie beyond.", n+edges[""], edges["largest"], edges["smallest"])
	}

	t := Table{Name: "accuracy", Caption: fmt.Sprintf("Accuracy on held-out records against the total ε at δ ≤ %g, expected over the mechanism's randomness: mean and standard deviation over %d trainings.", p.Delta, p.Repeats), Columns: []Column{
		{Name: "trainer", Title: "teachers trained by"}, {Name: "eps", Title: "total ε"}, {Name: "method", Title: "method"}, {Name: "accuracy", Title: "accuracy", Format: "%.4f"}, {Name: "std", Title: "± standard deviation", Format: "%.4f"},
		{Name: "step_size", Title: "step size"}, {Name: "teacher_eps", Title: "ε of a teacher"}, {Name: "affected", Title: "t"}, {Name: "answers", Title: "answers"}, {Name: "total_eps", Title: "ε by the accountant"}, {Name: "total_delta", Title: "δ by the accountant"}, {Name: "rule", Title: "by"}}}
	add := func(trainer string, eps any, x pipelined) {
		mean, std := stat.MeanStdDev(x.Accuracy, nil)
		answers, teacher, totalEps, totalDelta := any("any number"), any(x.Teacher.Epsilon), any(x.Total.Epsilon), any(x.Total.Delta)
		if x.Answers > 0 {
			answers = x.Answers
		}
		if !x.Private {
			teacher, totalEps, totalDelta = nil, nil, nil
		}
		t.add(trainer, eps, string(x.Method), mean, std, x.StepSize, teacher, x.Affected, answers, totalEps, totalDelta, x.Rule)
	}
	for _, x := range references {
		add("", nil, x)
	}
	for _, m := range p.Trainers {
		for j, eps := range p.Epsilons {
			for _, x := range found[m][j] {
				add(string(m), eps, x)
			}
		}
	}
	r.table(t)
	p.compare(r, references, found)
	p.judge(r, found)
	return p.picture(r, w, references, found)
}

// edge says where a best step size ends the grid of those tried, as trained.edge does.
func (p *PipelineParameters) edge(stepSize float64) string {
	return trained{StepSize: stepSize, Cells: []trainedCell{{StepSize: slices.Min(p.StepSizes)}, {StepSize: slices.Max(p.StepSizes)}}}.edge()
}

// compare says how teachers do beside what needs none.
func (p *PipelineParameters) compare(r *run, references []pipelined, found map[shuffled.Method][][]pipelined) {
	public := ofMethod(references, MethodPublicModel).mean()
	for _, m := range p.Trainers {
		single, over := 0, 0
		for j := range p.Epsilons {
			majority := ofMethod(found[m][j], MethodPrivate).mean()
			if ofMethod(found[m][j], MethodSingle).mean() > majority {
				single++
			}
			if majority > public {
				over++
			}
		}
		r.note("Trained by %s, one private model of all the records is right more often than the majority of the teachers at %d of %d totals; the majority is right more often than a model of the public data alone (%.4f), which costs nothing, at %d.",
			Method(m).Title(), single, len(p.Epsilons), public, over)
	}
}

// judge tests what follows from theory, and what the source says of its methods.
func (p *PipelineParameters) judge(r *run, found map[shuffled.Method][][]pipelined) {
	over, overDelta, noise, noiseless := 0.0, 0.0, 0.0, true
	sub := difference{high: math.Inf(1)}
	for _, m := range p.Trainers {
		for j, eps := range p.Epsilons {
			for _, x := range found[m][j] {
				over, overDelta = max(over, x.Total.Epsilon/eps), max(overDelta, x.Total.Delta/p.Delta)
			}
			plain, opt := ofMethod(found[m][j], MethodPrivate), ofMethod(found[m][j], MethodDisjoint)
			for _, g := range opt.Gamma {
				noise = max(noise, 1-g)
			}
			noiseless = noiseless && math.Abs(plain.mean()-opt.mean()) < 1e-6
			if d := paired(plain.Accuracy, ofMethod(found[m][j], MethodSub).Accuracy); d.high < sub.high {
				sub = d
			}
		}
	}
	// A teacher's ε times m, as float64s, may end an ulp above the total.
	r.claim(over <= 1+1e-12 && overDelta <= 1+1e-12, "no pipeline costs more than its total (ε, δ)", "at most %.9f of ε and %.9f of δ", over, overDelta)
	r.claim(noise < 1e-6 && noiseless, "with disjoint parts γ_opt is the plain majority", "1-γ is at most %.1e", noise)
	r.claim(sub.high >= 0, "with disjoint parts the plain majority is nowhere significantly worse than γ_Sub, one teacher's vote", "at least %.4f better, 95 %% interval %.4f to %.4f", sub.mean, sub.low, sub.high)
	if len(p.Trainers) > 1 && slices.Contains(p.Trainers, shuffled.Interleaved) && slices.Contains(p.Trainers, shuffled.DPShuffleG) {
		totals := slices.Sorted(slices.Values(p.Epsilons))
		small := totals[(len(totals)-1)/2] // where noise decides; at large totals public data may pull away
		worst, at, later := math.Inf(1), 0.0, 0
		for j, eps := range p.Epsilons {
			d := ofMethod(found[shuffled.Interleaved][j], MethodPrivate).mean() - ofMethod(found[shuffled.DPShuffleG][j], MethodPrivate).mean()
			if eps <= small && d < worst {
				worst, at = d, eps
			}
			if d <= 0 {
				later++
			}
		}
		r.claim(worst > 0, fmt.Sprintf("teachers trained by Interleaved are better together than those by DP-ShuffleG, at every ε ≤ %g", small), "by at least %.4f, at ε = %g", worst, at)
		r.note("Teachers trained by DP-ShuffleG are together as good as those by Interleaved, or better, at %d of %d totals.", later, len(totals))
	}
}

// picture draws accuracy against the total ε, one panel for each trainer.
func (p *PipelineParameters) picture(r *run, w workshop, references []pipelined, found map[shuffled.Method][][]pipelined) error {
	var panels []panel
	low, high := 1.0, 0.0
	for _, m := range p.Trainers {
		chart := panel{title: fmt.Sprintf("%s, %s", Method(m).Title(), label(w.set)), x: "total ε", y: "accuracy", logX: true, xTicks: p.Epsilons, tall: true}
		for _, method := range []Method{MethodDisjoint, MethodSub, MethodOpt, MethodSingle} {
			line := series{method: method, band: []float64{}}
			switch method {
			case MethodDisjoint:
				line.name = "majority = γ_opt, t = 1"
			case MethodSub:
				line.name, line.dashed = "γ_Sub, one teacher", true
			case MethodOpt:
				line.name = fmt.Sprintf("γ_opt, t = K, m = %d, one answer", p.Allowance)
			}
			for j, eps := range p.Epsilons {
				mean, std := stat.MeanStdDev(ofMethod(found[m][j], method).Accuracy, nil)
				line.add(eps, mean)
				line.band = append(line.band, std)
				low, high = min(low, mean-std), max(high, mean+std)
			}
			chart.series = append(chart.series, line)
		}
		for _, x := range references {
			chart.series = append(chart.series, series{method: x.Method, plain: true, x: []float64{slices.Min(p.Epsilons), slices.Max(p.Epsilons)}, y: []float64{x.mean(), x.mean()}})
			low, high = min(low, x.mean()), max(high, x.mean())
		}
		panels = append(panels, chart)
	}
	for i := range panels { // the same axis for all
		panels[i].fixedY, panels[i].yMin, panels[i].yMax = true, low-0.02, min(1, high+0.02)
	}
	return r.figure("accuracy", fmt.Sprintf("Accuracy on held-out records against what everything costs together, %s: mean and ± one standard deviation over %d trainings.", label(w.set), p.Repeats), len(panels), panels)
}

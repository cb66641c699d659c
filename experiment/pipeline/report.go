package pipeline

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/shuffled"
	"gonum.org/v1/gonum/stat"
)

// of returns the way of that name.
func ofMethod(list []pipelined, m experiment.Method) pipelined {
	return list[slices.IndexFunc(list, func(x pipelined) bool { return x.Method == m })]
}

func (x pipelined) mean() float64 { return stat.Mean(x.Accuracy, nil) }

func (p *pipelineParameters) report(r *experiment.Run, w workshop, references []pipelined,
	found map[shuffled.Scheme][][]pipelined) error {
	r.Result.Title += " (" + datasets.Label(w.set) + ")"
	if w.set.Standin {
		r.Note("The data are a generated stand-in for %s (seed %d), not the real ones. Put the real "+
			"files into the folder %s of the data folder to run on them.", p.Data, p.DataSeed, p.Data)
	} else {
		r.Note("The data are the real ones.")
	}
	r.Note("%d private records are trained on, %d others are asked about; %d public ones go with "+
		"the methods that use them. K = %d teachers have disjoint parts of about %d records, except "+
		"for optimal-teachers with t = K, where every teacher has all.",
		w.train.Len(), w.queries.Len(), w.set.Public.Len(), p.Teachers, w.train.Len()/p.Teachers)
	r.Note("Disjoint parts: one record reaches one teacher, so the models, their votes and any " +
		"number of answers cost together what one teacher does. The best noise function at that cost " +
		"is γ ≡ 1, the plain majority.")
	r.Note("optimal-teachers with t = K: every teacher is trained on all records at 1/%d of the total, and one "+
		"answer costs the total. A second answer of the same teachers would cost more; these teachers "+
		"are frozen.", p.Allowance)
	r.Note("Each way has the step size with the highest mean accuracy of %d; that choice is not "+
		"paid for in ε.", len(p.StepSizes))

	edges := map[string]int{}
	for _, x := range slices.Concat(append(slices.Concat(slices.Collect(maps.Values(found))...),
		references)...) {
		edges[experiment.Edge(x.StepSize, p.StepSizes)]++
	}
	if n := edges["largest"] + edges["smallest"]; n > 0 {
		r.Note("Of %d ways, %d have their best step size at the largest and %d at the smallest that "+
			"was tried: a better one may lie beyond.", n+edges[""], edges["largest"], edges["smallest"])
	}

	t := r.TableOf("accuracy", map[string]any{"delta": p.Delta, "repeats": p.Repeats})
	add := func(trainer string, eps any, x pipelined) {
		mean, std := stat.MeanStdDev(x.Accuracy, nil)
		answers, teacher, totalEps, totalDelta := any("any number"), any(x.Teacher.Epsilon),
			any(x.Total.Epsilon), any(x.Total.Delta)
		if x.Answers > 0 {
			answers = x.Answers
		}
		if !x.Private {
			teacher, totalEps, totalDelta = nil, nil, nil
		}
		t.Add(trainer, eps, string(x.Method), mean, std, x.StepSize, teacher, x.Affected, answers,
			totalEps, totalDelta, x.Rule)
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
	r.Table(t)
	p.compare(r, references, found)
	p.judge(r, found)
	return p.picture(r, w, references, found)
}

// compare notes the accuracy of the teachers' majority beside that of one private model and of a
// public one.
func (p *pipelineParameters) compare(r *experiment.Run, references []pipelined,
	found map[shuffled.Scheme][][]pipelined) {
	public := ofMethod(references, methodPublicModel).mean()
	for _, m := range p.Trainers {
		single, over := 0, 0
		for j := range p.Epsilons {
			majority := ofMethod(found[m][j], methodPrivate).mean()
			if ofMethod(found[m][j], methodSingle).mean() > majority {
				single++
			}
			if majority > public {
				over++
			}
		}
		r.Note("Trained by %s, one private model of all the records is right more often than the "+
			"majority of the teachers at %d of %d totals; the majority is right more often than a model "+
			"of the public data alone (%.4f), which costs nothing, at %d.",
			r.Title(experiment.Method(m)), single, len(p.Epsilons), public, over)
	}
}

// judge tests claims that follow from theory, and the source's claims about its methods.
func (p *pipelineParameters) judge(r *experiment.Run, found map[shuffled.Scheme][][]pipelined) {
	over, overDelta, noise, noiseless := 0.0, 0.0, 0.0, true
	sub := experiment.Difference{High: math.Inf(1)}
	for _, m := range p.Trainers {
		for j, eps := range p.Epsilons {
			for _, x := range found[m][j] {
				over, overDelta = max(over, x.Total.Epsilon/eps), max(overDelta, x.Total.Delta/p.Delta)
			}
			plain, opt := ofMethod(found[m][j], methodPrivate), ofMethod(found[m][j], methodDisjoint)
			for _, g := range opt.Gamma {
				noise = max(noise, 1-g)
			}
			noiseless = noiseless && math.Abs(plain.mean()-opt.mean()) < 1e-6
			if d := experiment.Paired(plain.Accuracy, ofMethod(found[m][j], methodSub).Accuracy); d.High <
				sub.High {
				sub = d
			}
		}
	}
	// A teacher's ε times m, as float64s, may end an ulp above the total.
	r.Sentence("total", over <= 1+1e-12 && overDelta <= 1+1e-12, map[string]any{"eps": over, "delta": overDelta})
	r.Sentence("plain", noise < 1e-6 && noiseless, map[string]any{"value": noise})
	r.Sentence("subsampling", sub.High >= 0, map[string]any{"mean": sub.Mean, "low": sub.Low, "high": sub.High})
	if len(p.Trainers) > 1 && slices.Contains(p.Trainers, shuffled.Interleaved) &&
		slices.Contains(p.Trainers, shuffled.DPShuffleG) {
		totals := slices.Sorted(slices.Values(p.Epsilons))
		// where noise decides; at large totals public data may pull away
		small := totals[(len(totals)-1)/2]
		worst, at, later := math.Inf(1), 0.0, 0
		for j, eps := range p.Epsilons {
			d := ofMethod(found[shuffled.Interleaved][j], methodPrivate).mean() -
				ofMethod(found[shuffled.DPShuffleG][j], methodPrivate).mean()
			if eps <= small && d < worst {
				worst, at = d, eps
			}
			if d <= 0 {
				later++
			}
		}
		r.Sentence("interleaved", worst > 0, map[string]any{"most": small, "value": worst, "eps": at})
		r.Note("Teachers trained by DP-ShuffleG are together as good as those by Interleaved, or "+
			"better, at %d of %d totals.", later, len(totals))
	}
}

// picture draws accuracy against the total ε, one panel for each trainer.
func (p *pipelineParameters) picture(r *experiment.Run, w workshop, references []pipelined,
	found map[shuffled.Scheme][][]pipelined) error {
	var panels []experiment.Panel
	low, high := 1.0, 0.0
	for _, m := range p.Trainers {
		chart := experiment.Panel{Title: fmt.Sprintf("%s, %s", r.Title(experiment.Method(m)),
			datasets.Label(w.set)), X: "total ε", Y: "accuracy", LogX: true, XTicks: p.Epsilons, Tall: true}
		for _, method := range []experiment.Method{methodDisjoint, methodSub, methodOpt, methodSingle} {
			line := experiment.Series{Method: method, Band: []float64{}}
			switch method {
			case methodDisjoint:
				line.Name = "majority = optimal-teachers, t = 1"
			case methodSub:
				line.Name, line.Dashed = "subsampling, one teacher", true
			case methodOpt:
				line.Name = fmt.Sprintf("optimal-teachers, t = K, m = %d, one answer", p.Allowance)
			}
			for j, eps := range p.Epsilons {
				mean, std := stat.MeanStdDev(ofMethod(found[m][j], method).Accuracy, nil)
				line.Add(eps, mean)
				line.Band = append(line.Band, std)
				low, high = min(low, mean-std), max(high, mean+std)
			}
			chart.Series = append(chart.Series, line)
		}
		for _, x := range references {
			chart.Series = append(chart.Series, experiment.Series{Method: x.Method, Plain: true,
				X: []float64{slices.Min(p.Epsilons), slices.Max(p.Epsilons)}, Y: []float64{x.mean(), x.mean()}})
			low, high = min(low, x.mean()), max(high, x.mean())
		}
		panels = append(panels, chart)
	}
	for i := range panels { // the same axis for all
		panels[i].YRange = [2]float64{low - 0.02, min(1, high+0.02)}
	}
	return r.Figure("accuracy",
		fmt.Sprintf("Accuracy on held-out records against what everything costs together, %s: mean and "+
			"± one standard deviation over %d trainings.", datasets.Label(w.set), p.Repeats), len(panels),
		panels)
}

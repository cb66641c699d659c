package students

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// claims are in points of accuracy, over means of the repetitions.
type claims struct {
	// Near is by how much the best number of labels of the table may be better than the whole pool.
	Near float64 `json:"near"`
	// Behind is by how much the layer may be behind the labels as they are, anywhere.
	Behind float64 `json:"behind"`
	// Ahead is by how much it is better where the classes are uneven, From so many labels on.
	Ahead float64 `json:"ahead"`
	From  int     `json:"from"`
}

func (c claims) validate() error {
	return cmp.Or(check.UpTo("near", c.Near, 100), check.UpTo("behind", c.Behind, 100),
		check.UpTo("ahead", c.Ahead, 100), check.Whole("from", c.From, 1, 0))
}

// means returns the mean accuracy of a way for each number of labels.
func means(all []outcome, way string) (out []float64) {
	for i := range all[0].Accuracy[way] {
		out = append(out, stat.Mean(column(all, way, i), nil))
	}
	return out
}

func column(all []outcome, way string, i int) (out []float64) {
	for _, o := range all {
		out = append(out, o.Accuracy[way][i])
	}
	return out
}

func (p *parameters) report(r *experiment.Run, found map[string][]outcome) error {
	p.table(r, found)
	p.judge(r, found)
	var panels []experiment.Panel
	for _, name := range p.tasks() {
		panels = append(panels, p.panel(name, found[name]))
	}
	if err := r.Figure("accuracy", "Accuracy of a student against the number of labels that it learns from, which "+
		"have one price together.", len(panels), panels); err != nil {
		return err
	}
	return r.Figure("glance", "Accuracy of a student against the number of labels that it learns from.", 1, p.glance(found))
}

// glance draws the first task by itself, its lines labelled directly: it must be read on a telephone.
func (p *parameters) glance(found map[string][]outcome) []experiment.Panel {
	name := p.tasks()[0]
	chart := p.panel(name, found[name])
	chart.Direct = true
	for i, short := range []string{"the law as last layer", "labels as they are", "GNMax"} {
		chart.Series[i].Name = short
	}
	return []experiment.Panel{chart}
}

func (p *parameters) table(r *experiment.Run, found map[string][]outcome) {
	t := r.TableOf("accuracy", map[string]any{"repeats": p.Repeats, "eps": p.Epsilon, "delta": p.Delta})
	for _, name := range p.tasks() {
		all := found[name]
		for i, q := range p.Queries {
			row := []any{p.title(name), q}
			for _, way := range ways {
				mean, sd := experiment.MeanDeviation(column(all, way, i))
				row = append(row, mean, sd)
			}
			for _, mechanism := range []string{"many-answers", gnmax} {
				row = append(row, mean(all, func(o outcome) float64 { return o.Agrees[mechanism][i] }))
			}
			row = append(row, mean(all, func(o outcome) float64 { return o.Clear }),
				mean(all, func(o outcome) float64 { return o.Majority }))
			t.Add(row...)
		}
	}
	r.Table(t)
}

func mean(all []outcome, of func(outcome) float64) float64 {
	sum := 0.0
	for _, o := range all {
		sum += of(o)
	}
	return sum / float64(len(all))
}

func (p *parameters) judge(r *experiment.Run, found map[string][]outcome) {
	for _, name := range p.tasks() {
		all, task := found[name], p.title(name)
		layer, plain := means(all, tableLayer), means(all, tablePlain)
		best, gnmax := slices.Max(layer), max(slices.Max(means(all, gnmaxLayer)), slices.Max(means(all, gnmaxPlain)))
		whole := layer[len(layer)-1]
		least, later := 100.0, 100.0
		for i, q := range p.Queries {
			ahead := layer[i] - plain[i]
			if least = min(least, ahead); q >= p.Claims.From {
				later = min(later, ahead)
			}
		}
		r.Sentence("best", best >= gnmax, map[string]any{"task": task, "value": best, "second": gnmax})
		r.Sentence("near", best-whole <= p.Claims.Near, map[string]any{"task": task, "bound": p.Claims.Near, "value": whole, "second": best})
		r.Sentence("behind", least >= -p.Claims.Behind, map[string]any{"task": task, "bound": p.Claims.Behind, "value": least})
		if name == ofMadeUp {
			r.Sentence("ahead", later >= p.Claims.Ahead, map[string]any{"task": task, "bound": p.Claims.Ahead, "from": p.Claims.From,
				"value": later})
		}
	}
}

// panel draws a task: three lines.
func (p *parameters) panel(name string, all []outcome) experiment.Panel {
	chart := experiment.Panel{Title: p.title(name), X: fmt.Sprintf("labels within (%g, %g)", p.Epsilon, p.Delta),
		Y: "accuracy of the student, %", LogX: true}
	for _, q := range p.Queries {
		chart.XTicks = append(chart.XTicks, float64(q))
	}
	for _, way := range []string{tableLayer, tablePlain, gnmaxPlain} {
		line := experiment.Series{Method: experiment.Method(lookPrefix + way)}
		for i, y := range means(all, way) {
			line.Add(float64(p.Queries[i]), y)
		}
		chart.Series = append(chart.Series, line)
	}
	return chart
}

package convex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/sweep"
)

// axis maps the parameter of a sweep to its label.
var axis = map[string]string{"n": "records n", "d": "dimension d", "eps": "ε"}

// places are those of the sweep.
func (p *parameters) places() []sweep.Place {
	places := make([]sweep.Place, len(p.At))
	for i, at := range p.At {
		places[i] = sweep.Place{Step: fmt.Sprintf("%s-%g", p.Sweep, at), Key: at,
			Place: experiment.Place{Name: fmt.Sprintf("%s = %g", axis[p.Sweep], at),
				At: map[string]float64{p.Sweep: at}}}
	}
	return places
}

func (p *parameters) found(scores [][]sweep.Scores) *experiment.Found {
	f := sweep.Found(p.places(), p.lines(), methodPrefix, "value", scores)
	for j, l := range p.Lines {
		f.Lines[j].Plain = l.Method == zero
	}
	return f
}

func (p *parameters) report(r *experiment.Run, f *experiment.Found) error {
	t := p.task()
	if t.draw == nil {
		if r.NameData() {
			r.Note("%d clients of the real file, %d of them to score on.", p.Records, p.Fresh)
		} else {
			r.Note("%d clients of a generated stand-in (seed %d), %d of them to score on. It keeps what "+
				"the comparison depends on; its figures are not those of the real data.", p.Records, p.DataSeed,
				p.Fresh)
		}
	}
	r.Note("Means over %d repeats; a repeat draws records and noise anew%s.", p.Repeats,
		map[bool]string{true: ", of a data set the noise alone"}[t.draw == nil])
	r.Grid("scores", p.words(), f)
	p.judge(r, f)
	if slices.ContainsFunc(p.Lines, func(l line) bool { return l.Method == "dp-sgd" }) {
		r.Note("DP-SGD's ε is for adding or removing a record, which its accountant knows; that of the " +
			"others for replacing one, which is the stronger promise.")
	}
	title := p.words()["title"].(string)
	var panels []experiment.Panel
	for _, m := range [][2]string{{"value", title}, {"accuracy", "accuracy"}, {"auc", "AUC"}} {
		panel := experiment.Panel{Title: m[1], X: axis[p.Sweep], Y: m[1], LogX: true,
			LogY: m[0] == "value" && !p.Linear, XTicks: p.At}
		if len(p.At) == 1 {
			panel = experiment.Panel{Title: m[1], X: m[1], Bars: true}
		}
		if panel = r.Curves(f, panel, nil, p.Sweep, m[0], m[0]+"_se", ""); panel.Series != nil {
			panels = append(panels, panel)
		}
	}
	return r.Figure("scores",
		fmt.Sprintf("%s on fresh records; error bars are one standard error over repeats.",
			strings.ToUpper(title[:1])+title[1:]), len(panels), panels)
}

// words are what sentences and columns name.
func (p *parameters) words() map[string]any {
	title := p.task().measure
	if p.Iterates {
		title += ", mean over iterates"
	}
	return map[string]any{"sweep": p.Sweep, "axis": axis[p.Sweep], "title": title}
}

// judge states the claims.
func (p *parameters) judge(r *experiment.Run, f *experiment.Found) {
	sweep.ClaimBudgets(r, f, func(i, j int) float64 {
		_, _, target := p.place(p.At[i])
		return cmp.Or(p.Lines[j].Epsilon, target.Epsilon)
	})
	r.State(f, p.Claims, p.words())
}

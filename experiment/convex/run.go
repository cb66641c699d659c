package convex

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

func (p *parameters) Run(r *experiment.Run) error {
	key := []any{p.Task, p.Sweep, p.Records, p.Dim, p.Epsilon, p.Delta, p.Fresh, p.Repeats, p.DataSeed,
		p.Iterates, p.Lines}
	found, err := sweep.Run(r, key, p.places(), func(i int) ([]sweep.Scores, error) {
		return p.measure(r, p.At[i])
	})
	if err != nil {
		return err
	}
	return p.report(r, p.found(found))
}

// samples are one repeat's.
type samples struct {
	private, fresh *data.Records
	truth          []float64
}

// sample draws a repeat, or splits the data set in public: its last records are for scores.
func (p *parameters) sample(r *experiment.Run, t *task, at float64,
	repeat int) (s samples, err error) {
	n, d, _ := p.place(at)
	if t.draw == nil {
		all, err := datasets.OpenPoints(r, datasets.CreditClients, r.Data, n, p.DataSeed)
		if err != nil {
			return s, err
		}
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		if s.private, err = all.Select(rows[:n-p.Fresh]); err != nil {
			return s, err
		}
		s.fresh, err = all.Select(rows[n-p.Fresh:])
		return s, err
	}
	rng := rand.New(rand.NewPCG(sweep.Seed(r, repeat), math.Float64bits(at)))
	truth, record := t.draw(rng, d)
	s.truth = truth
	if s.private, err = records(record, n, d); err != nil {
		return s, err
	}
	s.fresh, err = records(record, p.Fresh, d)
	return s, err
}

// measure trains and scores all lines at one place of the sweep.
func (p *parameters) measure(r *experiment.Run, at float64) ([]sweep.Scores, error) {
	t := p.task()
	n, d, target := p.place(at)
	if t.draw == nil {
		n -= p.Fresh
		d = datasets.ClientFeatures
	}
	sets := make([]geometry.Set, len(p.Lines))
	return sweep.Trial[samples]{
		Lines: p.lines(), Repeats: p.Repeats,
		Plan: func(i int) (train.Plan, float64, error) {
			m, o, err := p.Lines[i].method(t, d, target)
			sets[i] = o.Set
			if err != nil || m == nil {
				return train.Plan{}, 0, err
			}
			plan, err := m.Plan(n, d)
			if err != nil {
				return train.Plan{}, 0, err
			}
			return plan, plan.Price.Cost.Epsilon, nil
		},
		Sample: func(repeat int) (samples, error) { return p.sample(r, t, at, repeat) },
		Score: func(ctx context.Context, i int, plan train.Plan, s samples,
			repeat int) (map[string]float64, error) {
			return p.score(ctx, t, p.Lines[i], plan, sets[i], s, sweep.Seed(r, repeat))
		},
		Once: func(i int) bool { return p.once(p.Lines[i]) },
	}.Measure(r)
}

// once reports whether all repeats of a line are the same: nothing is drawn for a minimiser on a
// data set.
func (p *parameters) once(l line) bool { return p.task().draw == nil && l.Method == optimum }

// score trains one model and scores it: by the task's value "", and where there are classes by
// accuracy and AUC.
func (p *parameters) score(ctx context.Context, t *task, l line, plan train.Plan,
	set geometry.Set,
	s samples, seed uint64) (map[string]float64, error) {
	var w []float64
	switch l.Method {
	case zero:
		w = make([]float64, s.private.Dim())
		if l.Start != nil {
			w = l.Start
		}
	case optimum:
		o, err := train.Problem{Loss: t.loss, Regularizer: geometry.L2{Lambda: l.Lambda},
			Records: s.private}.Optimum()
		if err != nil {
			return nil, err
		}
		w = o.X
	default:
		a, err := plan.Train(s.private)
		if err != nil {
			return nil, err
		}
		if p.Iterates {
			v, err := overIterates(ctx, a, seed, func(w []float64) float64 {
				return t.value(t, s.fresh, w, s.truth, set)
			})
			return map[string]float64{"": v}, err
		}
		if w, err = train.Simulate(a, seed).Run(ctx, nil); err != nil {
			return nil, err
		}
	}
	scores := map[string]float64{"": t.value(t, s.fresh, w, s.truth, set)}
	if !model.LinkOf(t.loss).Classes() || p.Iterates {
		return scores, nil
	}
	m := model.Model{Task: t.loss, Link: model.LinkOf(t.loss), Weights: w}
	e, err := m.Evaluate(s.fresh)
	if err != nil {
		return nil, err
	}
	scores["accuracy"], scores["auc"] = *e.Accuracy, 0
	if e.AUC != nil {
		scores["auc"] = *e.AUC
	}
	return scores, nil
}

// mostIterates is the largest number of iterates that are scored: all, or every k-th.
const mostIterates = 32

// overIterates returns the mean score over the iterates before each round, one of which, drawn
// uniformly, is the model. It rests on the first vector of a state being the iterate.
func overIterates(ctx context.Context, a train.Algorithm, seed uint64,
	value func(w []float64) float64) (float64, error) {
	run := a.Start(stream.Seeded(seed))
	every := (a.Rounds + mostIterates - 1) / mostIterates
	sum, scored := 0.0, 0.0
	for k := range a.Rounds {
		if k%every == every/2 {
			sum += value(run.State()[0].Values)
			scored++
		}
		if err := run.Round(ctx, k); err != nil {
			return 0, err
		}
	}
	return sum / scored, nil
}

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

// words are the names in sentences and columns.
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

package convex

import (
	"context"
	"math"
	"math/rand/v2"

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
	if s.private, err = records(rng, record, n, d); err != nil {
		return s, err
	}
	s.fresh, err = records(rng, record, p.Fresh, d)
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

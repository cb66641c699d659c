package convex

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

// scores are those of one line at one place of the sweep, by repeats.
type scores struct {
	Value    []float64 `json:"value"`
	Accuracy []float64 `json:"accuracy,omitempty"` // of tasks with classes
	AUC      []float64 `json:"auc,omitempty"`
	Epsilon  float64   `json:"epsilon"` // accounted; 0 without privacy
}

func (s scores) of(measure string) []float64 {
	switch measure {
	case "accuracy":
		return s.Accuracy
	case "auc":
		return s.AUC
	}
	return s.Value
}

func (p *parameters) Run(r *experiment.Run) error {
	found := make([][]scores, len(p.At))
	for i, at := range p.At {
		key := []any{p.Task, p.Sweep, at, p.Records, p.Dim, p.Epsilon, p.Delta, p.Fresh, p.Repeats, p.DataSeed, p.Iterates, p.Lines, r.Seed, r.Inputs}
		var err error
		if found[i], err = experiment.Step(r, fmt.Sprintf("%s-%g", p.Sweep, at), key, func() ([]scores, error) { return p.measure(r, at) }); err != nil {
			return err
		}
	}
	return p.report(r, found)
}

// samples are one repeat's.
type samples struct {
	private, fresh *data.Records
	truth          []float64
}

// sample draws a repeat, or splits the data set in public: its last records are for scores.
func (p *parameters) sample(r *experiment.Run, t *task, at float64, repeat int) (s samples, err error) {
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
	rng := rand.New(rand.NewPCG(r.Seed<<20+uint64(repeat), math.Float64bits(at)))
	truth, record := t.draw(rng, d)
	s.truth = truth
	if s.private, err = records(rng, record, n, d); err != nil {
		return s, err
	}
	s.fresh, err = records(rng, record, p.Fresh, d)
	return s, err
}

// measure trains and scores all lines at one place of the sweep.
func (p *parameters) measure(r *experiment.Run, at float64) ([]scores, error) {
	t := p.task()
	n, d, target := p.place(at)
	if t.draw == nil {
		n -= p.Fresh
		d = datasets.ClientFeatures
	}
	out := make([]scores, len(p.Lines))
	plans, sets := make([]convex.Plan, len(p.Lines)), make([]geometry.Set, len(p.Lines))
	for i, l := range p.Lines {
		m, o, err := l.method(t, d, target)
		if err == nil && m != nil {
			if plans[i], err = m.Plan(n, d); err == nil {
				out[i].Epsilon = plans[i].Price().Cost.Epsilon
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		sets[i] = o.Set
		out[i].Value = make([]float64, p.Repeats)
		if model.LinkOf(t.loss).Classes() && !p.Iterates {
			out[i].Accuracy, out[i].AUC = make([]float64, p.Repeats), make([]float64, p.Repeats)
		}
	}
	g, ctx := errgroup.WithContext(r)
	g.SetLimit(runtime.GOMAXPROCS(0)) // each repeat writes into places of its own
	for repeat := range p.Repeats {
		g.Go(func() error {
			s, err := p.sample(r, t, at, repeat)
			if err != nil {
				return err
			}
			for i, l := range p.Lines {
				if repeat > 0 && p.once(l) {
					continue
				}
				if err := p.score(ctx, t, l, plans[i], sets[i], s, repeat, r.Seed, &out[i]); err != nil {
					return fmt.Errorf("%s: %w", l.Name, err)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, l := range p.Lines {
		for repeat := 1; repeat < p.Repeats && p.once(l); repeat++ {
			for _, v := range [][]float64{out[i].Value, out[i].Accuracy, out[i].AUC} {
				if v != nil {
					v[repeat] = v[0]
				}
			}
		}
	}
	return out, nil
}

// once says whether all repeats of a line are the same: nothing is drawn for a minimiser on a
// data set.
func (p *parameters) once(l line) bool { return p.task().draw == nil && l.Method == optimum }

// score trains one model and scores it.
func (p *parameters) score(ctx context.Context, t *task, l line, plan convex.Plan, set geometry.Set, s samples, repeat int, seed uint64, out *scores) error {
	var w []float64
	switch l.Method {
	case zero:
		w = make([]float64, s.private.Dim())
		if l.Start != nil {
			w = l.Start
		}
	case optimum:
		o, err := train.Problem{Loss: t.loss, Regularizer: geometry.L2{Lambda: l.Lambda}, Records: s.private}.Optimum()
		if err != nil {
			return err
		}
		w = o.X
	default:
		a, err := plan.Train(s.private)
		if err != nil {
			return err
		}
		if p.Iterates {
			out.Value[repeat], err = overIterates(ctx, a, seed<<20+uint64(repeat), func(w []float64) float64 { return t.value(t, s.fresh, w, s.truth, set) })
			return err
		}
		if w, err = train.Simulate(a, seed<<20+uint64(repeat)).Run(ctx, nil); err != nil {
			return err
		}
	}
	out.Value[repeat] = t.value(t, s.fresh, w, s.truth, set)
	if out.Accuracy == nil {
		return nil
	}
	m := model.Model{Task: t.loss, Link: model.LinkOf(t.loss), Weights: w}
	e, err := m.Evaluate(s.fresh)
	if err != nil {
		return err
	}
	out.Accuracy[repeat] = *e.Accuracy
	if e.AUC != nil {
		out.AUC[repeat] = *e.AUC
	}
	return nil
}

// mostIterates is how many iterates are scored: as many as there are, or every k-th.
const mostIterates = 32

// overIterates returns the mean score over the iterates before each round, one of which, drawn
// uniformly, is the model. It rests on the first vector of a state being the iterate.
func overIterates(ctx context.Context, a train.Algorithm, seed uint64, value func(w []float64) float64) (float64, error) {
	run := a.Start(stream.Seeded(seed))
	every := (a.Rounds() + mostIterates - 1) / mostIterates
	sum, scored := 0.0, 0.0
	for k := range a.Rounds() {
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

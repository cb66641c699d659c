package pairwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/train"
)

func (p *parameters) Run(r *experiment.Run) error {
	key := []any{p.Task, p.Size, p.Delta, p.Dim, p.Fresh, p.Radius, p.Ball, p.Repeats, p.DataSeed, p.Risk,
		p.Lines}
	found, err := sweep.Run(r, key, p.conditions(), func(i int) ([]sweep.Scores, error) {
		return p.measure(r, p.places()[i])
	})
	if err != nil {
		return err
	}
	return p.report(r, p.found(found))
}

// measure trains and scores all lines at one place.
func (p *parameters) measure(r *experiment.Run, at place) ([]sweep.Scores, error) {
	var all datasets.Points
	d := p.Dim
	if p.Task != gaussians {
		var err error
		if all, err = datasets.OpenPoints(r, p.Task, r.Data, p.size(),
			p.DataSeed); err != nil {
			return nil, err
		}
		d = all.Dim()
	}
	losses := make([]loss.Pair, len(p.Lines))
	return sweep.Trial[samples]{
		Lines: p.lines(), Repeats: p.Repeats,
		Plan: func(i int) (plan train.Plan, epsilon float64, err error) {
			l := p.Lines[i]
			if l.Method == published {
				return train.Plan{}, 0, nil
			}
			m, err := p.method(l, at)
			if err == nil {
				plan, err = m.Plan(at.records, d)
			}
			if err == nil && pairwise.Private(l.Method) {
				epsilon = plan.Price.Cost.Epsilon
			}
			losses[i], _ = loss.ParsePair(cmp.Or(l.Loss, "logistic")) // method has checked it
			return plan, epsilon, err
		},
		Sample: func(repeat int) (s samples, err error) {
			s.own, s.fresh, err = p.sample(all, at, sweep.Seed(r, repeat))
			return s, err
		},
		Score: func(ctx context.Context, i int, plan train.Plan, s samples,
			repeat int) (map[string]float64, error) {
			if plan.Train == nil {
				return nil, nil //nolint:nilnil // the source prints its scores
			}
			w, err := trained(ctx, plan, s.own, sweep.Seed(r, repeat))
			if err != nil {
				return nil, err
			}
			area, err := auc(s.fresh, w)
			scores := map[string]float64{"": area}
			if p.Risk {
				scores["risk"] = pairwise.Risk(losses[i], s.own, w)
			}
			return scores, err
		},
	}.Measure(r)
}

func trained(ctx context.Context, plan train.Plan, own *data.Records,
	seed uint64) ([]float64, error) {
	a, err := plan.Train(own)
	if err != nil {
		return nil, err
	}
	return train.Simulate(a, seed).Run(ctx, nil)
}

// samples are a repeat's records to learn from and to score on.
type samples struct{ own, fresh *data.Records }

// sample draws a repeat's records to learn from and to score on: of a set, a shuffle of it whose
// last fifth is to score on.
func (p *parameters) sample(all datasets.Points, at place,
	seed uint64) (own, fresh *data.Records, err error) {
	rng := rand.New(rand.NewPCG(seed, uint64(at.records)))
	if p.Task == gaussians {
		if own, err = p.draw(rng, at.records); err == nil {
			fresh, err = p.draw(rng, p.Fresh)
		}
		return own, fresh, err
	}
	order := rng.Perm(all.Len())
	most := all.Len() * 4 / 5
	if own, err = all.Select(order[:at.records]); err == nil {
		fresh, err = all.Select(order[most:])
	}
	return own, fresh, err
}

// draw returns n records of the task gaussians.
func (p *parameters) draw(rng *rand.Rand, n int) (*data.Records, error) {
	scale := 1 / (math.Sqrt(float64(p.Dim)) + 2.5)
	x, y := make([]float64, 0, n*p.Dim), make([]float64, n)
	for i := range y {
		y[i] = float64(rng.IntN(2))
		shift := 2*y[i] - 1
		for range p.Dim {
			x = append(x, scale*(shift+rng.NormFloat64()))
			shift = 0
		}
	}
	return data.NewRecords(n, p.Dim, x, y)
}

// auc scores a model. The scored records are not shortened: a ranking by w needs no radius.
func auc(fresh *data.Records, w []float64) (float64, error) {
	z, positive := make([]float64, fresh.Len()), make([]bool, fresh.Len())
	for i := range z {
		z[i], positive[i] = floats.Dot(w, fresh.Row(i)), fresh.Response(i) == 1
	}
	v := model.AUC(z, positive)
	if v == nil {
		return 0, fmt.Errorf("all of the %d records to score on are of one class", fresh.Len())
	}
	return *v, nil
}

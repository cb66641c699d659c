package pairwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/train"
)

// scores are those of one line at one place, by repeats.
type scores struct {
	AUC     []float64 `json:"auc"`
	Risk    []float64 `json:"risk,omitempty"`
	Epsilon float64   `json:"epsilon"` // accounted; 0 without privacy
}

func (s scores) of(measure string) []float64 {
	if measure == "risk" {
		return s.Risk
	}
	return s.AUC
}

func (p *parameters) Run(r *experiment.Run) error {
	places := p.places()
	found := make([][]scores, len(places))
	for i, at := range places {
		key := []any{p.Task, at.records, at.epsilon, at.passes, p.Delta, p.Dim, p.Fresh, p.Radius, p.Ball, p.Repeats, p.DataSeed, p.Risk, p.Lines, r.Seed, r.Inputs}
		var err error
		if found[i], err = experiment.Step(r, at.String(), key, func() ([]scores, error) { return p.measure(r, at) }); err != nil {
			return err
		}
	}
	return p.report(r, found)
}

// String names the place's step.
func (at place) String() string {
	return fmt.Sprintf("n-%d-eps-%g-passes-%g", at.records, at.epsilon, at.passes)
}

// measure trains and scores all lines at one place.
func (p *parameters) measure(r *experiment.Run, at place) ([]scores, error) {
	var all datasets.Points
	d := p.Dim
	if p.Task != gaussians {
		var err error
		if all, err = datasets.OpenPoints(r, p.Task, r.Data, datasets.ClassesLen(p.Task), p.DataSeed); err != nil {
			return nil, err
		}
		d = all.Dim()
	}
	out, plans, losses := make([]scores, len(p.Lines)), make([]train.Plan, len(p.Lines)), make([]loss.Pair, len(p.Lines))
	for i, l := range p.Lines {
		if l.Method == published {
			continue
		}
		m, err := p.method(l, at)
		if err == nil {
			plans[i], err = m.Plan(at.records, d)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		if pairwise.Private(l.Method) {
			out[i].Epsilon = plans[i].Price().Cost.Epsilon
		}
		losses[i], _ = loss.ParsePair(cmp.Or(l.Loss, "logistic")) // method has checked it
		out[i].AUC = make([]float64, p.Repeats)
		if p.Risk {
			out[i].Risk = make([]float64, p.Repeats)
		}
	}
	g, ctx := errgroup.WithContext(r)
	g.SetLimit(runtime.GOMAXPROCS(0)) // each repeat writes into places of its own
	for repeat := range p.Repeats {
		g.Go(func() error {
			own, fresh, err := p.sample(all, at, r.Seed<<20+uint64(repeat))
			if err != nil {
				return err
			}
			for i, plan := range plans {
				if plan == nil {
					continue
				}
				w, err := trained(ctx, plan, own, r.Seed<<20+uint64(repeat))
				if err != nil {
					return fmt.Errorf("%s: %w", p.Lines[i].Name, err)
				}
				if out[i].AUC[repeat], err = auc(fresh, w); err != nil {
					return err
				}
				if p.Risk {
					out[i].Risk[repeat] = pairwise.Risk(losses[i], own, w)
				}
			}
			return nil
		})
	}
	return out, g.Wait()
}

func trained(ctx context.Context, plan train.Plan, own *data.Records, seed uint64) ([]float64, error) {
	a, err := plan.Train(own)
	if err != nil {
		return nil, err
	}
	return train.Simulate(a, seed).Run(ctx, nil)
}

// sample draws a repeat's records to learn from and to score on: of a set, a shuffle of it whose last
// fifth is to score on.
func (p *parameters) sample(all datasets.Points, at place, seed uint64) (own, fresh *data.Records, err error) {
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

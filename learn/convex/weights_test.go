package convex

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// sumOf returns the sum of the gradients of weighted records, as a step takes it.
func sumOf(t *testing.T, p *sampledPlan, r *data.Records, w []float64) []float64 {
	t.Helper()
	own := r.Unweighted().Shortened(p.Radius)
	g := newGradients(&p.task, p.limit, own, own.Len())
	g.weigh(r.Weights(), p.most)
	sum := make([]float64, len(w))
	if err := g.sum(t.Context(), sum, w, nil); err != nil {
		t.Fatal(err)
	}
	return sum
}

// Over all pairs of records with different features, classes and weights, in the bound and far beyond it, sums
// differ by at most the sensitivity that is priced, 2C or C, which no weight is in; and by nearly as much.
func TestWeightsAreWithinTheSensitivity(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(71, 72))
	weights := []float64{0, 0.3, 1, 5, 5000, 1e40}
	for _, relation := range relations {
		for name, l := range map[string]loss.Loss{"logistic": loss.Logistic{}, "lying": loss.GLM[lying]{},
			"softmax": softmax(t, 4)} {
			for _, limit := range []float64{0, 0.05, 2, 99} {
				s := setting()
				s.Loss, s.Neighbours = l, relation
				p := sampled(t, DPSGD{Setting: s, Rate: 1, Steps: 3, GradientNorm: limit, WeightBound: 5}, 6, 3)
				priced, gradients := p.price.Blocks[0].Sensitivity, 1.0
				if relation == accountant.ReplaceOne {
					gradients = 2
				}
				if limit > 0 && priced > gradients*limit*(1+1e-9) {
					t.Errorf("%v, %s: priced %v where C = %v", relation, name, priced, limit)
				}
				most, w := 0.0, make([]float64, p.size())
				for range 150 {
					for j := range w {
						w[j] = 8 * rng.NormFloat64()
					}
					worlds := neighbours(t, rng, 6, 3, max(2, p.classes), relation)
					for _, a := range weights {
						for _, b := range weights {
							own := []float64{a, 2, 0.1, 1, 7, 3}
							other := slices.Clone(own)
							switch relation {
							case accountant.AddOrRemoveOne:
								other = own[1:]
							default:
								other[0] = b
							}
							x := sumOf(t, p, must.Get(worlds[0].Weighted(own))(t), w)
							y := sumOf(t, p, must.Get(worlds[1].Weighted(other))(t), w)
							most = max(most, floats.Distance(x, y, 2))
						}
					}
				}
				if !(most <= priced*(1+1e-12)) { // nor no number
					t.Errorf("%v, %s, C = %v: %v, priced %v", relation, name, limit, most, priced)
				}
				if most < 0.9*priced && limit != 99 {
					t.Errorf("%v, %s, C = %v: at most %v of %v", relation, name, limit, most, priced)
				}
			}
		}
	}
}

// A record of the weight k counts as k records do, while no gradient is shortened; one of weight 0 does not
// count, and weights above the bound are the bound.
func TestWeightsCountRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	for _, l := range []loss.Loss{loss.Logistic{}, softmax(t, 3)} {
		s := setting()
		s.Loss, s.Neighbours = l, accountant.ReplaceOne
		rows, y, w := [][]float64{}, []float64{}, []float64{3, 0, 2, 1, 50}
		again, z := [][]float64{}, []float64{}
		for i, k := range []int{3, 0, 2, 1, 4} {
			rows, y = append(rows, unit(rng, 3)), append(y, float64(i%2))
			for range k {
				again, z = append(again, rows[i]), append(z, y[i])
			}
		}
		p := sampled(t, DPSGD{Setting: s, Rate: 1, Steps: 3, GradientNorm: 99, WeightBound: 4}, 5, 3)
		x := make([]float64, p.size())
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		got := sumOf(t, p, must.Get(records(t, rows, y).Weighted(w))(t), x)
		own := records(t, again, z)
		want := make([]float64, len(x))
		if err := newGradients(&p.task, p.limit, own, own.Len()).sum(t.Context(), want, x, nil); err != nil {
			t.Fatal(err)
		}
		if floats.Distance(got, want, math.Inf(1)) > 1e-12 {
			t.Errorf("%s: %v, repeated %v", l.Name(), got, want)
		}
	}
}

// Weights have the price of no weights. Weights that are all at the bound or beyond it train the model of no weights.
func TestWeightsAtTheirBoundAreNone(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	for _, l := range []loss.Loss{loss.Logistic{}, loss.GLM[loss.Hinge]{}, loss.LeastSquares{}, softmax(t, 3)} {
		s := setting()
		s.Loss, s.Clip = l, 1
		s.Neighbours = accountant.ReplaceOne
		rows, y := make([][]float64, 60), make([]float64, 60)
		for i := range rows {
			rows[i], y[i] = unit(rng, 3), float64(i%2)
		}
		r := records(t, rows, y)
		four := make([]float64, len(y))
		for i := range four {
			four[i] = 4 + float64(i) // cut to 4
		}
		var models [2][]float64
		var plans [2]*sampledPlan
		for k, own := range []*data.Records{r, must.Get(r.Weighted(four))(t)} {
			plans[k] = sampled(t, DPSGD{Setting: s, Rate: 1, WeightBound: []float64{0, 4}[k]}, 60, 3)
			models[k] = must.Get(train.Simulate(must.Get(plans[k].Train(own))(t), 1).Run(t.Context(), nil))(t)
		}
		a, b := plans[0], plans[1]
		if a.noise != b.noise || a.price.Cost != b.price.Cost || a.c.Steps != b.c.Steps {
			t.Errorf("%s: %v, %v of no weights", l.Name(), b.price, a.price)
		}
		if d := floats.Distance(models[0], models[1], math.Inf(1)); !(d < 1e-9) {
			t.Errorf("%s: %v, %v of no weights", l.Name(), models[1], models[0])
		}
	}
}

// Every method but dp-sgd refuses weights, and it refuses those without a bound. A training that goes on has the
// weights that it had.
func TestWeightsAreRefused(t *testing.T) {
	weighted := must.Get(records(t, [][]float64{{1}, {0.5}, {0.2}, {1}}, []float64{0, 1, 1, 0}).Weighted([]float64{1, 2, 3, 1}))(t)
	s := logistics()
	for _, name := range Methods() {
		o := Options{Setting: s, Set: lp(t, 1, 2, 1)}
		switch name {
		case "frank-wolfe", "poly-sfw":
			o.Set = l1(t, 1, 1)
		case "proximally-guided":
			o.Loss, o.WeakConvexity = loss.GLM[loss.Absolute]{}, 1
		case "nsfw":
			o.Rounds = 1
		case "sufficient-statistics":
			o.Set = nil
		}
		m := must.Get(New(name, o))(t)
		if p, err := m.Plan(4, 1); err == nil {
			if _, err := p.Train(weighted); !errors.Is(err, data.ErrWeighted) {
				t.Errorf("%s: %v", name, err)
			}
		} else {
			t.Errorf("%s: %v", name, err)
		}
		o.WeightBound = 2
		if _, err := New(name, o); (name == "dp-sgd") != (err == nil) || err != nil && !errors.Is(err, data.ErrWeighted) {
			t.Errorf("%s with a bound: %v", name, err)
		}
	}
	for _, bound := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := (DPSGD{Setting: s, Rate: 1, WeightBound: bound}).Plan(4, 1); err == nil {
			t.Errorf("bound %v is taken", bound)
		}
	}
	p := sampled(t, DPSGD{Setting: s, Rate: 1, WeightBound: 2}, 4, 1)
	other := must.Get(weighted.Weighted([]float64{1, 1, 3, 1}))(t)
	a, b := must.Get(p.Train(weighted))(t), must.Get(p.Train(other))(t)
	if a.Digest == b.Digest {
		t.Error("other weights have the same digest")
	}
	if _, err := train.ResumeRelease(b, must.Get(train.NewRelease(a))(t).Checkpoint()); !errors.Is(err, train.ErrCheckpoint) {
		t.Errorf("a training goes on with other weights: %v", err)
	}
}

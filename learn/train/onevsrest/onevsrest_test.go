package onevsrest_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/learn/train/onevsrest"
)

const records = 3000

// three are records of three classes about points of their own, with a constant feature.
func three(t testing.TB) *data.Records {
	rng := rand.New(rand.NewPCG(5, 6))
	x, y := make([]float64, 0, 3*records), make([]float64, records)
	centres := [][2]float64{{0.7, 0}, {-0.4, 0.6}, {-0.4, -0.6}}
	for i := range y {
		k := rng.IntN(3)
		y[i] = float64(k)
		x = append(x, centres[k][0]+0.2*rng.NormFloat64(), centres[k][1]+0.2*rng.NormFloat64(), 1)
	}
	return must.Get(data.NewRecords(records, 3, x, y))(t).Shortened(1.5)
}

// of returns three models by a method of package convex.
func of(name string, epsilon float64) onevsrest.Method {
	target := accountant.Cost{Epsilon: epsilon, Delta: 1e-6}
	return onevsrest.Method{Classes: 3, Target: target,
		Model: func(target accountant.Cost) (train.Plan, error) {
			set, err := geometry.ParseSet("l2:6", 3)
			if err != nil {
				return train.Plan{}, err
			}
			o := convex.Options{Set: set}
			o.Loss, o.Radius, o.Target = loss.Logistic{}, 1.5, target
			m, err := convex.New(name, o)
			if err != nil {
				return train.Plan{}, err
			}
			return m.Plan(records, 3)
		}}
}

// All models are composed: the event is three times a model's, within the target and near it, and a
// model by itself costs less. The sum of three ε is the most that they cost.
func TestAllModelsArePaidFor(t *testing.T) {
	for _, name := range []string{"objective-perturbation", "output-perturbation"} {
		p := must.Get(of(name, 1).Plan(t.Context(), records, 3))(t)
		price := p.Price
		if price.Cost.Epsilon > 1 || price.Cost.Epsilon < 0.98 || price.Cost.Delta != 1e-6 {
			t.Errorf("%s: %v", name, price.Cost)
		}
		rows := must.Get(p.Compare())(t)
		one := rows[0].Epsilon
		if one < 0.33 || one > 0.7 {
			t.Errorf("%s: a model by itself costs %v", name, one)
		}
		// Priced apart: the method for the base's target, charged three times.
		method := of(name, 1)
		single := must.Get(method.Model(accountant.Cost{Epsilon: one, Delta: 1e-6 / 3}))(t).Price
		a := must.Get(accountant.New(accountant.ReplaceOne))(t)
		for range 3 {
			a = must.Get(a.Charge(single.Event, 1))(t)
		}
		if eps := must.Get(a.Epsilon(1e-6))(t); eps > price.Cost.Epsilon*1.001 {
			t.Errorf("%s: three models cost %v, stated %v", name, eps, price.Cost.Epsilon)
		}
	}
}

// The three models tell the classes apart, each with noise of its own, and a run that goes on from
// a checkpoint after any round is the same run.
func TestModelsTellClassesApart(t *testing.T) {
	r := three(t)
	p := must.Get(of("objective-perturbation", 3).Plan(t.Context(), records, 3))(t)
	a := must.Get(p.Train(r))(t)
	whole := train.Simulate(a, 1)
	w := must.Get(whole.Run(t.Context(), nil))(t)
	right := 0
	for i := range r.Len() {
		best, at := -1e300, 0
		for k := range 3 {
			z := 0.0
			for j, v := range r.Row(i) {
				z += v * w[3*k+j]
			}
			if z > best {
				best, at = z, k
			}
		}
		if float64(at) == r.Response(i) {
			right++
		}
	}
	if right < records*85/100 {
		t.Errorf("%d of %d are right", right, records)
	}
	if slices.Equal(w[:3], w[3:6]) {
		t.Error("two classes have one model")
	}
	part := train.Simulate(a, 1)
	stop := context.Canceled
	if _, err := part.Run(t.Context(), func(round int, _ []float64) error {
		if round == 2 {
			return stop
		}
		return nil
	}); err != stop {
		t.Fatal(err)
	}
	again := must.Get(train.ResumeSimulation(a, part.Checkpoint()))(t)
	if got := must.Get(again.Run(t.Context(), nil))(t); !slices.Equal(got, w) {
		t.Errorf("resumed %v, whole %v", got, w)
	}
	// Equal records have equal noise in each class, were the coins not derived.
	same := must.Get(data.NewRecords(records, 3, make([]float64, 3*records),
		make([]float64, records)))(t)
	zero := must.Get(train.Simulate(must.Get(p.Train(same))(t), 1).Run(t.Context(), nil))(t)
	if slices.Equal(zero[3:6], zero[6:]) {
		t.Error("two models have the same noise")
	}
}

// Classes that are none, and numbers of them, are refused.
func TestRefusals(t *testing.T) {
	m := of("objective-perturbation", 1)
	p := must.Get(m.Plan(t.Context(), records, 3))(t)
	y := make([]float64, records)
	y[7] = 3
	odd := must.Get(data.NewRecords(records, 3, make([]float64, 3*records), y))(t)
	if _, err := p.Train(odd); err == nil {
		t.Error("a class of no model was taken")
	}
	if _, err := p.Train(nil); err == nil {
		t.Error("no records were taken")
	}
	if _, err := m.Plan(t.Context(), records+1, 3); err == nil {
		t.Error("another number of records was taken")
	}
	m.Classes = 2
	if _, err := m.Plan(t.Context(), records, 3); err == nil {
		t.Error("two classes were taken")
	}
}

func TestDigestsStay(t *testing.T) {
	r := three(t)
	got := map[string]train.Algorithm{}
	for _, name := range []string{"objective-perturbation", "phased-sgd"} {
		p := must.Get(of(name, 1).Plan(t.Context(), records, 3))(t)
		got[name] = must.Get(p.Train(r))(t)
	}
	traintest.Digests(t, got, map[string]string{
		"objective-perturbation": "04ebc36437e943e9",
		"phased-sgd":             "08ec34657c81b84e",
	})
}

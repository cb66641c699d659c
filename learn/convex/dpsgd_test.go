package convex

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func sampled(t testing.TB, c DPSGD, n, d int) *sampledPlan {
	t.Helper()
	p, err := c.plan(n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The price equals an accountant's figure for the run's event, and is just under the target. By
// every rule it is for added or removed records only.
func TestSampledPrice(t *testing.T) {
	raced.Sequential(t)
	c := DPSGD{Setting: setting(), Ball: 1, Rate: 0.02, Steps: 300}
	p := sampled(t, c, 1000, 3)
	price := p.price
	if !(price.Cost.Epsilon <= 1 && price.Cost.Epsilon > 0.98) ||
		price.Relation != accountant.AddOrRemoveOne || price.Bound != accountant.MethodPLD {
		t.Errorf("%+v", price)
	}
	a, err := accountant.New(accountant.AddOrRemoveOne)
	if err == nil {
		a, err = a.Charge(price.Event, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if eps, err := a.Epsilon(1e-6); err != nil || math.Abs(eps-price.Cost.Epsilon) > 1e-9 {
		t.Error("the accountant has", eps, err)
	}
	rows, err := p.Compare()
	if err != nil || len(rows) != 2 || !(rows[0].Epsilon > rows[1].Epsilon) {
		t.Error(rows, err)
	}
	for _, relation := range []accountant.Relation{accountant.ReplaceOne, accountant.BlankOne} {
		c.Neighbours = relation // at a rate of their own
		var broken *check.Error
		if _, err := c.Plan(1000, 3); !errors.As(err, &broken) || broken.Name != "neighbours" {
			t.Errorf("%v: %v", relation, err)
		}
	}
}

// Each record comes into a step with probability q: 3·10⁵ coins, within five standard
// deviations, 6e-7 for a right sampler; and at q = 1 always.
func TestSampledRate(t *testing.T) {
	unpriced, err := checked(setting(), 1000, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []float64{0.1, 1} {
		p := &sampledPlan{task: unpriced, c: DPSGD{Ball: 1, Rate: q, Steps: 300}, limit: unpriced.norm,
			price: train.Price{Blocks: []train.Block{{StepSize: 1, Deviation: 1}}}}
		// Every record has the feature 1 and a response beyond all predictions: its gradient is -1.
		three := make([]float64, 1000)
		for i := range three {
			three[i] = 3
		}
		e := traintest.Trained(t, p.Plan(), records(t, repeat(1000, 1), three)).Start(train.Coins{}).(*sampledRun)
		total := 0.0
		for k := range 300 {
			if err := e.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			total -= e.g[0]
		}
		if off := math.Abs(total - 3e5*q); off > 5*math.Sqrt(3e5*q*(1-q))+0.1 { // features are 2⁻²⁴ shorter
			t.Errorf("q = %v: %v of 300000", q, total)
		}
	}
}

func TestSampledLearns(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(19, 20))
	const n, d = 4000, 5
	r := leaning(t, rng, n, d)
	s := setting()
	s.Loss = loss.Logistic{}
	problem := train.Problem{Loss: s.Loss, Regularizer: geometry.Ball{Radius: 8}, Records: r}
	best, err := problem.Optimum()
	if err != nil {
		t.Fatal(err)
	}
	zero := problem.Objective(make([]float64, d))
	p := sampled(t, DPSGD{Setting: s, Ball: 8, Steps: 200}, n, d)
	for _, average := range []bool{false, true} {
		p.c.Average = average
		got := problem.Objective(traintest.Simulate(t, traintest.Trained(t, p.Plan(), r), 1))
		t.Logf("average %v: %.4f between %.4f and %.4f; %s", average, got, best.Value, zero,
			p.price.Notes)
		if !(zero-got > 0.5*(zero-best.Value)) {
			t.Errorf("average %v: %.4f, without learning %.4f, best %.4f", average, got, zero, best.Value)
		}
	}
}

func TestSampledRefusals(t *testing.T) {
	for name, change := range map[string]func(c *DPSGD){
		"sampling rate": func(c *DPSGD) { c.Rate = 1.5 },
		"steps":         func(c *DPSGD) { c.Steps = -1 },
		"step size":     func(c *DPSGD) { c.Ball = 0 },
		"gradient norm": func(c *DPSGD) { c.GradientNorm = math.Inf(1) },
		"lambda":        func(c *DPSGD) { c.Lambda = math.NaN() },
		"ball":          func(c *DPSGD) { c.Ball = -1 },
		"radius":        func(c *DPSGD) { c.Radius = 0 },
	} {
		c := DPSGD{Setting: setting(), Ball: 1, Rate: 0.1, Steps: 5}
		change(&c)
		var broken *check.Error
		if _, err := c.Plan(100, 2); !errors.As(err, &broken) || broken.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

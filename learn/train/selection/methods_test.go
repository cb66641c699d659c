package selection_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/learn/train/selection"
)

// classes are n records of two classes that differ in their first feature.
func classes(n int) *data.Records {
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, 0, 3*n), make([]float64, n)
	for i := range n {
		y[i] = float64(rng.IntN(2))
		x = append(x, 0.5*(2*y[i]-1)+0.3*rng.NormFloat64(), 0.3*rng.NormFloat64(), 0.3*rng.NormFloat64())
	}
	r, err := data.NewRecords(n, 3, x, y)
	if err != nil {
		panic(err)
	}
	return r
}

// Methods of every family are candidates: the target is met and used, and the best of two
// candidates, of which one has noise for records 10⁴ times as large, is mostly the other.
func TestEveryFamilyIsChosenFrom(t *testing.T) {
	const n = 2000
	r := classes(n)
	phased := func(radius float64) func(target accountant.Cost) (train.Plan, error) {
		return func(target accountant.Cost) (train.Plan, error) {
			s := convex.Setting{Loss: loss.Logistic{}, Radius: radius, Target: target}
			return convex.PhasedSGD{Setting: s, Ball: 5, StepFactor: 8}.Plan(n, 3)
		}
	}
	pair, err := loss.ParsePair("logistic")
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(radius float64) func(target accountant.Cost) (train.Plan, error) {
		return func(target accountant.Cost) (train.Plan, error) {
			s := pairwise.Setting{Base: pairwise.Base{Loss: pair, Radius: radius, Target: target}, Ball: 5}
			return pairwise.OnePass{Setting: s}.Plan(n, 3)
		}
	}
	shuffle := func(clip float64) func(target accountant.Cost) (train.Plan, error) {
		return func(target accountant.Cost) (train.Plan, error) {
			p, err := shuffled.NewPlan(t.Context(), shuffled.Config{
				Method: shuffled.DPShuffleG, Task: loss.Logistic{}, Regularizer: geometry.NoRegularizer{},
				Epochs: 2, StepSize: 0.02, Clip: clip,
				Radius: 1, Target: target, Order: iteration.Reshuffled, Mode: iteration.Paper,
			}, r, nil)
			if err != nil {
				return train.Plan{}, err
			}
			return p.Priced()
		}
	}
	accuracy := selection.Score{Kind: selection.Accuracy, Loss: loss.Logistic{}}
	for name, s := range map[string]selection.Selection{
		"convex": {Candidates: []selection.Candidate{{Name: "noisy", Plan: phased(1e4)},
			{Name: "good", Plan: phased(1)}}, Score: accuracy},
		"pairwise": {Candidates: []selection.Candidate{{Name: "noisy", Plan: pairs(1e4)},
			{Name: "good", Plan: pairs(1)}}, Score: selection.Score{Kind: selection.Pairs},
			Stopping: "poisson", Runs: 5},
		"shuffled": {Candidates: []selection.Candidate{{Name: "noisy", Plan: shuffle(1e4)},
			{Name: "good", Plan: shuffle(1)}}, Score: accuracy, Stopping: "logarithmic", Runs: 5},
	} {
		s.Target = accountant.Cost{Epsilon: 8, Delta: 1e-5}
		plan, err := s.Plan(t.Context(), n, 3)
		if err != nil {
			t.Fatal(name, err)
		}
		if c := plan.Price.Cost; c.Epsilon > 8 || c.Epsilon < 7.9 || c.Delta != 1e-5 {
			t.Errorf("%s costs %v", name, c)
		}
		a, err := plan.Train(r)
		if err != nil {
			t.Fatal(name, err)
		}
		good := 0
		for seed := range uint64(20) {
			run := train.Simulate(a, seed)
			if _, err := run.Run(context.Background(), nil); err != nil {
				t.Fatal(name, err)
			}
			if run.Choice().Name == "good" {
				good++
			}
		}
		// With K = 1 there is no choice, and noise by itself can be right.
		if good < 11 {
			t.Errorf("%s: the good candidate was chosen %d times of 20", name, good)
		}
	}
}

// A shuffled plan's event costs as much as its report states.
func TestShuffledEventCostsItsReport(t *testing.T) {
	r := classes(500)
	for _, mode := range []iteration.Mode{iteration.Paper, iteration.RRMixture, iteration.Best} {
		target := accountant.Cost{Epsilon: 1, Delta: 1e-5}
		p, err := shuffled.NewPlan(t.Context(), shuffled.Config{
			Method: shuffled.DPShuffleG, Task: loss.Logistic{}, Regularizer: geometry.NoRegularizer{},
			Epochs: 3, StepSize: 0.1, Clip: 1,
			Radius: 1, Target: target, Order: iteration.Reshuffled, Mode: mode,
		}, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Priced()
		if err != nil {
			t.Fatal(err)
		}
		a, _ := accountant.New(accountant.ReplaceOne)
		if a, err = a.Charge(plan.Price.Event, 1); err != nil {
			t.Fatal(err)
		}
		eps, err := a.Epsilon(target.Delta)
		if err != nil || eps > 1.001 || eps < 0.5 {
			t.Errorf("%s: %v (%v)", mode, eps, err)
		}
	}
}

// The digests of choices, of a test on records held out, and of shuffled plans, stay as they are.
func TestDigestsStay(t *testing.T) {
	const n = 200
	r := classes(n)
	s := convex.Setting{Loss: loss.Logistic{}, Radius: 1}
	phased := func(ball float64) func(target accountant.Cost) (train.Plan, error) {
		return func(target accountant.Cost) (train.Plan, error) {
			s.Target = target
			return convex.PhasedSGD{Setting: s, Ball: ball}.Plan(n, 3)
		}
	}
	score := selection.Score{Kind: selection.Accuracy, Loss: loss.Logistic{}}
	chosen := selection.Selection{Score: score, Target: accountant.Cost{Epsilon: 4, Delta: 1e-5},
		Candidates: []selection.Candidate{{Name: "a", Plan: phased(1)}, {Name: "b", Plan: phased(2)}}}
	got := map[string]train.Algorithm{}
	got["each"] = must.Get(must.Get(chosen.Plan(t.Context(), n, 3))(t).Train(r))(t)
	chosen.Stopping, chosen.Runs = "poisson", 3
	got["poisson"] = must.Get(must.Get(chosen.Plan(t.Context(), n, 3))(t).Train(r))(t)
	one := must.Get(must.Get(phased(1)(chosen.Target))(t).Train(r))(t)
	got["held out"] = must.Get(selection.HeldOut{Score: score, Epsilon: 1,
		Relation: accountant.ReplaceOne}.Of(one, r))(t)
	for _, method := range shuffled.Schemes() {
		c := shuffled.Config{Method: method, Task: loss.Logistic{}, Epochs: 3, StepSize: 0.1, Clip: 1,
			Radius: 1, Target: accountant.Cost{Epsilon: 3, Delta: 1e-5}, Order: iteration.Reshuffled,
			SharedRecords: true}
		if method.UsesFraction() {
			c.Fraction = 0.5
		}
		got[string(method)] = must.Get(shuffled.NewPlan(t.Context(), c, r,
			classes(n+1)))(t).Algorithm()
	}
	traintest.Digests(t, got, map[string]string{
		"dp-sgd":       "7d66bf644632f808",
		"dp-shuffle-g": "8c9a2d12e111cf2a",
		"each":         "3b1a5ed23f3fea0f",
		"held out":     "d017a4ecb6d17902",
		"interleaved":  "068584ebe686611b",
		"poisson":      "056aa365192e601a",
		"priv-pub":     "403bad9557ec97f6",
		"pub-priv":     "da698a6ef97dbcc4",
		"public-only":  "094481d16132351d",
		"shuffle-g":    "630c2f6fb6cf7be1",
	})
}

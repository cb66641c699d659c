package convex

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// Parameters that make no plan are refused by name.
func TestFrankWolfeRefusals(t *testing.T) {
	type method interface {
		Plan(n, d int) (Plan, error)
	}
	fw := func(change func(c *FrankWolfe)) method {
		c := hinges(t, 2)
		change(&c)
		return c
	}
	poly := func(change func(c *PolySFW)) method {
		c := PolySFW{Setting: logistics(), Set: l1(t, 2, 1), Batches: Batches{Rounds: 2}}
		change(&c)
		return c
	}
	normal := func(change func(c *NSFW)) method {
		c := NSFW{Setting: logistics(), Set: lp(t, 2, 2, 1), Batches: Batches{Rounds: 2}}
		change(&c)
		return c
	}
	for _, c := range []struct {
		name string
		m    method
		n, d int
	}{
		{"set", fw(func(c *FrankWolfe) { c.Set = nil }), 100, 2},
		{"dimension of the set", fw(func(*FrankWolfe) {}), 100, 3},
		{"number of records", fw(func(*FrankWolfe) {}), 1, 2},
		{"radius", fw(func(c *FrankWolfe) { c.Radius = math.NaN() }), 100, 2},
		{"steps", fw(func(c *FrankWolfe) { c.Steps = -1 }), 100, 2},
		{"steps", fw(func(c *FrankWolfe) { c.Steps = maxSteps + 1 }), 100, 2},
		{"target epsilon", fw(func(c *FrankWolfe) { c.Steps, c.Target.Epsilon = maxSteps, 1e-8 }), 100, 2},
		{"slope bits", fw(func(c *FrankWolfe) { c.SlopeBits = 41 }), 100, 2},
		{"noise", fw(func(c *FrankWolfe) { c.Noise = Corrected }), 100, 2},
		{"selection", fw(func(c *FrankWolfe) { c.Selection = "gumbel" }), 100, 2},
		{"rule", fw(func(c *FrankWolfe) { c.Rule = "best" }), 100, 2},
		{"task", fw(func(c *FrankWolfe) { c.Loss = loss.GLM[loss.SquaredSigmoid]{} }), 100, 2},
		{"target epsilon", fw(func(c *FrankWolfe) { c.Target.Epsilon, c.Steps = 1e-8, 1000 }), 100, 2},
		{"score", fw(func(c *FrankWolfe) { c.Target.Epsilon, c.Steps = 1000, 1 }), 100_000, 2},
		{"task", poly(func(c *PolySFW) { c.Loss = loss.GLM[loss.Hinge]{} }), 100, 2},
		{"set", poly(func(c *PolySFW) { c.Set = nil }), 100, 2},
		{"rounds", poly(func(c *PolySFW) { c.Batches.Rounds = 21 }), 100, 2},
		{"number of records", poly(func(c *PolySFW) { c.Batches.Rounds = 0 }), 100, 2},
		{"batch size", poly(func(c *PolySFW) { c.Batches.Rounds = 5 }), 100, 2},
		{"batch size", poly(func(c *PolySFW) { c.Batches.Size = 80 }), 100, 2},
		{"batch size", poly(func(c *PolySFW) { c.Batches.Size, c.Batches.FullBudget = 8, true }), 100, 2},
		{"norm p of the set", normal(func(c *NSFW) { c.Set = l1(t, 2, 1) }), 100, 2},
		{"noise", normal(func(c *NSFW) { c.Noise = "more" }), 100, 2},
		{"clip", normal(func(c *NSFW) { c.Loss = loss.LeastSquares{} }), 100, 2},
	} {
		var broken *check.Error
		if _, err := c.m.Plan(c.n, c.d); !errors.As(err, &broken) || broken.Name != c.name {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// More vertices than scores are kept for, and an epsilon too large for the exponential
	// mechanism, name the way out.
	if _, err := geometry.NewL1Ball(1<<25, 1); err == nil ||
		!strings.Contains(err.Error(), "number of vertices") {
		t.Error(err)
	}
	c := hinges(t, 2)
	c.Target.Epsilon, c.Steps, c.Selection = 1000, 1, PermuteAndFlip
	if _, err := c.Plan(100_000, 2); err != nil {
		t.Errorf("permute and flip: %v", err)
	}
	// Records that are not those of the plan.
	p := frankWolfe(t, hinges(t, 2), 8, 2)
	for _, r := range []*data.Sparse{nil, data.SparseOf(records(t, [][]float64{{1, 2}}, []float64{1})),
		data.SparseOf(records(t, make8(3), make([]float64, 8))),
		data.SparseOf(records(t, make8(2), []float64{0, 1, 2, 0, 0, 0, 0, 0}))} {
		if _, err := p.TrainSparse(r); err == nil {
			t.Error("records that do not fit are taken")
		}
	}
	for _, r := range []*data.Records{nil, records(t, make8(2), nil)} {
		if _, err := p.Plan().Train(r); err == nil {
			t.Error("records without responses are taken")
		}
	}
}

// Features beyond the radius are shortened in the dual norm of the set.
func TestSparseRecordsAreShortened(t *testing.T) {
	r := data.SparseOf(records(t, [][]float64{{3, -4, 0}, {0.5, 0, 1}, {0, 0, 0}}, []float64{1, 1, 1}))
	for _, q := range []float64{2, 3, math.Inf(1)} {
		s := task{Setting: Setting{Loss: loss.Logistic{}, Radius: 1}, n: 3, d: 3}
		own, err := s.takeSparse(r, q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			_, before := r.Row(i)
			_, values := own.Row(i)
			if got, was := geometry.Norm(values, q), geometry.Norm(before, q); got > 1 || was <= 1-1e-9 &&
				got != was || was > 1 && got < 1-1e-9 {
				t.Errorf("q = %v, record %d: norm %v of %v", q, i, got, was)
			}
		}
	}
}

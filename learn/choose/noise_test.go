package choose

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// priced is the price of the method that is chosen.
func priced(t *testing.T, p Problem) train.Price {
	p.Radius = columns(p.Dim)
	c := must.Get(Method(p))(t)
	return must.Get(must.Get(convex.New(c.Name, c.Options))(t).Plan(p.Records, p.Dim))(t).Price
}

// The noise is in parts of the longest sum: by the multiplier m of one release and the numbers of a model alone
// it is √(Kd)·2m/n where a record is replaced, half of it where one is added or removed.
func TestNoiseToSignal(t *testing.T) {
	target := accountant.Cost{Epsilon: 0.5, Delta: 1e-6}
	m := must.Get(train.NoiseFor(target))(t)
	for _, c := range []struct {
		p    Problem
		want float64
	}{
		{Problem{Task: "logistic", Records: 300, Dim: 9}, 2 * m * 3 / 300},
		{Problem{Task: "auc", Records: 70_000, Dim: 9}, 2 * m * 3 / 70_000},
		{Problem{Task: "logistic", Classes: 4, Records: 300, Dim: 9}, 2 * m * 6 / 300},
		{Problem{Task: "logistic", Records: 300, Dim: 9, Neighbours: accountant.AddOrRemoveOne}, m * 3 / 300},
		{Problem{Task: "linear", Records: 300, Dim: 9}, 2 * m * 3 / 300},
		{Problem{Task: "linear", Records: 300, Dim: 9, Set: parsed(t, "l1:2", 9)}, 2 * m * math.Sqrt(2*math.Log(18)) / 300},
	} {
		c.p.Target = target
		if got := NoiseToSignal(priced(t, c.p)); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("%+v: %v, want %v", c.p, got, c.want)
		}
	}
	if got := NoiseToSignal(train.Price{}); got != 0 {
		t.Errorf("of no price: %v", got)
	}
	// poly-sfw chooses vertices as frank-wolfe does.
	o := convex.Options{Set: parsed(t, "l1:2", 9)}
	o.Rounds, o.Batch = 1, 300
	o.Target, o.Radius, o.Loss = target, 3, loss.Logistic{}
	want := 2 * m * math.Sqrt(2*math.Log(18)) / 300
	if got := NoiseToSignal(must.Get(must.Get(convex.New("poly-sfw", o))(t).Plan(300, 9))(t).Price); math.Abs(got-want) > 1e-3*want {
		t.Errorf("poly-sfw: %v, want %v", got, want)
	}
	// Other methods have the same of one cost.
	for _, name := range []string{"objective-perturbation", "output-perturbation", "phased-sgd", "sufficient-statistics"} {
		o := convex.Options{Set: parsed(t, "l2:5", 9)}
		o.Target, o.Radius, o.Loss = target, 3, loss.Logistic{}
		if name == "sufficient-statistics" {
			o.Set, o.Clip, o.Loss = nil, 1, must.Get(Problem{Task: "linear"}.Loss())(t)
		}
		got := NoiseToSignal(must.Get(must.Get(convex.New(name, o))(t).Plan(300, 9))(t).Price)
		if want := 2 * m * 3 / 300; math.Abs(got-want) > 1e-3*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// From a ratio of 1 on models of made-up records are hardly better than a constant, and at a tenth they are
// much better.
func TestNoiseToSignalForetellsTheWorthless(t *testing.T) {
	const d = 8
	learn, test, err := MadeUp("logistic", 0, d, 0.85, 1)
	if err != nil {
		t.Fatal(err)
	}
	target := accountant.Cost{Epsilon: 0.1, Delta: 1e-5}
	f := Forecast{Learn: learn, Test: test, Runs: 9, Seed: 1, Problem: Problem{Task: "logistic",
		Radius: func(float64) float64 { return math.Sqrt(usualRadius*usualRadius + 1) }}}
	for _, c := range []struct {
		ratio, least, most float64
	}{{2, 0.4, 0.55}, {1, 0.45, 0.6}, {0.1, 0.7, 0.85}} {
		p := Problem{Task: "logistic", Records: 1, Dim: d + 1, Target: target}
		n := int(NoiseToSignal(priced(t, p)) / c.ratio) // of one record it is n times that of n
		e := must.Get(f.At(t.Context(), n, target))(t)
		if e.Median < c.least || e.Median > c.most {
			t.Errorf("ratio %v, n = %d: %v", c.ratio, n, e.Median)
		}
	}
}

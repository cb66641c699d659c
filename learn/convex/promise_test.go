package convex

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// variants are plans of every method for n records of 3 features, the first with the options that
// all others change one of, alone where every is not set. Each has the set that its method works
// in.
func variants(t *testing.T, n int, every bool) map[string]map[string]Plan {
	t.Helper()
	base := setting()
	base.Loss, base.Target.Epsilon, base.Target.Delta = loss.Logistic{}, 5, 1e-3
	points := [][]float64{{1, 0, 0.5}, {0, 1, -1}, {-1, -0.5, 0}, {0.2, -1, 1}}
	sets := map[string][2]geometry.Set{
		"phased-sgd":             {lp(t, 3, 2, 1), lp(t, 3, 2, 2)},
		"frank-wolfe":            {hull(2, points), l1(t, 3, 1)},
		"poly-sfw":               {hull(2, points), l1(t, 3, 1)},
		"nsfw":                   {lp(t, 3, 1.5, 1), lp(t, 3, 1.5, 2)},
		"proximally-guided":      {lp(t, 3, 1.5, 1), lp(t, 3, 2, 2)},
		"dp-sgd":                 {lp(t, 3, 2, 1), lp(t, 3, 2, 2)},
		"sufficient-statistics":  {nil, lp(t, 3, 2, 2)},
		"output-perturbation":    {lp(t, 3, 2, 1), lp(t, 3, 2, 2)},
		"objective-perturbation": {lp(t, 3, 2, 1), lp(t, 3, 2, 2)},
	}
	var sampled *sampledPlan
	all := map[string]map[string]Plan{}
	for name, s := range sets {
		o := Options{Setting: base, Set: s[0]}
		switch name {
		case "poly-sfw", "nsfw":
			o.Rounds, o.Batch = 2, n/5
		case "proximally-guided":
			o.Rounds, o.Steps, o.WeakConvexity = 3, 4, 1
		case "dp-sgd":
			o.Rate, o.Steps = 0.5, 2
		case "frank-wolfe":
			o.Steps = 5
		}
		all[name] = map[string]Plan{}
		for option, change := range map[string]func(o *Options){
			"":               func(*Options) {},
			"radius":         func(o *Options) { o.Radius = 1.5 },
			"clip":           func(o *Options) { o.Clip = 0.5 },
			"epsilon":        func(o *Options) { o.Target.Epsilon = 4 },
			"delta":          func(o *Options) { o.Target.Delta = 1e-4 },
			"loss":           func(o *Options) { o.Loss = loss.GLM[loss.SquaredSigmoid]{} },
			"set":            func(o *Options) { o.Set = s[1] },
			"noise":          func(o *Options) { o.Noise = Printed },
			"selection":      func(o *Options) { o.Selection = PermuteAndFlip },
			"rule":           func(o *Options) { o.Rule = Sup },
			"oracle":         func(o *Options) { o.Oracle = Bisection },
			"steps":          func(o *Options) { o.Steps = 3 },
			"rounds":         func(o *Options) { o.Rounds ^= 3 },
			"batch size":     func(o *Options) { o.Batch-- },
			"order":          func(o *Options) { o.InOrder = true },
			"rate":           func(o *Options) { o.Rate = 0.25 },
			"step size":      func(o *Options) { o.StepSize = 0.01 },
			"step factor":    func(o *Options) { o.StepFactor = 2 },
			"lambda":         func(o *Options) { o.Lambda = 3 },
			"smoothing":      func(o *Options) { o.Smoothing = 4 },
			"weak convexity": func(o *Options) { o.WeakConvexity = 2 },
			"average":        func(o *Options) { o.Average = true },
			"gradient norm":  func(o *Options) { o.GradientNorm = 0.3 },
		} {
			changed := o
			change(&changed)
			m, err := New(name, changed)
			if err != nil {
				continue // not an option of this method
			}
			if option != "" && !every || name == "dp-sgd" && option != "" {
				continue // calibrating dp-sgd takes seconds: see below
			}
			if name == "dp-sgd" {
				sampled = must.Get(m.(DPSGD).plan(n, 3))(t)
				all[name][option] = sampled.Plan()
			} else if plan, err := m.Plan(n, 3); err == nil {
				all[name][option] = plan
			} else if option == "" {
				t.Fatal(name, err)
			}
		}
	}
	for option, change := range map[string]func(p *sampledPlan){
		"radius": func(p *sampledPlan) { p.Radius = 1.5 }, "clip": func(p *sampledPlan) { p.slope = 0.5 },
		"noise": func(p *sampledPlan) { p.noise *= 2 },
		"set":   func(p *sampledPlan) { p.c.Ball = 2 }, "rate": func(p *sampledPlan) { p.c.Rate = 0.25 },
		"steps":     func(p *sampledPlan) { p.c.Steps = 3 },
		"step size": func(p *sampledPlan) { p.c.StepSize *= 2 },
		"limit":     func(p *sampledPlan) { p.limit /= 2 },
		"lambda":    func(p *sampledPlan) { p.c.Lambda = 3 },
		"average":   func(p *sampledPlan) { p.c.Average = true }, "loss": func(p *sampledPlan) {
			p.link = loss.SquaredSigmoid{}
		}, "records": func(p *sampledPlan) { p.n++ },
	} {
		if !every {
			break
		}
		changed := *sampled
		change(&changed)
		all["dp-sgd"][option] = changed.Plan()
	}
	return all
}

// A checkpoint's noise may not be used for another run: whatever option, record or response
// differs, so does the digest.
func TestDigestsCoverEverything(t *testing.T) {
	raced.Sequential(t)
	const n = 40
	r := leaning(t, rand.New(rand.NewPCG(71, 72)), n, 3)
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i], y[i] = append([]float64(nil), r.Row(i)...), r.Response(i)
	}
	options := 0
	for name, plans := range variants(t, n, true) {
		seen := map[[32]byte]string{}
		note := func(what string, p Plan, r *data.Records) {
			digest := traintest.Trained(t, p, r).Digest
			if other, ok := seen[digest]; ok {
				t.Errorf("%s: %q and %q have one digest", name, what, other)
			}
			seen[digest] = what
		}
		for option, p := range plans {
			note(option, p, r)
			options++
		}
		rows[7][1] += 0x1p-40
		note("a feature", plans[""], records(t, rows, y))
		rows[7][1] -= 0x1p-40
		y[7] = 1 - y[7]
		note("a response", plans[""], records(t, rows, y))
		y[7] = 1 - y[7]
	}
	if options < 70 {
		t.Errorf("only %d options", options)
	}
}

// A record that is longer than the radius, in the norm dual to the set's, does exactly as much as
// one that was shortened before. Longer by three in that norm it is in no other: the norms of
// a vector of equal numbers differ most.
func TestLongRecordsDoNoMore(t *testing.T) {
	raced.Sequential(t)
	const n = 40
	norms := map[string]float64{"frank-wolfe": 2, "poly-sfw": 2, "nsfw": 3, "proximally-guided": 3}
	for name, plans := range variants(t, n, false) {
		q := norms[name]
		if q == 0 {
			q = 2
		}
		long, short := make([][]float64, n), make([][]float64, n)
		y := make([]float64, n)
		for i := range long {
			y[i] = float64(i % 3 % 2)
			size := math.Pow(3, -1/q)
			long[i] = []float64{0.99, -0.99, 0.99} // within 1 by the largest number
			short[i] = []float64{size, -size, size}
		}
		a, b := traintest.Trained(t, plans[""], records(t, long, y)),
			traintest.Trained(t, plans[""], records(t, short, y))
		for seed := range uint64(5) {
			if got, want := traintest.Simulate(t, a, seed),
				traintest.Simulate(t, b, seed); floats.Distance(got, want, math.Inf(1)) > 1e-9*
				(1+floats.Norm(want, math.Inf(1))) {
				t.Errorf("%s: %v, but shortened before %v", name, got, want)
			}
		}
	}
}

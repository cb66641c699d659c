package convex

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func schedule(t testing.TB, p float64, n int, rho, lipschitz float64) proximalSchedule {
	t.Helper()
	return must.Get(newProximalSchedule(p, n, 10, 1, 1e-6, rho, lipschitz, 2))(t)
}

// The published schedules and noise.
func TestAcceptance14ProximalSchedule(t *testing.T) {
	s := schedule(t, 2, 100_000, 1, 1)
	must.Near(t, "first term", s.ByData, 447.2136, 1e-7)
	must.Near(t, "second term", s.ByNoise, 525.0746, 1e-7)
	must.Near(t, "rate", s.Rate, 0.514364, 2e-6)
	if s.Rounds != 447 || s.Block != 223 || s.Beta != 2 {
		t.Errorf("%+v", s)
	}
	s = schedule(t, 2, 10_000, 2, 2)
	must.Near(t, "first term", s.ByData, 141.4214, 1e-6)
	must.Near(t, "second term", s.ByNoise, 113.1239, 1e-6)
	if s.Rounds != 113 || s.Block != 88 || s.Beta != 4 {
		t.Errorf("%+v", s)
	}
	s = schedule(t, 1.5, 100_000, 1, 1)
	must.Near(t, "kappa tilde", s.KappaTilde, 3.3026, 2e-5)
	must.Near(t, "rate", s.Rate, 1.3953419020680087, 1e-12) // the formula by another program
	if s.Rounds != 222 || s.Block != 450 || s.Beta != 4 || s.Kappa != 2 {
		t.Errorf("%+v", s)
	}
	// The inner noise for blocks of 223.
	c := ProximallyGuided{Setting: setting(), Ball: 1, WeakConvexity: 1}
	p, err := c.Plan(100_000, 10)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Price.Blocks[0]
	must.Near(t, "inner noise", b.Deviation, 0.56581085, 1e-8)
	if b.To != 223 || b.Releases != 223 || len(p.Price.Blocks) != 447 {
		t.Errorf("%+v", b)
	}
	// By zCDP it would be 0.71652233.
	rho, err := accountant.ZCDPFor(accountant.Cost{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "inner noise by zCDP", 2/223.0*math.Sqrt(223/(2*rho)), 0.71652233, 1e-8)
	if rows, err := p.Compare(); err != nil || len(rows) != 1 || rows[0].Epsilon > 1 ||
		rows[0].Epsilon < 0.9999 {
		t.Error(rows, err)
	}
}

// phaseRetrieval is task P4: n records on the disc, and the setting.
func phaseRetrieval(t testing.TB, rng *rand.Rand, n int) *data.Records {
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i] = unit(rng, 2)
		floats.Scale(math.Sqrt(rng.Float64()), rows[i])
		z := rows[i][0] + 0.5*rows[i][1]
		y[i] = z*z + 0.05*rng.NormFloat64()
	}
	return records(t, rows, y)
}

// Weakly convex phase retrieval from (-1, 1): how far the iterates are from the population's
// proximal point at β = 4.
func TestAcceptance14PhaseRetrieval(t *testing.T) {
	raced.Sequential(t)
	const n = 20_000
	phase := loss.GLM[loss.PhaseRetrieval]{}
	population := phaseRetrieval(t, rand.New(rand.NewPCG(1, 99)), 1000)
	run := func(epsilon float64, seed uint64) (mean, last float64) {
		c := ProximallyGuided{Setting: Setting{Loss: phase, Radius: 1,
			Target: accountant.Cost{Epsilon: epsilon, Delta: 1e-6}}, Ball: 1.5, Start: []float64{-1, 1}}
		if epsilon == 0 {
			c.Target.Epsilon = 1
		}
		plan, err := c.plan(n, 2)
		if err != nil {
			t.Fatal(err)
		}
		p := plan
		must.Near(t, "L0", p.norm, 3, 1e-9)
		if p.schedule.Rounds != 200 || p.schedule.Block != 100 || math.Abs(p.schedule.Beta-4) > 1e-9 {
			t.Fatalf("%+v", p.schedule)
		}
		if epsilon == 1 {
			must.Near(t, "inner noise", p.price.Blocks[0].Deviation, 2.535, 2e-4)
		}
		e := newProximalRun(p, phaseRetrieval(t, rand.New(rand.NewPCG(seed, 98)), n), train.Coins{})
		if epsilon == 0 {
			e.noise = traintest.Silent{}
		}
		visited := [][]float64{{-1, 1}}
		visited = append(visited, rounds(t, e, p.schedule.Rounds)...)
		for i, w := range visited[:p.schedule.Rounds] { // the model is one of these
			if i%20 == 10 {
				mean += NearStationarity(phase, population, w, 4, lp(t, 2, 2, 1.5), 1000) / float64(p.schedule.Rounds/20)
			}
		}
		return mean, NearStationarity(phase, population, visited[len(visited)-1], 4, lp(t, 2, 2, 1.5), 1000)
	}
	if start := NearStationarity(phase, population, []float64{-1, 1}, 4, lp(t, 2, 2, 1.5),
		1000); math.Abs(start-0.119) > 0.02 {
		t.Errorf("at the start %v", start)
	}
	mean, last := run(0, 1)
	t.Logf("no noise: mean %.4f, last %.4f", mean, last)
	if !(mean <= 0.04 && last <= 0.015) {
		t.Errorf("without noise: mean %v, last %v", mean, last)
	}
	mean, _ = run(1, 2)
	t.Logf("epsilon 1: mean %.4f", mean)
	if !(mean <= 0.08) {
		t.Errorf("epsilon = 1: mean %v", mean)
	}
}

// Each record is read in one round, once a step.
func TestAcceptance13ProximalReadsOneRound(t *testing.T) {
	c := ProximallyGuided{Setting: setting(), Ball: 1, WeakConvexity: 1, Rounds: 7, Steps: 3}
	plan, err := c.plan(100, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := plan
	rows := make([][]float64, 100)
	for i := range rows {
		rows[i] = []float64{1, 0}
	}
	reads := &counted{samples: records(t, rows, make([]float64, 100)), reads: map[int]map[int]int{}}
	e := newProximalRun(p, reads, train.Coins{})
	for k := range p.schedule.Rounds {
		reads.round = k
		if err := e.Round(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if len(reads.reads) != 98 {
		t.Errorf("%d records are read", len(reads.reads))
	}
	for i, by := range reads.reads {
		if len(by) != 1 || by[i/14] != 3 {
			t.Errorf("record %d is read %v", i, by)
		}
	}
}

// The model is each iterate with the same probability, and what a checkpoint keeps of it.
func TestProximalPick(t *testing.T) {
	c := ProximallyGuided{Setting: setting(), Ball: 1, WeakConvexity: 1, Rounds: 4, Steps: 2}
	plan, err := c.Plan(8, 2)
	if err != nil {
		t.Fatal(err)
	}
	a := traintest.Trained(t, plan, records(t, make8(2), make([]float64, 8)))
	counts := map[int]int{}
	for seed := range uint64(400) {
		s := train.Simulate(a, seed)
		model, err := s.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		e := a.Start(stream.Seeded(seed)).(*proximalRun)
		at := -1
		if floats.Equal(e.w, model) {
			at = 0
		}
		for k := range 4 {
			if err := e.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if floats.Equal(e.w, model) {
				at = k + 1
			}
		}
		counts[at]++
		if !(vec.Norm(model) <= 1) {
			t.Fatal("the model is outside")
		}
	}
	// 100 each, standard deviation 8.7: beyond 50 with probability 1e-8.
	for k := range 4 {
		if math.Abs(float64(counts[k]-100)) > 50 {
			t.Errorf("iterate %d is the model %d times of 400", k, counts[k])
		}
	}
	if len(counts) != 4 {
		t.Error(counts)
	}
}

func TestProximalRefusals(t *testing.T) {
	for name, change := range map[string]func(c *ProximallyGuided){
		"ball": func(c *ProximallyGuided) { c.Ball = 0 },
		"weak convexity rho": func(c *ProximallyGuided) {
			c.Loss, c.WeakConvexity = loss.GLM[loss.Absolute]{}, 0
		},
		"rounds":            func(c *ProximallyGuided) { c.Rounds = 9 },
		"steps":             func(c *ProximallyGuided) { c.Steps = -1 },
		"start":             func(c *ProximallyGuided) { c.Norm, c.Start = 1.1, []float64{0.7, 0.7} },
		"norm p of the set": func(c *ProximallyGuided) { c.Norm = 1.05 },
		"target delta":      func(c *ProximallyGuided) { c.Target.Delta = 1 },
		"neighbours":        func(c *ProximallyGuided) { c.Neighbours = accountant.AddOrRemoveOne },
	} {
		c := ProximallyGuided{Setting: setting(), Ball: 1}
		c.Loss = loss.GLM[loss.PhaseRetrieval]{}
		change(&c)
		var broken *check.Error
		if _, err := c.Plan(8, 2); !errors.As(err, &broken) || broken.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	// From 1 + 1/ln d, the source's least norm, where that is less than 1.1.
	if _, err := newProximalSchedule(1.095, 100, 40_000, 1, 1e-6, 1, 1, 2); err != nil {
		t.Error(err)
	}
	for _, p := range []float64{0.9, 1, 1.095, 2.1, math.NaN()} {
		if _, err := newProximalSchedule(p, 100, 10, 1, 1e-6, 1, 1, 2); err == nil {
			t.Error("p =", p)
		}
	}
}

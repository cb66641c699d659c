package federated

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/amplification"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// The worked parameters of section 3.6, whose δ is 1e-5, by divergences and the classical
// conversion; and what prices take, the losses, which allow a larger ε₀ than the tighter
// conversion of divergences: 0.39226, 0.69460 and 1.17957.
func TestCalibratedReports(t *testing.T) {
	raced.Elsewhere(t, "TestWorkersChangeNothing")
	epsilons := []float64{0.8}
	if long() {
		epsilons = []float64{0.4, 0.8, 1.6}
	}
	want := map[float64][2]float64{0.4: {0.311457, 0.42512}, 0.8: {0.580329, 0.74582},
		1.6: {1.033262, 1.25374}}
	for _, epsilon := range epsilons {
		p := networkPlan(t, 16512, 500, func(c *PSGM) {
			c.Epsilon, c.Account, c.Target = 0, "", accountant.Cost{Epsilon: epsilon, Delta: 1e-5}
		})
		got := p.LocalEpsilon()
		if math.Abs(got-want[epsilon][1]) > 1e-3*want[epsilon][1] {
			t.Errorf("eps = %g: eps0 = %.6g, want %g", epsilon, got, want[epsilon][1])
		}
		if c := p.Price().Cost; c.Epsilon > epsilon || c.Epsilon < epsilon*(1-1e-3) || c.Delta != 1e-5 {
			t.Errorf("eps = %g: the price is %v", epsilon, c)
		}
		stated := networkPlan(t, 16512, 500, func(c *PSGM) {
			c.Epsilon, c.Account, c.Target = want[epsilon][0], "",
				accountant.Cost{Epsilon: epsilon, Delta: 1e-5}
		})
		if eps, _, err := amplification.Epsilon(1e-5, amplification.Classical,
			accountant.Charge{Event: stated.Price().Event, Count: 1}); err != nil ||
			math.Abs(eps-epsilon) > 5e-3*epsilon {
			t.Errorf("eps0 = %g costs %g by the classical conversion, want %g (%v)", want[epsilon][0], eps,
				epsilon, err)
		}
	}
}

// A report is priced for what it is: a bit of any direction by the proof for one bit, a codebook's
// index by the proof for any ε₀-private report, which costs more at the same ε₀, and so has a
// smaller ε₀ at the same cost. Ternary, a proof for one bit, refuses an index, and a batch of
// indices is priced by TCDP.
func TestReportsArePricedForWhatTheyAre(t *testing.T) {
	raced.Elsewhere(t, "TestWorkersChangeNothing")
	rounds := func(kind Randomizer, change func(*PSGM)) *Plan {
		return networkPlan(t, 400, 3, func(c *PSGM) {
			c.Randomizer, c.Account, c.Target.Delta = kind, "", 1e-5
			if change != nil {
				change(c)
			}
		})
	}
	cost := func(epsilon float64, oneBit bool) float64 {
		var charges []accountant.Charge
		for streams, count := range map[int]int{1: 1, 2: 2} {
			e := must.Get(amplification.Round{Streams: streams, Reports: 400, Epsilon: epsilon,
				OneBit: oneBit}.Losses())(t)
			charges = append(charges, accountant.Charge{Event: e, Count: count})
		}
		event := must.Get(accountant.Compose(charges...))(t)
		return must.Get(train.LeastEpsilon(event, accountant.ReplaceOne, 1e-5,
			accountant.MethodPLD))(t).Cost.Epsilon
	}
	for kind, bit := range map[Randomizer]bool{"": true, OneBit: true, Floats: true, "rand-k:9": true,
		PrivUnit: false, "privunit:4": false, "privunit:4:10": false} {
		if got, want := rounds(kind, nil).Price().Cost.Epsilon,
			cost(0.58, bit); math.Abs(got-want) > 1e-5*want {
			t.Errorf("%q costs %.6g, want %.6g", kind, got, want)
		}
	}
	if one, any := cost(0.58, true), cost(0.58, false); any < one*1.02 {
		t.Errorf("an index costs %g, a bit %g", any, one)
	}
	calibrated := func(kind Randomizer) float64 {
		return rounds(kind, func(c *PSGM) { c.Epsilon, c.Target.Epsilon = 0, 0.5 }).LocalEpsilon()
	}
	if bit, index := calibrated("rand-k:9"), calibrated(PrivUnit); !(index < bit*0.99) {
		t.Errorf("at one cost an index has ε₀ = %g, a bit %g", index, bit)
	}
	batches := func(c *PSGM) { c.FirstBatch, c.Batch = []int{5}, []int{2} }
	if c := rounds(PrivUnit, batches).Price().Cost; math.IsInf(c.Epsilon, 1) {
		t.Errorf("batches of indices: %v", c)
	}
	s := Setting{Loss: loss.Logistic{}, Silos: []int{400}, Rounds: 3, StepSize: 1, GradientClip: 1,
		DifferenceClip: 1, Target: accountant.Cost{Epsilon: 1, Delta: 1e-5}}
	if _, err := (PSGM{Setting: s, Momentum: 0.5, FirstBatch: []int{5}, Batch: []int{2},
		Randomizer: PrivUnit, Account: Account(amplification.Ternary)}).New(400, 3); !errors.Is(err,
		amplification.ErrReports) {
		t.Errorf("indices by the proof for bits: %v", err)
	}
	for _, kind := range []Randomizer{"two-bit", "one-bit:3", "floats:", "privunit:", "privunit:9",
		"privunit:8:0", "privunit:8:4", "privunit:8:2:1", "rand-k", "rand-k:0", "rand-k:4", "rand-k:x"} {
		if _, err := (PSGM{Setting: s, Momentum: 0.5, Randomizer: kind}).New(400, 3); err == nil {
			t.Errorf("%q is accepted", kind)
		}
	}
}

// What is charged: one stream in round 0, two in each later one, none of differences at β = 1; a
// rate by the smallest silo; the fewest reports that a round is done with; the local phase H-1
// times in each of a silo's turns.
func TestWhatIsCharged(t *testing.T) {
	raced.Sequential(t)
	change := func(f func(*PSGM)) *Plan {
		return networkPlan(t, 66, 10, func(c *PSGM) { // silos of 16, 16, 16 and 18
			c.Account = ""
			if f != nil {
				f(c)
			}
		})
	}
	for _, c := range []struct {
		name string
		p    *Plan
		want []string
	}{
		{"full", change(nil), []string{"19 × hockey-stick", "66 shuffled reports at epsilon 0.58, mode exact"}},
		{"no momentum", change(func(c *PSGM) {
			c.Momentum, c.DifferenceClip = 1, 0
		}), []string{"10 × hockey-stick", "66 shuffled"}},
		{"another mode", change(func(c *PSGM) { c.Account = Account(amplification.Ternary) }),
			[]string{"9 × Rényi", "66 shuffled reports at epsilon 0.58, mode ternary"}},
		{"batches", change(func(c *PSGM) { c.Batch = []int{4} }),
			[]string{"(1 × Rényi", "66 shuffled", ", 9 × Rényi",
				"2 × 16 shuffled reports at epsilon 0.58, mode ternary, batches of 0.25"}},
		{"unequal silos", change(func(c *PSGM) { c.Batch, c.Silos = []int{4}, []int{20, 8, 20, 18} }),
			[]string{"2 × 16 shuffled", "batches of 0.5"}},
		{"drop-outs", change(func(c *PSGM) { c.Missing = 6 }),
			[]string{"19 × hockey-stick", "60 shuffled"}},
		{"drop-outs and colluders", change(func(c *PSGM) { c.Missing, c.Colluding = 6, 10 }),
			[]string{"19 × hockey-stick", "50 shuffled"}},
		{"local", change(func(c *PSGM) { c.Local = Local{Steps: 4, Batch: 2, Clip: 1, Noise: 5} }),
			[]string{"(19 × Rényi", ", 9 × Rényi", "a local step, noise 5, batch 2 of 16"}},
		{"unshuffled", change(func(c *PSGM) { c.Account = Unshuffled }),
			[]string{"19 × randomised response at epsilon 0.58"}},
	} {
		text := c.p.Price().Event.(interface{ String() string }).String()
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %s lacks %q", c.name, text, w)
			}
		}
	}
	// The shuffler cannot see who works with the server: it waits for all but the drop-outs.
	if all, least := change(func(c *PSGM) { c.Missing, c.Colluding = 6, 10 }).Expected(0); all != 66 ||
		least != 60 {
		t.Errorf("%d reports, at least %d", all, least)
	}
	if got := change(nil).Reports(); got != 66+9*2*66 {
		t.Errorf("%d reports", got)
	}
}

// A promise grows where there are fewer reports, more rounds, larger batches, or a local phase.
func TestPricesOrder(t *testing.T) {
	raced.Sequential(t)
	eps := func(f func(*PSGM)) float64 {
		return networkPlan(t, 400, 10, func(c *PSGM) {
			c.Account = ""
			f(c)
		}).Price().Cost.Epsilon
	}
	base := eps(func(*PSGM) {})
	for name, worse := range map[string]float64{
		"more rounds": eps(func(c *PSGM) { c.Rounds = 20 }), "fewer reports": eps(
			func(c *PSGM) { c.Missing = 100 }), "a larger eps0": eps(func(c *PSGM) { c.Epsilon = 0.7 }),
		"a local phase": eps(func(c *PSGM) {
			c.Local = Local{Steps: 3, Batch: 10, Clip: 1, Noise: 2}
		}), "no shuffler": eps(func(c *PSGM) { c.Account = Unshuffled }),
	} {
		if !(worse > base*1.01) {
			t.Errorf("%s: %g, and %g without", name, worse, base)
		}
	}
	if batch := eps(func(c *PSGM) { c.FirstBatch, c.Batch = []int{10}, []int{10} }); !(batch < base) {
		t.Errorf("batches cost %g, all records %g", batch, base)
	}
}

// The local phase and the server share a target.
func TestLocalPhaseIsPaidFor(t *testing.T) {
	raced.Sequential(t)
	p := networkPlan(t, 2000, 12, func(c *PSGM) {
		c.Epsilon, c.Account = 0, ""
		c.Local = Local{Steps: 4, Batch: 40, Clip: 1}
	})
	with := p.Price().Cost.Epsilon
	without := networkPlan(t, 2000, 12, func(c *PSGM) {
		c.Epsilon, c.Account = p.LocalEpsilon(), ""
	}).Price().Cost.Epsilon
	if with > 1 || with < 0.995 || p.sigma <= 0 || without > 0.85 || without < 0.55 {
		t.Errorf("eps = %g, of which the server has %g; sigma = %g", with, without, p.sigma)
	}
	c := Central{Setting: Setting{Loss: loss.LeastSquares{}, Silos: []int{100, 100}, Rounds: 10,
		StepSize: 0.1, GradientClip: 1, DifferenceClip: 1, Target: target,
		Local: Local{Steps: 3, Batch: 10, Clip: 1}}, Period: 5}
	q := must.Get(c.New(200, 3))(t)
	if got := q.Price(); got.Method != "diff2-bvr-lsgd" || got.Cost.Epsilon > 1 ||
		got.Cost.Epsilon < 0.995 || q.sigma <= 0 {
		t.Errorf("%s costs %v", got.Method, got.Cost)
	}
}

// The trusted server's noise: what the source prints costs no more than it says, and what is
// calibrated is less; the deviations stand for the printed s_1 and s_2.
func TestTrustedServer(t *testing.T) {
	const n, rounds = 1000, 40
	plan := func(period int, noise train.Noise) *Plan {
		c := Central{Setting: Setting{Loss: loss.LeastSquares{}, Silos: []int{600, 400}, Rounds: rounds,
			StepSize: 0.1, GradientClip: 2, Target: target}, Period: period, Noise: noise}
		if period > 1 {
			c.DifferenceClip = 3
		}
		return must.Get(c.New(n, 3))(t)
	}
	alpha := 1 + math.Ceil(2*math.Log(1e5)/1)
	for _, c := range []struct {
		period           int
		s1, s2, u, share float64
	}{{1, 4 * alpha * rounds / (n * n), 0, 0, 0},
		{10, 4 * 1.25 * alpha * rounds / (10 * n * n), 4 * 1.25 / 0.25 * alpha * rounds / (n * n), 0,
			0}} {
		printed, calibrated := plan(c.period, train.Printed), plan(c.period, train.Calibrated)
		must.Near(t, "s1", printed.deviation(gradients, 1, n), math.Sqrt(c.s1), 1e-9)
		must.Near(t, "s2", printed.deviation(differences, 1, n), math.Sqrt(c.s2), 1e-9)
		if eps := printed.Price().Cost.Epsilon; !(eps < 1) {
			t.Errorf("period %d: the printed noise costs %g", c.period, eps)
		}
		if eps := calibrated.Price().Cost.Epsilon; eps != 1 ||
			!(calibrated.deviation(gradients, 1, n) < printed.deviation(gradients, 1, n)) {
			t.Errorf("period %d: the calibrated noise costs %g", c.period, eps)
		}
	}
	// The noise that is added is the noise that is priced: 400 means of zero vectors in 50 dimensions.
	zeros := must.Get(data.NewRecords(10, 50, make([]float64, 500), nil))(t)
	c := Central{Setting: Setting{Loss: loss.MeanEstimation{}, Silos: []int{10}, Rounds: 400,
		StepSize: 1e-30, GradientClip: 2, Target: target}}
	p := must.Get(c.New(10, 50))(t)
	_, v := trace(t, p, zeros, 1)
	square := 0.0
	for _, g := range v {
		for _, x := range g {
			square += x * x / (400 * 50)
		}
	}
	// deviation 1/√40000 = 0.5 %
	must.Near(t, "deviation of a mean", math.Sqrt(square), p.Price().Blocks[0].Deviation, 0.02)
	must.Near(t, "its multiplier", p.Price().Blocks[0].Multiplier(),
		must.Get(train.NoiseFor(target))(t)*math.Sqrt(400), 1e-9)
}

// Every parameter out of range is refused by name.
func TestRefusedParameters(t *testing.T) {
	good := PSGM{Setting: Setting{Loss: loss.Logistic{}, Silos: []int{5, 7}, Rounds: 4, StepSize: 0.1,
		GradientClip: 1, DifferenceClip: 1, Target: target}, Momentum: 0.5, Epsilon: 1,
		Account: Unshuffled}
	if _, err := good.New(12, 3); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*PSGM){
		"task = none":                func(c *PSGM) { c.Loss = nil },
		"silos = 0":                  func(c *PSGM) { c.Silos = nil },
		"records of silo 2 = 0":      func(c *PSGM) { c.Silos = []int{12, 0} },
		"number of records = 12":     func(c *PSGM) { c.Silos = []int{5, 6} },
		"rounds = 0":                 func(c *PSGM) { c.Rounds = 0 },
		"step size = NaN":            func(c *PSGM) { c.StepSize = math.NaN() },
		"gradient clip = 0":          func(c *PSGM) { c.GradientClip = 0 },
		"difference clip = 0":        func(c *PSGM) { c.DifferenceClip = 0 },
		"difference clip = 1":        func(c *PSGM) { c.Momentum = 1 },
		"momentum = 0":               func(c *PSGM) { c.Momentum = 0 },
		"momentum = 1.5":             func(c *PSGM) { c.Momentum, c.DifferenceClip = 1.5, 0 },
		"numbers of batch = 3":       func(c *PSGM) { c.Batch = []int{1, 2, 3} },
		"batch of silo 2 = 8":        func(c *PSGM) { c.Batch = []int{5, 8} },
		"step size = 0":              func(c *PSGM) { c.StepSize, c.Momentum, c.DifferenceClip = 0, 1, 0 },
		"batch of silo 1 = 6":        func(c *PSGM) { c.Batch = []int{6} },
		"first batch of silo 1 = -1": func(c *PSGM) { c.FirstBatch = []int{-1} },
		"missing reports = 12":       func(c *PSGM) { c.Missing = 12 },
		"colluding reports = 4":      func(c *PSGM) { c.Missing, c.Colluding = 8, 4 },
		"local steps = 0":            func(c *PSGM) { c.Local.Clip = 1 },
		"local batch = 0":            func(c *PSGM) { c.Local.Steps = 2 },
		"local batch = 6":            func(c *PSGM) { c.Local = Local{Steps: 2, Batch: 6, Clip: 1} },
		"local clip = 0":             func(c *PSGM) { c.Local = Local{Steps: 2, Batch: 5} },
		"local noise = -1": func(c *PSGM) {
			c.Local = Local{Steps: 2, Batch: 5, Clip: 1, Noise: -1}
		},
		"local phase: epsilon 7.07": func(c *PSGM) {
			c.Local, c.Target.Epsilon = Local{Steps: 2, Batch: 5, Clip: 1}, 1e-12
		},
		"target epsilon = 0":      func(c *PSGM) { c.Epsilon, c.Target.Epsilon = 0, 0 },
		"target delta = 1":        func(c *PSGM) { c.Target.Delta = 1 },
		"local epsilon = -1":      func(c *PSGM) { c.Epsilon = -1 },
		"account = \"guess\"":     func(c *PSGM) { c.Account = "guess" },
		"randomizer = \"pigeon\"": func(c *PSGM) { c.Randomizer = "pigeon" },
		"output = \"best\"":       func(c *PSGM) { c.Output = "best" },
		"dimension of the start":  func(c *PSGM) { c.Start = []float64{1} },
		"start = +Inf":            func(c *PSGM) { c.Start = []float64{1, math.Inf(1), 0} },
		"workers = -1":            func(c *PSGM) { c.Workers = -1 },
		"it needs a local epsilon": func(c *PSGM) {
			c.Account, c.Epsilon = Account(amplification.Paper),
				0.5
		},
		"is not proved": func(c *PSGM) { c.Account = Account(amplification.Numeric) },
	} {
		c := good
		change(&c)
		if _, err := c.New(12, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p := must.Get(good.New(12, 3))(t)
	if _, err := p.Train(noisyRecords(t, 12, 3)); err == nil ||
		!strings.Contains(err.Error(), "record 1") {
		t.Errorf("responses that are no labels: %v", err)
	}
	if _, err := p.Train(noisyRecords(t, 11, 3)); err == nil ||
		!strings.Contains(err.Error(), "number of records = 11") {
		t.Errorf("a record too few: %v", err)
	}
	if _, err := p.Train(noisyRecords(t, 12, 2)); err == nil ||
		!strings.Contains(err.Error(), "number of features = 2") {
		t.Errorf("a feature too few: %v", err)
	}
	if _, err := p.NewSilo(2, noisyRecords(t, 12, 3), seeded(1)); err == nil {
		t.Error("there is a third silo")
	}
}

// The rows beside a price: the one in use has it, no shuffler costs most, published constants prove
// nothing here and say so; the printed noise of a trusted server is more than what is needed.
func TestCompare(t *testing.T) {
	p := networkPlan(t, 400, 10, func(c *PSGM) { c.Account = "" })
	rows := must.Get(p.Compare())(t)
	if len(rows) != 6 || !rows[0].InUse || math.Abs(rows[0].Epsilon-p.Price().Cost.Epsilon) > 1e-6 {
		t.Fatalf("%+v, the price is %v", rows, p.Price().Cost)
	}
	best, divergences, classical := rows[0].Epsilon, rows[1].Epsilon, rows[2].Epsilon
	if !(best < 0.95*divergences && divergences < classical && classical < rows[5].Epsilon) ||
		rows[1].InUse || !math.IsInf(rows[4].Epsilon, 1) ||
		!strings.Contains(rows[4].Reading, "local epsilon of 1") {
		t.Errorf("%+v", rows)
	}
	local := networkPlan(t, 400, 10, func(c *PSGM) {
		c.Account, c.Local = "", Local{Steps: 3, Batch: 10, Clip: 1, Noise: 2}
	})
	for i, row := range must.Get(local.Compare())(t) {
		if row.InUse != (i == 0) || row.InUse && math.Abs(row.Epsilon-local.Price().Cost.Epsilon) > 1e-6 {
			t.Errorf("a local phase, row %d: %+v, the price is %v", i, row, local.Price().Cost)
		}
	}
	c := Central{Setting: Setting{Loss: must.Get(loss.NewNetwork(2))(t), StartSeed: 3,
		Silos: []int{100}, Rounds: 10, StepSize: 0.1, GradientClip: 1, Target: target}}
	q := must.Get(c.New(100, 3))(t)
	if rows := must.Get(q.Compare())(t); len(rows) != 2 || !rows[0].InUse || rows[1].InUse ||
		!(rows[1].Deviation > rows[0].Deviation) || !(rows[1].Epsilon < 1) {
		t.Errorf("%+v", rows)
	}
	if _, err := p.Noiseless().Compare(); err == nil {
		t.Error("a run without a price is compared")
	}
}

// The name says which of the published methods it is: one communication or more a phase, all records or some.
func TestNames(t *testing.T) {
	for want, change := range map[string]func(*PSGM){
		"mb-psgm-fg": nil,
		"ce-psgm-fg": func(c *PSGM) { c.Local = Local{Steps: 2, Batch: 10, Clip: 1, Noise: 2} },
		"mb-psgm":    func(c *PSGM) { c.Batch = []int{5} },
		"ce-psgm": func(c *PSGM) {
			c.FirstBatch, c.Local = []int{5}, Local{Steps: 2, Batch: 10, Clip: 1, Noise: 2}
		},
	} {
		if got := networkPlan(t, 64, 3, change).Price().Method; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Start is x_0. Without it x_0 is a draw from the seed where the loss draws its start, else 0.
func TestStart(t *testing.T) {
	start := func(change func(*PSGM)) []float64 {
		return must.Get(networkPlan(t, 40, 1, change).Train(noisyRecords(t, 40, 8)))(t).Start(
			seeded(1)).Output()
	}
	first, other := start(nil), start(func(c *PSGM) { c.StartSeed = 1 })
	for j, v := range first {
		if v == 0 || v == other[j] || math.Abs(v) > 1/math.Sqrt(8) { // of the larger fan-in, 1/√10
			t.Fatalf("weight %d starts at %g, and %g by another seed", j, v, other[j])
		}
	}
	stated := make([]float64, 101)
	stated[7] = 3
	if got := start(func(c *PSGM) { c.Start = stated }); got[7] != 3 || got[8] != 0 {
		t.Errorf("starts at %v", got[:9])
	}
	for _, v := range toyPlan(t, 1, 1, false).start {
		if v != 5 {
			t.Errorf("starts at %g", v)
		}
	}
}

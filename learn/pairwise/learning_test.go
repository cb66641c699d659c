package pairwise

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// diabetes are two Gaussian classes of the size and AUC of the diabetes data, split into 614
// records to learn from and 154 to test on, as the source does; features scaled to about [-1, 1].
func diabetes(t testing.TB, seed uint64) (own, test *data.Records) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 99))
	x, y := make([]float64, 0, 768*8), make([]float64, 768)
	for i := range y {
		shift := -1.354993 / 2
		if rng.Float64() < .349 {
			y[i], shift = 1, -shift
		}
		for j := range 8 {
			v := rng.NormFloat64()
			if j == 0 {
				v += shift
			}
			x = append(x, v/3)
		}
	}
	split := func(from, to int) *data.Records {
		return must.Get(data.NewRecords(to-from, 8, x[from*8:to*8], y[from:to]))(t)
	}
	return split(0, 614), split(614, 768)
}

// Acceptance 6 to 9 and 11, on the stand-in: Algorithm 1 with each loss and orientation, its peers,
// and the buffers of one example, which do worse. Seeds are fixed; the intervals are of the
// source's size, 25 shuffles with a standard deviation of .035 or so.
func TestLearning(t *testing.T) {
	const shuffles = 10
	run := func(m Method) (mean, std float64) {
		t.Helper()
		var v []float64
		for seed := range uint64(shuffles) {
			own, test := diabetes(t, seed)
			v = append(v, auc(test, traintest.Simulate(t,
				traintest.Trained(t, plan(t, m, own.Len(), 8), own), seed)))
		}
		return meanStd(v)
	}
	with := func(name string) Setting { return Setting{Base: Base{Loss: pair(t, name)}, Ball: 10} }
	hinge, std := run(SGD{Setting: with("hinge"), Schedule: Schedule{StepSize: .1}})
	t.Logf("hinge: %.4f ± %.4f", hinge, std)
	if hinge < .79 || hinge > .87 || std > .06 {
		t.Errorf("hinge: %.4f ± %.4f", hinge, std)
	}
	for name, c := range map[string]struct {
		m           Method
		least, most float64 // over the hinge's
	}{
		"ordered": {SGD{Setting: with("hinge:ordered"), Schedule: Schedule{StepSize: .1}}, -.01,
			.01},
		"logistic": {SGD{Setting: with("logistic"), Schedule: Schedule{StepSize: .1}}, -.01, .01},
		"square":   {SGD{Setting: with("square"), Schedule: Schedule{StepSize: .01}}, -.01, .01},
		"loglink":  {SGD{Setting: with("loglink"), Schedule: Schedule{StepSize: 1}}, -.01, .01},
		"fresh": {SGD{Setting: with("hinge"), Schedule: Schedule{StepSize: .1}, Sampling: Fresh},
			-.01, .01},
		"lagged": {SGD{Setting: with("hinge"), Schedule: Schedule{StepSize: .1}, Output: Lagged},
			-.01, .01},
		"olp": {OLP{Setting: with("hinge"), Schedule: Schedule{StepSize: 10, Decay: Root},
			Passes: 2}, -.02, .02},
		"olp of one": {OLP{Setting: with("hinge"), Schedule: Schedule{StepSize: 10, Decay: Root},
			Buffer: 1}, -1, -.02},
		"oam":        {OAM{Setting: with("hinge"), Weight: .001, Passes: 1}, -.02, .02},
		"oam of one": {OAM{Setting: with("hinge"), Weight: .01, Buffer: 1}, -1, -.04},
		"spauc": {SPAUC{Setting: with("square"), Schedule: Schedule{StepSize: .1, Decay: Root}},
			-.015, .015},
		"localized-sgd": {LocalizedSGD{Setting: Setting{Base: Base{Loss: pair(t, "hinge"), Radius: 2},
			Ball: 10}}, -.05, .02},
	} {
		got, std := run(c.m)
		t.Logf("%s: %.4f ± %.4f", name, got, std)
		if got-hinge < c.least || got-hinge > c.most {
			t.Errorf("%s: %.4f, the hinge %.4f", name, got, hinge)
		}
	}
	// Not convex, and F_S falls all the same.
	own, _ := diabetes(t, 1)
	l := pair(t, "loglink")
	start := Risk(l, own, make([]float64, 8))
	end := Risk(l, own, traintest.Simulate(t, traintest.Trained(t,
		plan(t, SGD{Setting: with("loglink"), Schedule: Schedule{StepSize: 1}}, own.Len(), 8), own), 1))
	if end > .75*start {
		t.Errorf("loglink: F_S falls from %g to %g only", start, end)
	}
}

// Acceptance 14: with the source's noise for its n = 256 the model is near chance, so that the
// published figures are not to be claimed; and what is certified here does not get there either.
func TestHonestNegative(t *testing.T) {
	s := setting(t)
	s.Target.Epsilon, s.Ball = 2, 0
	quiet := phasedPlan(t, Localized{Setting: s, StepSize: 1, Rule: Paper, Noise: train.Printed}, 256,
		8)
	p := quiet.Plan()
	var private, silentRuns []float64
	for seed := range uint64(25) {
		own, test := diabetes(t, seed)
		own, err := own.Head(256)
		if err != nil {
			t.Fatal(err)
		}
		a := traintest.Trained(t, p, own)
		private = append(private, auc(test, traintest.Simulate(t, a, seed)))
		run := newPhasedRun(quiet, own.Shortened(1), seededCoins(seed))
		run.noise = traintest.Silent{}
		for k := range quiet.price.Blocks {
			if err := run.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		silentRuns = append(silentRuns, auc(test, run.w))
	}
	noised, _ := meanStd(private)
	without, _ := meanStd(silentRuns)
	if noised > .60 || without < .78 {
		t.Errorf("AUC %.3f with the source's noise, %.3f without", noised, without)
	}
}

// Acceptance 13, task Q2: what privacy costs with 16384 records. DARRM_LONG=1 has the 20 seeds and
// 65536 records of the specification.
func TestPrivateUtility(t *testing.T) {
	seeds, sizes := uint64(4), []int{16384}
	if os.Getenv("DARRM_LONG") != "" {
		seeds, sizes = 20, []int{16384, 65536}
	}
	scale := 1 / (math.Sqrt(5) + 2.5)
	test := gaussians(t, rand.New(rand.NewPCG(1, 1)), 20_000, 5, 1, .5, scale)
	for _, n := range sizes {
		for _, c := range []struct {
			name  string
			eps   float64
			m     func(s Setting) Method
			least float64
		}{
			{"one-pass", 1, func(s Setting) Method { return OnePass{s, 4} }, .81},
			{"one-pass", 4, func(s Setting) Method { return OnePass{s, 4} }, .90},
			{"cyclic", 1, func(s Setting) Method { return Cyclic{s, 4, 4} }, .81},
			{"localized", 4, func(s Setting) Method { return Localized{Setting: s, StepSize: 4} }, .88},
			{"localized, exact", 16, func(s Setting) Method {
				return Localized{Setting: s, StepSize: 4, Rule: Exact}
			}, .84},
		} {
			s := setting(t)
			s.Ball, s.Target = 0, accountant.Cost{Epsilon: c.eps, Delta: 1 / float64(n)}
			p := plan(t, c.m(s), n, 5)
			var v []float64
			for seed := range seeds {
				r := gaussians(t, rand.New(rand.NewPCG(seed, 2)), n, 5, 1, .5, scale)
				v = append(v, auc(test, traintest.Simulate(t, traintest.Trained(t, p, r), seed)))
			}
			mean, std := meanStd(v)
			t.Logf("n = %d, epsilon = %g, %s: %.4f ± %.4f", n, c.eps, c.name, mean, std)
			if mean < c.least {
				t.Errorf("n = %d, epsilon = %g, %s: %.4f ± %.4f, at least %g is expected", n, c.eps, c.name,
					mean, std, c.least)
			}
		}
	}
}

// With the default step sizes 2048 records are nearly enough at ε = 1, of a best AUC of .9214; and
// the order is that of the noise per step. Runs have a standard deviation of .011, .003 and .001,
// so that means of 6 are 5 standard errors and more from where the test would fail; seeds are fixed
// besides.
func TestDefaultsLearn(t *testing.T) {
	const n = 2048
	scale := 1 / (math.Sqrt(5) + 2.5)
	test := gaussians(t, rand.New(rand.NewPCG(1, 1)), 10_000, 5, 1, .5, scale)
	s := setting(t)
	s.Ball, s.Target = 1, accountant.Cost{Epsilon: 1, Delta: 1. / n}
	hinge := s
	hinge.Loss = pair(t, "hinge")
	before := .88
	for _, c := range []struct {
		m     Method
		seeds uint64
	}{{OnePass{Setting: s}, 6}, {Cyclic{Setting: s}, 6}, {Minimised{Setting: hinge}, 1}} {
		p := plan(t, c.m, n, 5)
		mean := 0.0
		for seed := range c.seeds {
			r := gaussians(t, rand.New(rand.NewPCG(seed, 2)), n, 5, 1, .5, scale)
			mean += auc(test, traintest.Simulate(t, traintest.Trained(t, p, r), seed)) / float64(c.seeds)
		}
		t.Logf("%T: %.4f", c.m, mean)
		if mean < before {
			t.Errorf("%T: %.4f, at least %.4f is expected", c.m, mean, before)
		}
		before = mean
	}
}

// A method is priced by Rényi divergences, unless ByLosses says that it is not.
func TestByLossesNamesWhatHasNoDivergences(t *testing.T) {
	s := setting(t)
	for _, name := range Methods() {
		if !Private(name) {
			continue
		}
		price := plan(t, must.Get(New(name, Options{Setting: s}))(t), 40, 3).Price
		_, err := train.LeastEpsilon(price.Event, price.Relation, s.Target.Delta, accountant.MethodRDP)
		if (err != nil) != ByLosses(name) {
			t.Errorf("%s: %v, but ByLosses = %v", name, err, ByLosses(name))
		}
	}
}

package convex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// methods are small plans of every method here, for 60 records of 3 features.
func methods(t *testing.T) map[string]Plan {
	t.Helper()
	s := setting()
	s.Loss = loss.Logistic{}
	plans := map[string]Plan{}
	for name, method := range map[string]Method{
		"phased":       PhasedSGD{Setting: s, Ball: 1},
		"phased, free": PhasedSGD{Setting: s, Noise: Printed, Oracle: Bisection},
		"proximal":     ProximallyGuided{Setting: s, Ball: 1, WeakConvexity: 1, Rounds: 5, Steps: 4},
		"dp-sgd":       DPSGD{Setting: s, Ball: 1, Rate: 0.3, Steps: 6, Average: true},
		"output":       OutputPerturbation{Setting: s, Ball: 1},
		"objective":    ObjectivePerturbation{Setting: s, Lambda: 1},
		"statistics":   SufficientStatistics{Setting: s},
		"frank-wolfe":  FrankWolfe{Setting: s, Set: l1(t, 3, 1), Steps: 9},
		"frank-wolfe, list": FrankWolfe{Setting: s,
			Set: hull(2, [][]float64{{1, 0, 0}, {0, 1, 1}, {-1, -1, 0}, {0.5, 0, -1}}), Steps: 9,
			Noise: Printed},
		"poly-sfw": PolySFW{Setting: s, Set: l1(t, 3, 1),
			Batches: Batches{Rounds: 3, FullBudget: true}},
		"nsfw": NSFW{Setting: s, Set: lp(t, 3, 1.5, 1),
			Batches: Batches{Rounds: 3, FullBudget: true}},
	} {
		p, err := method.Plan(60, 3)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plans[name] = p
	}
	return plans
}

// Package train requires of an Algorithm: a run that goes on from a checkpoint after any round is
// the same run, other data have another digest, a release costs the price, and a release runs.
func TestMethodsAreAlgorithms(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(21, 22))
	r, other := leaning(t, rng, 60, 3), leaning(t, rng, 60, 3)
	for name, p := range methods(t) {
		a := traintest.Trained(t, p, r)
		if a.Digest == traintest.Trained(t, p, other).Digest ||
			a.Digest != traintest.Trained(t, p, r).Digest {
			t.Errorf("%s: the digest does not tell the data", name)
		}
		// vertices have no noise of their own
		if a.Cost != p.Price.Cost || a.Cost.Epsilon > 1 ||
			!(a.NoiseScale > 0 || a.NoiseScale == 0 && p.Price.Bound != accountant.MethodGaussian) {
			t.Errorf("%s: cost %v, price %v, noise %v", name, a.Cost, p.Price.Cost, a.NoiseScale)
		}
		best, err := train.LeastEpsilon(p.Price.Event, p.Price.Relation, 1e-6, p.Price.Bound)
		if err != nil || best.Cost.Epsilon > p.Price.Cost.Epsilon*(1+1e-9) {
			t.Errorf("%s: its event costs %v, the price is %v (%v)", name, best.Cost, p.Price.Cost, err)
		}
		want := traintest.Simulate(t, a, 7)
		if slices.Equal(want, traintest.Simulate(t, a, 8)) {
			t.Errorf("%s: two seeds give one model", name)
		}
		traintest.Resumes(t, name, a, 7, want)
		release, err := train.NewRelease(a)
		if err != nil {
			t.Fatal(name, err)
		}
		if model, err := release.Run(t.Context(), nil); err != nil || len(model) != 3 {
			t.Error(name, model, err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := train.Simulate(a, 7).Run(cancelled, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: not cancelled: %v", name, err)
		}
		// A price is a copy: what is written to it changes no run.
		p.Price.Blocks[0].Deviation, p.Price.Cost.Epsilon = 0, 0
		if again := traintest.Trained(t, p, r); again.Digest != a.Digest || again.Cost != a.Cost ||
			!slices.Equal(want, traintest.Simulate(t, again, 7)) {
			t.Errorf("%s: the plan can be changed", name)
		}
	}
}

// witness notes which streams a run asks for.
type witness struct {
	normals
	asked map[string]int
}

func (w *witness) Restart(purpose string, round int) {
	w.asked[fmt.Sprint(purpose, " ", round)]++
	w.normals.Restart(purpose, round)
}

// Every round draws its noise from a stream of its own, once: noise that comes again can be
// subtracted.
func TestNoiseIsFresh(t *testing.T) {
	raced.Sequential(t)
	r := leaning(t, rand.New(rand.NewPCG(25, 26)), 60, 3)
	for name, p := range methods(t) {
		a := traintest.Trained(t, p, r)
		run := a.Start(stream.Seeded(1))
		w := &witness{asked: map[string]int{}}
		switch e := run.(type) {
		case *phasedRun:
			w.normals, e.noise = e.noise, w
		case *proximalRun:
			w.normals, e.noise = e.noise, w
		case *sampledRun:
			w.normals, e.noise = e.noise, w
		case *minimisedRun:
			w.normals, e.noise = e.noise, w
		default: // its noise is not normal, or drawn behind a function
			continue
		}
		rounds(t, run, a.Rounds)
		if len(w.asked) < a.Rounds {
			t.Errorf("%s: %d streams in %d rounds", name, len(w.asked), a.Rounds)
		}
		for s, times := range w.asked {
			if times != 1 {
				t.Errorf("%s: the stream %q is taken %d times", name, s, times)
			}
		}
	}
}

// At a stationary point of the ball's mean loss the gap is 0, elsewhere it is above.
func TestGap(t *testing.T) {
	r := leaning(t, rand.New(rand.NewPCG(23, 24)), 200, 3)
	ball, err := geometry.NewLpBall(3, 2, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	best, err := train.Problem{Loss: loss.Logistic{}, Regularizer: geometry.Ball{Radius: 0.5},
		Records: r}.Optimum()
	if err != nil {
		t.Fatal(err)
	}
	if gap := Gap(loss.Logistic{}, r, best.X, ball); !(gap > -1e-12 && gap < 1e-8) {
		t.Error("gap at the optimum:", gap)
	}
	if gap := Gap(loss.Logistic{}, r, []float64{0, 0, 0}, ball); gap < 0.01 {
		t.Error("gap at 0:", gap)
	}
	if near := NearStationarity(loss.Logistic{}, r, best.X, 4, lp(t, len(best.X), 2, 0.5), 2000); near > 0.02 {
		t.Error("the optimum is", near, "from its proximal point")
	}
}

// Over random settings: a plan's blocks are disjoint and within the records, its cost is at most
// the target, and so is that of its event; or it is refused by a rule.
func TestPlansKeepTheirTargets(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(27, 28))
	planned := 0
	for range 8 {
		n, d := 1+int(math.Exp(rng.Float64()*14)), 1+rng.IntN(100)
		s := Setting{
			Loss: loss.LeastSquares{}, Clip: math.Exp(6*rng.Float64() - 3),
			Radius: math.Exp(6*rng.Float64() - 3),
			Target: accountant.Cost{Epsilon: math.Exp(4*rng.Float64() - 3),
				Delta: math.Exp(-2 - 20*rng.Float64())},
		}
		ball := math.Exp(6*rng.Float64() - 3)
		for _, m := range []Method{
			PhasedSGD{Setting: s, Ball: ball}, PhasedSGD{Setting: s, Oracle: Bisection},
			ProximallyGuided{Setting: s, Ball: ball, Norm: 1.1 + 0.9*rng.Float64(),
				WeakConvexity: rng.Float64(), Rounds: 1 + rng.IntN(n), Steps: 1 + rng.IntN(50)},
			OutputPerturbation{Setting: s, Ball: ball}, ObjectivePerturbation{Setting: s, Ball: ball},
		} {
			p, err := m.Plan(n, d)
			var rule *check.Error
			if errors.As(err, &rule) {
				continue
			}
			if err != nil {
				t.Fatalf("%T %+v, n = %d, d = %d: %v", m, s, n, d, err)
			}
			planned++
			price := p.Price
			best, err := train.LeastEpsilon(price.Event, price.Relation, s.Target.Delta, price.Bound)
			if err != nil || price.Cost.Epsilon > s.Target.Epsilon || best.Cost.Epsilon > s.Target.Epsilon ||
				price.Cost.Delta > s.Target.Delta {
				t.Errorf("%s %+v, n = %d, d = %d: price %v, event %v (%v)", price.Method, s, n, d, price.Cost,
					best.Cost, err)
			}
			end := 0
			for _, b := range price.Blocks {
				if b.From < end && price.Method != "objective-perturbation" || b.To <= b.From || b.To > n ||
					!(b.Deviation > 0) || math.IsInf(b.Deviation, 1) {
					t.Errorf("%s, n = %d: block %+v after record %d", price.Method, n, b, end)
				}
				end = b.To
			}
		}
	}
	if planned < 25 {
		t.Errorf("%d of 40 plans", planned)
	}
}

// Radii, clips and sets are of sizes at which every record is shortened, whatever its values. At
// these sizes no record can end a run: a failure would reveal it.
func TestScalesAtWhichNoRecordEndsARun(t *testing.T) {
	set := func(radius float64) geometry.Polytope {
		return must.Get(geometry.NewL1Ball(2, radius))(t)
	}
	s := setting()
	s.Loss = loss.Logistic{}
	s.Target = accountant.Cost{Epsilon: 20, Delta: 1e-3}
	type methods struct {
		name string
		of   func(s Setting, radius float64) Method
	}
	all := []methods{
		{"phased-sgd", func(s Setting, r float64) Method { return PhasedSGD{Setting: s, Ball: r} }},
		{"frank-wolfe", func(s Setting, r float64) Method {
			return FrankWolfe{Setting: s, Set: set(r), Steps: 100}
		}},
		{"poly-sfw", func(s Setting, r float64) Method {
			return PolySFW{Setting: s, Set: set(r), Batches: Batches{Rounds: 2, FullBudget: true}}
		}},
		{"nsfw", func(s Setting, r float64) Method {
			ball, err := geometry.NewLpBall(2, 1.5, r)
			if err != nil {
				t.Fatal(err)
			}
			return NSFW{Setting: s, Set: ball, Batches: Batches{Rounds: 2, FullBudget: true}}
		}},
	}
	const n = 40
	for _, m := range all {
		for _, wrong := range []struct {
			name              string
			radius, clip, set float64
		}{
			{"radius", 1e31, 0, 1}, {"radius", 1e-31, 0, 1}, {"clip", 1, 1e31, 1}, {"clip", 1, 1e-31, 1},
			{"set", 1, 0, 1e31}, {"set", 1, 0, 1e-31},
		} {
			s := s
			s.Radius, s.Clip = wrong.radius, wrong.clip
			var rule *check.Error
			if _, err := m.of(s, wrong.set).Plan(n, 2); !errors.As(err, &rule) {
				t.Errorf("%s, %+v: %v", m.name, wrong, err)
			}
		}
		for _, scale := range []float64{1e-30, 1e30 / 2} {
			s := s
			s.Radius = scale
			plan, err := m.of(s, scale).Plan(n, 2)
			var rule *check.Error
			if err != nil {
				if !errors.As(err, &rule) {
					t.Errorf("%s at %g: %v", m.name, scale, err)
				}
				continue // of the plan, not of the records
			}
			for _, x := range []float64{0, 1e-200, 1e50} {
				rows, y := repeat(n, x, -x), make([]float64, n)
				if _, err := train.Simulate(traintest.Trained(t, plan, records(t, rows, y)), 1).Run(t.Context(),
					nil); err != nil {
					t.Errorf("%s at %g with features %g: %v", m.name, scale, x, err)
				}
			}
		}
	}
}

func TestDigestsStay(t *testing.T) {
	raced.Sequential(t)
	r := leaning(t, rand.New(rand.NewPCG(21, 22)), 60, 3)
	got := map[string]train.Algorithm{}
	for name, p := range methods(t) {
		got[name] = traintest.Trained(t, p, r)
	}
	traintest.Digests(t, got, map[string]string{
		"statistics":        "9e970f4fc39e4fc8",
		"dp-sgd":            "931c8bd57dfa2786",
		"frank-wolfe":       "c34d1396cd76abff",
		"frank-wolfe, list": "3be5a9046f990a1d",
		"nsfw":              "9916c3105da627ba",
		"objective":         "5cd9097b750b281c",
		"output":            "221f32fe43f7acf2",
		"phased":            "e92a2d29eb5bfbd5",
		"phased, free":      "b16df3d43184acd1",
		"poly-sfw":          "6194db89579b0d3f",
		"proximal":          "70ff4b2782f4655c",
	})
}

package shuffled

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// The audit: an adversary who knows all records but one guesses from the released model
// which of two values that one has. Its success bounds ε from below. The bound holds but
// with probability 2e-7 per case (Clopper and Pearson's interval, 1e-7 on each side), for
// a threshold that is chosen on other runs; seeds are fixed besides.

const auditLevel = 1e-7

// clopperPearson returns a lower and an upper confidence bound, each at auditLevel, on a
// probability after k of n.
func clopperPearson(k, n int) (lower, upper float64) {
	a, b := float64(k), float64(n-k)
	switch {
	case k == n:
		lower = math.Pow(auditLevel, 1/a)
	case k > 0:
		lower = mathext.InvRegIncBeta(a, b+1, auditLevel)
	}
	switch {
	case k == 0:
		upper = 1 - math.Pow(auditLevel, 1/b)
	case k < n:
		upper = 1 - mathext.InvRegIncBeta(b, a+1, auditLevel)
	default:
		upper = 1
	}
	return lower, upper
}

// attack returns a lower bound on ε at delta, from released values in the two worlds.
func attack(zero, one []float64, delta float64) float64 {
	half := len(zero) / 2
	count := func(v []float64, threshold float64) int {
		n := 0
		for _, x := range v {
			if x > threshold {
				n++
			}
		}
		return n
	}
	lowerBound := func(a, b []float64, threshold float64) float64 {
		hit, _ := clopperPearson(count(b, threshold), len(b))
		_, miss := clopperPearson(count(a, threshold), len(a))
		if hit <= delta {
			return 0
		}
		return math.Log((hit - delta) / miss)
	}
	// The threshold is chosen on the first halves, the bound computed on the second.
	all := slices.Concat(zero[:half], one[:half])
	slices.Sort(all)
	best, at := math.Inf(-1), 0.0
	for i := range 40 {
		threshold := all[(len(all)-1)*(i+1)/42]
		hit := float64(count(one[:half], threshold)) / float64(half)
		miss := (float64(count(zero[:half], threshold)) + 20) / float64(half)
		if v := (hit - delta) / miss; v > best {
			best, at = v, threshold
		}
	}
	return max(0, lowerBound(zero[half:], one[half:], at))
}

// world is a plan in which the record that differs has the value far, or -far.
func world(t *testing.T, c Config, n, differs int, others, far float64,
	public *data.Records) [2]*Plan {
	t.Helper()
	var plans [2]*Plan
	for w := range plans {
		v := make([]float64, n)
		for i := range v {
			v[i] = others
		}
		v[differs] = far * float64(2*w-1)
		plans[w] = plan(t, c, scalars(t, v...), public)
	}
	return plans
}

// outputs runs both worlds, with seeds of their own.
func outputs(t *testing.T, plans [2]*Plan, runs int,
	f func(p *Plan, seed uint64) float64) (zero, one []float64) {
	t.Helper()
	out := [2][]float64{}
	for w, p := range plans {
		for i := range runs {
			out[w] = append(out[w], f(p, uint64(2*i+w)))
		}
	}
	return out[0], out[1]
}

func lastIterate(t *testing.T) func(p *Plan, seed uint64) float64 {
	return func(p *Plan, seed uint64) float64 { return simulate(t, p, seed)[0] }
}

func auditRuns() int {
	if long() {
		return 40_000
	}
	return 2_000
}

// auditConfig is a small run whose worst record moves the model as far as the theory
// allows, or nearly.
func auditConfig(m Scheme, order iteration.SampleOrder, mode iteration.Mode) Config {
	c := config(m)
	c.Order, c.Mode, c.Clip, c.StepSize, c.Epochs = order, mode, 1, 0.5, 4
	c.Target = accountant.Cost{Epsilon: 2, Delta: 0.01}
	c.Radius = 0
	return c
}

func TestAuditStaysBelowClaim(t *testing.T) {
	raced.Sequential(t)
	const n = 6
	public := scalars(t, 50, 50, 50, 50, 50, 50)
	ig, so, rr := iteration.FixedOrder, iteration.ShuffledOnce, iteration.Reshuffled
	type audit struct {
		m     Scheme
		order iteration.SampleOrder
		mode  iteration.Mode
	}
	var cases []audit
	for _, m := range []Scheme{DPShuffleG, PrivPub, PubPriv, Interleaved} {
		for _, order := range []iteration.SampleOrder{ig, so, rr} {
			cases = append(cases, audit{m, order, iteration.Paper})
			cases = append(cases, audit{m, order, iteration.GaussianExact}, audit{m, order, iteration.Best})
		}
		cases = append(cases, audit{m, rr, iteration.RRMixture}, audit{m, so, iteration.SOMixture},
			audit{m, ig, iteration.CrossEpoch}, audit{m, so, iteration.CrossEpoch})
	}
	cases = append(cases, audit{DPSGD, ig, ""})
	for _, v := range cases {
		for _, conversion := range []iteration.Conversion{iteration.ConversionClassical,
			iteration.ConversionImproved} {
			if conversion == iteration.ConversionImproved &&
				(v.m == DPSGD || v.order != rr || v.mode == iteration.GaussianExact) {
				continue
			}
			c := auditConfig(v.m, v.order, v.mode)
			c.Conversion = conversion
			differs := n - 1
			if v.m == Interleaved {
				differs = n/2 - 1 // the last private step of IG
			}
			plans := world(t, c, n, differs, 0, 50, public)
			runs := auditRuns()
			if raced.Enabled {
				runs /= 8
			}
			zero, one := outputs(t, plans, runs, lastIterate(t))
			if low, claim := attack(zero, one, c.Target.Delta), plans[0].Cost().Epsilon; low > claim {
				t.Errorf("%+v, %s: epsilon is at least %g, the claim is %g", v, conversion, low, claim)
			}
		}
	}
}

// Where theory is tight the audit comes near it, so it has the power that it needs.
func TestAuditIsNearTightClaims(t *testing.T) {
	raced.Sequential(t)
	// n = 1, η = 1, one epoch: the Gaussian mechanism.
	c := auditConfig(DPShuffleG, iteration.FixedOrder, iteration.GaussianExact)
	c.Epochs, c.StepSize = 1, 1
	runs := 20 * auditRuns()
	zero, one := outputs(t, world(t, c, 1, 0, 0, 50, nil), runs, lastIterate(t))
	low := attack(zero, one, 0.01)
	if low > 2 || low < 1.3 {
		t.Errorf("at least %g of 2", low)
	}
}

// planted is a mistake: a plan whose figure was computed before it was changed, or
// another loop over its steps.
type planted struct {
	name   string
	config func() Config
	n      int
	others float64
	differ int
	public []float64
	times  int // more runs; 0 is 1
	break_ func(p *Plan)
	run    func(e *run) // nil: the plan's own
}

// noiseOncePerEpoch draws noise at the first step of an epoch only.
func noiseOncePerEpoch(e *run) {
	for k := range e.p.Rounds() {
		epoch := e.p.schedule.at(k)
		e.noise.Restart(streamNoise, k)
		e.order(k)
		for i := range epoch.Private {
			sigma := 0.0
			if i == 0 {
				sigma = epoch.Noise
			}
			e.step(e.p.private, e.perm[i], e.p.c.Clip, sigma)
		}
	}
}

func TestAuditCatchesPlantedMistakes(t *testing.T) {
	raced.Sequential(t)
	ig := iteration.FixedOrder
	one := func(mode iteration.Mode) func() Config {
		return func() Config {
			c := auditConfig(DPShuffleG, ig, mode)
			c.Epochs, c.StepSize = 1, 1
			return c
		}
	}
	interleaved := func() Config {
		c := auditConfig(Interleaved, ig, iteration.Paper)
		c.Epochs, c.Fraction, c.StepSize = 1, 0.1, 1
		return c
	}
	far := []float64{1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}
	for _, m := range []planted{
		{name: "noise once per epoch", config: one(iteration.Paper), n: 20, differ: 19,
			run: noiseOncePerEpoch},
		{name: "sigma halved", config: one(iteration.GaussianExact), n: 1, break_: func(p *Plan) {
			p.schedule = p.schedule.scaled(0.5)
		}},
		{name: "clipping off", config: one(iteration.Paper), n: 1,
			break_: func(p *Plan) { p.c.Clip = math.Inf(1) }},
		{name: "noiseless public steps in interleaved", config: interleaved, n: 10, public: far,
			break_: func(p *Plan) { p.schedule[0].PublicNoise = 0 }},
		{name: "step size above the cap, amplification kept", config: func() Config {
			c := interleaved()
			c.UnclippedPublic = true
			return c
		}, n: 13, public: make([]float64, 12), break_: func(p *Plan) { p.c.StepSize = 3 }},
		{name: "the under-noising constant", config: func() Config {
			c := one(iteration.Paper)()
			c.Target = accountant.Cost{Epsilon: 3, Delta: 0.9}
			return c
		}, n: 1, times: 20, break_: func(p *Plan) {
			p.schedule[0].Noise = 2 * math.Sqrt2 * math.Sqrt(-math.Log(0.9)) / 3
		}},
	} {
		measure := func(mutant bool) (low, claim float64) {
			var public *data.Records
			if m.public != nil {
				public = scalars(t, m.public...)
			}
			c := m.config()
			plans := world(t, c, m.n, m.differ, m.others, 1e6, public)
			claim = plans[0].Cost().Epsilon
			last := lastIterate(t)
			if mutant {
				for _, p := range plans {
					if m.break_ != nil {
						m.break_(p)
					}
				}
				if m.run != nil {
					last = func(p *Plan, seed uint64) float64 {
						e := p.start(stream.Seeded(seed)).(*run)
						m.run(e)
						return e.x[0]
					}
				}
			}
			zero, one := outputs(t, plans, 2*max(1, m.times)*auditRuns(), last)
			return attack(zero, one, c.Target.Delta), claim
		}
		if low, claim := measure(false); low > claim {
			t.Errorf("%s: without the mistake epsilon is at least %g, the claim is %g", m.name, low, claim)
		}
		if low, claim := measure(true); low <= claim {
			t.Errorf("%s: not caught: at least %g, the claim is %g", m.name, low, claim)
		} else {
			t.Logf("%s: epsilon is at least %.3g, the claim is %.3g", m.name, low, claim)
		}
	}
}

func TestClopperPearson(t *testing.T) {
	// The bounds solve P[X ≥ k | lower] = P[X ≤ k | upper] = level.
	const k, n = 7, 40
	lower, upper := clopperPearson(k, n)
	tail := func(p float64, from, to int) float64 {
		s := 0.0
		for i := from; i <= to; i++ {
			a, _ := math.Lgamma(n + 1)
			b, _ := math.Lgamma(float64(i + 1))
			c, _ := math.Lgamma(float64(n - i + 1))
			s += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return s
	}
	must.Near(t, "lower", tail(lower, k, n), auditLevel, 1e-6)
	must.Near(t, "upper", tail(upper, 0, k), auditLevel, 1e-6)
	if l, _ := clopperPearson(0, n); l != 0 {
		t.Error("lower bound of none")
	}
	if _, u := clopperPearson(n, n); u != 1 {
		t.Error("upper bound of all")
	}
}

package shuffled

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// The tests named TestAcceptanceNN are those of the specification of shuffled gradient
// methods with that number; 1 to 12 are in package accountant.

func TestAcceptance13WorkedIterates(t *testing.T) {
	noiseless := func(c Config) Config {
		c.Order = iteration.FixedOrder
		c.Clip = math.Inf(1)
		c.Method = ShuffleG
		return c
	}
	c := noiseless(config(ShuffleG))
	c.StepSize, c.Epochs = 0.1, 1
	p := plan(t, c, scalars(t, 1, 3), nil)
	must.Near(t, "after one epoch", simulate(t, p, 0)[0], 0.39, 1e-12)
	c.Epochs = 2
	p = plan(t, c, scalars(t, 1, 3), nil)
	must.Near(t, "after two epochs", simulate(t, p, 0)[0], 0.7059, 1e-12)
	c.Regularizer = geometry.Ball{Radius: 0.5}
	must.Near(t, "within the ball", simulate(t, plan(t, c, scalars(t, 1, 3), nil), 0)[0], 0.5, 1e-12)

	c.Regularizer = nil
	must.Near(t, "interleaved, one epoch", simulate(t,
		scheduled(t, c, Schedule{{Epochs: 1, Private: 1}}, scalars(t, 1, 3), scalars(t, 0)), 0)[0], 0.09,
		1e-12)
	must.Near(t, "interleaved", simulate(t, scheduled(t, c, Schedule{{Epochs: 2, Private: 1}},
		scalars(t, 1, 3), scalars(t, 0)), 0)[0], 0.1629, 1e-12)

	c = noiseless(config(ShuffleG))
	c.Epochs, c.Task, c.StepSize, c.Regularizer = 1, loss.LeastSquares{}, 0.05,
		geometry.L2{Lambda: 0.1}
	must.Near(t, "ridge", simulate(t, plan(t, c, records(t, [][]float64{{2}}, []float64{1}), nil),
		0)[0], 0.2/1.005, 1e-12)
	c.Task, c.StepSize, c.Regularizer = loss.Logistic{}, 0.1, geometry.L1{Lambda: 0.1}
	must.Near(t, "logistic", simulate(t, plan(t, c, records(t, [][]float64{{1}}, []float64{1}), nil),
		0)[0], 0.04, 1e-12)
}

// sameRuns checks that two plans have the same iterates, bit for bit.
func sameRuns(t *testing.T, what string, a, b *Plan) {
	t.Helper()
	for seed := range uint64(3) {
		if x, y := simulate(t, a, seed), simulate(t, b, seed); !slices.Equal(x, y) {
			t.Errorf("%s: %v and %v", what, x, y)
		}
	}
}

func TestAcceptance14SpecialCases(t *testing.T) {
	const n, d = 12, 5
	zero := func(int) float64 { return 0 }
	private, public := gaussians(t, 1, n, d, zero, 1, false), gaussians(t, 2, n, d, zero, 1, false)
	for _, order := range []iteration.SampleOrder{iteration.FixedOrder, iteration.ShuffledOnce,
		iteration.Reshuffled} {
		with := func(m Scheme, s Schedule) *Plan {
			c := config(m)
			c.Order, c.Epochs, c.Regularizer = order, 3, geometry.Ball{Radius: 2}
			if s != nil {
				return scheduled(t, c, s, private, public)
			}
			if m.IsPrivate() {
				c.Noise = 0.7
			}
			return plan(t, c, private, public)
		}
		dp := with(DPShuffleG, nil)
		sameRuns(t, "n_d = n is DP-ShuffleG", with("",
			Schedule{{Epochs: 3, Private: n, Noise: 0.7, PublicNoise: 3}}), dp)
		sameRuns(t, "Priv-Pub with S = K is DP-ShuffleG",
			with("", Schedule{{Epochs: 1, Private: n, Noise: 0.7}, {Epochs: 2, Private: n, Noise: 0.7}}), dp)
		sameRuns(t, "n_d = 0 without noise is Public Only", with("", Schedule{{Epochs: 3}}),
			with(PublicOnly, nil))
		sameRuns(t, "DP-ShuffleG without noise is ShuffleG", with("", Schedule{{Epochs: 3, Private: n}}),
			with(ShuffleG, nil))
		// The methods are the schedules that they should be.
		sameRuns(t, "Priv-Pub", with(PrivPub, nil),
			with("", Schedule{{Epochs: 1, Private: n, Noise: 0.7}, {Epochs: 2}}))
		sameRuns(t, "Pub-Priv", with(PubPriv, nil),
			with("", Schedule{{Epochs: 2}, {Epochs: 1, Private: n, Noise: 0.7}}))
		sameRuns(t, "Interleaved", with(Interleaved, nil),
			with("", Schedule{{Epochs: 3, Private: n / 2, Noise: 0.7, PublicNoise: 0.7}}))
	}
	// Public records that are the private ones not visited.
	c := config("")
	c.Order = iteration.FixedOrder
	rest, err := private.Select([]int{4, 5, 6, 7, 8, 9, 10, 11})
	if err != nil {
		t.Fatal(err)
	}
	sameRuns(t, "P from D", scheduled(t, c, Schedule{{Epochs: 3, Private: 4}}, private, rest),
		scheduled(t, c, Schedule{{Epochs: 3, Private: n}}, private, nil))
}

// recorder is mean estimation that notes which records are visited: record i has the
// feature i.
type recorder struct {
	loss.MeanEstimation
	visited *[]int
}

func (r recorder) Gradient(g, x, a []float64, y float64) {
	*r.visited = append(*r.visited, int(a[0]))
	r.MeanEstimation.Gradient(g, x, a, y)
}

// visits returns the records that each epoch visits; those of perm, if not nil, lie in its order.
func visits(t *testing.T, order iteration.SampleOrder, perm []int, n, epochs int,
	seed uint64) [][]int {
	t.Helper()
	var visited []int
	c := config(ShuffleG)
	c.Task, c.Order, c.Epochs = recorder{visited: &visited}, order, epochs
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
		if perm != nil {
			v[i] = float64(perm[i])
		}
	}
	p := plan(t, c, scalars(t, v...), nil)
	simulate(t, p, seed)
	return slices.Collect(slices.Chunk(visited, n))
}

func TestAcceptance15Orders(t *testing.T) {
	const n = 30
	so := visits(t, iteration.ShuffledOnce, nil, n, 4, 7)
	ig := visits(t, iteration.FixedOrder, so[0], n, 4, 7)
	for k := range so {
		if !slices.Equal(so[k], so[0]) || !slices.Equal(ig[k], so[0]) {
			t.Errorf("epoch %d: SO %v, IG %v, want %v", k, so[k], ig[k], so[0])
		}
	}
	identity := visits(t, iteration.FixedOrder, nil, n, 1, 7)[0]
	if !slices.IsSorted(identity) || slices.Equal(so[0], identity) {
		t.Errorf("identity %v, SO %v", identity, so[0])
	}
	rr := visits(t, iteration.Reshuffled, nil, n, 4, 7)
	for k := range rr {
		if !isPermutation(rr[k]) {
			t.Errorf("epoch %d visits %v", k, rr[k])
		}
		if k > 0 && slices.Equal(rr[k], rr[k-1]) {
			t.Errorf("epochs %d and %d visit alike", k-1, k)
		}
	}
	// 20000 RR draws of n = 5: each of the 25 counts is binomial with standard deviation
	// 56.6; the seed is fixed, so this either always passes or never does (at 4 standard
	// deviations a fair draw fails with probability 1.6e-3).
	var count [5][5]int
	for _, order := range visits(t, iteration.Reshuffled, nil, 5, 20000, 1) {
		for position, record := range order {
			count[record][position]++
		}
	}
	for record := range count {
		for position, c := range count[record] {
			if math.Abs(float64(c)-4000) > 4*math.Sqrt(20000*0.2*0.8) {
				t.Errorf("record %d at position %d: %d of 20000", record, position, c)
			}
		}
	}
}

func TestAcceptance16Prox(t *testing.T) {
	v := []float64{3, -4, 0.01}
	x := slices.Clone(v)
	geometry.L2{Lambda: 0.1}.Prox(x, 10)
	must.Near(t, "l2", x[1], -2, 1e-12)
	x = slices.Clone(v)
	geometry.L1{Lambda: 0.1}.Prox(x, 10)
	if x[0] != 2 || x[1] != -3 || x[2] != 0 {
		t.Errorf("l1: %v", x)
	}
	x = []float64{3, -4}
	geometry.Ball{Radius: 1}.Prox(x, 10)
	must.Near(t, "ball", x[0], 0.6, 1e-12)
	must.Near(t, "ball", x[1], -0.8, 1e-12)
	once := slices.Clone(x)
	(geometry.Ball{Radius: 1}).Prox(x, 10)
	if !slices.Equal(x, once) {
		t.Errorf("ball twice: %v, once %v", x, once)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, reg := range []geometry.Regularizer{geometry.NoRegularizer{}, geometry.Ball{Radius: 1.5},
		geometry.L2{Lambda: 0.3}, geometry.L1{Lambda: 0.4}} {
		for range 10_000 {
			u, w := make([]float64, 4), make([]float64, 4)
			for j := range u {
				u[j], w[j] = 3*rng.NormFloat64(), 3*rng.NormFloat64()
			}
			before := distance(u, w)
			reg.Prox(u, 0.7)
			reg.Prox(w, 0.7)
			if distance(u, w) > before*(1+1e-12) {
				t.Fatalf("%s is expansive", reg.Name())
			}
		}
		// The formula against the definition, by random search around it.
		for range 20 {
			w := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
			x := slices.Clone(w)
			reg.Prox(x, 0.7)
			value := func(x []float64) float64 { return 0.7*reg.Value(x) + distance(x, w)*distance(x, w)/2 }
			at := value(x)
			for range 200 {
				y := []float64{x[0] + 0.1*rng.NormFloat64(), x[1] + 0.1*rng.NormFloat64()}
				if value(y) < at-1e-9 {
					t.Fatalf("%s: %v is better than %v for %v", reg.Name(), y, x, w)
				}
			}
		}
	}
	proxes, c := 0, config(DPShuffleG)
	c.Regularizer = counted{geometry.L2{Lambda: 0.1}, &proxes}
	p := plan(t, c, scalars(t, 1, 2, 3), nil)
	if simulate(t, p, 1); proxes != p.Rounds() {
		t.Errorf("%d proximal maps in %d epochs", proxes, p.Rounds())
	}
	// After an epoch its time is nη, whatever part of the n steps was private: the same coins
	// without ψ end at 1+nηλ times as much.
	private, public := scalars(t, 1, 2, 3, 4, 5), scalars(t, -1, 4, 2, 0, 1)
	for _, m := range []Scheme{ShuffleG, DPShuffleG, PublicOnly, Interleaved} {
		for _, fraction := range []float64{0.2, 0.6} {
			c := config(m)
			c.Epochs, c.StepSize, c.Fraction = 1, 0.1, fraction
			if m.IsPrivate() {
				c.Noise = 0.3
			}
			plain := simulate(t, plan(t, c, private, public), 7)[0]
			c.Regularizer = geometry.L2{Lambda: 0.4}
			must.Near(t, fmt.Sprintf("%s at %g", m, fraction),
				simulate(t, plan(t, c, private, public), 7)[0], plain/(1+5*0.1*0.4), 1e-12)
		}
	}
}

func distance(a, b []float64) float64 {
	s := 0.0
	for j := range a {
		s += (a[j] - b[j]) * (a[j] - b[j])
	}
	return math.Sqrt(s)
}

// quadratic is ½(x₁²+10x₂²): convex and smooth, but clipping breaks contraction.
type quadratic struct{ loss.MeanEstimation }

func (quadratic) Gradient(g, x, _ []float64, _ float64) { g[0], g[1] = x[0], 10*x[1] }
func (quadratic) Smoothness(float64) float64            { return 10 }
func (quadratic) ClipKeepsContraction() bool            { return false }

func TestAcceptance17Clip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SliceOfN(rapid.Float64(), 1, 30).Draw(t, "g")
		limit := math.Exp(rapid.Float64Range(-200, 200).Draw(t, "log limit"))
		before := slices.Clone(g)
		if !vec.Clip(g, limit) {
			t.Fatal("a finite gradient counts as not finite")
		}
		// The norm is at most the limit in exact arithmetic.
		s, square := new(big.Float).SetPrec(5000), new(big.Float).SetPrec(5000)
		for _, v := range g {
			square.SetFloat64(v)
			s.Add(s, square.Mul(square, square))
		}
		square.SetFloat64(limit)
		if s.Cmp(square.Mul(square, square)) > 0 {
			t.Errorf("the clipped norm is above %g: %v", limit, g)
		}
		top := 0.0
		for _, v := range before {
			top = max(top, math.Abs(v))
		}
		if top*math.Sqrt(float64(len(g)))*(1+1e-10) < limit && !slices.Equal(g, before) {
			t.Error("a short gradient was changed")
		}
		for j := range g {
			if g[j] != 0 && math.Signbit(g[j]) != math.Signbit(before[j]) {
				t.Error("the direction changed")
			}
		}
	})
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if g := []float64{1, bad}; vec.Clip(g, 1) || g[0] != 0 || g[1] != 0 {
			t.Errorf("clipped to %v", g)
		}
	}

	// Clipped steps contract at η = 2/L, on 10⁴ random pairs for each task.
	rng := rand.New(rand.NewPCG(7, 8))
	tasks := []loss.Loss{loss.MeanEstimation{}, loss.LeastSquares{}, loss.Logistic{}}
	for _, task := range tasks {
		if !task.ClipKeepsContraction() || !task.Convex() {
			t.Errorf("%s says otherwise", task.Name())
		}
		for range 10_000 {
			a, x, y := make([]float64, 3), make([]float64, 3), make([]float64, 3)
			for j := range a {
				a[j], x[j], y[j] = rng.NormFloat64(), 3*rng.NormFloat64(), 3*rng.NormFloat64()
			}
			eta := 2 / task.Smoothness(vec.Norm(a)*(1+vec.Slack(3)))
			if ratio := stepRatio(task, a, float64(rng.IntN(2)), x, y, eta,
				math.Exp(3*rng.NormFloat64())); ratio > 1+1e-9 {
				t.Fatalf("%s: clipped steps expand by %.12g", task.Name(), ratio)
			}
		}
	}
	// A task that says so is not amplified.
	c := config(Interleaved)
	c.Task = quadratic{}
	p := plan(t, c, records(t, [][]float64{{1, 2}, {3, 4}}, nil), records(t, [][]float64{{1, 2}}, nil))
	if r := p.Report(); r.Amplification != 1 || len(r.Fallback) == 0 {
		t.Errorf("amplified by %g", r.Amplification)
	}
}

func stepRatio(task loss.Loss, a []float64, label float64, x, y []float64, eta,
	limit float64) float64 {
	before := distance(x, y)
	step := func(x []float64) []float64 {
		g := make([]float64, len(x))
		task.Gradient(g, x, a, label)
		vec.Clip(g, limit)
		z := slices.Clone(x)
		floats.AddScaled(z, -eta, g)
		return z
	}
	return distance(step(x), step(y)) / before
}

func TestAcceptance18Gradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, task := range []loss.Loss{loss.MeanEstimation{}, loss.LeastSquares{}, loss.Logistic{}} {
		for range 100 {
			const d = 4
			a, x, g := make([]float64, d), make([]float64, d), make([]float64, d)
			for j := range a {
				a[j], x[j] = rng.NormFloat64(), rng.NormFloat64()
			}
			y := float64(rng.IntN(2))
			task.Gradient(g, x, a, y)
			for j := range g {
				const h = 1e-5
				up, down := slices.Clone(x), slices.Clone(x)
				up[j] += h
				down[j] -= h
				want := (task.Loss(up, a, y) - task.Loss(down, a, y)) / (2 * h)
				if math.Abs(g[j]-want) > 1e-6*max(1, math.Abs(want)) {
					t.Errorf("%s: ∂%d = %g, by differences %g", task.Name(), j, g[j], want)
				}
			}
		}
	}
	// Far out the logistic loss does not overflow; its gradient is bounded by ‖a‖.
	g := []float64{0}
	loss.Logistic{}.Gradient(g, []float64{-1e6}, []float64{1e3}, 1)
	if l := (loss.Logistic{}).Loss([]float64{-1e6}, []float64{1e3}, 1); l != 1e9 || g[0] != -1e3 {
		t.Errorf("loss %g, gradient %g", l, g[0])
	}
}

func TestAcceptance19NoiseMoments(t *testing.T) {
	// Mean estimation at 0 without clipping: Var(x) = η²σ²(1-r^{2nK})/(1-r²). With 20000
	// runs × 8 coordinates the standard error is 0.35 %; the seeds are fixed.
	const want = 0.193733380405
	c := config(DPShuffleG)
	c.Epochs, c.StepSize, c.Noise, c.Clip = 3, 0.1, 2, 1e6
	variance := func(c Config, private, public *data.Records, runs int) float64 {
		p := plan(t, c, private, public)
		sum, count := 0.0, 0
		for seed := range runs {
			for _, v := range simulate(t, p, uint64(seed)) {
				sum += v * v
				count++
			}
		}
		return sum / float64(count)
	}
	zeros := func(n int) *data.Records {
		return must.Get(data.NewRecords(n, 8, make([]float64, n*8), nil))(t)
	}
	r := 0.9
	must.Near(t, "formula", 0.01*4*(1-math.Pow(r, 24))/(1-r*r), want, 1e-10)
	runs := 4000
	if long() {
		runs = 20_000
	}
	tolerance := 0.03
	if raced.Enabled {
		runs, tolerance = 1500, 0.06
	}
	must.Near(t, "variance", variance(c, zeros(4), nil, runs), want, tolerance)

	// Noise is on the public steps of Interleaved, and in the others on private ones only.
	// Public records that were the private ones would be refused.
	public := zeros(4)
	public.Row(0)[0] = 1e-12
	c.Method = Interleaved
	must.Near(t, "interleaved", variance(c, zeros(4), public, runs), want, tolerance)
	c.Epochs, c.Method = 2, PrivPub // one private epoch, then one of public steps, which shrink it
	one := 0.01 * 4 * (1 - math.Pow(r, 8)) / (1 - r*r)
	must.Near(t, "priv-pub", variance(c, zeros(4), public, runs), one*math.Pow(r, 8), tolerance)
	c.Method = PubPriv
	must.Near(t, "pub-priv", variance(c, zeros(4), public, runs), one, tolerance)
}

func TestAcceptance20NoiseFloor(t *testing.T) {
	raced.Sequential(t)
	// f = x²/2 for all records, x_1 = x* = 0. The mean of x²/2 over 2000 runs has a
	// standard error of 3.2 %; the seeds are fixed. Independent coordinates are as good as
	// runs: 2000 of them in one run.
	const n, epochs, eta, d = 10, 1000, 1e-4, 2000
	zero, err := data.NewRecords(n, d, make([]float64, n*d), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := config(DPShuffleG)
	c.Epochs, c.StepSize, c.Noise, c.Clip = epochs, eta, 1, 1e6
	x := simulate(t, plan(t, c, zero, nil), 1)
	risk := 0.0
	for _, v := range x {
		risk += v * v / 2 / d
	}
	exact := eta * eta / 2 * (1 - math.Pow(1-eta, 2*n*epochs)) / (1 - (1-eta)*(1-eta))
	must.Near(t, "exact risk", exact, 2.1618e-5, 1e-4)
	must.Near(t, "risk", risk, exact, 0.1)
	b, err := ExcessRisk(BoundInput{
		N: n, Dim: 1, StepSize: eta, AvgSmoothness: 1, MaxSmoothness: 1, SmoothPsi: true, Convex: true,
		Runs: []BoundRun{{Epochs: epochs, Private: n, Noise: 1, AvgSmoothness: 1, MaxSmoothness: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "printed", b.Printed.Total(), 9.4893e-6, 1e-4)
	must.Near(t, "corrected", b.Corrected.Total(), 1.5895e-3, 1e-4)
	if len(b.Fails) != 0 {
		t.Errorf("hypotheses fail: %v", b.Fails)
	}
	if !(risk > b.Printed.Total() && risk < b.Corrected.Total() && exact > b.Printed.Total() &&
		exact <= b.CorrectedExact.Total()) {
		t.Errorf("risk %g, printed bound %g, corrected %g", risk, b.Printed.Total(), b.Corrected.Total())
	}
}

func TestDPSGDStepsAreUniform(t *testing.T) {
	var visited []int
	c := config(DPSGD)
	c.Task, c.Epochs, c.Noise = recorder{visited: &visited}, 4000, 1
	proxes := 0
	c.Regularizer = counted{geometry.L2{Lambda: 0.5}, &proxes}
	p := plan(t, c, scalars(t, 0, 1, 2, 3, 4), nil)
	if simulate(t, p, 3); proxes != 20_000 {
		t.Errorf("%d proximal maps in 20000 steps", proxes)
	}
	count := make([]int, 5)
	for _, v := range visited {
		count[v]++
	}
	for i, v := range count { // 4 standard deviations; the seed is fixed
		if math.Abs(float64(v)-4000) > 4*math.Sqrt(20000*0.2*0.8) {
			t.Errorf("record %d drawn %d times of 20000", i, v)
		}
	}
	if r := p.Report(); r.Mode != ModeUniformSampling || r.Cost.Epsilon <= 0 {
		t.Errorf("%+v", r)
	}
	// Its prox is that of one step: one record at 2, η = 0.1, λ = 0.5 gives 0.2/1.05.
	c = config("")
	c.Method = DPSGD
	c.Task, c.Epochs, c.Noise, c.StepSize, c.Regularizer = loss.MeanEstimation{}, 1, 1e-90, 0.1,
		geometry.L2{Lambda: 0.5}
	must.Near(t, "one step", simulate(t, plan(t, c, scalars(t, 2), nil), 1)[0], 0.2/1.05, 1e-12)
}

func TestDivergence(t *testing.T) {
	c := config(ShuffleG)
	c.StepSize, c.Clip, c.Epochs = 1e6, math.Inf(1), 50
	p := plan(t, c, scalars(t, 1, 2, 3), nil)
	s := train.Simulate(p.Algorithm(), 1)
	if _, err := s.Run(context.Background(), nil); !errors.Is(err, train.ErrDiverged) {
		t.Errorf("error %v", err)
	}
	if x := s.Model()[0]; math.IsNaN(x) || math.Abs(x) > 1e100 {
		t.Errorf("iterate %g after a divergence", x)
	}
}

func TestCancelKeepsTheEpoch(t *testing.T) {
	private := gaussians(t, 1, 2000, 3, func(int) float64 { return 0 }, 1, false)
	p := plan(t, config(DPShuffleG), private, nil)
	want := simulate(t, p, 5)
	s := train.Simulate(p.Algorithm(), 5)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := s.Run(ctx, func(epoch int, _ []float64) error {
		if epoch == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || s.Round() != 2 {
		t.Fatalf("epoch %d, %v", s.Round(), err)
	}
	if x, err := s.Run(context.Background(), nil); err != nil || !slices.Equal(x, want) {
		t.Errorf("after cancelling: %v, %v, want %v", x, err, want)
	}
	// An error of the callback stops too.
	boom := fmt.Errorf("boom")
	if _, err := train.Simulate(p.Algorithm(), 5).Run(context.Background(),
		func(int, []float64) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
}

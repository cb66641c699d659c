package convex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func bound(t testing.TB, p Plan) train.Bound {
	t.Helper()
	b := p.Bound()
	if b == nil {
		t.Fatal("no bound")
	}
	return *b
}

// sigmoid is the squared sigmoid at (1, 1e-6), the published task P3.
func sigmoid() Setting {
	s := logistics()
	s.Loss = loss.GLM[loss.SquaredSigmoid]{}
	return s
}

// The source's closed forms, worked out in another program from the formulas of Theorems 5, 6, 8
// and 11; 1.357 is published.
func TestPrintedBounds(t *testing.T) {
	b := bound(t, polySFW(t, PolySFW{Setting: sigmoid(), Set: l1(t, 10, 3)}, 1_000_000, 10).Plan())
	must.Near(t, "Theorem 8", b.Printed, 20.741881796127675, 1e-6)
	must.Near(t, "rate of Theorem 8", b.Rate, 1.357425619276247, 1e-6)
	b = bound(t, nsfw(t, NSFW{Setting: sigmoid(), Set: lp(t, 10, 2, 9)}, 1_000_000, 10).Plan())
	must.Near(t, "Theorem 11", b.Printed, 280.57458896309134, 1e-5)
	must.Near(t, "rate of Theorem 11", b.Rate, 7.99699367278503, 1e-6)
	hinge := logistics()
	hinge.Loss = loss.GLM[loss.Hinge]{}
	b = bound(t, frankWolfe(t, FrankWolfe{Setting: hinge, Set: l1(t, 50, 1)}, 8192, 50).Plan())
	must.Near(t, "rate of Theorem 6", b.Rate, 0.31813699322725003, 1e-8)
	c := bisecting(Printed)
	c.Target.Epsilon, c.Target.Delta = 0.5, 1e-5
	b = bound(t, phased(t, c, 4096, 20).Plan())
	must.Near(t, "rate of Theorem 5", b.Rate, 0.04606862431040182, 1e-8)
	must.Near(t, "Theorem 5", b.Value, 0.997885, 2e-6)
	if phased(t, PhasedSGD{Setting: setting()}, 4096, 20).bound() != nil {
		t.Error("a bound on all of Rᵈ, where the best model may be anywhere")
	}
}

// The bound of Frank-Wolfe, with its sums over steps done one by one.
func TestFrankWolfeBoundStepByStep(t *testing.T) {
	for _, c := range []FrankWolfe{
		{Setting: logistics(), Set: l1(t, 7, 2)},
		{Setting: setting(), Set: l1(t, 7, 2), Selection: LaplaceNoise, Steps: 1},
		{Setting: setting(), Set: must.Get(geometry.NewSimplex(7, 2))(t), Steps: 37},
		{Setting: setting(), Steps: 5, Set: hull(2, [][]float64{{1, 0}, {0, 3},
			{-1, -1}, {5, 1}})},
	} {
		p := frankWolfe(t, c, 5000, c.Set.Dim())
		s, diameter := p.schedule, c.Set.Diameter()
		off := p.oracle.Alpha() + p.norm*math.Ldexp(1, -s.SlopeBits) +
			p.norm*math.Ldexp(1, -s.FeatureBits)*math.Pow(float64(p.d), 1/geometry.Dual(c.Set.Norm()))
		chosen := p.choice.regret(c.Set.Vertices(), s.Scale) + 2*s.Scale/selectionScale*p.reach() // both scores are rounded
		excess := math.Inf(1)                                                                     // of w_1, which the first step forgets
		for step := 1; step <= s.Steps; step++ {
			mu := 3 / float64(step+2)
			rest := 0.0
			if mu < 1 {
				rest = (1 - mu) * excess
			}
			excess = rest + mu*(diameter*off+chosen) + mu*mu*s.Beta*p.Radius*p.Radius*diameter*diameter/2
		}
		envelope := p.slope * p.slope / (2 * s.Beta)
		if p.smooth {
			envelope = 0
		}
		within := 2.0 // of the ball and the simplex; the hull's vertex (-1, -1) is within 7 of all
		if _, ok := c.Set.(*listed); ok {
			within = math.Sqrt(26) // of (5, 1), from 0
		}
		generalise := 2 * p.norm * within * math.Sqrt(2*math.Log(float64(c.Set.Vertices()))/5000)
		must.Near(t, c.Set.Name(), bound(t, p.Plan()).Value, excess+envelope+generalise, 1e-8)
	}
}

// A single step and a single round by hand, and the norm that is best for wide records.
func TestGapBoundByHand(t *testing.T) {
	n := nsfw(t, NSFW{Setting: sigmoid(), Set: lp(t, 3, 2, 2), Batches: Batches{Rounds: 1, Size: 100}},
		1000, 3)
	sigma := n.blocks[0].Deviation
	must.Near(t, "nsfw, one step", bound(t, n.Plan()).Value, n.norm*4+n.change*4/2+
		4*math.Sqrt(n.norm*n.norm/100+3*sigma*sigma), 1e-8)

	p := polySFW(t, PolySFW{Setting: sigmoid(), Set: l1(t, 1, 2), Selection: LaplaceNoise,
		Batches: Batches{Rounds: 2, Size: 100}}, 1000, 1)
	eta := math.Sqrt(0.5)
	second := (1-eta)*p.change + eta*p.norm // of the one step whose estimate is not fresh
	first := p.norm / 10
	third := math.Sqrt((1-eta)*(1-eta)*first*first + second*second/50)
	// E max of two Laplace variables is at most 1.
	regret := p.rounds[0].scale + 2*p.rounds[1].scale
	want := (p.norm*4*(1+math.Sqrt2) + p.change*4/2*(2+eta) + 4*(2*first+third) + regret) / 3
	must.Near(t, "poly-sfw, three steps", bound(t, p.Plan()).Value, want, 1e-6)

	// 1000 features: by ℓ2 the error would be √1000 of a coordinate's.
	wide := polySFW(t, PolySFW{Setting: sigmoid(), Set: l1(t, 1000, 2),
		Batches: Batches{Rounds: 2, Size: 100}}, 1000, 1000)
	quiet := func(int) float64 { return 0 }
	if by, best := wide.gapBy(2, math.Inf(1), wide.batches, quiet, quiet),
		wide.gap(wide.batches, quiet, quiet); best > 0.85*by {
		t.Errorf("in ℓ2 %g, in the best norm %g", by, best)
	}
}

// No choice regrets more than it says. Exponential: by its law, at scores that are as bad as can
// be. Laplace: E max of J variables by its closed form, of which the specification measured four.
func TestRegret(t *testing.T) {
	for _, c := range []struct {
		vertices int
		want     float64
	}{{2, 0.75}, {3, 1.125}, {10, 2.23}, {100, 4.50}} {
		// Σ_k C(J,k)2^-J·H_k, and for k = 0 minus the least of J exponential variables.
		exact, weight, harmonic := -math.Exp2(-float64(c.vertices))/float64(c.vertices),
			math.Exp2(-float64(c.vertices)), 0.0
		for k := 1; k <= c.vertices; k++ {
			weight *= float64(c.vertices-k+1) / float64(k)
			harmonic += 1 / float64(k)
			exact += weight * harmonic
		}
		must.Near(t, fmt.Sprint("E max of ", c.vertices), exact, c.want, 5e-3)
		got := choice{LaplaceNoise, Range}.regret(c.vertices, 1)
		if got < exact || got > exact+0.3 {
			t.Errorf("laplace, %d vertices: %g, of %g", c.vertices, got, exact)
		}
	}
	for _, vertices := range []int{1, 2, 10, 1000} {
		worst := 0.0
		for gap := 0.01; gap < 40; gap *= 1.05 { // of all vertices but one
			others := float64(vertices-1) * math.Exp(-gap)
			worst = max(worst, gap*others/(1+others))
		}
		if got := (choice{Exponential, Range}).regret(vertices, 1); got < worst || got > 2*worst+0.7 {
			t.Errorf("exponential, %d vertices: %g, of %g", vertices, got, worst)
		}
	}
}

// atoms is a law of 64 records within [-1,1]^d, each as likely as the others.
func atoms(t testing.TB, d int) (*data.Records, func(n int, seed uint64) *data.Records) {
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	var rows [][]float64
	var y []float64
	for range 64 {
		x := make([]float64, d)
		for j := range x {
			x[j] = 2*rng.Float64() - 1
		}
		rows = append(rows, x)
		y = append(y, float64(rng.IntN(2)))
		if x[0] > 0.2 {
			y[len(y)-1] = 1
		}
	}
	all := records(t, rows, y)
	return all, func(n int, seed uint64) *data.Records {
		rng := rand.New(rand.NewPCG(seed, 2))
		take := make([]int, n)
		for i := range take {
			take[i] = rng.IntN(64)
		}
		return must.Get(all.Select(take))(t)
	}
}

// The error of estimates and the gap of iterates, on a law that is known: in no step are their
// means above the bound, and those of fresh estimates are not far below, noise included.
func TestGapBoundHolds(t *testing.T) {
	raced.Sequential(t)
	const n, d, runs = 1200, 6, 60
	all, draw := atoms(t, d)
	s := sigmoid()
	s.Radius, s.Target.Epsilon = math.Sqrt(d), 2
	batches := Batches{Rounds: 3, Size: 200}
	q := nsfw(t, NSFW{Setting: s, Set: lp(t, d, 2, 4), Batches: batches}, n, d)
	wide := nsfw(t, NSFW{Setting: s, Set: lp(t, d, 1.2, 4), Batches: batches}, n, d)
	s.Radius = 1
	p := polySFW(t, PolySFW{Setting: s, Set: l1(t, d, 4), Batches: batches}, n, d)
	start := func(p Plan, own *data.Records, seed uint64) *stochasticRun {
		a := traintest.Trained(t, p, own)
		return a.Start(stream.Seeded(seed)).(*stochasticRun)
	}
	for _, c := range []struct {
		name      string
		plan      Plan
		s         smooth
		deviation func(int) float64
	}{
		{"poly-sfw", p.Plan(), p.smooth, func(int) float64 { return 0 }},
		{"nsfw, l2", q.Plan(), q.smooth, func(k int) float64 { return q.blocks[k].Deviation }},
		{"nsfw, l1.2", wide.Plan(), wide.smooth, func(k int) float64 { return wide.blocks[k].Deviation }},
	} {
		dual := geometry.Dual(c.s.set.Norm())
		bounds := c.s.estimateErrors(min(dual, 3), dual, p.batches, c.deviation)
		errors, gap := make([]float64, len(bounds)), 0.0
		for seed := range uint64(runs) {
			e := start(c.plan, draw(n, seed), seed)
			for k := range bounds {
				g := meanGradient(s.Loss, all, e.w)
				gap += geometry.Gap(c.s.set, e.w, g) / float64(runs*len(bounds))
				if err := e.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				floats.Sub(g, e.estimate)
				errors[k] += geometry.Norm(g, dual) / runs
			}
		}
		for k, most := range bounds {
			if errors[k] > most || p.batches[k].step == 0 && errors[k] < most/15 {
				t.Errorf("%s, step %d: estimates are off by %g, the bound is %g", c.name, k, errors[k], most)
			}
		}
		if b := bound(t, c.plan); !(gap > 0 && gap <= b.Value) || b.Of != train.StationarityGap {
			t.Errorf("%s: gap %g, bound %+v", c.name, gap, b)
		}
	}
}

// Frank-Wolfe's bound says something at 20000 records, and its models are within it.
func TestFrankWolfeBoundHolds(t *testing.T) {
	raced.Sequential(t)
	const n, d = 20_000, 6
	all, draw := atoms(t, d)
	for _, l := range []loss.Loss{loss.Logistic{}, loss.GLM[loss.Hinge]{}} {
		s := logistics()
		s.Loss = l
		p := frankWolfe(t, FrankWolfe{Setting: s, Set: l1(t, d, 1)}, n, d)
		best := frankWolfe(t, FrankWolfe{Setting: s, Set: l1(t, d, 1), Steps: 3000}, 64, d)
		best.quiet = true
		mean := func(w []float64) float64 {
			losses := make([]float64, all.Len())
			for i := range losses {
				losses[i] = l.Loss(w, all.Row(i), all.Response(i))
			}
			return stat.Mean(losses, nil)
		}
		least := mean(traintest.Simulate(t, traintest.Trained(t, best.Plan(), all), 1))
		excess := 0.0
		for seed := range uint64(3) {
			excess += (mean(traintest.Simulate(t, traintest.Trained(t, p.Plan(), draw(n, seed)), seed)) - least) / 3
		}
		if b := bound(t, p.Plan()); !(excess <= b.Value && b.Value < b.Nothing/2) {
			t.Errorf("%s: excess risk %g, bound %+v", l.Name(), excess, b)
		}
	}
}

// Gradients of length 1 in ℓ∞ that are, less their mean, of length 1.98: the source has √2 at most.
func TestCentredGradientsAreLongerThanPrinted(t *testing.T) {
	const d = 100 // records 1 - 2e_j, each as likely, with slope 1
	mean := 1 - 2./d
	x := make([]float64, d)
	for j := range x {
		x[j] = 1 - mean
	}
	x[0] = -1 - mean
	if length := geometry.Norm(x, math.Inf(1)); length*length <= 2 || length*length > 4 {
		t.Errorf("a second moment of %g", length*length)
	}
}

// The bound of proximal guidance by hand; its rate is the published one; and no mean of runs on a
// law that is known is above it.
func TestProximalBound(t *testing.T) {
	s := setting()
	s.Loss = loss.GLM[loss.PhaseRetrieval]{}
	c := ProximallyGuided{Setting: s, Ball: 1.5, WeakConvexity: 2, Rounds: 20, Steps: 400}
	p := must.Get(c.plan(20_000, 2))(t)
	g, sigma := p.norm, p.price.Blocks[0].Deviation
	must.Near(t, "beta", p.schedule.Beta, 4, 1e-12)
	steep := g + 4*3
	left := steep*2*math.Sqrt(steep*steep+2*sigma*sigma)/(2*math.Sqrt(401)) + 2*g*g/(2*1000)
	b := bound(t, p.Plan())
	must.Near(t, "bound", b.Value, math.Sqrt(g*3/20+left), 1e-8)
	must.Near(t, "rate", b.Rate, p.schedule.Rate, 1e-12)
	if b.Nothing != 3 || b.Of != train.ProximalDistance {
		t.Errorf("%+v", b)
	}
	// It says something from enough records on.
	c.Rounds, c.Steps = 200, 1_000_000
	far := bound(t, must.Get(c.Plan(200_000_000, 2))(t))
	if !(far.Value < 1 && far.Value < b.Value/2) {
		t.Errorf("at 2·10⁸ records: %+v", far)
	}
	rng := rand.New(rand.NewPCG(1, 5))
	rows, y := make([][]float64, 2000), make([]float64, 2000)
	for i := range rows {
		rows[i] = unit(rng, 2)
		floats.Scale(math.Sqrt(rng.Float64()), rows[i])
		z := rows[i][0] + 0.5*rows[i][1]
		y[i] = z * z
	}
	r := records(t, rows, y)
	c.Rounds, c.Steps = 20, 50
	p = must.Get(c.plan(2000, 2))(t)
	off := 0.0
	for seed := range uint64(4) {
		w := traintest.Simulate(t, traintest.Trained(t, p.Plan(), r), seed)
		off += NearStationarity(s.Loss, r, w, 4, lp(t, 2, 2, 1.5), 300) / 4
	}
	if b := bound(t, p.Plan()); !(off > 0 && off <= b.Value) {
		t.Errorf("%g from nearly stationary, bound %g", off, b.Value)
	}
}

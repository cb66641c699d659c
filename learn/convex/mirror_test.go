package convex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// within returns a point of the ball of ‖·‖_p at a uniform part of the radius, or on its border.
func within(rng *rand.Rand, d int, p, radius float64, border bool) []float64 {
	v := make([]float64, d)
	for j := range v {
		v[j] = rng.NormFloat64() * math.Exp(2*rng.NormFloat64())
	}
	if !border {
		radius *= rng.Float64()
	}
	floats.Scale(radius/geometry.Norm(v, p), v)
	return v
}

// divergence is D(u, v) for h = ½‖· - c‖_p² and the v of θ = ∇h(v), h(u) + ½‖θ‖_q² - ⟨θ, u - c⟩.
func divergence(u, theta, c []float64, p float64) float64 {
	half := func(x []float64, p float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += math.Pow(math.Abs(v), p)
		}
		return math.Pow(sum, 2/p) / 2
	}
	x := make([]float64, len(u))
	floats.SubTo(x, u, c)
	return half(x, p) + half(theta, p/(p-1)) - floats.Dot(theta, x)
}

// A step ends in the ball, and no point of the ball is further from it, in divergence, than from
// where the step would end without the ball: all that the analysis of mirror descent needs.
func TestMirrorStepsAreFejer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	outside := 0
	for _, p := range []float64{1.1, 1.25, 1.5, 1.9, 2} {
		for range 100 {
			d, radius := 1+rng.IntN(5), math.Exp(2*rng.Float64()-1)
			m, free := newMirror(p, d, radius), newMirror(p, d, 1e9)
			c := within(rng, d, p, radius, false)
			m.restart(c)
			free.restart(c)
			for range 3 {
				g := within(rng, d, p, radius*math.Exp(3*rng.Float64()-1), true)
				copy(free.point, m.point)
				copy(free.dual, m.dual)
				size, beta := rng.Float64(), 2*rng.Float64()
				m.step(g, size, beta)
				free.step(g, size, beta)
				if length := geometry.Norm(m.point, p); length > radius*(1+cutSlack) {
					t.Fatalf("p = %g: a step ends at %g of radius %g", p, length, radius)
				}
				if geometry.Norm(free.point, p) > radius {
					outside++
				}
				// Besides random points, one near to where the step ended.
				for k := range 10 {
					u := within(rng, d, p, radius, k%2 == 0)
					if k == 9 {
						floats.ScaleTo(u, 1/(1+cutSlack), m.point)
					}
					is, was := divergence(u, m.dual, c, p), divergence(u, free.dual, c, p)
					if is > was+1e-12*(1+was) {
						t.Fatalf("p = %g, d = %d: the divergence rises from %g to %g", p, d, was, is)
					}
				}
			}
		}
	}
	if outside < 300 {
		t.Errorf("only %d steps of 1500 left the ball", outside)
	}
}

// The step without a ball is the minimiser of size·⟨g, v⟩ + D(v, v before): no point near it is
// better.
func TestMirrorStepMinimises(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, p := range []float64{1.1, 1.5, 2} {
		c, g := within(rng, 3, p, 1, false), within(rng, 3, p, 1, true)
		m := newMirror(p, 3, 1e9)
		m.restart(c)
		m.step(within(rng, 3, p, 1, true), 1, 0)
		before := append([]float64(nil), m.dual...)
		m.step(g, 0.7, 0)
		objective := func(v []float64) float64 {
			return 0.7*floats.Dot(g, v) + divergence(v, before, c, p)
		}
		least := objective(m.point)
		for range 300 {
			v := within(rng, 3, p, 0.01, false)
			floats.Add(v, m.point)
			if objective(v) < least-1e-14 {
				t.Fatalf("p = %g: %v is better than %v", p, v, m.point)
			}
		}
	}
}

// No step of any norm, dimension or size that a plan allows runs out of half-spaces.
func TestMirrorStepsNeedFewHalfSpaces(t *testing.T) {
	if raced.Enabled {
		t.Skip("calculates in order")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		p float64
		d int
	}{{1.1, 2}, {1.1, 20}, {1.1, 2000}, {1.09, 40_000}, {1.3, 300}, {1.9, 10}} {
		m := newMirror(c.p, c.d, 1)
		for range 4000/c.d + 1 {
			m.restart(within(rng, c.d, c.p, 1, rng.IntN(2) == 0))
			for k := range 10 {
				m.step(within(rng, c.d, geometry.Dual(c.p), math.Exp(6*rng.Float64()-3), true),
					1/float64(k+1), 1)
			}
		}
		t.Logf("p = %g, d = %d: %d half-spaces at most", c.p, c.d, m.cuts)
		if m.cuts >= maxCuts/2 {
			t.Errorf("p = %g, d = %d: %d half-spaces", c.p, c.d, m.cuts)
		}
	}
}

// For p = 2 the inner solver is projected subgradient descent.
func TestMirrorIsProjectionInEuclid(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := within(rng, 4, 2, 1, false)
	m := newMirror(2, 4, 1)
	m.restart(c)
	v := append([]float64(nil), c...)
	for k := range 50 {
		g, size := within(rng, 4, 2, 3, false), 1/float64(k+2)
		m.step(g, size, 2)
		for j := range v {
			v[j] -= size * (g[j] + 2*(v[j]-c[j]))
		}
		vec.Clip(v, 1)
		if floats.Distance(v, m.point, 2) > 1e-12 {
			t.Fatalf("step %d: %v, by subgradients %v", k, m.point, v)
		}
	}
}

func guided(p float64) ProximallyGuided {
	s := setting()
	s.Loss = loss.GLM[loss.PhaseRetrieval]{}
	return ProximallyGuided{Setting: s, Ball: 1.5, Norm: p, WeakConvexity: 2}
}

// retrieval has records within 1 in ℓq.
func retrieval(t testing.TB, rng *rand.Rand, n, d int, q float64) *data.Records {
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i] = within(rng, d, q, 1, true)
		z := rows[i][0] + 0.5*rows[i][1]
		y[i] = z * z
	}
	return records(t, rows, y)
}

// A round without noise ends near the minimiser of F + (β/2)‖· - w‖_p² in the ball, found by
// looking everywhere: as near as the proof of the bound says.
func TestProximalRoundMinimises(t *testing.T) {
	raced.Sequential(t)
	const n = 40
	for _, p := range []float64{1.2, 1.5, 2} {
		c := guided(p)
		c.Ball, c.Rounds, c.Steps, c.Start = 0.6, 1, 4000, []float64{-0.3, 0.29}
		plan := must.Get(c.plan(n, 2))(t)
		r := retrieval(t, rand.New(rand.NewPCG(9, 10)), n, 2, geometry.Dual(p))
		e := newProximalRun(plan, r, train.Coins{})
		e.noise = traintest.Silent{}
		got := rounds(t, e, 1)[0]
		objective := func(a, b float64) float64 {
			sum := 0.0
			for i := range n {
				z := a*r.Row(i)[0] + b*r.Row(i)[1]
				sum += math.Abs(z*z-r.Response(i)) / n
			}
			power := math.Pow(math.Abs(a+0.3), p) + math.Pow(math.Abs(b-0.29), p)
			return sum + 4/(p-1)/2*math.Pow(power, 2/p)
		}
		best, least := [2]float64{}, math.Inf(1)
		for a := -0.6; a <= 0.6; a += 0.001 {
			for b := -0.6; b <= 0.6; b += 0.001 {
				if math.Pow(math.Abs(a), p)+math.Pow(math.Abs(b), p) > math.Pow(0.6, p) {
					continue
				}
				if v := objective(a, b); v < least {
					best, least = [2]float64{a, b}, v
				}
			}
		}
		off := geometry.Norm([]float64{got[0] - best[0], got[1] - best[1]}, p)
		moved := geometry.Norm([]float64{got[0] + 0.3, got[1] - 0.29}, p)
		if excess := objective(got[0], got[1]) - least; !(off < 0.004 && moved > 0.01 && excess < 1e-4) {
			t.Errorf("p = %g: %v, best %v, excess %g, moved %g", p, got, best, excess, moved)
		}
	}
}

// The noise is for the ℓ2 norm of a difference of gradients that ℓq bounds.
func TestProximalSensitivityInLp(t *testing.T) {
	const d, m = 16, 5
	for _, p := range []float64{1.2, 1.5, 2} {
		c := guided(p)
		c.Rounds, c.Steps = 1, 1
		plan := must.Get(c.plan(m, d))(t)
		q := geometry.Dual(p)
		// The longest in ℓ2 of radius 1 in ℓq has equal numbers, and slopes are ±L0.
		x := make([]float64, d)
		for j := range x {
			x[j] = math.Pow(d, -1/q)
		}
		moved := 2 * plan.slope * vec.Norm(x) / m
		got := plan.price.Blocks[0].Sensitivity
		if got < moved || got > moved*(1+1e-9) {
			t.Errorf("p = %g: sensitivity %g, a record moves %g", p, got, moved)
		}
	}
}

// The bound in ℓ1.5 by hand, and on a law that is known. The price is that of ℓ2 but for the width.
func TestProximalBoundInLp(t *testing.T) {
	c := guided(1.5)
	c.Rounds, c.Steps = 20, 400
	p := must.Get(c.plan(20_000, 8))(t)
	g, sigma := p.norm, p.price.Blocks[0].Deviation
	must.Near(t, "beta", p.schedule.Beta, 8, 1e-12)
	must.Near(t, "mu", p.mu, 4, 1e-12)
	must.Near(t, "step", p.price.Blocks[0].StepSize, 0.5, 1e-12)
	steep := g + 8*3
	third := math.Sqrt(8 / math.Pi) // E|Z|³
	noise := sigma * sigma * math.Pow(8*third, 2./3)
	left := steep*2*math.Sqrt(steep*steep+2*noise)/(2*math.Sqrt(401)) + 2*g*g/(2*1000)
	must.Near(t, "bound", bound(t, p.Plan()).Value, math.Sqrt(g*3/20+left), 1e-8)
	flat := c
	flat.Norm = 2
	q := must.Get(flat.plan(20_000, 8))(t)
	must.Near(t, "noise", sigma/q.price.Blocks[0].Deviation, math.Pow(8, 1/1.5-0.5), 1e-9)
	if p.price.Cost != q.price.Cost {
		t.Errorf("costs %v and %v", p.price.Cost, q.price.Cost)
	}

	r := retrieval(t, rand.New(rand.NewPCG(1, 5)), 2000, 3, 3)
	c.Steps = 50
	p = must.Get(c.plan(2000, 3))(t)
	off := 0.0
	for seed := range uint64(4) {
		w := traintest.Simulate(t, traintest.Trained(t, p.Plan(), r), seed)
		off += NearStationarity(c.Loss, r, w, 8, lp(t, 3, 1.5, 1.5), 300) / 4
	}
	if b := bound(t, p.Plan()); !(off > 0 && off <= b.Value) {
		t.Errorf("%g from nearly stationary, bound %g", off, b.Value)
	}
}

// E‖ξ‖_q² of normal vectors, drawn, is not above its bound, and near to it where few numbers are in
// it.
func TestSquareNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct{ d, q, least float64 }{{5, 2, 0.97}, {5, 3, 0.9}, {50, 11, 0.7},
		{50, 500, 0}} {
		mean := 0.0
		for range 3000 {
			x := make([]float64, int(c.d))
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			n := geometry.Norm(x, c.q)
			mean += n * n / 3000
		}
		if most := squareNorm(c.d, c.q); mean > most*1.03 || mean < c.least*most {
			t.Errorf("%s: %g, bound %g", fmt.Sprintf("d = %g, q = %g", c.d, c.q), mean, most)
		}
	}
}

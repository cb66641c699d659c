package convex

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// leaning returns n records in the unit ball of dimension d, with labels that lean.
func leaning(t testing.TB, rng *rand.Rand, n, d int) *data.Records {
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		rows[i] = unit(rng, d)
		floats.Scale(rng.Float64(), rows[i])
		if rng.Float64() < 1/(1+math.Exp(-5*rows[i][0])) {
			y[i] = 1
		}
	}
	return records(t, rows, y)
}

func output(t testing.TB, c OutputPerturbation, n, d int) *minimised {
	t.Helper()
	p, err := c.plan(n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func objective(t testing.TB, c ObjectivePerturbation, n, d int) *minimised {
	t.Helper()
	p, err := c.plan(n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (e *erm) minimiser(t testing.TB, r *data.Records, b []float64) []float64 {
	t.Helper()
	w := make([]float64, e.d)
	if b == nil {
		b = make([]float64, e.d)
	}
	if err := e.solve(context.Background(), r, b, w); err != nil {
		t.Fatal(err)
	}
	return w
}

// A second way: the closed form of ridge regression and the accelerated proximal gradient
// method of package train find the same minimiser.
func TestMinimiserAgainstOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	r := leaning(t, rng, 300, 4)
	for _, l := range []loss.Loss{loss.LeastSquares{}, loss.Logistic{}} {
		s := setting()
		s.Loss, s.Clip = l, 100
		p := output(t, OutputPerturbation{Setting: s, Lambda: 0.01}, 300, 4)
		want, err := train.Problem{Loss: l, Regularizer: geometry.L2{Lambda: 0.01}, Records: r}.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		got := p.minimiser(t, r, nil)
		if off := floats.Distance(got, want.X, 2); off > p.tolerance/p.lambda*(1+1e-6)+1e-9 {
			t.Errorf("%s: off by %g, tolerance %g", l.Name(), off, p.tolerance/p.lambda)
		}
	}
}

// A neighbour moves the minimiser by at most the sensitivity that is noised, for smooth losses
// and those with kinks; and comes near it.
func TestAcceptance6OutputSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, l := range []loss.Loss{loss.Logistic{}, loss.GLM[loss.Hinge]{}, loss.GLM[loss.Absolute]{},
		loss.LeastSquares{}} {
		far := 1.0
		if _, squares := l.(loss.LeastSquares); squares {
			far = 30 // where slopes are clipped
		}
		for _, relation := range []accountant.Relation{accountant.ReplaceOne, accountant.BlankOne} {
			s := setting()
			s.Loss, s.Neighbours, s.Clip = l, relation, 1
			p := output(t, OutputPerturbation{Setting: s, Lambda: 2}, 20, 2)
			largest := 0.0
			for range 100 {
				r := leaning(t, rng, 20, 2)
				rows, y := make([][]float64, 20), make([]float64, 20)
				for i := range rows {
					rows[i], y[i] = append([]float64(nil), r.Row(i)...), r.Response(i)
				}
				rows[0], y[0] = unit(rng, 2), far
				a := p.minimiser(t, records(t, rows, y), nil)
				if relation == accountant.BlankOne {
					floats.Scale(0, rows[0])
				} else {
					floats.Scale(-1, rows[0])
				}
				moved := floats.Distance(a, p.minimiser(t, records(t, rows, y), nil), 2)
				largest = max(largest, moved)
				if moved > p.sensitivity {
					t.Fatalf("%s, %v: moved by %g, sensitivity %g", l.Name(), relation, moved, p.sensitivity)
				}
			}
			if largest < 0.4*p.sensitivity {
				t.Errorf("%s, %v: the sensitivity %g is never near, the largest is %g", l.Name(), relation,
					p.sensitivity, largest)
			}
		}
	}
}

// The search ends with a certificate on every data set, in the number of steps that was known
// beforehand: ill-conditioned, separable, constant, of one record.
func TestMinimiserIsAlwaysCertified(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(15, 16))
	for _, lambda := range []float64{1e-4, 1e-2, 1, 100} {
		for _, n := range []int{1, 7, 400} {
			s := setting()
			s.Loss = loss.GLM[loss.Hinge]{}
			p := output(t, OutputPerturbation{Setting: s, Lambda: lambda}, n, 3)
			for _, r := range []*data.Records{leaning(t, rng, n, 3), records(t, repeat(n, 1, 0, 0), ones(n)),
				records(t, repeat(n, 0, 0, 0), ones(n))} {
				b := unit(rng, 3)
				floats.Scale(rng.Float64(), b)
				w := p.minimiser(t, r, b)
				g, sum := make([]float64, 3), make([]float64, 3)
				if err := p.gradient(t.Context(), r, b, w, g, sum); err != nil || vec.Norm(g) > p.tolerance {
					t.Errorf("lambda = %g, n = %d: gradient %g, tolerance %g, %v", lambda, n, vec.Norm(g),
						p.tolerance, err)
				}
			}
		}
	}
}

// A point without a certificate is none: where no float64 has a gradient so small, the search ends with an
// error, in the number of steps that was known beforehand.
func TestNoMinimiserWithoutACertificate(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	p := output(t, OutputPerturbation{Setting: setting(), Lambda: 1}, 20, 2)
	p.tolerance = 1e-300
	err := p.solve(t.Context(), leaning(t, rng, 20, 2), make([]float64, 2), make([]float64, 2))
	if err == nil || !strings.HasPrefix(err.Error(), "no point with a gradient of norm 1e-300") {
		t.Error(err)
	}
}

// The certificate rests on a bound on the gradient's rounding error: against the exact gradient,
// where long models are nearly orthogonal to the records and the loss is steeply bent.
func TestGradientRoundingIsCovered(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	const n, d = 4, 3
	p := output(t, OutputPerturbation{Setting: setting(), Lambda: 1e-8, Smoothing: 1e4}, n, d)
	exact := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	dot := func(a, b []float64) *big.Rat {
		sum := new(big.Rat)
		for j := range a {
			sum.Add(sum, new(big.Rat).Mul(exact(a[j]), exact(b[j])))
		}
		return sum
	}
	largest := 0.0
	for range 300 {
		v, b := unit(rng, d), unit(rng, d)
		rows, y := make([][]float64, n), make([]float64, n)
		for i := range rows {
			rows[i] = unit(rng, d)
			floats.AddScaled(rows[i], -floats.Dot(rows[i], v), v)
			y[i] = rng.NormFloat64() * 1e-5
		}
		floats.Scale(math.Pow(10, 8*rng.Float64()), v)
		r := records(t, rows, y)
		g, sum := make([]float64, d), make([]float64, d)
		if err := p.gradient(t.Context(), r, b, v, g, sum); err != nil {
			t.Fatal(err)
		}
		off := make([]float64, d)
		for j := range off {
			want := new(big.Rat)
			for i := range rows {
				slope := new(big.Rat).Sub(dot(rows[i], v), exact(y[i]))
				slope.Mul(slope, exact(1e4))
				if one := big.NewRat(1, 1); slope.Cmp(one) > 0 {
					slope = one
				} else if one.Neg(one); slope.Cmp(one) < 0 {
					slope = one
				}
				want.Add(want, slope.Mul(slope, exact(rows[i][j])))
			}
			want.Mul(want, big.NewRat(1, n))
			want.Add(want, new(big.Rat).Mul(exact(p.lambda), exact(v[j])))
			want.Add(want, exact(b[j]))
			off[j], _ = want.Sub(want, exact(g[j])).Float64()
		}
		ratio := vec.Norm(off) / p.rounding(b, v)
		largest = max(largest, ratio)
		if ratio > 1 {
			t.Fatalf("the gradient is off by %g, the bound is %g", vec.Norm(off), p.rounding(b, v))
		}
	}
	if largest < 1e-3 {
		t.Errorf("the bound is never near: %g of it", largest)
	}
}

func repeat(n int, x ...float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = append([]float64(nil), x...)
	}
	return rows
}

func ones(n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = 1
	}
	return y
}

// A second way: in one dimension the density of the perturbed minimiser is known, and the
// hockey-stick divergence of neighbours is a sum. It is below δ₁ at ε₁, and above it with half
// the noise, or where the determinant's share of ε is left out.
func TestObjectivePerturbationByDensities(t *testing.T) {
	const first, delta = 0.99 * 1, 0.5e-3
	worst := func(l loss.Loss, lambda, smoothing, epsilon, noise, far float64) float64 {
		s := setting()
		s.Loss, s.Target = l, accountant.Cost{Epsilon: 1, Delta: 1e-3}
		p := objective(t, ObjectivePerturbation{Setting: s, Lambda: lambda, Smoothing: smoothing}, 10, 1)
		if epsilon < 0 {
			epsilon = first - math.Log1p(p.curvature/(10*lambda))
		}
		// Nine records of nothing: the record that differs counts most.
		world := func(x, y float64) *data.Records {
			rows, labels := repeat(10, 0), make([]float64, 10)
			rows[0][0], labels[0] = x, y
			return records(t, rows, labels)
		}
		largest := 0.0
		for _, pair := range [][2]*data.Records{
			{world(1, far), world(-1, far)}, {world(1, 1), world(1, 0)}, {world(1, 0), world(0, 0)},
			{world(0, 0), world(1, 0)},
		} {
			largest = max(largest, p.hockeyStick(t, pair, epsilon, noise*p.linear))
		}
		return largest
	}
	absolute := loss.GLM[loss.Absolute]{}
	for _, c := range []struct {
		l                 loss.Loss
		lambda, smoothing float64
		far               float64
	}{{loss.Logistic{}, 0.4, 0, 1}, {absolute, 4, 0.4, 1000}, {absolute, 4, 40, 1000},
		{loss.GLM[loss.Hinge]{}, 1, 4, 1}} {
		got := worst(c.l, c.lambda, c.smoothing, first, 1, c.far)
		t.Logf("%s: delta %.3g of %.3g", c.l.Name(), got, delta)
		if got > delta {
			t.Errorf("%s: delta = %g at epsilon = %g, above %g", c.l.Name(), got, first, delta)
		}
	}
	if got := worst(absolute, 4, 0.4, first, 0.5, 1000); got < 2*delta {
		t.Errorf("half the noise is not noticed: %g", got)
	}
	if got := worst(absolute, 4, 40, -1, 1, 1000); got < 2*delta {
		t.Errorf("the determinant left out is not noticed: %g", got)
	}
}

// The closed form against the integral over Rayleigh's distribution.
func TestPlaneDelta(t *testing.T) {
	for _, c := range [][2]float64{{1, 0.2}, {0.5, 0.3}, {2, 1}, {0.1, 0.05}} {
		sum, h := 0.0, 1e-4
		for r := h / 2; r < 40; r += h {
			sum += h * r * math.Exp(-r*r/2) * max(0, -math.Expm1(c[0]-c[1]*r-c[1]*c[1]/2))
		}
		must.Near(t, "delta", planeDelta(c[0], c[1]), sum, 1e-4)
		mu := must.Get(planeMu(accountant.Cost{Epsilon: c[0], Delta: sum}))(t)
		must.Near(t, "mu", mu, c[1], 1e-4)
	}
}

// For ε and δ at which erfc underflows, by another way to write the integral: from the least r
// with a loss above ε, and with what the exponents have in common taken out. δ is never below it.
func TestPlaneDeltaDoesNotUnderflow(t *testing.T) {
	raced.Sequential(t)
	for _, c := range [][2]float64{{700, 33}, {700, 25}, {700, 36}, {600, 20}, {500, 25}, {300, 15},
		{100, 8}, {30, 2}} {
		eps, mu := c[0], c[1]
		first, sum, h := (eps-mu*mu/2)/mu, 0.0, 1e-5
		for s := h / 2; s < 20; s += h {
			sum += h * (first + s) * math.Exp(-first*s-s*s/2) * -math.Expm1(-mu*s)
		}
		want := sum * math.Exp(-first*first/2)
		if got := planeDelta(eps, mu); !(got >= want*(1-1e-6) && got <= want*1.01) {
			t.Errorf("epsilon = %g, mu = %g: %g, want %g", eps, mu, got, want)
		}
	}
}

// hockeyStick sums max(0, p - e^ε·q) over the minimiser w of the two worlds, in one dimension: w
// has the density of b = -J′₀(w) times J″₀(w).
func (p *minimised) hockeyStick(t *testing.T, worlds [2]*data.Records, epsilon,
	sigma float64) float64 {
	t.Helper()
	none, sum, at, g := make([]float64, 1), make([]float64, 1), make([]float64, 1), make([]float64, 1)
	slope := func(r *data.Records, w float64) float64 {
		at[0] = w
		if err := p.gradient(t.Context(), r, none, at, g, sum); err != nil {
			t.Fatal(err)
		}
		return g[0]
	}
	reach := (p.norm + 12*sigma) / p.lambda
	const steps = 8000
	h := 2 * reach / steps
	total := 0.0
	var before [2]float64
	for i := range steps + 1 {
		w := -reach + float64(i)*h
		at := [2]float64{slope(worlds[0], w), slope(worlds[1], w)}
		if i > 0 { // each cell's probability, exactly
			mass := func(k int) float64 {
				return (math.Erfc(before[k]/sigma/math.Sqrt2) - math.Erfc(at[k]/sigma/math.Sqrt2)) / 2
			}
			total += max(0, mass(0)-math.Exp(epsilon)*mass(1))
		}
		before = at
	}
	return total
}

// What one may not do is refused by name.
func TestPerturbationRefusals(t *testing.T) {
	for name, change := range map[string]func(c *ObjectivePerturbation){
		// the determinant alone costs more
		"lambda":         func(c *ObjectivePerturbation) { c.Lambda = 1e-5 },
		"task":           func(c *ObjectivePerturbation) { c.Loss = loss.GLM[loss.SquaredSigmoid]{} },
		"smoothing":      func(c *ObjectivePerturbation) { c.Smoothing = -1 },
		"ball":           func(c *ObjectivePerturbation) { c.Ball = -1 },
		"radius":         func(c *ObjectivePerturbation) { c.Radius = math.Inf(1) },
		"target epsilon": func(c *ObjectivePerturbation) { c.Target.Epsilon = math.NaN() },
	} {
		c := ObjectivePerturbation{Setting: setting(), Lambda: 0.1}
		c.Loss = loss.Logistic{}
		change(&c)
		var broken *check.Error
		if _, err := c.Plan(100, 2); !errors.As(err, &broken) || broken.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	var broken *check.Error
	if _, err := (OutputPerturbation{Setting: setting()}).Plan(100, 2); !errors.As(err, &broken) ||
		broken.Name != "lambda" {
		t.Error("neither lambda nor ball:", err)
	}
}

// The three parts of the account add up to the target, and the noise is not far from what the
// target allows: with a tenth less it would be above.
func TestObjectivePerturbationAccount(t *testing.T) {
	s := setting()
	s.Loss = loss.Logistic{}
	p := objective(t, ObjectivePerturbation{Setting: s, Ball: 3}, 10_000, 10)
	price := p.price
	spent := func(linear, output float64) float64 {
		mu := price.Blocks[0].Sensitivity / linear
		low, high := 0.0, 10.0
		for range 60 {
			if mid := (low + high) / 2; planeDelta(mid, mu) <= 0.5e-6 {
				high = mid
			} else {
				low = mid
			}
		}
		first := math.Log1p(p.curvature/(10_000*p.lambda)) + high
		second, err := accountant.GaussianEpsilon(output/(2*p.tolerance/p.lambda), 0.5e-6)
		if err != nil {
			t.Fatal(err)
		}
		return first + second
	}
	if e := spent(p.linear, p.output); !(e <= 1 && e > 0.999) {
		t.Errorf("the parts add up to %v", e)
	}
	if spent(0.9*p.linear, p.output) < 1.01 || spent(p.linear, 0.9*p.output) < 1.0005 {
		t.Error("less noise costs no more")
	}
	must.Near(t, "sensitivity", price.Blocks[0].Sensitivity, 2.0/10_000, 1e-9)
	if p.output > 0.2*p.linear/p.lambda {
		t.Errorf("the noise for stopping early is %g, that of the method %g", p.output, p.linear/p.lambda)
	}
}

// Both learn: more than half of what there is to learn.
func TestPerturbationsLearn(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(17, 18))
	const n, d = 4000, 5
	r := leaning(t, rng, n, d)
	s := setting()
	s.Loss = loss.Logistic{}
	problem := train.Problem{Loss: s.Loss, Regularizer: geometry.Ball{Radius: 8}, Records: r}
	best, err := problem.Optimum()
	if err != nil {
		t.Fatal(err)
	}
	zero := problem.Objective(make([]float64, d))
	for _, plan := range []Plan{
		output(t, OutputPerturbation{Setting: s, Ball: 8}, n, d).Plan(),
		objective(t, ObjectivePerturbation{Setting: s, Ball: 8}, n, d).Plan(),
	} {
		a := traintest.Trained(t, plan, r)
		mean := 0.0
		for seed := range uint64(5) {
			mean += problem.Objective(traintest.Simulate(t, a, seed)) / 5
		}
		t.Logf("%s: %.4f between %.4f and %.4f; %s", plan.Price.Method, mean, best.Value, zero,
			plan.Price.Notes)
		if !(zero-mean > 0.3*(zero-best.Value)) {
			t.Errorf("%s: %.4f, without learning %.4f, best %.4f", plan.Price.Method, mean, zero,
				best.Value)
		}
	}
}

// linearOnly draws the same vector for the linear term, and 0 for the rest.
type linearOnly struct {
	z      []float64
	linear bool
}

func (n *linearOnly) Restart(purpose string, _ int) { n.linear = purpose == streamLinear }
func (n *linearOnly) Fill(z []float64) {
	clear(z)
	if n.linear {
		copy(z, n.z)
	}
}

// The run minimises the mean loss with a linear term of the deviation that the account has, and
// output perturbation none.
func TestRunAddsTheLinearTermOfTheAccount(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	s := setting()
	s.Loss = loss.Logistic{}
	r := leaning(t, rng, 50, 2)
	for _, p := range []*minimised{objective(t, ObjectivePerturbation{Setting: s, Lambda: 1}, 50, 2),
		output(t, OutputPerturbation{Setting: s, Lambda: 1}, 50, 2)} {
		b := []float64{3, -2}
		run := &minimisedRun{p: p, rows: r, noise: &linearOnly{z: b}, w: make([]float64, 2),
			out: make([]float64, 2)}
		if err := run.Round(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		deviation := 0.0
		if p.price.Method == "objective-perturbation" {
			deviation = p.price.Blocks[0].Deviation
		}
		scaled, g, sum := []float64{deviation * b[0], deviation * b[1]}, make([]float64, 2),
			make([]float64, 2)
		if err := p.gradient(t.Context(), r, scaled, run.w, g, sum); err != nil ||
			vec.Norm(g) > p.tolerance*(1+1e-9) {
			t.Errorf("%s: the gradient is %g, the tolerance %g (%v)", p.price.Method, vec.Norm(g),
				p.tolerance, err)
		}
	}
}

// Rows are summed block by block, and each counts once: more rows than a block has, and a last block that is
// not full.
func TestGradientSumsAllBlocks(t *testing.T) {
	const d = 3
	for _, n := range []int{blockOf - 1, blockOf, blockOf + 1, 2*blockOf + 7} {
		rng := rand.New(rand.NewPCG(75, uint64(n)))
		p := output(t, OutputPerturbation{Setting: setting(), Lambda: 1e-3, Smoothing: 1}, n, d)
		rows, y := make([][]float64, n), make([]float64, n)
		for i := range rows {
			rows[i], y[i] = unit(rng, d), 3*rng.NormFloat64()
		}
		v, b, g, sum, want := unit(rng, d), unit(rng, d), make([]float64, d), make([]float64, d), make([]float64, d)
		if err := p.gradient(t.Context(), records(t, rows, y), b, v, g, sum); err != nil {
			t.Fatal(err)
		}
		for i, x := range rows {
			floats.AddScaled(want, max(-p.slope, min(p.slope, p.link.Slope(floats.Dot(v, x), y[i])))/float64(n), x)
		}
		floats.AddScaled(want, p.lambda, v)
		floats.Add(want, b)
		if !floats.EqualApprox(g, want, 1e-12) {
			t.Errorf("%d rows: %v, want %v", n, g, want)
		}
	}
}

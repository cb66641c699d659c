package accountant

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// testBits is a coarse grid: its bounds are looser, and no less bounds.
const testBits = 14

func TestFFTAgainstTheSum(t *testing.T) {
	raced.Sequential(t)
	for _, n := range []int{1, 2, 4, 8, 64, 512, 4 * cacheSize} {
		roots := rootsOf(n)
		x := make([]float64, n)
		total := 0.0
		for i := range x {
			x[i] = math.Sin(float64(i*i)) + math.Cos(3*float64(i))
			total += math.Abs(x[i])
		}
		y := append([]float64(nil), x...)
		realFFT(y, roots)
		for k := 0; k <= n/2; k += 1 + n/1024 {
			var want complex128
			for j := range x {
				// j·k is reduced first, so that the reference is good to 1e-15.
				want += complex(x[j], 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(j*k%n)/float64(n)))
			}
			got := complex(y[k], 0)
			if k > 0 && k < n/2 {
				got = complex(y[k], y[n-k])
			}
			if cmplx.Abs(got-want) > 1e-15*total*float64(n) {
				t.Fatalf("n = %d: output %d = %v, want %v", n, k, got, want)
			}
		}
		inverseRealFFT(y, roots)
		for i := range y {
			if math.Abs(y[i]/float64(n)-x[i]) > 20*fftError*total {
				t.Fatalf("n = %d: element %d comes back as %v, was %v", n, i, y[i], x[i])
			}
		}
	}
}

// Transforms that are off by all that is allowed, outwards, make a product that is off by no more than
// is stated, and little less where the errors are small.
func TestSpectrumBoundsWhatErrorsChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	const n = 8
	for range 300 {
		s := newSpectrum(n)
		e := math.Exp(-12 * rng.Float64())
		var plain, outwards [n/2 + 1]float64
		for i := range plain {
			plain[i], outwards[i] = 1, 1
		}
		for range 1 + rng.IntN(3) {
			w, count := make([]float64, n), 1+rng.IntN(5)
			for i := range w {
				w[i] = 2*rng.Float64() - 1
			}
			s.multiply(w, e, count)
			for i := range plain {
				a := math.Abs(w[i])
				if i > 0 && i < n/2 {
					a = math.Hypot(w[i], w[n-i])
				}
				plain[i] *= math.Pow(a, float64(count))
				outwards[i] *= math.Pow(a+e, float64(count))
			}
		}
		size, change := 0.0, 0.0
		for i := range plain {
			times := 2.0
			if i == 0 || i == n/2 {
				times = 1
			}
			size += times * outwards[i]
			change += times * (outwards[i] - plain[i])
		}
		gotSize, got := s.put(make([]float64, n), 1)
		if got < change || gotSize < size || gotSize > 1.02*size {
			t.Fatalf("e = %g: off by %g, size %g; bounds %g and %g", e, change, size, got, gotSize)
		}
		if e < 1e-4 && got > 1.05*change {
			t.Fatalf("e = %g: off by %g, bound %g", e, change, got)
		}
	}
}

// What undoes the tilt is within the error that its users add, for large scales and where the
// exponential of a block underflows.
func TestUntiltIsWithinItsError(t *testing.T) {
	for _, c := range []struct{ scale, tilt float64 }{
		{0, 0}, {3.7, 0.3}, {-677, 1}, {-700, 1}, {-30_000, 0.97}, {123_456.7, 1}, {0.1, 1e-9},
	} {
		u := newUntilt(c.scale, c.tilt)
		middle := 0
		if c.tilt > 0 {
			middle = int(c.scale / c.tilt)
		}
		for index := middle + 700; index >= middle-700; index-- {
			got, exponent := u.at(index)
			slack := 8 * 0x1p-52 * (exponent + math.Abs(c.scale) + 2)
			exact := num.ExpReal(binaryValue(c.scale).Sub(binaryValue(c.tilt).Mul(num.FromInt(
				int64(index)))))
			if low, high := exact.Lower(), exact.Upper(); high > 0x1p-1000 &&
				(got*(1+slack) < low || got*(1-slack) > high) {
				t.Fatalf("%+v, index %d: %g, exactly %g", c, index, got, exact.Nearest())
			}
		}
	}
}

// Normal noise is its own reference: k releases are one with noise σ/√k, whose δ is
// known exactly.
func TestPLDOfGaussiansIsAboveAndNearTheExactDelta(t *testing.T) {
	if raced.Enabled {
		t.Skip("slow, and nothing in it is concurrent")
	}
	t.Parallel()
	for _, c := range []struct {
		sigma float64
		k     int
		delta float64
		bits  int
		loose float64 // how far above the exact ε, relatively
	}{
		{1, 1, 1e-5, testBits, 1e-4},
		{1, 1, 1e-300, testBits, 1e-4},
		{0.05, 1, 1e-10, testBits, 1e-3},
		{50, 2500, 1e-100, testBits, 1e-2},
		{1000, 1_000_000, 1e-300, gridBits, 2e-2},
		{1e6, 10, 1e-12, testBits, 1e-2},
	} {
		charges := []Charge{{Gaussian{c.sigma, ReplaceOne}, c.k}}
		eps, err := lossEpsilon(charges, c.delta, c.bits)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := summedNoise(charges)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := gaussianEpsilon(sum, c.delta)
		if err != nil || eps < exact*(1-1e-12) || eps > exact*(1+c.loose)+1e-9 {
			t.Errorf("%d × σ = %g at δ = %g: ε = %.12g, exactly %.12g, %v", c.k, c.sigma, c.delta, eps,
				exact, err)
		}
		if eps == 0 {
			continue
		}
		delta, err := lossDelta(charges, exact, c.bits)
		if err != nil || delta < c.delta*(1-1e-9) {
			t.Errorf("%d × σ = %g at ε = %g: δ = %g, exactly %g, %v", c.k, c.sigma, exact, delta, c.delta,
				err)
		}
	}
}

// One repeated (ε, δ) has the exact answer of Kairouz, Oh and Viswanath.
func TestPLDOfOneCostIsAboveAndNearOptimal(t *testing.T) {
	for _, c := range []struct {
		k     int
		each  Cost
		delta float64
		bits  int
		loose float64
	}{
		{1, Cost{0.7, 1e-6}, 1e-5, testBits, 1e-5},
		{30, Cost{1, 1e-3}, 0.06, testBits, 1e-3},
		{100, Cost{0.1, 1e-6}, 1e-3, testBits, 1e-3},
		{100, Cost{0.2676, 0.0003}, 0.0297, gridBits, 1e-6},
		{100_000, Cost{0.001, 1e-310}, 1e-300, gridBits, 2e-2},
		{3, Cost{700, 1e-12}, 1e-10, testBits, 1e-3},
		{50, Cost{0, 1e-3}, 0.06, testBits, 0},
	} {
		if raced.Enabled && c.bits > testBits {
			continue
		}
		eps, err := lossEpsilon([]Charge{{ApproxDP{c.each, ReplaceOne}, c.k}}, c.delta, c.bits)
		if err != nil {
			t.Errorf("%d × %v: %v", c.k, c.each, err)
			continue
		}
		exact, err := mustOptimal(t, c.k, c.each).epsilon(c.delta)
		if err != nil || eps < exact*(1-1e-12) || eps > exact*(1+c.loose)+1e-9 {
			t.Errorf("%d × %v at δ = %g: ε = %.12g, exactly %.12g, %v", c.k, c.each, c.delta, eps, exact,
				err)
		}
	}
}

// bruteGroups enumerates every outcome of several groups of (ε, δ)-DP mechanisms, each
// at its worst, and sums δ(target) over them. Groups of n copies have n+1 different
// losses.
func bruteGroups(groups []Charge, target float64) float64 {
	finite := 1.0
	var sum func(i int, loss, mass float64) float64
	sum = func(i int, loss, mass float64) float64 {
		if i == len(groups) {
			return mass * max(0, -math.Expm1(target-loss))
		}
		e := groups[i].Event.(ApproxDP).Cost.Epsilon
		p, total := 1/(1+math.Exp(-e)), 0.0
		for j := range groups[i].Count + 1 {
			n := groups[i].Count
			lg := func(x int) float64 { l, _ := math.Lgamma(float64(x + 1)); return l }
			b := math.Exp(lg(n) - lg(j) - lg(n-j) + float64(j)*math.Log(p) + float64(n-j)*math.Log1p(-p))
			total += sum(i+1, loss+float64(2*j-n)*e, mass*b)
		}
		return total
	}
	for _, g := range groups {
		finite *= math.Pow(1-g.Event.(ApproxDP).Cost.Delta, float64(g.Count))
	}
	return 1 - finite + finite*sum(0, 0, 1)
}

// Heterogeneous composition, k up to 60, against the enumeration of all outcomes.
func TestPLDOfMixedCostsAgainstEnumeration(t *testing.T) {
	groups := func(parts ...any) []Charge {
		var out []Charge
		for i := 0; i < len(parts); i += 2 {
			out = append(out, Charge{ApproxDP{parts[i+1].(Cost), ReplaceOne}, parts[i].(int)})
		}
		return out
	}
	for _, g := range [][]Charge{
		groups(1, Cost{0.3, 1e-6}, 1, Cost{1.1, 0}),
		groups(20, Cost{0.1, 1e-5}, 20, Cost{0.237, 0}, 20, Cost{0.05, 1e-4}),
		groups(1, Cost{0.1, 0}, 2, Cost{0.2, 0}, 3, Cost{0.3, 0}, 4, Cost{0.4, 0}, 5, Cost{0.5, 0}),
		groups(2, Cost{5, 1e-9}, 40, Cost{0.02, 0}),
	} {
		for _, target := range []float64{0, 0.4, 1.5, 3} {
			got, err := lossDelta(g, target, testBits)
			want := bruteGroups(g, target)
			if err != nil || got < want-1e-12 || got > want*(1+2e-2)+1e-12 {
				t.Errorf("%v: δ(%g) = %.12g, %v, enumeration %.12g", g, target, got, err, want)
			}
		}
	}
}

// The Laplace mechanism alone: δ(ε) = 1 - e^{(ε-1/b)/2} for ε ≤ 1/b (its trade-off
// function is known).
func TestPLDOfOneLaplace(t *testing.T) {
	t.Parallel()
	for _, b := range []float64{0.5, 3, 100} {
		for _, part := range []float64{0, 0.25, 0.9, 1.1} {
			eps := part / b
			want := max(0, -math.Expm1((eps-1/b)/2))
			got, err := lossDelta([]Charge{{Laplace{b, ReplaceOne}, 1}}, eps, testBits)
			if err != nil || got < want || got > want*(1+5e-3)+1e-9 {
				t.Errorf("b = %g: δ(%g) = %g, %v, exactly %g", b, eps, got, err, want)
			}
		}
	}
}

// Opacus' own test of its PRV accountant gives ε = 6.777395712150674 for noise 1.5,
// rate 0.04, 2250 steps, δ = 1e-5, as an upper end with error 0.01 to either side of
// its estimate.
func TestPLDOfTheSubsampledGaussianGoldenValue(t *testing.T) {
	raced.Sequential(t)
	const upper = 6.777395712150674
	eps, err := lossEpsilon([]Charge{{SubsampledGaussian{1.5, 0.04, AddOrRemoveOne}, 2250}}, 1e-5,
		gridBits)
	if err != nil || eps > upper || eps < upper-0.02 {
		t.Errorf("ε = %.9g, %v, want in [%g, %g]", eps, err, upper-0.02, upper)
	}
	t.Logf("ε = %.9g", eps)
}

// One step of it: δ(ε) of both directions in closed form, by the two normal
// distributions' tails at L(x) = ±ε.
func TestPLDOfOneSubsampledGaussian(t *testing.T) {
	if raced.Enabled {
		t.Skip("slow, and nothing in it is concurrent")
	}
	t.Parallel()
	tail := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
	for _, c := range []struct{ sigma, q float64 }{{0.5, 0.01}, {4, 1e-3}} {
		e := SubsampledGaussian{c.sigma, c.q, AddOrRemoveOne}
		for _, eps := range []float64{0, 0.3} {
			x := c.sigma*c.sigma*math.Log1p(math.Expm1(eps)/c.q) + 0.5
			up := (1-c.q)*tail(x/c.sigma) + c.q*tail((x-1)/c.sigma) - math.Exp(eps)*tail(x/c.sigma)
			want := up
			if r := math.Expm1(-eps) / c.q; r > -1 {
				x := c.sigma*c.sigma*math.Log1p(r) + 0.5
				down := tail(-x/c.sigma) - math.Exp(eps)*((1-c.q)*tail(-x/c.sigma)+c.q*tail((1-x)/c.sigma))
				want = max(want, down)
			}
			got, err := lossDelta([]Charge{{e, 1}}, eps, testBits)
			if err != nil || got < want-1e-15 || got > want*(1+5e-2)+1e-12 {
				t.Errorf("%v: δ(%g) = %.9g, %v, exactly %.9g", e, eps, got, err, want)
			}
		}
	}
}

// Whatever the mixture, the bound holds against the Rényi bound's and the basic one's
// orders of size and is finite; counts and parameters at their limits are either
// answered or refused.
func TestPLDAtTheEdges(t *testing.T) {
	if raced.Enabled {
		t.Skip("slow, and nothing in it is concurrent")
	}
	t.Parallel()
	for _, c := range []struct {
		charges []Charge
		delta   float64
	}{
		{[]Charge{{Gaussian{1e-4, ReplaceOne}, 1}}, 1e-5},
		{[]Charge{{Gaussian{1e8, ReplaceOne}, 1_000_000}}, 1e-6},
		{[]Charge{{Gaussian{3, ReplaceOne}, 10}, {Laplace{4, ReplaceOne}, 7},
			{ApproxDP{Cost{0.2, 1e-9}, ReplaceOne}, 12}}, 1e-6},
		{[]Charge{{RandomizedResponse{700, ReplaceOne}, 1}, {Gaussian{100, ReplaceOne}, 100}}, 1e-6},
		{[]Charge{{RandomizedResponse{1e-300, ReplaceOne}, 5}}, 1e-300},
		{[]Charge{{SubsampledGaussian{0.5, 1e-6, AddOrRemoveOne}, 100_000}}, 1e-8},
		{[]Charge{{SubsampledGaussian{1, 1, AddOrRemoveOne}, 3},
			{SubsampledGaussian{1, 0, AddOrRemoveOne}, 3}}, 1e-8},
	} {
		eps, err := lossEpsilon(c.charges, c.delta, testBits)
		if err != nil {
			t.Errorf("%v: %v", c.charges, err)
			continue
		}
		if !(eps >= 0) || math.IsInf(eps, 1) {
			t.Errorf("%v: ε = %g", c.charges, eps)
		}
		delta, err := lossDelta(c.charges, eps, testBits)
		if err != nil || !(delta >= 0 && delta <= 1) {
			t.Errorf("%v: δ(%g) = %g, %v", c.charges, eps, delta, err)
		}
		t.Logf("%v at δ = %g: ε = %g, δ there %g", c.charges, c.delta, eps, delta)
	}
}

// Planted mistakes of a loss accountant must show against the exact references above.
func TestPLDMutantsAreCaught(t *testing.T) {
	charges := []Charge{{ApproxDP{Cost{0.237, 1e-4}, ReplaceOne}, 40}}
	target := 1.3
	want, err := mustOptimal(t, 40, Cost{0.237, 1e-4}).delta(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		source lossSource
		count  int
		mutant bool
	}{
		{"unchanged", responseLoss{Cost{0.237, 1e-4}}, 40, false},
		{"ignores the count", responseLoss{Cost{0.237, 1e-4}}, 1, true},
		{"rounds losses down", downRounded{responseLoss{Cost{0.237, 1e-4}}}, 40, true},
		{"drops the infinite mass", responseLoss{Cost{0.237, 0}}, 40, true},
	} {
		curve, err := lossBound([]lossSource{c.source}, []int{c.count}, testBits, towardEpsilon(target))
		if err != nil {
			t.Fatal(err)
		}
		if below := curve.at(target) < want*(1-1e-12); below != c.mutant {
			t.Errorf("%s: δ(%g) = %.15g, exactly %.15g (%v)", c.name, target, curve.at(target), want,
				charges)
		}
	}
}

// atoms is a loss of two values that are on the grid, the larger with probability p: nothing
// is lost or gained in putting them there.
type atoms struct {
	low, high int // in steps
	p         float64
}

func (a atoms) span() (low, high, deviation float64) { return -1, 1, 1 }

func (a atoms) discretise(float64) (lossMass, error) {
	m := lossMass{first: a.low, mass: make([]float64, a.high-a.low+1)}
	m.mass[0], m.mass[a.high-a.low] = 1-a.p, a.p
	return m, nil
}

// The rounding errors of the transforms are part of the bound. Untilted, they see the largest
// sum of losses, of a probability p^k far below 1, through an error that falls below it as
// often as above: without its bound some δ is too small. A few events show the error of the
// transforms, a million that of the powers between them.
func TestErrorOfTheTransformsIsAdded(t *testing.T) {
	lost := map[string]int{}
	check := func(what string, a atoms, k, bits int, step float64) {
		s, err := newLossSum([]lossSource{a}, []int{k}, step, bits)
		if err != nil {
			t.Fatal(err)
		}
		at, top := (float64(k*a.high)-0.5)*step, math.Exp(float64(k)*math.Log(a.p))
		if d, truth := s.curve(0).at(at), -math.Expm1(-step/2)*top*(1-1e-9); d < truth {
			t.Errorf("%d of %+v: δ(%g) = %g, exactly %g", k, a, at, d, truth)
		}
		if plainTop(s) <= 0 {
			lost[what]++
		}
	}
	for k := 80; k < 240; k += 4 {
		check("few", atoms{-4, 4, 1 / (1 + math.Exp(-1))}, k, 11, 0.25)
	}
	for i := range 160 {
		top := 29 + 0.04*float64(i) // p^k = e^-top
		check("many", atoms{0, 1, math.Exp(-top / 1e6)}, 1_000_000, 9, 0x1p-20)
	}
	for _, what := range []string{"few", "many"} {
		if lost[what] < 5 {
			t.Errorf("%s: the transforms alone lose all in %d cases: the test tells little", what,
				lost[what])
		}
	}
}

// plainTop returns the probability of the largest sum of losses by two transforms.
func plainTop(s lossSum) float64 {
	n := 1 << s.bits
	roots, w := rootsOf(n), make([]float64, n)
	p := s.parts[0]
	for i, m := range p.mass {
		w[(p.first+i)&(n-1)] += m
	}
	realFFT(w, roots)
	for k := range n/2 + 1 {
		if k == 0 || k == n/2 {
			w[k] = math.Pow(w[k], float64(p.count))
			continue
		}
		z := power(complex(w[k], w[n-k]), p.count)
		w[k], w[n-k] = real(z), imag(z)
	}
	inverseRealFFT(w, roots)
	return w[p.count*(p.first+len(p.mass)-1)&(n-1)] / float64(n)
}

// downRounded moves every mass one grid point down, as optimistic discretisation does.
type downRounded struct{ responseLoss }

func (d downRounded) discretise(step float64) (lossMass, error) {
	m, err := d.responseLoss.discretise(step)
	m.first--
	return m, err
}

func BenchmarkPLD(b *testing.B) {
	for _, c := range []struct {
		name string
		Charge
	}{
		{"100 costs", Charge{ApproxDP{Cost{0.2676, 0.0003}, ReplaceOne}, 100}},
		{"2250 subsampled", Charge{SubsampledGaussian{1.5, 0.04, AddOrRemoveOne}, 2250}},
		{"a million gaussians", Charge{Gaussian{1000, ReplaceOne}, 1_000_000}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := lossEpsilon([]Charge{c.Charge}, 0.04, bitsFor([]Charge{c.Charge})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// math.Erfc keeps within the margin that the loss grids allow it, against 200 bits, wherever within
// the wobble the edge is.
func TestNormalMassMarginHolds(t *testing.T) {
	raced.Sequential(t)
	exactTo := func(z, to float64) num.Interval {
		exact := num.NormalTail(binaryValue(z))
		if math.IsInf(to, 1) {
			return exact
		}
		return exact.Sub(num.NormalTail(binaryValue(to)))
	}
	for z := -9.0; z < 37; z += 0.93 {
		for _, width := range []float64{1e-6, 1, math.Inf(1)} {
			for _, wobble := range []float64{0, 1e-14, 1e-9, 2e-5, 1e-4, 0.01, 0.3, 4} {
				e, f := newNormalEdge(z, wobble), newNormalEdge(z+width, wobble)
				low, high := e.massUpTo(f, -1), e.massUpTo(f, +1)
				if to := z + wobble; to < z+width-wobble {
					if least := exactTo(to, z+width-wobble); low > least.Lower() {
						t.Errorf("mass of [%g, %g], ends off by %g: from %g, exactly %g", z, z+width, wobble,
							low, least.Nearest())
					}
				} else if low > 0 {
					t.Errorf("mass of [%g, %g], ends off by %g: from %g", z, z+width, wobble, low)
				}
				if most := exactTo(z-wobble, z+width+wobble); high < most.Upper() {
					t.Errorf("mass of [%g, %g], ends off by %g: to %g, exactly %g", z, z+width, wobble, high,
						most.Nearest())
				}
				if exact := exactTo(z, z+width).Nearest(); wobble == 0 && width >= 1 &&
					high > exact+1e-10*min(exact, 1) {
					t.Errorf("mass of [%g, %g]: up to %g, exactly %g", z, z+width, high, exact)
				}
			}
		}
	}
	for _, e := range []normalEdge{newNormalEdge(math.Inf(-1), 0), newNormalEdge(math.Inf(1), 1)} {
		if e.tail != 0 || e.slack != 0 {
			t.Errorf("edge at infinity: %+v", e)
		}
	}
}

// Where nearly all records are sampled, the largest loss of a record that is added, -ln(1-q), is where
// the ratio of the densities is within rounding of its end: losses short of it are not lost. The plain
// normal's outcomes with larger losses than ε lie beyond z = -(1/(2σ) + σ·ln((e^-ε-(1-q))/q)) on one side.
func TestLossesNearTheirLargest(t *testing.T) {
	l := normalLoss{sigma: 0.1, q: 1 - 0x1p-53, down: true}
	c, err := lossBound([]lossSource{l}, []int{1}, 12, untilted)
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []float64{35, 36, 36.33, 36.5, 36.7} {
		plain, moved := 0.0, 0.0 // of all outcomes with such losses
		for i := range 400_000 {
			z := -10 + float64(i)*0x1p-14 + 0x1p-15
			density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * 0x1p-14
			w := (2*l.sigma*z - 1) / (2 * l.sigma * l.sigma)
			mixture := density * (0x1p-53 + l.q*math.Exp(w))
			if density > math.Exp(epsilon)*mixture {
				plain, moved = plain+density, moved+mixture
			}
		}
		if truth := plain - math.Exp(epsilon)*moved; c.at(epsilon) < truth*(1-1e-3) {
			t.Errorf("δ(%g) = %g, by sums of the densities %g", epsilon, c.at(epsilon), truth)
		}
	}
}

// Where the tilt moves the window above ε, δ is taken of the losses as they are, and not put at 1.
func TestPLDBelowTheWindow(t *testing.T) {
	raced.Sequential(t)
	const bits = 12
	rare := []Charge{{SubsampledGaussian{1, 1e-9, AddOrRemoveOne}, 1000}}
	directions, counts, err := lossDirections(rare)
	if err != nil {
		t.Fatal(err)
	}
	tilted := must.Get(lossBound(directions[0], counts, bits, towardEpsilon(10)))(t)
	if d := tilted.at(10); d < 1 {
		t.Fatalf("ε = 10 is not below the tilted window: δ = %g there", d)
	}
	if d := must.Get(lossDelta(rare, 10, bits))(t); !(d > 0 && d < 1e-12) {
		t.Errorf("δ(10) = %g", d)
	}
}

// Chernoff's bound of a mass of 1e-200 is about that mass, for which e^{-θx} must be as small.
func TestTailOfATinyMass(t *testing.T) {
	const mass = 1e-200
	s := lossSum{step: 1, parts: []lossPart{newLossPart(lossMass{mass: []float64{1, mass}}, 1)}}
	if p := s.tail(0, 1, mass); p < mass || p > mass*(1+1e-6) {
		t.Errorf("the mass at 1 is %g, at most %g", mass, p)
	}
}

// Ten million sampled steps are as many as a long training has: their losses are summed, for less
// than Rényi divergences say, and beyond that the error names the limit.
func TestTenMillionSampledSteps(t *testing.T) {
	raced.Sequential(t)
	at := func(count int, m Method) float64 {
		a, err := New(AddOrRemoveOne)
		if err == nil {
			a, err = a.Charge(SubsampledGaussian{5, 1e-4, AddOrRemoveOne}, count)
		}
		if err != nil {
			t.Fatal(err)
		}
		eps, _, err := a.epsilonBy(m, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		return eps
	}
	few, many, renyi := at(1_000_000, MethodPLD), at(10_000_000, MethodPLD), at(10_000_000, MethodRDP)
	// Ten times the steps cost about √10 times as much.
	if !(many > 3*few && many < 3.6*few && many < 0.95*renyi) {
		t.Errorf("ε = %v for a million steps, %v for ten, by Rényi divergences %v", few, many, renyi)
	}
	a, err := New(AddOrRemoveOne)
	if err == nil {
		a, err = a.Charge(SubsampledGaussian{5, 1e-4, AddOrRemoveOne}, 10_000_001)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.epsilonBy(MethodPLD, 1e-6); err == nil || !strings.Contains(err.Error(), "10000000") {
		t.Errorf("more steps: %v", err)
	}
}

// What is remembered of a price is by all that it depends on: each event, each count, δ, and how many events there are.
func TestRememberedPricesAreTheirOwn(t *testing.T) {
	first := []Charge{{Laplace{1, ReplaceOne}, 2}, {Laplace{2, ReplaceOne}, 3}, {Laplace{3, ReplaceOne}, 4}}
	lists := [][]Charge{first, first[:2], append(slices.Clone(first), Charge{Laplace{4, ReplaceOne}, 1}),
		append(slices.Clone(first), Charge{Laplace{5, ReplaceOne}, 1})}
	for range 2 {
		for _, charges := range lists {
			for _, delta := range []float64{1e-5, 1e-6} {
				c, err := takePLD(charges)
				if err != nil {
					t.Fatal(err)
				}
				got, _, err := c.epsilon(delta)
				want, err2 := lossEpsilon(charges, delta, gridBits)
				if got != want || err != nil || err2 != nil {
					t.Errorf("%v at δ = %v: %v, want %v (%v, %v)", charges, delta, got, want, err, err2)
				}
			}
		}
	}
}

package accountant

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/raced"
)

// opacusOrders is the grid of orders of Opacus' RDP accountant.
func opacusOrders() []float64 {
	var orders []float64
	for x := 1; x < 100; x++ {
		orders = append(orders, 1+float64(x)/10)
	}
	for a := 12; a < 64; a++ {
		orders = append(orders, float64(a))
	}
	return orders
}

// Opacus' own test of its RDP accountant: noise 1.5, rate 0.04, 2250 steps, δ = 1e-5
// give 7.32911117143 over its grid of orders.
func TestSubsampledGaussianGoldenValue(t *testing.T) {
	const want = 7.32911117143
	charges := []Charge{{SubsampledGaussian{1.5, 0.04, AddOrRemoveOne}, 2250}}
	grid := math.Inf(1)
	for _, a := range opacusOrders() {
		rho, err := chargesRDP(charges, a)
		if err != nil {
			t.Fatal(err)
		}
		grid = min(grid, improvedEpsilon(a, rho, 1e-5))
	}
	if math.Abs(grid-want) > 5e-8 {
		t.Errorf("ε = %.12g over Opacus' orders, want %.12g", grid, want)
	}
	eps, alpha, err := rdpEpsilon(charges, 1e-5)
	if err != nil || eps > grid || eps < grid-1e-3 {
		t.Errorf("ε = %.12g at order %g, %v; over Opacus' orders %.12g", eps, alpha, err, grid)
	}
	t.Logf("Opacus' orders %.12g, best real order %g: %.12g", grid, alpha, eps)
}

// mpmath 1.3 at 50 digits, quad over E[(1-q+q·e^{z/σ-1/(2σ²)})^α] (SubsampledGaussian),
// and the closed forms of Mironov (2017) for the others.
func TestRDPKnownDigits(t *testing.T) {
	for _, c := range rdpReference {
		got, err := RDP(c.event, c.alpha)
		if err != nil {
			t.Fatal(err)
		}
		if got < c.want {
			t.Errorf("%v at order %g: %.17g is below %.17g", c.event, c.alpha, got, c.want)
		}
		if got > c.want*(1+c.loose)+1e-14 {
			t.Errorf("%v at order %g: %.17g is far above %.17g", c.event, c.alpha, got, c.want)
		}
	}
}

var rdpReference = []struct {
	event       Event
	alpha, want float64
	loose       float64
}{
	{SubsampledGaussian{1.5, 0.04, AddOrRemoveOne}, 10.5, 0.0062213542739139087375, 1e-8},
	{SubsampledGaussian{1.5, 0.04, AddOrRemoveOne}, 2, 0.00089499696687373871541, 1e-8},
	{SubsampledGaussian{1.5, 0.04, AddOrRemoveOne}, 1.1, 0.00048165674003429922947, 1e-8},
	{SubsampledGaussian{1, 0.01, AddOrRemoveOne}, 8.3, 0.00098928735582590387229, 1e-8},
	{SubsampledGaussian{1, 0.01, AddOrRemoveOne}, 64, 27.321731874551780198, 1e-8},
	{SubsampledGaussian{4, 0.001, AddOrRemoveOne}, 20.5, 6.6187436235149410483e-7, 1e-8},
	{SubsampledGaussian{0.6, 0.2, AddOrRemoveOne}, 3.7, 2.9366183115027174474, 1e-8},
	{SubsampledGaussian{10, 0.5, AddOrRemoveOne}, 33.3, 0.045330425306168474887, 1e-8},
	{Laplace{1, ReplaceOne}, 1.5, 0.5128835112945085956, 1e-8},
	{Laplace{0.2, ReplaceOne}, 3, 4.744587188121633973, 1e-8},
	{Laplace{10, ReplaceOne}, 7.5, 0.033774391774386058803, 1e-8},
	{Laplace{1000, ReplaceOne}, 2.5, 1.2495826568546640778e-6, 1e-6},
	{Laplace{1, ReplaceOne}, 100, 0.99304914506326867649, 1e-8},
	{RandomizedResponse{1, ReplaceOne}, 1.5, 0.62733264704949932479, 1e-8},
	{RandomizedResponse{0.01, ReplaceOne}, 3, 0.0001499837527119854242, 1e-8},
	{RandomizedResponse{5, ReplaceOne}, 7.5, 4.9989668694632126048, 1e-8},
	{RandomizedResponse{1, ReplaceOne}, 100, 0.99683574053011896127, 1e-8},
	{ApproxDP{Cost{1, 0}, ReplaceOne}, 1.5, 0.62733264704949932479, 1e-8},
	{Gaussian{2, ReplaceOne}, 1.5, 0.1875, 1e-8},
}

// sampledMoment returns ln E[(1-q+q·e^w)^α], w = z/σ - 1/(2σ²), z standard normal, by plain
// summation on a fine grid, good to about 1e-13 of 1.
func sampledMoment(sigma, q, alpha float64) float64 {
	const h = 1.0 / 64
	logs, top := []float64{}, math.Inf(-1)
	for z := -30.0; z <= alpha/sigma+30; z += h {
		w := z/sigma - 1/(2*sigma*sigma)
		base := math.Log1p(q * math.Expm1(w))
		if w > 600 {
			base = w + math.Log(q)
		}
		l := alpha*base - z*z/2
		logs, top = append(logs, l), max(top, l)
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum*h/math.Sqrt(2*math.Pi))
}

// What ρ(α) of the sampled Gaussian is: not below the definition, summed here in another
// way, and nearly it; and what it must be by theory before any minimum is taken: (α-1)ρ(α)
// convex, which interpolation between orders uses, and at most that of all records.
func TestSubsampledRDPProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Float64Range(0.6, 20).Draw(t, "σ")
		q := math.Pow(10, rapid.Float64Range(-6, 0).Draw(t, "log q"))
		a := 1 + math.Pow(10, rapid.Float64Range(-2, 2).Draw(t, "log α"))
		e := SubsampledGaussian{sigma, q, AddOrRemoveOne}
		rho, err := RDP(e, a)
		if err != nil {
			t.Fatal(err)
		}
		// The grid of the reference is off by 1e-12 of what is near 1, and by its exponents.
		truth := sampledMoment(sigma, q, a)
		if slack := 1e-12 * (1 + a*a/(sigma*sigma)); rho*(a-1) < truth-slack ||
			rho*(a-1) > truth*(1+1e-6)+10*slack {
			t.Fatalf("%v at %g: (α-1)ρ = %g, by definition %g", e, a, rho*(a-1), truth)
		}
		up, err := RDP(e, math.Ceil(a)+1)
		if err != nil || up < rho*(1-1e-7)-1e-12 {
			t.Fatalf("%v: ρ falls from %g at %g to %g above", e, rho, a, up)
		}
		// Series and quadrature are independent ways to the same number.
		n := int(math.Ceil(a)) + 1
		series, quad := subsampledLogMoment(sigma, q, n), subsampledQuadrature(sigma, q, float64(n))
		if math.Abs(series-quad) > 1e-8*series+1e-11 {
			t.Fatalf("%v at %d: series %g, quadrature %g", e, n, series, quad)
		}
		if all := float64(n) * float64(n-1) / (2 * sigma * sigma); series > all*(1+1e-9) {
			t.Fatalf("%v at %d: (α-1)ρ = %g, of all records %g", e, n, series, all)
		}
		if mid := subsampledLogMoment(sigma, q, n+1); series+subsampledLogMoment(sigma, q, n+2) < 2*mid*
			(1-1e-10) {
			t.Fatalf("%v: (α-1)ρ is not convex around %d", e, n+1)
		}
	})
}

func TestRDPAtTheEdges(t *testing.T) {
	raced.Sequential(t)
	for _, e := range []Event{
		Gaussian{1e-4, ReplaceOne}, Gaussian{1e8, ReplaceOne},
		Laplace{1e-4, ReplaceOne}, Laplace{1e8, ReplaceOne},
		RandomizedResponse{0, ReplaceOne}, RandomizedResponse{700, ReplaceOne},
		RandomizedResponse{1e-300, ReplaceOne},
		SubsampledGaussian{1e-4, 0.5, AddOrRemoveOne}, SubsampledGaussian{1e8, 1e-300, AddOrRemoveOne},
		SubsampledGaussian{1, 0, AddOrRemoveOne}, SubsampledGaussian{1, 1, AddOrRemoveOne},
		SubsampledGaussian{0.3, 1 - 0x1p-53, AddOrRemoveOne},
	} {
		for _, a := range []float64{1 + 1e-12, 1.5, 2, 77.7, 2048} {
			if rho, err := RDP(e, a); err != nil || !(rho >= 0) || math.IsInf(rho, 0) {
				t.Errorf("%v at order %g: %g, %v", e, a, rho, err)
			}
		}
		for _, delta := range []float64{1e-300, 1e-5, 0.5} {
			if eps, _, err := rdpEpsilon([]Charge{{e, 1_000_000}}, delta); err != nil || !(eps >= 0) ||
				math.IsInf(eps, 0) {
				t.Errorf("a million of %v at δ = %g: %g, %v", e, delta, eps, err)
			}
		}
	}
}

// The improved conversion is never worse than the classical one at the best order, and
// both hold against the exact δ of the Gaussian mechanism.
func TestConversionsHoldForTheGaussian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := math.Pow(10, rapid.Float64Range(-1, 2).Draw(t, "log σ"))
		delta := math.Pow(10, rapid.Float64Range(-12, -1).Draw(t, "log δ"))
		charges := []Charge{{Gaussian{sigma, ReplaceOne}, 1}}
		eps, alpha, err := rdpEpsilon(charges, delta)
		if err != nil {
			t.Fatal(err)
		}
		rho := gaussianRDP(sigma, alpha)
		classical, err := ClassicalEpsilonFromRDP(alpha, rho, delta)
		if err != nil || classical < eps {
			t.Fatalf("classical %g, improved %g", classical, eps)
		}
		zc, err := EpsilonFromZCDP(1/(2*sigma*sigma), delta)
		if err != nil || zc < eps*(1-1e-6) {
			t.Fatalf("zCDP %g, improved %g", zc, eps)
		}
		exact, err := GaussianDelta(sigma, eps)
		if err != nil || exact > delta {
			t.Fatalf("σ = %g: RDP claims (%g, %g), δ there is %g, %v", sigma, eps, delta, exact, err)
		}
		back, err := rdpDelta(charges, eps)
		if err != nil || back < exact || back > delta*(1+1e-4) && eps > 0 {
			t.Fatalf("δ(ε(δ)) = %g for δ = %g, exactly %g", back, delta, exact)
		}
	})
}

func TestRDPRefuses(t *testing.T) {
	for _, c := range []struct {
		event       Event
		alpha       float64
		unsupported bool
	}{
		{Gaussian{1, ReplaceOne}, 1, false},
		{Gaussian{1, ReplaceOne}, math.NaN(), false},
		{Gaussian{1, ReplaceOne}, math.Inf(1), false},
		{Gaussian{0, ReplaceOne}, 2, false},
		{Gaussian{math.NaN(), ReplaceOne}, 2, false},
		{Gaussian{1, 0}, 2, false},
		{SubsampledGaussian{1, 0.1, ReplaceOne}, 2, true},
		{SubsampledGaussian{1, 1.5, AddOrRemoveOne}, 2, false},
		{SubsampledGaussian{1, 0.1, AddOrRemoveOne}, 1e6, false},
		{ApproxDP{Cost{1, 1e-9}, ReplaceOne}, 2, true},
		{nil, 2, true},
		{foreign{}, 2, true},
	} {
		got, err := RDP(c.event, c.alpha)
		if err == nil || errors.Is(err, ErrUnsupported) != c.unsupported {
			t.Errorf("RDP(%v, %g) = %g, %v", c.event, c.alpha, got, err)
		}
	}
	for _, c := range [][3]float64{{1, 1, 0.1}, {2, -1, 0.1}, {2, math.Inf(1), 0.1},
		{2, math.NaN(), 0.1}, {2, 1, 0}, {2, 1, 1}, {2, 1, math.NaN()}} {
		if got, err := EpsilonFromRDP(c[0], c[1], c[2]); err == nil {
			t.Errorf("EpsilonFromRDP(%v) = %g", c, got)
		}
		if got, err := ClassicalEpsilonFromRDP(c[0], c[1], c[2]); err == nil {
			t.Errorf("ClassicalEpsilonFromRDP(%v) = %g", c, got)
		}
	}
}

// foreign is an event of another package.
type foreign struct{}

func (foreign) Relation() Relation { return ReplaceOne }
func (foreign) String() string     { return "something else" }

func rdpEpsilon(charges []Charge, delta float64) (eps, alpha float64, err error) {
	sum, err := newRDPSum(charges)
	if err != nil {
		return 0, 0, err
	}
	return sum.epsilon(delta)
}

func rdpDelta(charges []Charge, epsilon float64) (float64, error) {
	sum, err := newRDPSum(charges)
	if err != nil {
		return 0, err
	}
	delta, _ := sum.delta(epsilon)
	return delta, nil
}

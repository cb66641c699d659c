package loss

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/vec"
)

// A smoothness is an upper bound, so that no step counts as non-expansive that is not: it is
// never below the exact one.
func TestSmoothnessIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(48, 49))
	for _, c := range []struct {
		task   Loss
		factor *big.Rat
	}{{Logistic{}, big.NewRat(1, 4)}, {LeastSquares{}, big.NewRat(2, 1)}} {
		inexact := false
		for range 1000 {
			r := rng.Float64() * 10
			square := new(big.Rat).SetFloat64(r)
			square.Mul(square, square).Mul(square, c.factor)
			if got := c.task.Smoothness(r); new(big.Rat).SetFloat64(got).Cmp(square) < 0 {
				t.Fatalf("%s: smoothness %.17g at radius %.17g is too small", c.task.Name(), got, r)
			}
			f, _ := c.factor.Float64()
			inexact = inexact || new(big.Rat).SetFloat64(r*r*f).Cmp(square) < 0
		}
		if !inexact {
			t.Errorf("%s: no square is rounded down: this tests nothing", c.task.Name())
		}
	}
}

// Acceptance test 14 of the specification, its first half.
func TestNetworkGradient(t *testing.T) {
	n, err := NewNetwork(10)
	if err != nil {
		t.Fatal(err)
	}
	x, a, g := make([]float64, n.ModelDim(8)), make([]float64, 8), make([]float64, n.ModelDim(8))
	for k := range x {
		x[k] = 0.1 * math.Sin(float64(k+1))
	}
	for k := range a {
		a[k] = 0.1 * float64(k+1)
	}
	n.Gradient(g, x, a, 0.4)
	square := 0.0
	for _, v := range g {
		square += v * v
	}
	for what, v := range map[string][2]float64{
		"output": {n.Predict(x, a), -0.106646740389}, "loss": {n.Loss(x, a, 0.4), 0.256690919547},
		"norm": {math.Sqrt(square), 2.48266301118},
		"0":    {g[0], -5.36445274606e-4}, "80": {g[80], -5.36445274606e-3},
		"90":  {g[90], -0.701348700764},
		"100": {g[100], -1.01329348078},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9*math.Abs(v[1]) {
			t.Errorf("%s = %.12g, want %.12g", what, v[0], v[1])
		}
	}
	if len(x) != 101 || ModelDim(n, 8) != 101 || ModelDim(Logistic{}, 8) != 8 {
		t.Errorf("%d weights", len(x))
	}
	if allocs := testing.AllocsPerRun(10, func() { n.Gradient(g, x, a, 0.4) }); allocs != 0 {
		t.Errorf("a gradient allocates %g times", allocs)
	}
}

// The gradient against central differences, at models of all sizes.
func TestNetworkGradientAgainstDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		h, p := 1+rng.IntN(5), 1+rng.IntN(4)
		n, _ := NewNetwork(h)
		x, a, g := make([]float64, n.ModelDim(p)), make([]float64, p), make([]float64, n.ModelDim(p))
		n.Start(x, p, rng)
		scale := math.Exp(3 * rng.NormFloat64())
		for j := range x {
			x[j] *= scale
		}
		for j := range a {
			a[j] = rng.NormFloat64()
		}
		y := rng.NormFloat64()
		n.Gradient(g, x, a, y)
		for j, v := range x {
			step := 1e-5 * (1 + math.Abs(v))
			x[j] = v + step
			above := n.Loss(x, a, y)
			x[j] = v - step
			below := n.Loss(x, a, y)
			x[j] = v
			if want := (above - below) / (2 * step); math.Abs(g[j]-want) > 1e-4*(1+math.Abs(want))*
				(1+scale) {
				t.Fatalf("h = %d, p = %d, component %d: %g, want %g", h, p, j, g[j], want)
			}
		}
	}
	for _, z := range []float64{-1e4, -800, -40, 0, 40, 800, 1e4} {
		v, s := softplus(z)
		if !(v >= max(z, 0)) || math.IsInf(v, 1) || !(s >= 0 && s <= 1) {
			t.Errorf("softplus(%g) = %g, slope %g", z, v, s)
		}
	}
	if _, err := NewNetwork(0); err == nil {
		t.Error("a network without units is accepted")
	}
}

// Four at a time are as one at a time, to the rounding of the exponential.
func TestQuadsAreAsRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for range 2000 {
		z, y := [vec.Quad]float64{}, [vec.Quad]float64{0, 1, 0, 1}
		for q := range z {
			z[q] = 20 * rng.NormFloat64() * math.Exp(3*rng.NormFloat64())
		}
		got := z
		Logit{}.Slopes(&got, &y)
		for q := range z {
			if want := (Logit{}).Slope(z[q], y[q]); !(math.Abs(got[q]-want) < 1e-15) {
				t.Fatalf("slope at %v of %v: %v, want %v", z[q], y[q], got[q], want)
			}
		}
		scores := make([][vec.Quad]float64, 3)
		for k := range scores {
			for q := range scores[k] {
				scores[k][q] = 5 * rng.NormFloat64()
			}
		}
		quads := slices.Clone(scores)
		ChancesOfQuad(quads)
		for q := range z {
			one := []float64{scores[0][q], scores[1][q], scores[2][q]}
			Chances(one)
			for k, want := range one {
				if !(math.Abs(quads[k][q]-want) < 1e-15) {
					t.Fatalf("class %d of %v: %v, want %v", k, scores, quads[k][q], want)
				}
			}
		}
	}
	nan := [vec.Quad]float64{math.NaN(), 1}
	Logit{}.Slopes(&nan, &[vec.Quad]float64{})
	if !math.IsNaN(nan[0]) || math.IsNaN(nan[1]) {
		t.Error("what is no number has a slope, or makes another none:", nan)
	}
	Logit{}.Slopes(&nan, nil)
	if !math.IsNaN(nan[0]) || !(nan[1] > 0) {
		t.Error("of no responses predictions are replaced:", nan)
	}
}

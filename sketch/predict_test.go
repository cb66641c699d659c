package sketch

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// figure22 is the table of Figure 2.2 for identical unit vectors and d = 1024: Rand-k,
// Rand-k-Spatial(Max) and Rand-Proj-Spatial(Max).
var figure22 = []struct {
	n, k            int
	plain, row, srh float64
}{
	{10, 1, 102.30, 101.85, 101.40}, {10, 10, 10.140, 9.698, 9.240}, {10, 40, 2.460, 2.043, 1.560},
	{10, 80, 1.180, 0.796, 0.280}, {10, 100, 0.924, 0.557, 0.024}, {10, 102, 0.904, 0.539, 0.0039},
	{20, 1, 51.150, 50.677, 50.200}, {20, 10, 5.070, 4.611, 4.120}, {20, 20, 2.510, 2.068, 1.560},
	{20, 40, 1.230, 0.821, 0.280}, {20, 50, 0.974, 0.581, 0.024},
	{50, 1, 20.460, 19.974, 19.480}, {50, 5, 4.076, 3.606, 3.096}, {50, 10, 2.028, 1.579, 1.048},
	{50, 15, 1.345, 0.916, 0.365}, {50, 20, 1.004, 0.595, 0.024},
	{100, 1, 10.230, 9.743, 9.240}, {100, 2, 5.110, 4.631, 4.120}, {100, 4, 2.550, 2.088, 1.560},
	{100, 6, 1.697, 1.250, 0.707}, {100, 8, 1.270, 0.840, 0.280}, {100, 10, 1.014, 0.600, 0.024},
}

func TestPredictFigure22(t *testing.T) {
	for _, v := range figure22 {
		r, q := float64(v.n-1), float64(v.n)
		c := Config{N: v.n, K: v.k, D: 1024, Ensemble: RowSelect}
		digits := 3
		if v.plain > 100 {
			digits = 2
		}
		name := fmt.Sprintf("(%d,%d): ", v.n, v.k)
		printed(t, name+"Rand-k", mse(t, c, r, q), v.plain, digits)
		c.T.Rho = 1
		printed(t, name+"Rand-k-Spatial(Max)", mse(t, c, r, q), v.row, digits)
		c.Ensemble = SRHT
		if v.srh < 0.01 {
			digits = 4
		}
		printed(t, name+"Rand-Proj-Spatial(Max)", mse(t, c, r, q), v.srh, digits)
	}
}

// Figures 2.3 and A.1: Opt.
func TestPredictFigure23(t *testing.T) {
	for _, v := range []struct {
		n, k   int
		plain  float64
		errors [][2]float64
	}{
		{5, 50, 3.896, [][2]float64{{3.858, 3.850}, {3.770, 3.711}, {3.653, 3.471}}},
		{5, 200, 0.824, [][2]float64{{0.793, 0.788}, {0.722, 0.685}, {0.624, 0.502}}},
		{11, 30, 3.012, [][2]float64{{2.984, 2.978}, {2.915, 2.879}, {2.821, 2.713}, {2.709, 2.467}}},
		{11, 90, 0.943, [][2]float64{{0.918, 0.914}, {0.858, 0.834}, {0.777, 0.703}, {0.680, 0.504}}},
		{21, 10, 4.829, [][2]float64{{4.798, 4.792}, {4.724, 4.684}, {4.622, 4.504}, {4.503, 4.242}}},
		{21, 40, 1.171, [][2]float64{{1.143, 1.139}, {1.078, 1.049}, {0.988, 0.902}, {0.883, 0.679}}},
		{51, 5, 3.996, [][2]float64{{3.964, 3.959}, {3.889, 3.849}, {3.785, 3.665}, {3.663, 3.397}}},
		{51, 20, 0.984, [][2]float64{{0.956, 0.951}, {0.890, 0.862}, {0.800, 0.720}, {0.695, 0.508}}},
	} {
		for i, e := range v.errors {
			star := float64(i+1) / float64(len(v.errors)+1)
			r := star * float64(v.n-1)
			c := Config{N: v.n, K: v.k, D: 1024, Ensemble: RowSelect, T: Transform{Rho: RhoOpt(v.n, r)}}
			name := fmt.Sprintf("(%d,%d), ρ* = %g: ", v.n, v.k, star)
			printed(t, name+"Rand-k-Spatial", mse(t, c, r, float64(v.n)), e[0], 3)
			c.Ensemble = SRHT
			printed(t, name+"Rand-Proj-Spatial", mse(t, c, r, float64(v.n)), e[1], 3)
			// No other ρ is better.
			best := mse(t, c, r, float64(v.n))
			for _, rho := range []float64{star - 0.05, star + 0.05} {
				c.T.Rho = rho
				if other := mse(t, c, r, float64(v.n)); other <= best {
					t.Errorf("%sρ = %g has error %g, not above Opt's %g", name, rho, other, best)
				}
			}
		}
	}
}

// The predictions by Monte Carlo and by the asymptotic form are two ways to one number.
func TestPredictionsAgree(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	for _, rho := range []float64{0.3, 0.7, -0.1} {
		c := Config{N: 6, K: 20, D: 256, Ensemble: SRHT, T: Transform{Rho: rho}, Root: 3}
		mc := c
		mc.Beta = BetaMode{BetaMonteCarlo, 30}
		custom := mc
		custom.T = Transform{Custom: func(l float64) float64 { return 1 - rho + rho*l }}
		for _, r := range []float64{-0.5, 0, 2, 5} {
			want := mse(t, c, r, 6)
			closeTo(t, fmt.Sprintf("ρ = %g, R = %g: Monte Carlo", rho, r), mse(t, mc, r, 6), want, 5e-3)
			closeTo(t, fmt.Sprintf("ρ = %g, R = %g: custom T", rho, r), mse(t, custom, r, 6),
				mse(t, mc, r, 6), 1e-8)
		}
	}
	// nk > d, by S instead of K.
	c := Config{N: 12, K: 40, D: 256, Ensemble: SRHT, T: Transform{Rho: 0.5}, Root: 3}
	mc := c
	mc.Beta = BetaMode{BetaMonteCarlo, 4}
	closeTo(t, "nk > d", mse(t, mc, 3, 6), mse(t, c, 3, 6), 5e-3)
}

// ρ = 1 off identical vectors: the closed law against eigenvalues, (10,12,256), d - nk = 136.
func TestPredictMax(t *testing.T) {
	c := Config{N: 10, K: 12, D: 256, Ensemble: SRHT, T: Transform{Rho: 1}, Root: 3}
	mc := c
	mc.Beta = BetaMode{BetaMonteCarlo, 40}
	for _, r := range []float64{0, 4.5, 9} {
		closeTo(t, fmt.Sprintf("R = %g", r), mse(t, mc, r, 10), mse(t, c, r, 10), 0.03)
	}
	c.K, c.N = 128, 2 // nk = d
	if got := mse(t, c, 0.5, 2); !math.IsInf(got, 1) {
		t.Errorf("nk = d: predicted %g", got)
	}
	if got := mse(t, c, 1, 2); got != 0 {
		t.Errorf("nk = d, identical vectors: predicted %g", got)
	}
	for name, bad := range map[string][2]float64{"correlation R": {1.1, 2}, "Q": {0, -1},
		"correlation R = NaN": {math.NaN(), 1}} {
		if _, err := PredictMSE(t.Context(), c, bad[0], bad[1]); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, v := range []struct {
		c    Config
		want string
	}{
		{Config{N: 10, K: 102, D: 1024, Ensemble: SRHT, T: Transform{Rho: 1}},
			"rho = 1 (Max) with nk = 1020 near d = 1024"},
		{Config{N: 10, K: 25, D: 784, Ensemble: SRHT},
			"d = 784 is padded to 1024, so that nk = 250 numbers are 24 % of it instead of 32 %"},
		{Config{N: 10, K: 25, D: 1024, Ensemble: SRHT, T: Transform{Rho: 1}}, ""},
		{Config{N: 10, K: 1024, D: 1024, Ensemble: SRHT, T: Transform{Rho: 1}}, ""},
		{Config{N: 10, K: 25, D: 784, Ensemble: RowSelect, T: Transform{Rho: 1}}, ""},
	} {
		if got := strings.Join(codec(t, v.c).Warnings(), ";"); !strings.Contains(got, v.want) ||
			v.want == "" && got != "" {
			t.Errorf("%+v: %q", v.c, got)
		}
	}
}

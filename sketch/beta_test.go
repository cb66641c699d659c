package sketch

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// table44 is table 4.4: Avg for unit vectors. The errors are those at R = 0, (n-1)/2, n-1.
var table44 = []struct {
	n, k, d      int
	proj, randK  float64 // β
	plain        float64 // Rand-k
	randKErrors  [3]float64
	projErrors   [3]float64
	beats, beatS float64 // smallest ρ* at which Rand-Proj-Spatial beats Rand-k, and Rand-k-Spatial
}{
	{10, 5, 1024, 207.0586, 208.0317, 20.380, [3]float64{20.494, 20.232, 19.971}, [3]float64{20.656, 20.161, 19.666}, 0.278, 0.347},
	{10, 25, 1024, 43.3673, 44.2610, 3.9960, [3]float64{4.1054, 3.8540, 3.6027}, [3]float64{4.2601, 3.7891, 3.3181}, 0.280, 0.352},
	{10, 51, 1024, 22.6835, 23.4687, 1.9078, [3]float64{2.0113, 1.7733, 1.5353}, [3]float64{2.1515, 1.7167, 1.2818}, 0.280, 0.356},
	{10, 102, 1024, 13.0257, 13.6005, 0.9039, [3]float64{0.9952, 0.7836, 0.5719}, [3]float64{1.0972, 0.7420, 0.3868}, 0.272, 0.355},
	{50, 5, 1024, 217.8389, 221.7073, 4.0760, [3]float64{4.1822, 3.9195, 3.6568}, [3]float64{4.3146, 3.8463, 3.3781}, 0.255, 0.322},
	{50, 10, 1024, 116.2226, 119.6499, 2.0280, [3]float64{2.1286, 1.8781, 1.6277}, [3]float64{2.2470, 1.8133, 1.3796}, 0.252, 0.323},
	{50, 20, 1024, 66.4964, 69.1006, 1.0040, [3]float64{1.0934, 0.8666, 0.6399}, [3]float64{1.1805, 0.8173, 0.4541}, 0.243, 0.319},
	{10, 5, 512, 104.6953, 105.6491, 10.140, [3]float64{10.253, 9.994, 9.735}, [3]float64{10.413, 9.924, 9.435}, 0.279, 0.348},
	{10, 25, 512, 23.0774, 23.8669, 1.9480, [3]float64{2.0517, 1.8132, 1.5747}, [3]float64{2.1926, 1.7562, 1.3199}, 0.280, 0.356},
	{10, 50, 512, 13.2121, 13.7947, 0.9240, [3]float64{1.0158, 0.8031, 0.5904}, [3]float64{1.1194, 0.7610, 0.4027}, 0.273, 0.356},
	{50, 1, 512, 524.5626, 528.6966, 10.220, [3]float64{10.330, 10.059, 9.789}, [3]float64{10.469, 9.981, 9.494}, 0.255, 0.320},
	{50, 5, 512, 116.2226, 119.6499, 2.0280, [3]float64{2.1286, 1.8781, 1.6277}, [3]float64{2.2470, 1.8133, 1.3796}, 0.252, 0.323},
	{50, 10, 512, 66.4964, 69.1006, 1.0040, [3]float64{1.0934, 0.8666, 0.6399}, [3]float64{1.1805, 0.8173, 0.4541}, 0.243, 0.319},
}

// printed checks a number against a table's, to all digits that are printed. Some errors in
// the tables were rounded twice, 0.59949 to 0.5995 to 0.600, which costs up to 0.05 of a unit.
func printed(t *testing.T, what string, got, want float64, digits int) {
	t.Helper()
	if math.Abs(got-want) > 0.55*math.Pow10(-digits) {
		t.Errorf("%s = %.6f, the table has %.*f", what, got, digits, want)
	}
}

// Acceptance A6: β and the errors of table 4.4, and the thresholds.
func TestA6Table44(t *testing.T) {
	for _, v := range table44 {
		c := Config{N: v.n, K: v.k, D: v.d, Ensemble: SRHT, T: Transform{Avg: true}}
		s := c
		s.Ensemble = RowSelect
		plain := s
		plain.T = Transform{}
		name := fmt.Sprintf("(%d,%d,%d): ", v.n, v.k, v.d)
		printed(t, name+"β of Rand-Proj-Spatial", betaOf2(t, c), v.proj, 4)
		printed(t, name+"β of Rand-k-Spatial", betaOf2(t, s), v.randK, 4)
		q := float64(v.n)
		digits := 4
		if v.plain > 10 {
			digits = 3
		}
		printed(t, name+"Rand-k", mse(t, plain, 0, q), v.plain, digits)
		for i, r := range []float64{0, q / 2, q} {
			r *= 1 - 1/q
			if v.projErrors[i] > 9 {
				digits = 3
			}
			printed(t, name+"Rand-k-Spatial", mse(t, s, r, q), v.randKErrors[i], digits)
			printed(t, name+"Rand-Proj-Spatial", mse(t, c, r, q), v.projErrors[i], digits)
		}
		for want, other := range map[float64]Config{v.beats: plain, v.beatS: s} {
			star, ok, err := Crossing(t.Context(), c, other)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			printed(t, name+"threshold", star, want, 3)
			r := star * (q - 1)
			closeTo(t, name+"errors at the threshold", mse(t, c, r, q), mse(t, other, r, q), 1e-9)
		}
	}
}

// Acceptance A6: the ends of Rand-k-Spatial, no overflow, β'(0) = n-1.
func TestA6Ends(t *testing.T) {
	for _, v := range [][3]int{{10, 102, 1024}, {1000, 3, 4096}, {1000, 4000, 4096}, {7, 8, 8}, {1, 2, 9}} {
		n, p := float64(v[0]), float64(v[1])/float64(v[2])
		c := Config{N: v[0], K: v[1], D: v[2], Ensemble: RowSelect}
		closeTo(t, "β(0)", betaOf(t, c, 0), 1/p, 1e-9)
		if n > 1 {
			closeTo(t, "β(1)", betaOf(t, c, 1), n/(1-math.Pow(1-p, n)), 1e-9)
		}
	}
	_, slope := asymptotic(10, 102, 1024, 1e-4)
	closeTo(t, "β'(0)", slope, 9, 1e-3)
	_, slope = asymptotic(10, 102, 1024, 0.01)
	printed(t, "β'(0.01)", slope, 8.840, 3)
}

// β' of the asymptotic form is the derivative of β, and the switch for small ρ has no step.
// The limits for ρ → 1 are the closed ones.
func TestAsymptoticIsSmooth(t *testing.T) {
	for _, v := range [][3]int{{10, 102, 1024}, {50, 20, 1024}, {5, 400, 1024}, {3, 1000, 1024}, {100, 1024, 1024}, {2, 512, 1024}, {1000, 512, 1024}} {
		n, k, d := v[0], v[1], v[2]
		low := -1 / float64(n-1)
		for _, rho := range []float64{0.9 * low, 0.1 * low, -1e-7, 1e-7, 1e-5, 1e-3, 0.1, 0.5, 0.9, 0.99} {
			h := 1e-5 * max(math.Abs(rho), 1e-3)
			up, _ := asymptotic(n, k, d, rho+h)
			down, _ := asymptotic(n, k, d, rho-h)
			b, slope := asymptotic(n, k, d, rho)
			if diff := (up - down) / (2 * h); math.Abs(diff-slope) > 2e-4*math.Abs(slope)+1e-9*b/h {
				t.Errorf("%v, ρ = %g: β' = %g, the difference gives %g", v, rho, slope, diff)
			}
		}
		limit, _ := asymptotic(n, k, d, 1)
		b, _ := asymptotic(n, k, d, 1-1e-9)
		closeTo(t, fmt.Sprint(v, " β(1)"), b, limit, 1e-3)
	}
}

// Reference 5.6 for the sum of λ/T over the spectrum, ψ·d = nd/β.
func TestReferenceSpectrum(t *testing.T) {
	for _, v := range []struct {
		n, k, d int
		rho, mu float64
	}{
		{21, 40, 1024, 0.2, 743.73}, {21, 40, 1024, 0.4, 693.03}, {21, 40, 1024, 0.6, 673.04}, {21, 40, 1024, 0.8, 687.77},
		{51, 20, 1024, 0.2, 877.58}, {51, 20, 1024, 0.4, 803.63}, {51, 20, 1024, 0.6, 770.87}, {51, 20, 1024, 0.8, 780.60},
		{10, 25, 1024, RhoAvg(10), 236.13}, {10, 102, 1024, RhoAvg(10), 786.04}, {50, 20, 1024, RhoAvg(50), 769.98},
	} {
		c := Config{N: v.n, K: v.k, D: v.d, Ensemble: SRHT}
		// 20 draws of a relative deviation of up to 4.5e-4 each: one standard error is 1e-4.
		closeTo(t, fmt.Sprint(v), float64(v.n*v.d)/betaOf(t, c, v.rho), v.mu, 5e-4)
	}
}

// figure22 is the table of Figure 2.2 for identical unit vectors and d = 1024: Rand-k,
// Rand-k-Spatial(Max) and Rand-Proj-Spatial(Max).
var figure22 = []struct {
	n, k            int
	plain, row, srh float64
}{
	{10, 1, 102.30, 101.85, 101.40}, {10, 10, 10.140, 9.698, 9.240}, {10, 40, 2.460, 2.043, 1.560}, {10, 80, 1.180, 0.796, 0.280}, {10, 100, 0.924, 0.557, 0.024}, {10, 102, 0.904, 0.539, 0.0039},
	{20, 1, 51.150, 50.677, 50.200}, {20, 10, 5.070, 4.611, 4.120}, {20, 20, 2.510, 2.068, 1.560}, {20, 40, 1.230, 0.821, 0.280}, {20, 50, 0.974, 0.581, 0.024},
	{50, 1, 20.460, 19.974, 19.480}, {50, 5, 4.076, 3.606, 3.096}, {50, 10, 2.028, 1.579, 1.048}, {50, 15, 1.345, 0.916, 0.365}, {50, 20, 1.004, 0.595, 0.024},
	{100, 1, 10.230, 9.743, 9.240}, {100, 2, 5.110, 4.631, 4.120}, {100, 4, 2.550, 2.088, 1.560}, {100, 6, 1.697, 1.250, 0.707}, {100, 8, 1.270, 0.840, 0.280}, {100, 10, 1.014, 0.600, 0.024},
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
	for _, rho := range []float64{0.3, 0.7, -0.1} {
		c := Config{N: 6, K: 20, D: 256, Ensemble: SRHT, T: Transform{Rho: rho}, Root: 3}
		mc := c
		mc.Beta = BetaMode{BetaMonteCarlo, 30}
		custom := mc
		custom.T = Transform{Custom: func(l float64) float64 { return 1 - rho + rho*l }}
		for _, r := range []float64{-0.5, 0, 2, 5} {
			want := mse(t, c, r, 6)
			closeTo(t, fmt.Sprintf("ρ = %g, R = %g: Monte Carlo", rho, r), mse(t, mc, r, 6), want, 5e-3)
			closeTo(t, fmt.Sprintf("ρ = %g, R = %g: custom T", rho, r), mse(t, custom, r, 6), mse(t, mc, r, 6), 1e-8)
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
	for name, bad := range map[string][2]float64{"correlation R": {1.1, 2}, "Q": {0, -1}, "correlation R = NaN": {math.NaN(), 1}} {
		if _, err := PredictMSE(t.Context(), c, bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseBetaMode(t *testing.T) {
	for _, s := range []string{"auto", "closed", "asymptotic", "mc", "mc:50"} {
		m, err := ParseBetaMode(s)
		if err != nil || m.String() != s {
			t.Errorf("%q: %v, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "mc:", "mc:0", "mc:1e9", "mc:-3", "exact"} {
		if _, err := ParseBetaMode(s); err == nil {
			t.Errorf("%q is read", s)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, v := range []struct {
		c    Config
		want string
	}{
		{Config{N: 10, K: 102, D: 1024, Ensemble: SRHT, T: Transform{Rho: 1}}, "rho = 1 (Max) with nk = 1020 > d/2 = 512"},
		{Config{N: 10, K: 25, D: 784, Ensemble: SRHT}, "d = 784 is padded to 1024"},
		{Config{N: 10, K: 25, D: 1024, Ensemble: SRHT, T: Transform{Rho: 1}}, ""},
		{Config{N: 10, K: 25, D: 784, Ensemble: RowSelect, T: Transform{Rho: 1}}, ""},
	} {
		if got := strings.Join(codec(t, v.c).Warnings(), ";"); !strings.Contains(got, v.want) || v.want == "" && got != "" {
			t.Errorf("%+v: %q", v.c, got)
		}
	}
}

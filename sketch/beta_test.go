package sketch

import (
	"fmt"
	"math"
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
	{10, 5, 1024, 207.0586, 208.0317, 20.380, [3]float64{20.494, 20.232, 19.971},
		[3]float64{20.656, 20.161, 19.666}, 0.278, 0.347},
	{10, 25, 1024, 43.3673, 44.2610, 3.9960, [3]float64{4.1054, 3.8540, 3.6027},
		[3]float64{4.2601, 3.7891, 3.3181}, 0.280, 0.352},
	{10, 51, 1024, 22.6835, 23.4687, 1.9078, [3]float64{2.0113, 1.7733, 1.5353},
		[3]float64{2.1515, 1.7167, 1.2818}, 0.280, 0.356},
	{10, 102, 1024, 13.0257, 13.6005, 0.9039, [3]float64{0.9952, 0.7836, 0.5719},
		[3]float64{1.0972, 0.7420, 0.3868}, 0.272, 0.355},
	{50, 5, 1024, 217.8389, 221.7073, 4.0760, [3]float64{4.1822, 3.9195, 3.6568},
		[3]float64{4.3146, 3.8463, 3.3781}, 0.255, 0.322},
	{50, 10, 1024, 116.2226, 119.6499, 2.0280, [3]float64{2.1286, 1.8781, 1.6277},
		[3]float64{2.2470, 1.8133, 1.3796}, 0.252, 0.323},
	{50, 20, 1024, 66.4964, 69.1006, 1.0040, [3]float64{1.0934, 0.8666, 0.6399},
		[3]float64{1.1805, 0.8173, 0.4541}, 0.243, 0.319},
	{10, 5, 512, 104.6953, 105.6491, 10.140, [3]float64{10.253, 9.994, 9.735},
		[3]float64{10.413, 9.924, 9.435}, 0.279, 0.348},
	{10, 25, 512, 23.0774, 23.8669, 1.9480, [3]float64{2.0517, 1.8132, 1.5747},
		[3]float64{2.1926, 1.7562, 1.3199}, 0.280, 0.356},
	{10, 50, 512, 13.2121, 13.7947, 0.9240, [3]float64{1.0158, 0.8031, 0.5904},
		[3]float64{1.1194, 0.7610, 0.4027}, 0.273, 0.356},
	{50, 1, 512, 524.5626, 528.6966, 10.220, [3]float64{10.330, 10.059, 9.789},
		[3]float64{10.469, 9.981, 9.494}, 0.255, 0.320},
	{50, 5, 512, 116.2226, 119.6499, 2.0280, [3]float64{2.1286, 1.8781, 1.6277},
		[3]float64{2.2470, 1.8133, 1.3796}, 0.252, 0.323},
	{50, 10, 512, 66.4964, 69.1006, 1.0040, [3]float64{1.0934, 0.8666, 0.6399},
		[3]float64{1.1805, 0.8173, 0.4541}, 0.243, 0.319},
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
			star, err := crossing(t.Context(), c, other)
			if err != nil {
				t.Fatal(err)
			}
			printed(t, name+"threshold", star, want, 3)
			r := star * (q - 1)
			closeTo(t, name+"errors at the threshold", mse(t, c, r, q), mse(t, other, r, q), 1e-9)
		}
	}
}

// Acceptance A6: the ends of Rand-k-Spatial, no overflow, β'(0) = n-1.
func TestA6Ends(t *testing.T) {
	for _, v := range [][3]int{{10, 102, 1024}, {1000, 3, 4096}, {1000, 4000, 4096}, {7, 8, 8},
		{1, 2, 9}} {
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
	for _, v := range [][3]int{{10, 102, 1024}, {50, 20, 1024}, {5, 400, 1024}, {3, 1000, 1024},
		{100, 1024, 1024}, {2, 512, 1024}, {1000, 512, 1024}} {
		n, k, d := v[0], v[1], v[2]
		low := -1 / float64(n-1)
		for _, rho := range []float64{0.9 * low, 0.1 * low, -1e-7, 1e-7, 1e-5, 1e-3, 0.1, 0.5, 0.9,
			0.99} {
			h := 1e-5 * max(math.Abs(rho), 1e-3)
			up, _ := asymptotic(n, k, d, rho+h)
			down, _ := asymptotic(n, k, d, rho-h)
			b, slope := asymptotic(n, k, d, rho)
			if diff := (up - down) / (2 * h); math.Abs(diff-slope) > 2e-4*math.Abs(slope)+1e-9*b/h {
				t.Errorf("%v, ρ = %g: β' = %g, the difference gives %g", v, rho, slope, diff)
			}
		}
		limit, slope := asymptotic(n, k, d, 1)
		b, below := asymptotic(n, k, d, 1-1e-7)
		closeTo(t, fmt.Sprint(v, " β(1)"), b, limit, 1e-3)
		closeTo(t, fmt.Sprint(v, " β'(1)"), below, slope, 0.02)
	}
}

// Reference 5.6 for the sum of λ/T over the spectrum, ψ·d = nd/β.
func TestReferenceSpectrum(t *testing.T) {
	for _, v := range []struct {
		n, k, d int
		rho, mu float64
	}{
		{21, 40, 1024, 0.2, 743.73}, {21, 40, 1024, 0.4, 693.03}, {21, 40, 1024, 0.6, 673.04},
		{21, 40, 1024, 0.8, 687.77},
		{51, 20, 1024, 0.2, 877.58}, {51, 20, 1024, 0.4, 803.63}, {51, 20, 1024, 0.6, 770.87},
		{51, 20, 1024, 0.8, 780.60},
		{10, 25, 1024, RhoAvg(10), 236.13}, {10, 102, 1024, RhoAvg(10), 786.04},
		{50, 20, 1024, RhoAvg(50), 769.98},
	} {
		c := Config{N: v.n, K: v.k, D: v.d, Ensemble: SRHT}
		// 20 draws of a relative deviation of up to 4.5e-4 each: one standard error is 1e-4.
		closeTo(t, fmt.Sprint(v), float64(v.n*v.d)/betaOf(t, c, v.rho), v.mu, 5e-4)
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

// The way to find β changes where its comment says, and nowhere beside it.
func TestWayChangesAtItsLimits(t *testing.T) {
	for _, tt := range []struct {
		ensemble Ensemble
		n, k, d  int
		rho      float64
		want     BetaKind
	}{
		{SRHT, 8, 8, 64, 1, BetaClosed}, {SRHT, 7, 8, 64, 1, BetaMonteCarlo}, {SRHT, 4, 8, 64, 1, BetaClosed},
		{SRHT, 3, 11, 64, 1, BetaMonteCarlo}, {SRHT, 8, 4, 32, 1, BetaMonteCarlo}, {SRHT, 2, 200, 256, 1, BetaClosed},
		{SRHT, 2, 100, 128, 1, BetaMonteCarlo}, {SRHT, 3, 22, 32, 1, BetaClosed}, {SRHT, 2, 32, 32, 1, BetaMonteCarlo},
		{SRHT, 2, 1, 129, 0.5, BetaAsymptotic}, {SRHT, 2, 1, 128, 0.5, BetaMonteCarlo}, {SRHT, 128, 8, 128, 0.5, BetaAsymptotic},
		{SRHT, 127, 8, 128, 0.5, BetaMonteCarlo}, {SRHT, 2, 1, 16, 0, BetaClosed}, {Haar, 2, 16, 16, 1, BetaClosed},
		{Haar, 2, 1, 255, 0.5, BetaMonteCarlo}, {Gaussian, 2, 16, 16, 1, BetaClosed}, {Gaussian, 2, 1, 256, 0.5, BetaMonteCarlo},
		{CountSketch, 2, 8, 256, 1, BetaMonteCarlo}, {RowSelect, 2, 8, 16, 0.5, BetaClosed},
	} {
		c := Config{Ensemble: tt.ensemble, N: tt.n, K: tt.k, D: tt.d}
		if got, err := c.way(linear{rho: tt.rho}); got != tt.want || err != nil {
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
}

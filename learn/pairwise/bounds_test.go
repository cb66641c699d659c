package pairwise

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// The bounds of Theorems 7a, 8, 9, 10 and F.1 at figures that were worked out by hand from the
// formulas.
func TestFurtherBounds(t *testing.T) {
	// ln(40) = 3.688879454; √(100·that) = 19.20645583
	must.Near(t, "7a", LikelySumGap(2, 2, 0.1, 1, 0.05, 100), 4*0.1*19.20645583+2+1.5*4*100*0.01, 1e-6)
	must.Near(t, "8", StationarityGap(1, 4, 1, 0.01, 1000), 0.1+0.32, 1e-6)
	must.Near(t, "9", PLGap(4, 2, 0.5, 3), 32*2*4/(0.25*12)*(3+4*(1+1./2+1./3)), 1e-6)
	// n = 256: 7 phases; ln(1024) = 6.931471806
	must.Near(t, "10", LocalizedGap(1, 2, 0.05, 1./256, 256),
		(8/(0.05*256)+18*6.931471806*4*0.05)*(127./128)+32./65536, 1e-6)
	must.Near(t, "F.1", MinimisedGap(1, 2, 0.0122937511, 256), 16/(0.0122937511*256)+12*0.0122937511+
		32./65536, 1e-6)
	if !math.IsInf(StationarityGap(1, 4, 1, 0.51, 1000), 1) {
		t.Error("Theorem 8 for steps beyond its condition")
	}
}

// F.1's closed rate is at least F.1's bound, at the source's ζ.
func TestMinimisedRateIsAboveItsBound(t *testing.T) {
	for _, n := range []int{256, 4096, 65536} {
		for _, epsilon := range []float64{0.1, 1, 4} {
			const diameter, g, d = 2.0, 2.0, 10
			delta := 1 / float64(n)
			root := math.Sqrt(2 * d * math.Log(2.5/delta))
			zeta := diameter / g * min(4/math.Sqrt(float64(n)), epsilon/(4*root))
			if bound, rate := MinimisedGap(diameter, g, zeta, n),
				MinimisedRate(diameter, g, epsilon, delta, n, d); bound > rate {
				t.Errorf("n = %d, ε = %g: %g above %g", n, epsilon, bound, rate)
			}
		}
	}
}

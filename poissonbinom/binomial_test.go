package poissonbinom

import (
	"math"
	"testing"
)

func TestBinomial(t *testing.T) {
	ps := []float64{0.5, 0.75, 0.1, 1.0 / 3, 1e-5, 1e-100, math.SmallestNonzeroFloat64, 1 - 0x1p-53,
		1 - 1e-9}
	for _, n := range []int{0, 1, 2, 11, 100, 1000, 3000} {
		for _, p := range ps {
			got, exact := Binomial(n, p), bigBinomial(n, p)
			units, _ := worstRelative(got, exact, smallestNormal)
			if units > 1+0x1p-30 {
				t.Errorf("Binomial(%d, %g): relative error %g·2⁻⁵³", n, p, units)
			}
			for k, e := range exact {
				if x, _ := e.Float64(); x < smallestNormal && math.Abs(got[k]-x) > 0x1p-1074 {
					t.Errorf("Binomial(%d, %g)[%d] = %g, want %g", n, p, k, got[k], x)
				}
			}
		}
	}
}

// What the recurrence gains over the usual formula.
func TestBinomialAgainstLogGamma(t *testing.T) {
	const n, p = 3000, 0.3
	logGamma := make([]float64, n+1)
	lg := func(k int) float64 { x, _ := math.Lgamma(float64(k + 1)); return x }
	for k := range logGamma {
		logGamma[k] = math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) +
			float64(n-k)*math.Log1p(-p))
	}
	exact := bigBinomial(n, p)
	naive, _ := worstRelative(logGamma, exact, smallestNormal)
	ours, judged := worstRelative(Binomial(n, p), exact, smallestNormal)
	t.Logf("n = %d, p = %g, %d elements: log-gamma %.0f u, Binomial %.6f u", n, p, judged, naive, ours)
	if ours > 1.001 || naive < 100*ours {
		t.Errorf("relative errors: log-gamma %g u, Binomial %g u", naive, ours)
	}
}

func TestBinomialCertain(t *testing.T) {
	for _, n := range []int{0, 1, 5} {
		for _, p := range []float64{0, 1} {
			for k, x := range Binomial(n, p) {
				want := 0.0
				if k == n*int(p) {
					want = 1
				}
				if x != want {
					t.Errorf("Binomial(%d, %g)[%d] = %g, want %g", n, p, k, x, want)
				}
			}
		}
	}
	mustPanic(t, "n = -1", func() { Binomial(-1, 0.5) })
	mustPanic(t, "p = NaN", func() { Binomial(1, math.NaN()) })
	mustPanic(t, "p = 1.1", func() { Binomial(1, 1.1) })
}

package shuffled

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// The counterexamples of docs/errata.md, "Private shuffled gradient methods".

// The noise term of the printed bound has the wrong sign and order: there are runs whose
// exact risk is above it. f = x²/2 for all records, x_1 = x* = 0, so the risk is that of the
// noise alone, ½η²(1-(1-η)^{2nK})/(1-(1-η)²).
func TestErratumNoiseTerm(t *testing.T) {
	const n = 10
	for _, v := range []struct {
		epochs                         int
		eta, exact, printed, corrected float64
	}{
		{1_000, 1e-4, 2.1618e-5, 9.4893e-6, 1.5895e-3},
		{10_000, 1e-5, 2.1617e-6, 1.2252e-7, 2.0431e-4},
	} {
		exact := v.eta * v.eta / 2 * (1 - math.Pow(1-v.eta, float64(2*n*v.epochs))) /
			(1 - (1-v.eta)*(1-v.eta))
		b := bound(t, BoundInput{
			N: n, Dim: 1, StepSize: v.eta, AvgSmoothness: 1, MaxSmoothness: 1, SmoothPsi: true, Convex: true,
			Runs: []BoundRun{{Epochs: v.epochs, Private: n, Noise: 1, AvgSmoothness: 1, MaxSmoothness: 1}},
		})
		must.Near(t, "exact risk", exact, v.exact, 1e-4)
		must.Near(t, "printed bound", b.Printed.Total(), v.printed, 1e-4)
		must.Near(t, "corrected bound", b.Corrected.Total(), v.corrected, 1e-4)
		if len(b.Fails) != 0 {
			t.Errorf("hypotheses fail: %v", b.Fails)
		}
		if !(b.Printed.Total() < exact && exact <= b.CorrectedExact.Total()) {
			t.Errorf("exact risk %g, printed bound %g, corrected %g", exact, b.Printed.Total(),
				b.CorrectedExact.Total())
		}
	}
}

// The printed rate of Interleaved is below the known optimum √d/(nε), which no method can
// be. The corrected rate is not.
func TestErratumRateOfInterleaved(t *testing.T) {
	for _, v := range []struct {
		n, d   int
		eps, p float64
	}{{1000, 784, 5, .5}, {1000, 784, 10, .5}, {159, 124, 1, .5}, {2103, 11, 5, .5},
		{200, 21, 5, .25}} {
		r, err := rate(Interleaved, v.n, v.d, v.eps, v.p)
		if err != nil {
			t.Fatal(err)
		}
		if optimum := math.Sqrt(float64(v.d)) / (float64(v.n) * v.eps); r.Printed >= optimum ||
			r.Corrected < optimum {
			t.Errorf("%v: printed %g, corrected %g, optimum %g", v, r.Printed, r.Corrected, optimum)
		}
	}
}

// C_n of fewer public steps can be larger than that of all: D = (0, 2, 4, 6) and
// P = (1, 1, 1, 1) have C_n^full = 8 and C_n^part = 9 for one private step.
func TestErratumDissimilarityOfFewerSteps(t *testing.T) {
	d, p := records(t, [][]float64{{0}, {2}, {4}, {6}}, nil),
		records(t, [][]float64{{1}, {1}, {1}, {1}}, nil)
	full := estimate(t, loss.MeanEstimation{}, d, p, 0, DissimilarityOptions{}).Cn
	part := estimate(t, loss.MeanEstimation{}, d, p, 1, DissimilarityOptions{}).Cn
	if full != 8 || part != 9 {
		t.Errorf("C_n^full = %g, C_n^part = %g", full, part)
	}
}

// The printed logistic loss, -y·ln h - (1-y)·ln h, does not depend on y and so has another
// gradient than the one that is used, (h-y)·a. The loss with ln(1-h) has it.
func TestErratumLogisticLoss(t *testing.T) {
	z := 0.3
	h := 1 / (1 + math.Exp(-z))
	for y, want := range []float64{-math.Log(1 - h), -math.Log(h)} {
		must.Near(t, "loss", (loss.Logistic{}).Loss([]float64{z}, []float64{1}, float64(y)), want, 1e-12)
		g := []float64{0}
		loss.Logistic{}.Gradient(g, []float64{z}, []float64{1}, float64(y))
		must.Near(t, "gradient", g[0], h-float64(y), 1e-12)
	}
	const step = 1e-6
	slope := (math.Log(1+math.Exp(-z-step)) - math.Log(1+math.Exp(-z+step))) / (2 * step) // of -ln h
	if math.Abs(slope-(h-0)) < 0.5 {
		t.Errorf("the printed loss has the slope %g at y = 0, the gradient is %g", slope, h)
	}
}

// Clipping can make the step of a convex smooth loss expansive, so that amplification by
// iteration does not hold for it: ½(x₁² + 10x₂²), clip norm 1, η = 1/L.
func TestErratumClippedStepsExpand(t *testing.T) {
	x := []float64{1, 0.1}
	y := []float64{1 + 0.01*0.9036, 0.1 + 0.01*0.4282}
	if ratio := stepRatio(quadratic{}, nil, 0, x, y, 0.1, 1); math.Abs(ratio-1.0679) > 1e-4 {
		t.Errorf("the step expands by %g", ratio)
	}
	if ratio := stepRatio(quadratic{}, nil, 0, x, y, 0.1, 1e6); ratio > 1 {
		t.Errorf("the step without clipping expands by %g", ratio)
	}
}

// S, the epochs of Priv-Pub that come first, are its private ones: S = pK. The list of
// appendix F.3 gives that S to Pub-Priv, whose private epochs would then be the others.
func TestErratumPrivateEpochs(t *testing.T) {
	for m, privateFirst := range map[Scheme]bool{PrivPub: true, PubPriv: false} {
		schedule, err := m.Schedule(10, 8, 0.25)
		if err != nil {
			t.Fatal(err)
		}
		private := 0
		for i, run := range schedule {
			if run.Private > 0 {
				private += run.Epochs
				if (i == 0) != privateFirst {
					t.Errorf("%s: the private epochs are run %d", m, i+1)
				}
			}
		}
		if private != 2 {
			t.Errorf("%s: %d private epochs of 8 at p = 0.25", m, private)
		}
	}
}

// Erratum: the source adds n·B to the bound for ψ = λ‖x‖₁, from the ends of the pieces of
// soft-thresholding. It is continuous, so they cancel, and Stein's lemma holds as it is:
// E[-ρ·prox(a-ηρ)] = ησ²·P[|a-ηρ| > t] ≤ ησ². Nor is the density there at most 1, as that
// step takes for granted.
func TestErratumSoftThresholdOffset(t *testing.T) {
	const eta, limit = 0.1, 0.3
	for _, sigma := range []float64{0.5, 2, 10} {
		for _, a := range []float64{-1, 0, 0.25, 0.3, 2} {
			const points = 200_000
			h := 24 * sigma / points
			left := 0.0
			for i := range points + 1 {
				rho := -12*sigma + h*float64(i)
				x := []float64{a - eta*rho}
				geometry.L1{Lambda: 1}.Prox(x, limit)
				left -= h * rho * x[0] * math.Exp(-rho*rho/(2*sigma*sigma)) / (math.Sqrt(2*math.Pi) * sigma)
			}
			tail := func(z float64) float64 { return math.Erfc(z/(eta*sigma*math.Sqrt2)) / 2 }
			must.Near(t, "Stein's lemma", left, eta*sigma*sigma*(tail(limit-a)+tail(limit+a)), 1e-6)
		}
	}
	if density := 1 / (math.Sqrt(2*math.Pi) * eta * 0.5); density <= 1 {
		t.Errorf("density %g at the threshold", density)
	}
}

package iteration_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// The tests named TestAcceptanceNN are those of the specification of shuffled gradient
// methods with that number; 13 to 29 are in package shuffled.

// steps returns an event all of whose conditions hold, in the source's mode.
func steps(epochs, n, private int, clip float64) iteration.Steps {
	e := iteration.Steps{
		Epochs: epochs, Records: n, Private: private, Clip: clip, Noise: 1,
		Order: iteration.Reshuffled, OrderSecret: true, Released: iteration.EpochEnds,
		StepSize: 0.5, Smoothness: 1, Convex: true, ClipKeepsContraction: true, ConvexRegulariser: true,
		Mode: iteration.Paper, Neighbours: accountant.ReplaceOne,
	}
	if private < n {
		e.PublicNoise = 1
	}
	return e
}

func withMode(e iteration.Steps, m iteration.Mode) iteration.Steps {
	e.Mode = m
	switch m {
	case iteration.SOMixture:
		e.Order = iteration.ShuffledOnce
	case iteration.CrossEpoch:
		e.Order, e.Released = iteration.FixedOrder, iteration.LastIterate
	}
	return e
}

func withNoise(e iteration.Steps, sigma float64) iteration.Steps {
	e.Noise = sigma
	if e.PublicNoise > 0 {
		e.PublicNoise = sigma
	}
	return e
}

func calibrated(t *testing.T, e iteration.Steps, eps, delta float64) float64 {
	t.Helper()
	c, r, err := e.Calibrate(t.Context(), accountant.Cost{Epsilon: eps, Delta: delta})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cost.Epsilon > eps {
		t.Fatalf("calibrated to %g but costs %.17g", eps, r.Cost.Epsilon)
	}
	return c.Noise
}

func epsilon(t *testing.T, e iteration.Steps, delta float64) float64 {
	t.Helper()
	r, err := e.Report(delta)
	if err != nil {
		t.Fatal(err)
	}
	return r.Cost.Epsilon
}

func TestAcceptance01ClosedForms(t *testing.T) {
	for _, v := range []struct{ eps, delta, rho, alpha, sigma float64 }{
		{0.5, 1e-5, 0.005313904231, 47.54638796, 19.40028617},
		{1, 1e-5, 0.02081993834, 24.51544096, 9.801110337},
		{1, 1e-6, 0.01746890477, 29.12228666, 10.69996012},
		{2, 1e-6, 0.06757388167, 15.29861709, 5.44033401},
		{5, 1e-6, 0.3853463817, 6.987669585, 2.27818693},
		{8, 1e-5, 1.049136201, 4.312660354, 1.38069916},
		{10, 1e-6, 1.35301469, 4.195451377, 1.21580449},
	} {
		rho, err := accountant.ZCDPFor(accountant.Cost{Epsilon: v.eps, Delta: v.delta})
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "rho", rho, v.rho, 1e-9)
		must.Near(t, "alpha", accountant.ZCDPOrder(rho, v.delta), v.alpha, 1e-9)
		// nine digits
		must.Near(t, "sigma", calibrated(t, steps(1, 7, 7, 1), v.eps, v.delta), v.sigma, 3e-9)
	}
	for _, v := range []struct {
		eps, delta, clip   float64
		epochs, n, private int
		dp, half, int      float64
	}{
		{1, 1e-6, 10, 50, 1000, 500, 756.6014362, 534.9980062, 33.80245929},
		{5, 1e-6, 10, 50, 1000, 500, 161.0921424, 113.9093463, 7.197066149},
		{10, 1e-6, 10, 50, 1000, 500, 85.97035974, 60.79022435, 3.840872415},
		{1, 1e-6, 10, 50, 159, 79, 756.6014362, 534.9980062, 84.06682625},
		{5, 1e-6, 10, 50, 159, 79, 161.0921424, 113.9093463, 17.89912693},
		{5, 1e-6, 10, 50, 2103, 1051, 161.0921424, 113.9093463, 4.964324611},
		{10, 1e-6, 10, 50, 2103, 1051, 85.97035974, 60.79022435, 2.649320857},
		{5, 1e-6, 10, 50, 200, 100, 161.0921424, 113.9093463, 16.02926727},
		{10, 1e-6, 10, 50, 200, 100, 85.97035974, 60.79022435, 8.55437052},
		{1, 1e-5, 1, 1, 10, 5, 9.801110337, 9.801110337, 4.00128654},
		{0.5, 1e-5, 1, 20, 100, 25, 86.76071734, 61.34909157, 9.95213682},
		{2, 1e-6, 4, 30, 500, 125, 119.1917464, 84.28129212, 6.14684498},
		{3, 1e-8, 0.5, 10, 64, 1, 6.648709753, 4.701347752, 0.8310887191},
		{8, 1e-5, 1, 100, 60, 60, 13.80699162, 9.763017405, 13.80699162},
	} {
		what := fmt.Sprintf("eps %g n %d", v.eps, v.n)
		must.Near(t, what+" DP", calibrated(t, steps(v.epochs, v.n, v.n, v.clip), v.eps, v.delta), v.dp,
			1e-9)
		must.Near(t, what+" half", calibrated(t, steps(max(1, v.epochs/2), v.n, v.n, v.clip), v.eps,
			v.delta), v.half, 1e-9)
		must.Near(t, what+" interleaved", calibrated(t, steps(v.epochs, v.n, v.private, v.clip), v.eps,
			v.delta), v.int, 1e-9)
	}
	// Other fractions of private steps, at six digits.
	for _, v := range []struct {
		n, private int
		sigma      float64
	}{{1000, 250, 5.8783}, {1000, 500, 7.1971}, {1000, 750, 10.1680}, {200, 50, 13.1095},
		{200, 100, 16.0293}, {200, 150, 22.5574}} {
		must.Near(t, fmt.Sprint(v), calibrated(t, steps(50, v.n, v.private, 10), 5, 1e-6), v.sigma, 1e-5)
	}
	for _, v := range []struct {
		sigma, clip         float64
		epochs, m           int
		delta               float64
		rho, alpha, epsilon float64
	}{
		{100, 10, 50, 1, 1e-6, 1, 4.716922189, 8.433844378},
		{50, 10, 25, 1, 1e-6, 2, 3.628260885, 12.51304354},
		{20, 10, 50, 501, 1e-6, 0.0499001996, 17.63919564, 1.710498567},
		{7, 10, 50, 501, 1e-6, 0.4073485682, 6.823718474, 5.151915332},
		{5, 1, 10, 1, 1e-5, 0.8, 4.793567823, 6.869708518},
		{1, 1, 1, 1, 1e-5, 2, 3.399262956, 11.59705182},
	} {
		n := 1000
		r, err := withNoise(steps(v.epochs, n, n+1-v.m, v.clip), v.sigma).Report(v.delta)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "rho", r.Rho, v.rho, 1e-9)
		must.Near(t, "alpha", r.Alpha, v.alpha, 1e-9)
		must.Near(t, "epsilon", r.Cost.Epsilon, v.epsilon, 1e-9)
		must.Near(t, "m", r.Amplification, float64(v.m), 1e-12)
	}
	for _, eps := range []float64{1e-3, 0.1, 1, 10, 100} {
		for _, delta := range []float64{1e-12, 1e-6, 0.1} {
			rho, err := accountant.ZCDPFor(accountant.Cost{Epsilon: eps, Delta: delta})
			if err != nil {
				t.Fatal(err)
			}
			back, err := accountant.EpsilonFromZCDP(rho, delta)
			if err != nil {
				t.Fatal(err)
			}
			must.Near(t, "round trip", back, eps, 1e-9)
		}
	}
}

func TestAcceptance02NumericMinimum(t *testing.T) {
	for _, rho := range []float64{1e-4, 0.01, 0.4, 1, 2, 30} {
		for _, delta := range []float64{1e-9, 1e-6, 0.01} {
			// An independent minimisation: golden section on ln(α-1).
			f := func(u float64) float64 { return (1+math.Exp(u))*rho - math.Log(delta)/math.Exp(u) }
			a, b := -15.0, 15.0
			g := (math.Sqrt(5) - 1) / 2
			for b-a > 1e-10 {
				if c, d := b-g*(b-a), a+g*(b-a); f(c) < f(d) {
					b = d
				} else {
					a = c
				}
			}
			closed, err := accountant.EpsilonFromZCDP(rho, delta)
			if err != nil {
				t.Fatal(err)
			}
			must.Near(t, "minimum", f(a), closed, 1e-9)
			must.Near(t, "order", 1+math.Exp(a), accountant.ZCDPOrder(rho, delta), 1e-6) // a minimum is flat
			must.Near(t, "at the order", f(math.Log(accountant.ZCDPOrder(rho, delta)-1)), closed, 1e-9)
		}
	}
}

func TestAcceptance03Invariant(t *testing.T) {
	const n = 100
	dp := calibrated(t, steps(20, n, n, 3), 2, 1e-6)
	for private := 1; private <= n; private++ {
		s := calibrated(t, steps(20, n, private, 3), 2, 1e-6)
		must.Near(t, "(n+1-n_d)σ²", float64(n+1-private)*s*s, dp*dp, 1e-9)
	}
	must.Near(t, "n_d = 1", calibrated(t, steps(20, n, 1, 3), 2, 1e-6), dp/10, 1e-9)
}

func TestAcceptance04Monotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := rapid.Float64Range(0.01, 20).Draw(t, "eps")
		delta := math.Exp(rapid.Float64Range(-30, -2).Draw(t, "log delta"))
		n := rapid.IntRange(2, 500).Draw(t, "n")
		private := rapid.IntRange(1, n-1).Draw(t, "private")
		k := rapid.IntRange(1, 60).Draw(t, "K")
		sigma := func(eps, delta, clip float64, k, n, private int) float64 {
			c, _, err := steps(k, n, private, clip).Calibrate(t.Context(),
				accountant.Cost{Epsilon: eps, Delta: delta})
			if err != nil {
				t.Fatal(err)
			}
			return c.Noise
		}
		s := sigma(eps, delta, 2, k, n, private)
		for what, smaller := range map[string]float64{
			"epsilon": sigma(eps*1.1, delta, 2, k, n, private),
			"delta":   sigma(eps, delta*1.1, 2, k, n, private),
			"clip":    sigma(eps, delta, 1.9, k, n, private),
			"n":       sigma(eps, delta, 2, k, n+1, private),
		} {
			if !(smaller < s) {
				t.Errorf("%s: %g is not below %g", what, smaller, s)
			}
		}
		if private+1 <= n && !(sigma(eps, delta, 2, k, n, private+1) > s) {
			t.Errorf("sigma does not grow in n_d")
		}
		if four := sigma(eps, delta, 2, 4*k, n, private); math.Abs(four-2*s) > 1e-9*s {
			t.Errorf("four times the epochs: %g, want twice %g", four, s)
		}
	})
}

func TestAcceptance05PrivPub(t *testing.T) {
	dp := calibrated(t, steps(50, 200, 200, 10), 5, 1e-6)
	for s, want := range map[int]float64{12: 78.9187, 25: 113.9093, 37: 138.5767} {
		got := calibrated(t, steps(s, 200, 200, 10), 5, 1e-6)
		must.Near(t, "ratio", got/dp, math.Sqrt(float64(s)/50), 1e-9)
		must.Near(t, "sigma", got, want, 1e-6)
	}
}

// The tempting small-ε formula under-noises.
func TestAcceptance06UnderNoisingConstant(t *testing.T) {
	for target, cost := range map[float64]float64{1: 1.0181, 5: 5.45239, 10: 11.8096} {
		tempting := 2 * math.Sqrt2 * 10 * math.Sqrt(50*-math.Log(1e-6)) / target
		got := epsilon(t, withNoise(steps(50, 1000, 1000, 10), tempting), 1e-6)
		must.Near(t, "epsilon", got, cost, 1e-5)
		if right := calibrated(t, steps(50, 1000, 1000, 10), target, 1e-6); right <= tempting {
			t.Errorf("calibrated %g, no more than the wrong %g", right, tempting)
		}
	}
}

func TestAcceptance07StepSizeCap(t *testing.T) {
	const l = 37.3
	at := func(eta float64, private int) iteration.Report {
		e := withNoise(steps(50, 1000, private, 10), 40)
		e.StepSize, e.Smoothness = eta, l
		return must.Get(e.Report(1e-6))(t)
	}
	r := at(2/l, 500)
	if !r.Contractive || len(r.Warnings) != 1 || r.Fallback != nil ||
		math.Abs(r.Amplification-501) > 1e-9 {
		t.Errorf("at 2/L: %+v", r)
	}
	if r = at(1/l, 500); len(r.Warnings) != 0 || !r.Contractive {
		t.Errorf("at 1/L: %+v", r)
	}
	if r = at(2.0001/l, 500); r.Contractive || r.Amplification != 1 || len(r.Fallback) == 0 ||
		r.Released != iteration.EveryIterate {
		t.Errorf("above 2/L: %+v", r)
	}
	if at(2.0001/l, 1000).Cost != at(0.1/l, 1000).Cost || at(2.0001/l, 1000).Fallback != nil {
		t.Error("DP-ShuffleG depends on the step size")
	}
}

// Each condition alone, when it fails, takes the amplification away.
func TestConditionsOfAmplification(t *testing.T) {
	good := withNoise(steps(10, 100, 50, 1), 1)
	breaks := map[string]func(*iteration.Steps){
		"convex":       func(e *iteration.Steps) { e.Convex = false },
		"clipping":     func(e *iteration.Steps) { e.ClipKeepsContraction = false },
		"smoothness":   func(e *iteration.Steps) { e.Smoothness = 0 },
		"infinite":     func(e *iteration.Steps) { e.Smoothness = math.Inf(1) },
		"step size":    func(e *iteration.Steps) { e.StepSize = 2.01 },
		"every":        func(e *iteration.Steps) { e.Released = iteration.EveryIterate },
		"public first": func(e *iteration.Steps) { e.PublicFirst = true },
	}
	plain := epsilon(t, withNoise(steps(10, 100, 100, 1), 1), 1e-6)
	plainExact := epsilon(t, withMode(withNoise(steps(10, 100, 100, 1), 1), iteration.GaussianExact),
		1e-6)
	if amplified := epsilon(t, good, 1e-6); amplified > plain/3 {
		t.Fatalf("amplified %g, plain %g", amplified, plain)
	}
	for name, f := range breaks {
		e := good
		f(&e)
		r, err := e.Report(1e-6)
		if err != nil || r.Amplification != 1 || len(r.Fallback) == 0 ||
			math.Abs(r.Cost.Epsilon-plain) > 1e-12*plain {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		exact := withMode(e, iteration.GaussianExact)
		if r, err := exact.Report(1e-6); err != nil || r.Amplification != 1 || len(r.Fallback) == 0 ||
			math.Abs(r.Cost.Epsilon-plainExact) > 1e-9*plainExact {
			t.Errorf("gaussian-exact, %s: %+v, %v, want %g", name, r, err, plainExact)
		}
		for _, m := range []iteration.Mode{iteration.RRMixture, iteration.SOMixture,
			iteration.CrossEpoch} {
			e := withMode(good, m)
			if _, err := e.Report(1e-6); err != nil {
				t.Errorf("%s: %v", m, err)
			}
			f(&e)
			if _, err := e.Report(1e-6); !errors.Is(err, iteration.ErrNotCertified) {
				t.Errorf("%s, %s: %v", m, name, err)
			}
			if _, _, err := e.Calibrate(t.Context(), accountant.Cost{Epsilon: 1, Delta: 1e-6}); !errors.Is(
				err, iteration.ErrNotCertified) {
				t.Errorf("%s, %s: calibrated: %v", m, name, err)
			}
		}
	}
	// Noiseless public steps add nothing.
	quiet := good
	quiet.PublicNoise = 0
	must.Near(t, "noiseless public steps", epsilon(t, quiet, 1e-6), plain, 1e-12)
	refused := map[string]iteration.Steps{}
	e := withMode(good, iteration.RRMixture)
	e.OrderSecret = false
	refused["public order"] = e
	e = withMode(good, iteration.RRMixture)
	e.Order = iteration.ShuffledOnce
	refused["rr-mixture of SO"] = e
	e = withMode(good, iteration.SOMixture)
	e.Order = iteration.Reshuffled
	refused["so-mixture of RR"] = e
	e = withMode(good, iteration.SOMixture)
	e.Order = iteration.FixedOrder
	refused["so-mixture of IG"] = e
	e = withMode(good, iteration.CrossEpoch)
	e.Order = iteration.Reshuffled
	refused["cross-epoch of RR"] = e
	e = withMode(good, iteration.CrossEpoch)
	e.Released = iteration.EpochEnds
	refused["cross-epoch of epoch ends"] = e
	e = withMode(good, iteration.CrossEpoch)
	e.ConvexRegulariser = false
	refused["cross-epoch, prox"] = e
	for name, e := range refused {
		if _, err := e.Report(1e-6); !errors.Is(err, iteration.ErrNotCertified) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAcceptance08Mixtures(t *testing.T) {
	raced.Sequential(t)
	e := withNoise(withMode(steps(1, 4, 4, 1), iteration.RRMixture), 2)
	r, err := e.RDP(3)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "R", r, 0.9973928051, 1e-6)
	must.Near(t, "S", math.Exp(2*r), 7.35062696, 1e-6)
	e = withNoise(withMode(steps(1, 4, 2, 1), iteration.RRMixture), 2)
	if r, err = e.RDP(3); err != nil {
		t.Fatal(err)
	}
	must.Near(t, "R", r, 0.2679016719, 1e-6)
	must.Near(t, "S", math.Exp(2*r), 1.708820461, 1e-6)

	for _, v := range []struct {
		mode       iteration.Mode
		n, private int
		eps, sigma float64
	}{
		{iteration.RRMixture, 1000, 1000, 1, 130.24},
		{iteration.RRMixture, 1000, 1000, 5, 28.75},
		{iteration.RRMixture, 1000, 1000, 10, 15.89},
		{iteration.RRMixture, 200, 200, 1, 182.7},
		{iteration.RRMixture, 200, 200, 5, 39.90},
		{iteration.RRMixture, 200, 200, 10, 21.83},
		{iteration.RRMixture, 1000, 500, 1, 21.13},
		{iteration.RRMixture, 1000, 500, 5, 4.525},
		{iteration.RRMixture, 1000, 500, 10, 2.430},
		{iteration.RRMixture, 200, 100, 1, 47.18},
		{iteration.RRMixture, 200, 100, 5, 10.10},
		{iteration.RRMixture, 200, 100, 10, 5.425},
		{iteration.SOMixture, 1000, 1000, 1, 551.0},
		{iteration.SOMixture, 1000, 1000, 5, 122.1},
		{iteration.SOMixture, 1000, 1000, 10, 67.48},
	} {
		must.Near(t, fmt.Sprint(v), calibrated(t, withMode(steps(50, v.n, v.private, 10), v.mode), v.eps,
			1e-6), v.sigma, 1e-3)
	}
	rr := iteration.RRMixture
	must.Near(t, "epsilon", epsilon(t, withNoise(withMode(steps(50, 200, 200, 10), rr), 161.0921425),
		1e-6), 1.137998, 1e-6)
	must.Near(t, "epsilon", epsilon(t, withNoise(withMode(steps(50, 200, 200, 10), rr), 40), 1e-6),
		4.985374, 1e-6)
	must.Near(t, "epsilon", epsilon(t, withNoise(withMode(steps(50, 200, 100, 10), rr), 16), 1e-6),
		3.058875, 1e-6)
}

func TestMixturesNeverAbovePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		private := rapid.IntRange(1, n).Draw(t, "private")
		k := rapid.IntRange(1, 20).Draw(t, "K")
		e := withNoise(steps(k, n, private, 1), math.Exp(rapid.Float64Range(-2, 4).Draw(t, "log sigma")))
		alpha := 1 + math.Exp(rapid.Float64Range(-4, 6).Draw(t, "log order"))
		paper, err := e.RDP(alpha)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []iteration.Mode{iteration.RRMixture, iteration.SOMixture,
			iteration.CrossEpoch} {
			r, err := withMode(e, m).RDP(alpha)
			if err != nil {
				t.Fatal(err)
			}
			if !(r <= paper*(1+1e-9)) {
				t.Errorf("%s: %g above the paper's %g", m, r, paper)
			}
			if n == 1 && math.Abs(r-paper) > 1e-9*paper {
				t.Errorf("%s at n = 1: %g, the paper's %g", m, r, paper)
			}
			if k == 1 && m == iteration.CrossEpoch && math.Abs(r-paper) > 1e-9*paper {
				t.Errorf("cross-epoch at K = 1: %g, the paper's %g", r, paper)
			}
		}
	})
}

// Blocks of positions beyond the exact ones only raise the mixture, and by little: a plain
// sum is the oracle.
func TestMixtureBlocks(t *testing.T) {
	for _, private := range []int{2048, 5000, 40000} {
		n, sigma, alpha := 50000, 0.02, 3.0
		r, err := withNoise(withMode(steps(1, n, private, 1), iteration.RRMixture), sigma).RDP(alpha)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for j := 1; j <= private; j++ {
			sum += math.Expm1((alpha - 1) * 2 * alpha / (sigma * sigma * float64(n-j+1)))
		}
		want := math.Log1p(sum/float64(n)) / (alpha - 1)
		if r < want || r > want*1.003 {
			t.Errorf("n_d = %d: %.12g, the plain sum gives %.12g", private, r, want)
		}
	}
}

func TestAcceptance09CrossEpoch(t *testing.T) {
	cross := iteration.CrossEpoch
	r, err := withNoise(withMode(steps(50, 1000, 1000, 10), cross), 10).Report(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "bracket", r.Rho*100/200, 1.049, 1e-12)
	if r.Released != iteration.LastIterate {
		t.Errorf("released %v", r.Released)
	}
	for _, v := range []struct {
		n, private int
		eps, sigma float64
	}{
		{1000, 1000, 1, 109.590}, {1000, 1000, 5, 23.3334}, {1000, 1000, 10, 12.4524},
		{200, 200, 5, 25.4199},
		{1000, 500, 1, 24.1630}, {1000, 500, 5, 5.14467}, {1000, 500, 10, 2.74557},
		{200, 100, 5, 11.5020},
	} {
		must.Near(t, fmt.Sprint(v), calibrated(t, withMode(steps(50, v.n, v.private, 10), cross), v.eps,
			1e-6), v.sigma, 1e-5)
	}
}

// Erratum: the source claims that its regularisation step need not be contractive, so that
// amplification ends with each epoch. Proximal maps of convex functions are non-expansive: the
// exact divergence of chains with them folded in obeys the cross-epoch bound, which is below K
// epochs of the paper's.
func TestErratumProximalMapsContract(t *testing.T) {
	const eta, clip, sigma, alpha, lambda = 0.5, 1.0, 1.0, 2.0, 0.4
	bounds := func(n, epochs int) (cross, paper float64) {
		e := steps(epochs, n, n, clip)
		e.StepSize = eta
		for mode, r := range map[iteration.Mode]*float64{iteration.CrossEpoch: &cross,
			iteration.Paper: &paper} {
			var err error
			if *r, err = withNoise(withMode(e, mode), sigma).RDP(alpha); err != nil {
				t.Fatal(err)
			}
		}
		return cross, paper
	}
	// Ridge: the chain is Gaussian. The record is replaced at position j; gradients differ
	// by 2G, as clipping allows at most.
	for _, n := range []int{1, 2, 10} {
		for _, epochs := range []int{1, 2, 5, 50} {
			cross, paper := bounds(n, epochs)
			for j := 1; j <= n; j++ {
				shift, variance := 0.0, 0.0
				for range epochs {
					for i := 1; i <= n; i++ {
						shift *= 1 - eta
						if i == j {
							shift += 2 * eta * clip
						}
						variance = (1-eta)*(1-eta)*variance + eta*eta*sigma*sigma
					}
					prox := 1 / (1 + float64(n)*eta*lambda)
					shift, variance = shift*prox, variance*prox*prox
				}
				if exact := alpha * shift * shift / (2 * variance); !(exact <= cross &&
					cross <= paper*(1+1e-12)) {
					t.Errorf("ridge, n = %d, K = %d, j = %d: exact %g, cross-epoch %g, paper %g", n, epochs, j,
						exact, cross, paper)
				}
			}
		}
	}
	p, q, h := lassoChains(4)
	exact, mass := 0.0, 0.0
	for i := range p {
		mass += h * p[i]
		exact += h * p[i] * p[i] / q[i]
	}
	must.Near(t, "mass", mass, 1, 1e-6)
	cross, paper := bounds(2, 4)
	if exact = math.Log(exact); !(exact > 0.1 && exact <= cross && cross < 0.7*paper) {
		t.Errorf("lasso: exact %g, cross-epoch %g, paper %g", exact, cross, paper)
	}
}

// lassoChains returns, by numerical integration on points h apart, the densities of the last
// iterate with the ℓ1 proximal map after each epoch but the last, η = 0.5, G = σ = 1: two
// steps an epoch, the first with gradient G or -G, the second with that of x²/2, clipped.
func lassoChains(epochs int) (p, q []float64, h float64) {
	const eta, clip, sigma, lambda, points, reach = 0.5, 1.0, 1.0, 0.4, 600, 7.0
	soft := func(x float64) float64 { return math.Copysign(max(math.Abs(x)-2*eta*lambda, 0), x) }
	second := func(x float64) float64 { return x - eta*max(-clip, min(clip, x)) }
	h = 2 * reach / points
	at := func(i int) float64 { return h*float64(i) - reach }
	density := func(x, mean float64) float64 {
		z := (x - mean) / (eta * sigma)
		return math.Exp(-z*z/2) / (math.Sqrt(2*math.Pi) * eta * sigma)
	}
	through := func(p []float64, f func(float64) float64) []float64 {
		next := make([]float64, points+1)
		for i, v := range p {
			m := f(at(i))
			for j := range next {
				next[j] += h * v * density(at(j), m)
			}
		}
		return next
	}
	chain := func(gradient float64) []float64 {
		first := func(x float64) float64 { return x - eta*gradient }
		p := make([]float64, points+1)
		for i := range p {
			p[i] = density(at(i), first(0)) // from x_1 = 0
		}
		for k := range epochs {
			if k > 0 {
				p = through(p, func(x float64) float64 { return first(soft(x)) })
			}
			p = through(p, second)
		}
		return p // before the last proximal map, which is post-processing
	}
	return chain(clip), chain(-clip), h
}

func TestAcceptance10Conversions(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []struct{ eps, rho, mu, factor, delta float64 }{
		{1, 0.024356, 0.236704, 1.1808, 2.4e-9}, {5, 0.463065, 1.020357, 1.0962, 1.0e-8},
		{10, 1.539278, 1.848132, 1.0666, 1.7e-8},
	} {
		e := steps(50, 1000, 1000, 10)
		paper := calibrated(t, e, v.eps, 1e-6)
		e.Conversion = iteration.ConversionImproved
		improved := calibrated(t, e, v.eps, 1e-6)
		must.Near(t, "improved rho", 2*100*50/(improved*improved), v.rho, 1e-4)
		must.Near(t, "factor", paper/improved, v.factor, 1e-4)
		exactEvent := withMode(steps(50, 1000, 1000, 10), iteration.GaussianExact)
		exact := calibrated(t, exactEvent, v.eps, 1e-6)
		must.Near(t, "mu", 20*math.Sqrt(50)/exact, v.mu, 1e-5)
		// What the paper's noise really costs in δ.
		delta, err := accountant.GaussianDelta(paper/(20*math.Sqrt(50)), v.eps)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "true delta", delta, v.delta, 0.05)
	}
	for _, sigma := range []float64{20, 85, 161, 400, 3000} {
		e := withNoise(steps(50, 1000, 1000, 10), sigma)
		paper := epsilon(t, e, 1e-6)
		e.Conversion = iteration.ConversionImproved
		improved := epsilon(t, e, 1e-6)
		exact := epsilon(t, withMode(e, iteration.GaussianExact), 1e-6)
		if !(exact <= improved && improved <= paper) {
			t.Errorf("sigma %g: exact %g, improved %g, paper %g", sigma, exact, improved, paper)
		}
		// The event is K Gaussian events to the accountant as well.
		a, err := accountant.New(accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = a.Charge(accountant.Gaussian{NoiseMultiplier: sigma / 20,
			Neighbours: accountant.ReplaceOne}, 50); err != nil {
			t.Fatal(err)
		}
		if same, err := a.Epsilon(1e-6); err != nil || math.Abs(same-exact) > 1e-9*exact {
			t.Errorf("sigma %g: %g, %v as gaussian events, %g here", sigma, same, err, exact)
		}
	}
}

// The exact divergences of a Gaussian chain (mean estimation without clipping, x_1 fixed)
// are below the bounds.
func TestAcceptance11ExactChain(t *testing.T) {
	const n, eta, clip, sigma, alpha = 10, 0.1, 1.0, 1.0, 2.0
	r := 1 - eta
	for i, j := range []int{1, 5, 10} {
		want := []float64{0.1298598488, 0.3016718714, 0.8651864775}[i]
		// Simulate the chain's mean shift and variance step by step.
		shift, variance := 0.0, 0.0
		last := [2]float64{}
		for k := range 5 {
			for step := 1; step <= n; step++ {
				shift, variance = r*shift, r*r*variance+eta*eta*sigma*sigma
				if step == j {
					shift += 2 * eta * clip
				}
			}
			if k == 0 {
				must.Near(t, "one epoch", alpha*shift*shift/(2*variance), want, 1e-9)
			}
			last = [2]float64{shift, variance}
		}
		five := alpha * last[0] * last[0] / (2 * last[1])
		must.Near(t, "five epochs", five, []float64{0.2661407042, 0.618260109, 1.773152676}[i], 1e-9)
		// A record at position j of n private steps is protected like the last private
		// one of an epoch whose later steps are public and as noisy.
		e := withNoise(steps(1, n, j, clip), sigma)
		e.Order, e.Released = iteration.FixedOrder, iteration.LastIterate
		bound, err := e.RDP(alpha)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "bound", bound, []float64{0.4, 0.6666666667, 4}[i], 1e-9)
		e.Epochs = 5
		paper, _ := e.RDP(alpha)
		must.Near(t, "paper", paper, []float64{2, 3.333333333, 20}[i], 1e-9)
		e.Mode = iteration.CrossEpoch
		cross, err := e.RDP(alpha)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "cross-epoch", cross, []float64{2, 2.266666667, 5.6}[i], 1e-9)
		if !(want <= bound && five <= cross && cross <= paper*(1+1e-12)) {
			t.Errorf("position %d: exact %g and %g, bounds %g, %g, %g", j, want, five, bound, cross, paper)
		}
	}
}

// With n = 4, n_d = 2, η = 1, the private steps on ½(x-d)², the public ones linear: the
// last private record moves the end by 2G, whose variance is 3σ²: the bound is attained.
func TestAcceptance12Tight(t *testing.T) {
	const sigma, clip = 1.7, 2.3
	for _, alpha := range []float64{1.5, 2, 8} {
		shift, variance := 0.0, 0.0
		for step := 1; step <= 4; step++ {
			slope := 1.0 // of the map x → x - η∇f(x): linear losses move every point alike
			if step <= 2 {
				slope = 0 // 1 - η for ½(x-d)² at η = 1
			}
			shift, variance = slope*shift, slope*slope*variance+sigma*sigma
			if step == 2 {
				shift += 2 * clip
			}
		}
		e := withNoise(steps(1, 4, 2, clip), sigma)
		e.StepSize = 1
		bound, err := e.RDP(alpha)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "bound", bound, alpha*shift*shift/(2*variance), 1e-12)
		must.Near(t, "closed form", bound, 2*alpha*clip*clip/(3*sigma*sigma), 1e-12)
	}
}

func TestUnequalNoise(t *testing.T) {
	// Noise twice as strong on public steps: V = σ² + (n-n_d)(2σ)².
	e := withNoise(steps(3, 10, 6, 1), 0.5)
	e.PublicNoise = 1
	r, err := e.Report(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "rho", r.Rho, 3*2/(0.25+4), 1e-12)
	// Different runs add up.
	other := withNoise(steps(2, 10, 10, 1), 3)
	both, err := iteration.Account(1e-6, e, other)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "sum", both.Rho, 3*2/(0.25+4)+2*2/9.0, 1e-12)
	if both.Amplification != 1 || both.Epochs != 5 {
		t.Errorf("%+v", both)
	}
	// One run that hides its iterates is enough: they may not all be released, though the
	// other run needs none hidden.
	if alone, err := other.Report(1e-6); err != nil || alone.Released != iteration.EveryIterate ||
		both.Released != iteration.EpochEnds {
		t.Errorf("may be released: %v of both, %v of the second alone (%v)", both.Released,
			alone.Released, err)
	}
	rr, err := iteration.Account(1e-6, withMode(e, iteration.RRMixture),
		withMode(other, iteration.RRMixture))
	if err != nil || rr.Cost.Epsilon > both.Cost.Epsilon {
		t.Errorf("%+v, %v", rr, err)
	}
	if _, err := iteration.Account(1e-6, withMode(e, iteration.CrossEpoch),
		withMode(other, iteration.CrossEpoch)); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("cross-epoch over different runs: %v", err)
	}
	other.StepSize = 0.1
	if _, err := iteration.Account(1e-6, e, other); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("different step sizes: %v", err)
	}
}

// Two runs of one training are its epochs in two parts: they cost what the epochs cost as
// one run, in every mode that takes runs and by every conversion. Composed by the largest
// instead of the sum, they would cost less.
func TestRunsOfEpochsAddUp(t *testing.T) {
	const delta = 1e-6
	for _, m := range []iteration.Mode{iteration.Paper, iteration.RRMixture, iteration.GaussianExact} {
		for _, c := range []iteration.Conversion{iteration.ConversionClassical,
			iteration.ConversionImproved} {
			for _, sigma := range []float64{0.7, 3, 40} {
				run := func(epochs int) iteration.Steps {
					e := withNoise(withMode(steps(epochs, 10, 6, 1), m), sigma)
					e.Conversion = c
					return e
				}
				whole, err := run(6).Report(delta)
				if err != nil {
					t.Fatal(err)
				}
				parts, err := iteration.Account(delta, run(3), run(2), run(1))
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s, %s, noise %g", m, c, sigma)
				must.Near(t, what, parts.Cost.Epsilon, whole.Cost.Epsilon, 1e-9)
				must.Near(t, what+": Rho", parts.Rho, whole.Rho, 1e-3) // at orders that differ a little
				if less := epsilon(t, run(5), delta); parts.Cost.Epsilon < less*1.01 {
					t.Errorf("%s: %g in parts, five epochs alone cost %g", what, parts.Cost.Epsilon, less)
				}
			}
		}
	}
	// Different runs: no less than the divergences of both together at the best of all orders.
	for _, m := range []iteration.Mode{iteration.Paper, iteration.RRMixture} {
		one, two := withNoise(withMode(steps(3, 10, 6, 1), m), 0.9),
			withNoise(withMode(steps(2, 14, 14, 1), m), 3)
		one.Conversion, two.Conversion = iteration.ConversionImproved, iteration.ConversionImproved
		both, err := iteration.Account(delta, one, two)
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for u := -6.0; u < 8; u += 0.001 {
			alpha, sum := 1+math.Exp(u), 0.0
			for _, e := range []iteration.Steps{one, two} {
				r, err := e.RDP(alpha)
				if err != nil {
					t.Fatal(err)
				}
				sum += r
			}
			if !math.IsInf(sum, 1) {
				least = min(least, sum+math.Log1p(-1/alpha)-(math.Log(delta)+math.Log(alpha))/(alpha-1))
			}
		}
		must.Near(t, string(m)+", different runs", both.Cost.Epsilon, least, 1e-6)
	}
}

func TestIterationEdges(t *testing.T) {
	for _, m := range iteration.Modes() {
		e := withMode(steps(5, 9, 9, 1), m)
		e.Noise = 0
		if got := epsilon(t, e, 1e-6); !math.IsInf(got, 1) {
			t.Errorf("%s without noise: %g", m, got)
		}
		e.Epochs, e.Noise = 0, 1
		if got := epsilon(t, e, 1e-6); got != 0 {
			t.Errorf("%s without epochs: %g", m, got)
		}
		if c, r, err := e.Calibrate(t.Context(), accountant.Cost{Epsilon: 1, Delta: 1e-6}); err != nil ||
			c.Noise != 0 || r.Cost.Epsilon != 0 {
			t.Errorf("%s without epochs: %+v, %v", m, c, err)
		}
	}
	good := withNoise(steps(5, 9, 4, 1), 1)
	bad := map[string]func(*iteration.Steps){
		"epochs":           func(e *iteration.Steps) { e.Epochs = -1 },
		"records":          func(e *iteration.Steps) { e.Records = 0 },
		"private steps":    func(e *iteration.Steps) { e.Private = 10 },
		"clip":             func(e *iteration.Steps) { e.Clip = math.NaN() },
		"noise":            func(e *iteration.Steps) { e.Noise = math.Inf(1) },
		"public noise":     func(e *iteration.Steps) { e.PublicNoise = -1 },
		"step size":        func(e *iteration.Steps) { e.StepSize = math.NaN() },
		"smoothness":       func(e *iteration.Steps) { e.Smoothness = math.NaN() },
		"order":            func(e *iteration.Steps) { e.Order = 0 },
		"released":         func(e *iteration.Steps) { e.Released = 9 },
		"accounting mode":  func(e *iteration.Steps) { e.Mode = "poisson" },
		"conversion":       func(e *iteration.Steps) { e.Conversion = "hopeful" },
		"private steps = ": func(e *iteration.Steps) { e.Private = -1 },
	}
	for name, f := range bad {
		e := good
		f(&e)
		_, err := e.Report(1e-6)
		var parameter *check.Error
		if !errors.As(err, &parameter) || !strings.HasPrefix(parameter.Error(),
			strings.TrimSuffix(name, " = ")) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := e.Calibrate(t.Context(), accountant.Cost{Epsilon: 1, Delta: 1e-6}); err == nil {
			t.Errorf("%s: calibrated", name)
		}
		if _, err := e.RDP(2); err == nil {
			t.Errorf("%s: has a divergence", name)
		}
	}
	e := good
	e.Neighbours = accountant.AddOrRemoveOne
	if _, err := e.Report(1e-6); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("add or remove: %v", err)
	}
	for _, delta := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
		if _, err := good.Report(delta); err == nil {
			t.Errorf("delta = %g accepted", delta)
		}
		if _, _, err := good.Calibrate(t.Context(), accountant.Cost{Epsilon: 1, Delta: delta}); err ==
			nil {
			t.Errorf("delta = %g accepted", delta)
		}
	}
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, _, err := good.Calibrate(t.Context(), accountant.Cost{Epsilon: eps, Delta: 1e-6}); err ==
			nil {
			t.Errorf("epsilon = %g accepted", eps)
		}
	}
}

// Whatever the mode and target, what calibration returns costs at most the target, and a
// little less noise costs more.
func TestCalibrationIsTight(t *testing.T) {
	raced.Sequential(t)
	rapid.Check(t, func(t *rapid.T) {
		// IterationBest and the losses of mixtures take longer: TestBestCalibration.
		m := rapid.SampledFrom(iteration.Modes()[1:]).Draw(t, "mode")
		n := rapid.IntRange(1, 60).Draw(t, "n")
		private := rapid.IntRange(1, n).Draw(t, "private")
		e := withMode(steps(rapid.IntRange(1, 30).Draw(t, "K"), n, private,
			math.Exp(rapid.Float64Range(-8, 8).Draw(t, "log clip"))), m)
		e.Conversion = rapid.SampledFrom([]iteration.Conversion{iteration.ConversionClassical,
			iteration.ConversionImproved}).Draw(t, "conversion")
		target := accountant.Cost{Epsilon: math.Exp(rapid.Float64Range(-4, 4).Draw(t, "log eps")),
			Delta: math.Exp(rapid.Float64Range(-40, -1).Draw(t, "log delta"))}
		c, r, err := e.Calibrate(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if r.Cost.Epsilon > target.Epsilon || r.Cost.Delta != target.Delta {
			t.Errorf("costs %v", r.Cost)
		}
		c.Noise *= 0.9999
		c.PublicNoise *= 0.9999
		less, err := c.Report(target.Delta)
		if err != nil {
			t.Fatal(err)
		}
		if less.Cost.Epsilon < target.Epsilon*(1-1e-9) {
			t.Errorf("less noise still costs only %g of %g", less.Cost.Epsilon, target.Epsilon)
		}
	})
}

func TestSampledSteps(t *testing.T) {
	for _, v := range []struct {
		n          int
		eps, sigma float64
	}{{1000, 1, 50.83}, {1000, 5, 14.49}, {1000, 10, 11.71}, {200, 1, 171.7}, {200, 5, 26.76},
		{200, 10, 15.83}} {
		s, err := iteration.SampledSteps{Steps: v.n * 50, Records: v.n, Clip: 10}.Calibrate(t.Context(),
			accountant.Cost{Epsilon: v.eps, Delta: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, fmt.Sprint(v), s.Noise, v.sigma, 5e-3)
		if eps, _, err := s.Epsilon(1e-6); err != nil || eps > v.eps || eps < v.eps*(1-1e-6) {
			t.Errorf("%v: costs %g, %v", v, eps, err)
		}
	}
	// One record: nothing is sampled.
	s := iteration.SampledSteps{Steps: 1, Records: 1, Clip: 1, Noise: 1}
	if r, err := s.RDP(2); err != nil || math.Abs(r-4) > 1e-8 {
		t.Errorf("n = 1: %g, %v", r, err)
	}
	if eps, _, err := (iteration.SampledSteps{Steps: 1, Records: 5, Clip: 1}).Epsilon(1e-6); err !=
		nil || !math.IsInf(eps, 1) {
		t.Errorf("without noise: %g, %v", eps, err)
	}
	if eps, _, err := (iteration.SampledSteps{Records: 5, Clip: 1}).Epsilon(1e-6); err != nil ||
		eps != 0 {
		t.Errorf("without steps: %g, %v", eps, err)
	}
	for _, bad := range []iteration.SampledSteps{{Steps: -1, Records: 1, Clip: 1},
		{Records: 0, Clip: 1}, {Records: 1}, {Records: 1, Clip: 1, Noise: math.NaN()}} {
		if _, _, err := bad.Epsilon(1e-6); err == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
	if _, err := (iteration.SampledSteps{Steps: 5, Records: 5, Clip: 1}).Calibrate(t.Context(),
		accountant.Cost{Epsilon: 0.001, Delta: 1e-6}); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("an epsilon that no order reaches: %v", err)
	}
}

func BenchmarkCalibrateMixture(b *testing.B) {
	e := withMode(steps(50, 1000, 1000, 10), iteration.RRMixture)
	for b.Loop() {
		if _, _, err := e.Calibrate(b.Context(), accountant.Cost{Epsilon: 1, Delta: 1e-6}); err != nil {
			b.Fatal(err)
		}
	}
}

// Training whose divergence is beneath every float64 still costs something, in every mode
// and at every order.
func TestDivergencesThatUnderflowAreNotNothing(t *testing.T) {
	for _, mode := range []iteration.Mode{
		iteration.Paper, iteration.RRMixture, iteration.SOMixture, iteration.CrossEpoch,
	} {
		e := withMode(withNoise(steps(5, 100, 100, 1e-100), 1e100), mode)
		for _, alpha := range []float64{1 + 1e-9, 2, 1e10} {
			if rho, err := e.RDP(alpha); err != nil || !(rho > 0) {
				t.Errorf("%s at order %g: %g, %v", mode, alpha, rho, err)
			}
		}
		e.Conversion = iteration.ConversionClassical
		if r, err := e.Report(1e-6); err != nil || !(r.Cost.Epsilon > 0) || math.IsInf(r.Alpha, 1) {
			t.Errorf("%s: %+v, %v", mode, r.Cost, err)
		}
	}
}

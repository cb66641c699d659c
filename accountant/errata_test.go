package accountant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// The counterexamples of docs/errata.md that are about accounting.

// Appendix B.4 prints δ = 1-(1-δ)^M·(1-δ') and λ = 1-(1-δ)^K·(1-δ'). The inner δ is Δ, the
// teacher's: with it every digit of Table B.1 is met; with the δ that the table prints, or
// any above Δ, none is.
func TestErratumInnerDeltaOfTableB1(t *testing.T) {
	const teacherDelta, slack = 1e-5, 0.1
	for m, printed := range map[int]string{10: "0.1001", 13: "0.1001", 15: "0.1001", 20: "0.1002", 35: "0.1003"} {
		c, err := accountant.General(m, accountant.Cost{Epsilon: 0.1, Delta: teacherDelta}, slack)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.4f", c.Delta); got != printed {
			t.Errorf("M = %d: δ = %s, printed %s", m, got, printed)
		}
		if literal := 1 - math.Pow(1-0.1001, float64(m))*(1-slack); literal < 0.6 {
			t.Errorf("M = %d: the formula as printed gives %g", m, literal)
		}
	}
}

// The printed order of the conversion lacks "1 +": at ρ = 1, δ = 1e-6 it gives ε = 8.8019
// in place of 8.4338.
func TestErratumRenyiOrder(t *testing.T) {
	const delta, rho = 1e-6, 1.0
	printed := math.Sqrt(math.Log(1/delta) / rho)
	near(t, "the best order", accountant.ZCDPOrder(rho, delta), 1+printed, 1e-9)
	wrong, err := accountant.ClassicalEpsilonFromRDP(printed, printed*rho, delta)
	if err != nil {
		t.Fatal(err)
	}
	right, err := accountant.EpsilonFromZCDP(rho, delta)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ε at the printed order", wrong, 8.8019, 1e-5)
	near(t, "ε at the best order", right, 8.4338, 1e-5)
}

// The source dismisses amplification by shuffling, since the mean over a record's positions
// were dominated by the last one, 2αG²/σ² - ln n. At its own setting (n = 1000, K = 50,
// ε = 5) that is negative, and the mean is far below.
func TestErratumDismissalOfShuffling(t *testing.T) {
	const sigma, alpha = 161.0921424, 6.987669585
	mixed, err := withNoise(withMode(iteration(1, 1000, 1000, 10), accountant.IterationRRMixture), sigma).RDP(alpha)
	if err != nil {
		t.Fatal(err)
	}
	unmixed, err := withNoise(iteration(1, 1000, 1000, 10), sigma).RDP(alpha)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean over the positions", mixed, 4.18e-4, 2e-3)
	near(t, "its exponential", math.Exp((alpha-1)*mixed), 1.002506, 1e-6)
	near(t, "worst position", unmixed, 5.39e-2, 1e-3)
	if printed := 2*alpha*100/(sigma*sigma) - math.Log(1000); printed > 0 || math.Abs(printed+6.85) > 0.01 {
		t.Errorf("the printed approximation is %g", printed)
	}
}

// Appendix F.3 prints (n-1+n_d) where the noise of Interleaved has (n+1-n_d). With the
// printed one, fewer public steps would need less noise, and with none of them Interleaved
// would need 2n-1 times less variance than DP-ShuffleG, which it then is.
func TestErratumDenominatorOfInterleaved(t *testing.T) {
	const n = 200
	plain := calibrated(t, iteration(50, n, n, 10), 5, 1e-6)
	for _, private := range []int{1, 50, 100, n} {
		sigma := calibrated(t, iteration(50, n, private, 10), 5, 1e-6)
		near(t, "variances", plain*plain/(sigma*sigma), float64(n+1-private), 1e-6)
		if printed := float64(n - 1 + private); private > 1 {
			cheap := withNoise(iteration(50, n, private, 10), plain/math.Sqrt(printed))
			if got := epsilon(t, cheap, 1e-6); got <= 5.001 {
				t.Errorf("n_d = %d: noise by the printed denominator costs ε = %g", private, got)
			}
		}
	}
}

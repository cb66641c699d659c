package iteration_test

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// The counterexamples of docs/errata.md that are about shuffled gradients.

// The source dismisses amplification by shuffling, since the mean over a record's positions
// were dominated by the last one, 2αG²/σ² - ln n. At its own setting (n = 1000, K = 50,
// ε = 5) that is negative, and the mean is far below.
func TestErratumDismissalOfShuffling(t *testing.T) {
	const sigma, alpha = 161.0921424, 6.987669585
	mixed, err := withNoise(withMode(steps(1, 1000, 1000, 10), iteration.RRMixture), sigma).RDP(alpha)
	if err != nil {
		t.Fatal(err)
	}
	unmixed, err := withNoise(steps(1, 1000, 1000, 10), sigma).RDP(alpha)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "mean over the positions", mixed, 4.18e-4, 2e-3)
	must.Near(t, "its exponential", math.Exp((alpha-1)*mixed), 1.002506, 1e-6)
	must.Near(t, "worst position", unmixed, 5.39e-2, 1e-3)
	if printed := 2*alpha*100/(sigma*sigma) - math.Log(1000); printed > 0 ||
		math.Abs(printed+6.85) > 0.01 {
		t.Errorf("the printed approximation is %g", printed)
	}
}

// Appendix F.3 prints (n-1+n_d) where the noise of Interleaved has (n+1-n_d). With the
// printed one, fewer public steps would need less noise, and with none of them Interleaved
// would need 2n-1 times less variance than DP-ShuffleG, which it then is.
func TestErratumDenominatorOfInterleaved(t *testing.T) {
	const n = 200
	plain := calibrated(t, steps(50, n, n, 10), 5, 1e-6)
	for _, private := range []int{1, 50, 100, n} {
		sigma := calibrated(t, steps(50, n, private, 10), 5, 1e-6)
		must.Near(t, "variances", plain*plain/(sigma*sigma), float64(n+1-private), 1e-6)
		if printed := float64(n - 1 + private); private > 1 {
			cheap := withNoise(steps(50, n, private, 10), plain/math.Sqrt(printed))
			if got := epsilon(t, cheap, 1e-6); got <= 5.001 {
				t.Errorf("n_d = %d: noise by the printed denominator costs ε = %g", private, got)
			}
		}
	}
}

package rates_test

import (
	"math"
	"testing"

	"github.com/darrm/darrm/learn/federated/rates"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 6e-8*math.Abs(want)) {
		t.Errorf("%s = %.10g, want %.10g", what, got, want)
	}
}

// Acceptance 19: the rates of one setting, both readings of the sampling term.
func TestRates(t *testing.T) {
	s := rates.Setting{Silos: 100, Records: 1000, Dim: 100, Rounds: 1000, Steps: 10, Batch: 10, Gap: 1,
		Smoothness: 1, Gradient: 1, Heterogeneity: 0.1, Epsilon: 1}
	near(t, "ell", s.Ell(), 3.16227766)
	near(t, "beta_a", s.BetaA(), 0.46415888)
	near(t, "beta_b", s.BetaB(), 0.21544347)
	for _, printed := range []bool{true, false} {
		s.AsPrinted = printed
		got, err := s.Rates()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{
			"DIFF2-GD": 1.0078039e-3, "MB-PSGM-FG": 1.0046516e-3, "MB-PSGM": 1.0477868e-3,
			"CE-PSGM-FG": 6.5250213e-4,
			"CE-PSGM":    6.9563739e-4, "DIFF2-BVR-LSGD": 6.5249213e-4,
		}
		if printed {
			want["MB-PSGM"], want["CE-PSGM"] = 3.1806772e-3, 2.8285277e-3
		}
		if len(got) != len(want) {
			t.Errorf("%d methods", len(got))
		}
		for _, r := range got {
			near(t, r.Method, r.Bound, want[r.Method])
		}
	}
	// The balance that the source's own weight strikes needs the term with R: a hundredth of the
	// printed one.
	beta, samples := s.BetaB(), 10_000.
	near(t, "balance", 1/(1000*math.Sqrt(beta*samples)), 2.15443469e-5)
	near(t, "balance", beta/samples, 2.15443469e-5)
	near(t, "balance", 1/math.Pow(samples*1000, 2./3), 2.15443469e-5)
	spider, err := s.Spider(1e-5)
	if err != nil || spider.Bound < 1e-3 || spider.TrustedServer {
		t.Errorf("%+v, %v", spider, err)
	}
	_, bits, err := rates.ManyMessages(16512, 101, 1, 1e-5)
	if near(t, "published noise bits", bits, 470_135_800); err != nil {
		t.Error(err)
	}
	if _, _, err := rates.ManyMessages(16512, 0, 1, 1e-5); err == nil {
		t.Error("messages of no dimensions")
	}
	s.Dim = 0
	if _, err := s.Rates(); err == nil {
		t.Error("no dimensions")
	}
}

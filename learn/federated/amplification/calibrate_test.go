package amplification

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// fullGradients is a run of the specification's experiment: 500 rounds, the first of one stream.
func fullGradients(reports, rounds int) func(float64) ([]accountant.Charge, error) {
	return func(epsilon float64) ([]accountant.Charge, error) {
		r := stream(reports, epsilon)
		first, err := r.Event()
		if err != nil {
			return nil, err
		}
		r.Streams = 2
		later, err := r.Event()
		if err != nil {
			return nil, err
		}
		return []accountant.Charge{{Event: first, Count: 1}, {Event: later, Count: rounds - 1}}, nil
	}
}

// Acceptance 8: the closed form, then the exact accountant.
func TestClosedForm(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []struct {
		reports, streams int
		eps, delta, want float64
	}{
		{16512, 999, 0.8, 1e-5, 0.5803291021}, {16512, 999, 0.4, 1e-5, 0.3114567648},
		{16512, 999, 1.6, 1e-5, 1.033262102},
		{1000, 1, 1, 1e-5, 3.163689376}, {100000, 200, 1, 1e-6, 2.434681952},
	} {
		got, err := ClosedForm(accountant.Cost{Epsilon: v.eps, Delta: v.delta}, v.reports, v.streams)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "closed form", got, v.want, 1e-8)
		if v.streams != 999 {
			continue
		}
		charges, err := fullGradients(16512, 500)(got)
		if err != nil {
			t.Fatal(err)
		}
		eps, _, err := Epsilon(1e-5, Classical, charges...)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "its exact epsilon", eps, v.eps, 5e-3)
	}
}

// The specification's central ε of given ε₀, by both conversions. The ε₀ of Calibrate costs at most
// the target, and 10⁻³ more costs more, so it is the largest. The run here is a 25th of the whole,
// which takes less time. That of the whole run is in package federated's TestCalibratedReports.
func TestCalibrate(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []struct{ local, classical, improved float64 }{{0.4, 0.52595, 0.40939},
		{0.8, 1.16723, 0.95677}, {1.6, 2.86338, 2.47425}} {
		charges, err := fullGradients(16512, 500)(v.local)
		if err != nil {
			t.Fatal(err)
		}
		for c, want := range map[Conversion]float64{Classical: v.classical, Improved: v.improved} {
			eps, _, err := Epsilon(1e-5, c, charges...)
			if err != nil {
				t.Fatal(err)
			}
			must.Near(t, fmt.Sprintf("epsilon of %g, %s", v.local, c), eps, want, 2e-3)
		}
	}
	for _, eps := range []float64{0.4, 0.8, 1.6} {
		target := accountant.Cost{Epsilon: eps, Delta: 1e-5}
		asked := 0
		charges := func(e float64) ([]accountant.Charge, error) {
			asked++
			return fullGradients(660, 20)(e)
		}
		local, cost, err := calibrateCharges(target, Improved, charges)
		if err != nil {
			t.Fatal(err)
		}
		if cost.Epsilon > eps || cost.Delta != 1e-5 || asked > 12 {
			t.Errorf("%g costs %v, after %d questions", local, cost, asked)
		}
		more, err := charges(local * 1.001)
		if err != nil {
			t.Fatal(err)
		}
		if above, _, err := Epsilon(1e-5, Improved, more...); err != nil || above <= eps {
			t.Errorf("%g more costs %g, %v", 1e-3, above, err)
		}
	}
}

func TestCalibrateEdges(t *testing.T) {
	none := errors.New("no")
	if _, _, err := calibrateCharges(accountant.Cost{Epsilon: 1, Delta: 1e-5}, "",
		func(float64) ([]accountant.Charge, error) { return nil, none }); !errors.Is(err, errTarget) ||
		!errors.Is(err, none) {
		t.Errorf("%v", err)
	}
	gaussian := func(e float64) ([]accountant.Charge, error) {
		return []accountant.Charge{{Event: accountant.Gaussian{NoiseMultiplier: 1 / e,
			Neighbours: accountant.ReplaceOne}, Count: 1}}, nil
	}
	for _, eps := range []float64{1e-7, 1e-3, 1, 50, 1e6} {
		target := accountant.Cost{Epsilon: eps, Delta: 1e-5}
		local, cost, err := calibrateCharges(target, Improved, gaussian)
		switch {
		case err != nil || cost.Epsilon > eps:
			t.Errorf("%g: %v, %v", eps, cost, err)
		case eps == 1e6 && local != largestLocal:
			t.Errorf("%g: %g", eps, local)
		case eps < 1e6 && cost.Epsilon < eps*(1-2e-3):
			t.Errorf("%g: only %v is used", eps, cost)
		}
	}
	for _, target := range []accountant.Cost{{Epsilon: 0, Delta: 1e-5}, {Epsilon: 1},
		{Epsilon: 1, Delta: 1}, {Epsilon: math.NaN(), Delta: 0.1}} {
		if _, _, err := calibrateCharges(target, "", gaussian); err == nil {
			t.Errorf("%v", target)
		}
	}
	if _, _, err := Epsilon(1e-5, "best",
		accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: 1,
			Neighbours: accountant.ReplaceOne}, Count: 1}); err == nil {
		t.Error("an unknown conversion")
	}
}

// Drop-outs and colluders: who counts on 16,512 reports where 2,000 did not come or are the
// server's own promises too little, and the honest number costs more in proportion.
func TestFewerHonestReportsCostMore(t *testing.T) {
	all, honest := rdp(t, stream(16512, 0.58), 8), rdp(t, stream(16512-2000, 0.58), 8)
	must.Near(t, "honest over all", honest/all, 16512./14512, 1e-3)
}

// Acceptance 10: at equal RDP the shuffled mean's deviation is that of central noise times
// √(π(1+e^ε₀)/4). The central mechanism with sensitivity 2C/N and the same divergence at order 2
// has σ² = (2C/N)²/(2ρ).
func TestPriceOfAnUntrustedServer(t *testing.T) {
	const d = 101
	for _, v := range []struct{ eps, want float64 }{{0.05, 1.266139}, {0.2, 1.317600},
		{0.58, 1.475583}, {1, 1.704673}, {2, 2.560510}} {
		rho := rdp(t, stream(16512, v.eps), 2) / 2
		la, _ := math.Lgamma((d + 1) / 2.)
		lb, _ := math.Lgamma(d / 2.)
		scale := math.Sqrt(math.Pi) * math.Exp(la-lb) / math.Tanh(v.eps/2)
		shuffled := scale / math.Sqrt(d*16512.)
		central := 2. / 16512 / math.Sqrt(2*rho)
		must.Near(t, "ratio", shuffled/central, v.want, 1e-3)
		must.Near(t, "ratio", shuffled/central, math.Sqrt(math.Pi*(1+math.Exp(v.eps))/4), 0.01)
	}
}

// The curve between its orders is above the exact divergence by at most half a per cent.
func TestEventsInterpolate(t *testing.T) {
	r := stream(412, 0.58)
	e := event(t, r)
	for _, alpha := range []float64{1.3, 2.6, 7.77, 33, 120, 400} {
		got, err := accountant.RDP(e, alpha)
		if err != nil {
			t.Fatal(err)
		}
		if want := rdp(t, r, alpha); got < want || got > want*1.005 {
			t.Errorf("order %g: %g, exact %g", alpha, got, want)
		}
	}
	two := r
	two.Streams = 2
	both, err := accountant.RDP(event(t, two), 8)
	if err != nil {
		t.Fatal(err)
	}
	one, err := accountant.RDP(e, 8)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "two streams", both, 2*one, 1e-12)
	shared := event(t, batch(200, 0.05, Ternary, 2))
	got, err := accountant.RDP(shared, 8)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "shared batch", got, rdp(t, batch(200, 0.05, Ternary, 2), 8), 1e-9)
}

// calibrateCharges is Calibrate for what charges cost.
func calibrateCharges(target accountant.Cost, c Conversion,
	charges func(epsilon float64) ([]accountant.Charge, error)) (float64, accountant.Cost, error) {
	return Calibrate(target, func(e float64) (float64, error) {
		list, err := charges(e)
		if err != nil {
			return 0, err
		}
		eps, _, err := Epsilon(target.Delta, c, list...)
		return eps, err
	})
}

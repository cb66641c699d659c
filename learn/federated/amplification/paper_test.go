package amplification

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
)

// Acceptance 9: the published accountant's numbers, and its refusals by name.
func TestPaper(t *testing.T) {
	full := Round{Mode: Paper, Streams: 2, Reports: 16512, Epsilon: 1}
	l, err := full.paper()
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "full gradients", 500*l.slope, 252.863426, 1e-8)
	must.Near(t, "its orders", l.high, 189.83, 5e-5)
	must.Near(t, "epsilon at 2", 2*500*l.slope+math.Log(1e5), 517.2398, 1e-6)

	one := Round{Mode: Paper, Streams: 1, Reports: 100_000, Epsilon: 1, Rate: 0.01}
	l, err = one.paper()
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "rho", l.slope/(13*1e-4), 0.0417528089, 1e-8)
	must.Near(t, "orders of one stream", l.high, 27.574, 5e-5)
	both, first := one, Round{Mode: Paper, Streams: 2, Reports: 1_000_000, Epsilon: 1, Rate: 0.1}
	both.Streams = 2
	if l, err = both.paper(); err != nil {
		t.Fatal(err)
	}
	must.Near(t, "orders of a shared batch", l.high, 13.787, 1e-4)
	start, err := first.paper()
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "coefficient", start.slope+999*l.slope, 0.109534319, 1e-8)
	charges := []accountant.Charge{{Event: event(t, first), Count: 1},
		{Event: event(t, both), Count: 999}}
	eps, alpha, err := Epsilon(1e-6, Classical, charges...)
	if err != nil {
		t.Fatal(err)
	}
	// the curve's interpolation is above the line by up to 0.06 %
	must.Near(t, "epsilon", eps, 2.56984, 2e-3)
	must.Near(t, "order", alpha, 12.23, 0.05)

	large := Round{Mode: Paper, Streams: 1, Reports: 1_000_000, Epsilon: 1, Rate: 0.1}
	if l, err = large.paper(); err != nil {
		t.Fatal(err)
	}
	must.Near(t, "orders", l.high, 137.87, 1e-4)
	large.Streams, large.ApartBatches = 2, true
	if eps, _, err = Epsilon(1e-5, Classical, accountant.Charge{Event: event(t, large),
		Count: 100}); err != nil {
		t.Fatal(err)
	}
	must.Near(t, "epsilon", eps, 2.34446, 1e-3)

	for _, v := range []struct {
		name string
		r    Round
		want error
	}{
		{"local epsilon", Round{Mode: Paper, Streams: 1, Reports: 1e6, Epsilon: 0.99}, errLocalEpsilon},
		{"rate", Round{Mode: Paper, Streams: 1, Reports: 1e6, Epsilon: 1, Rate: 0.11}, errRate},
		{"rho", Round{Mode: Paper, Streams: 1, Reports: 41_000, Epsilon: 1, Rate: 0.1}, errRho},
		{"rho of both", Round{Mode: Paper, Streams: 2, Reports: 60_000, Epsilon: 1, Rate: 0.1}, errRho},
		{"orders", Round{Mode: Paper, Streams: 1, Reports: 150, Epsilon: 1}, errOrders},
		{"constant", Round{Mode: Paper, Streams: 1, Reports: math.MaxInt32, Epsilon: 10, Rate: 1e-8},
			errConstant},
	} {
		if _, err := v.r.Event(); !errors.Is(err, v.want) || !errors.Is(err, ErrInapplicable) {
			t.Errorf("%s: %v", v.name, err)
		}
	}
	for _, alpha := range []float64{1.5, 190} {
		if _, err := full.RDP(alpha); err == nil {
			t.Errorf("order %g accepted", alpha)
		}
	}
}

func event(t testing.TB, r Round) accountant.Event {
	t.Helper()
	return must.Get(r.Event())(t)
}

// The published local noise as printed; with 26 in place of 24 its budget is √(26/24) larger.
func TestPublishedLocalNoise(t *testing.T) {
	for _, v := range []struct {
		m, n, b, k, r        int
		eps                  float64
		budget, least, order float64
	}{
		{10, 1651, 16, 10, 50, 1.6, 0.130152, 0.279508, 0.322080},
		{10, 1651, 16, 10, 500, 0.8, 0.809669, 0.279508, 0.448030},
		{100, 1000, 10, 20, 200, 2, 0.154999, 0.447214, 0.466231},
	} {
		p := PublishedLocal{v.m, v.n, v.b, v.k, v.r, accountant.Cost{Epsilon: v.eps, Delta: 1e-5}, true}
		printed, err := p.Noise()
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "budget", printed.Budget, v.budget, 1e-5)
		must.Near(t, "least", printed.Least, v.least, 1e-5)
		must.Near(t, "order", printed.Order, v.order, 1e-5)
		must.Near(t, "sigma", printed.Sigma(), max(v.budget, v.least, v.order), 1e-5)
		p.Printed = false
		corrected, err := p.Noise()
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "corrected", corrected.Budget, printed.Budget*math.Sqrt(26./24), 1e-12)
		if v.eps == 1.6 {
			must.Near(t, "order alpha", printed.Alpha, 15.3912, 1e-5)
		}
	}
	if _, err := (PublishedLocal{10, 100, 20, 1, 1, accountant.Cost{Epsilon: 1, Delta: 1e-5},
		false}).Noise(); !errors.Is(err, errRate) {
		t.Errorf("a fifth of the records: %v", err)
	}
}

// A local step with z = σB/2, by the sampled Gaussian's numbers.
func TestLocalStep(t *testing.T) {
	for _, v := range []struct {
		batch, records int
		z              float64
		want           [4]float64 // α = 2, 4, 8, 16
	}{
		{10, 1000, 2, [4]float64{1.1360371e-4, 2.3281422e-4, 4.8839304e-4, 1.0699522e-3}},
		{5, 100, 4, [4]float64{6.447367e-4, 1.6937181e-3, 5.0919444e-3, 1.6726515e-2}},
	} {
		s := LocalStep{2 * v.z / float64(v.batch), v.batch, v.records}
		e, err := s.Event()
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range v.want {
			got, err := accountant.RDP(e, float64(int(2)<<i))
			if err != nil {
				t.Fatal(err)
			}
			must.Near(t, "local step", got, want, 1e-6)
		}
	}
	for _, s := range []LocalStep{{}, {0, 1, 2}, {1, 3, 2}, {1, 0, 2}, {math.NaN(), 1, 2},
		{math.Inf(1), 1, 2}} {
		if _, err := s.Event(); err == nil {
			t.Errorf("%+v accepted", s)
		}
	}
}

// What is published and stands beside the exact accounts in tests.

// ClosedForm returns the ε₀ whose leading order is the target's, of a run of `streams` reports a
// record in rounds of full gradients and N_r one-bit reports:
//
//	ρ = (√(ε+l) - √l)²,  l = ln(1/δ),  q = ρ·N_r/streams,  ε₀ = ln((2 + q + √(q²+8q))/2)
//
// It is to four digits what Calibrate returns by Classical, below 2 or so, and no proof.
func ClosedForm(target accountant.Cost, reports, streams int) (float64, error) {
	if err := cmp.Or(checkTarget(target), check.Whole("honest reports of a stream", reports, 1, 0),
		check.Whole("streams of a run", streams, 1, 0)); err != nil {
		return 0, err
	}
	rho, err := accountant.ZCDPFor(target)
	if err != nil {
		return 0, err
	}
	q := rho * float64(reports) / float64(streams)
	return math.Log1p((q + math.Sqrt(q*q+8*q)) / 2), nil
}

// PublishedLocal is the published budget of the local phase.
type PublishedLocal struct {
	Silos, Records, Batch int             // M, n, b
	Steps, Rounds         int             // K, R
	Target                accountant.Cost // of the whole run; the local phase has a quarter of ε
	// Printed takes the constant 24 that was printed in place of 26, which the general theorem gives.
	Printed bool
}

// LocalNoise is σ, the largest of what three conditions ask for.
type LocalNoise struct {
	Alpha  float64 // 1 + 2·ln(1/δ)/ε
	Budget float64 // √(4·26·α·K·⌈R/M⌉/(n²ε))
	Least  float64 // 2√5/b
	Order  float64 // √(8α/(b²·ln(n/b))): the order's limit, for the sensitivity 2/b
}

// Sigma returns σ.
func (l LocalNoise) Sigma() float64 { return max(l.Budget, l.Least, l.Order) }

// Noise returns the published noise of the local phase, for comparison. LocalStep's Event is
// proved, and needs less. The error is errRate where b/n is above 0.1.
func (p PublishedLocal) Noise() (LocalNoise, error) {
	if err := cmp.Or(
		LocalStep{1, p.Batch, p.Records}.check(),
		check.Whole("silos", p.Silos, 1, 0),
		check.Whole("local steps", p.Steps, 1, 0),
		check.Whole("rounds", p.Rounds, 1, 0),
		checkTarget(p.Target),
	); err != nil {
		return LocalNoise{}, err
	}
	m, n, b := float64(p.Silos), float64(p.Records), float64(p.Batch)
	if b/n > 0.1 {
		return LocalNoise{}, fmt.Errorf("rate %g: %w", b/n, errRate)
	}
	constant := 26.
	if p.Printed {
		constant = 24
	}
	alpha := 1 - 2*math.Log(p.Target.Delta)/p.Target.Epsilon
	phases := math.Ceil(float64(p.Rounds) / m)
	return LocalNoise{
		Alpha:  alpha,
		Budget: math.Sqrt(4*constant*alpha*float64(p.Steps)*phases/p.Target.Epsilon) / n,
		Least:  2 * math.Sqrt(5) / b,
		Order:  math.Sqrt(8*alpha/math.Log(n/b)) / b,
	}, nil
}

package accountant

import (
	"math"
	"testing"
)

// The price of Poisson's law counts that nothing may be run: at an order λ it is at least
// ln(e^-μ + μ·e^{(λ-1)ρ})/(λ-1), and as divergences rise with the order, the least of that above λ.
// Without the first term it would be a seventh.
func TestBestOfPoissonCountsNoRuns(t *testing.T) {
	law, err := NewStopping("poisson", 1)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := BestOf(ApproxDP{Cost: Cost{Epsilon: 0.1}, Neighbours: ReplaceOne}, law)
	if err != nil {
		t.Fatal(err)
	}
	_, sum, err := divergences(curve)
	if err != nil {
		t.Fatal(err)
	}
	// Up to λ = 10.5 the mechanism is (ln(1+1/(λ-1)), 0)-DP, and beyond the price is more.
	want, p := math.Inf(1), 1/(1+math.Exp(-0.1))
	for order := 2.0; order < 10.5; order += 0.01 {
		rho := math.Log(math.Pow(p, order)*math.Pow(1-p, 1-order)+math.Pow(1-p, order)*math.Pow(p, 1-order)) / (order - 1)
		want = min(want, math.Log(math.Exp(-1)+math.Exp((order-1)*rho))/(order-1))
	}
	if got := sum.at(2); got < want*(1-1e-9) || got > want*1.1 {
		t.Errorf("the divergence of order 2 is priced as %g, not %g", got, want)
	}
}

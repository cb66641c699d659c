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
		rho := math.Log(math.Pow(p, order)*math.Pow(1-p, 1-order)+
			math.Pow(1-p, order)*math.Pow(p, 1-order)) / (order - 1)
		want = min(want, math.Log(math.Exp(-1)+math.Exp((order-1)*rho))/(order-1))
	}
	if got := sum.at(2); got < want*(1-1e-9) || got > want*1.1 {
		t.Errorf("the divergence of order 2 is priced as %g, not %g", got, want)
	}
}

// What is one of two mechanisms has no divergence at an order where one of them has none, however
// small the other's is there: its price is never below that of either.
func TestOneOfHasTheOrdersOfAll(t *testing.T) {
	few, err := NewCurve(ReplaceOne, "few orders", []CurvePoint{{2, 0.1}, {4, 0.2}})
	if err != nil {
		t.Fatal(err)
	}
	many, err := NewCurve(ReplaceOne, "many orders", []CurvePoint{{2, 0.01}, {4, 0.02}, {64, 0.03}})
	if err != nil {
		t.Fatal(err)
	}
	for _, events := range [][]Event{{few, many}, {many, few}} {
		one, err := OneOf(events...)
		if err != nil {
			t.Fatal(err)
		}
		_, sum, err := divergences(one)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.at(4); !(got >= 0.2) {
			t.Errorf("the divergence of order 4 is %v, one has 0.2", got)
		}
		if high := sum.high(); high > 4 {
			t.Errorf("there are orders up to %v, one has none beyond 4", high)
		}
		for _, e := range events {
			_, alone, err := divergences(e)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := sum.epsilon(1e-6); err != nil {
				t.Error(err)
			} else if want, _, err := alone.epsilon(1e-6); err != nil || got < want {
				t.Errorf("one of two costs ε = %v, %v alone %v, %v", got, e, want, err)
			}
		}
	}
}

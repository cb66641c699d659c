package train

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
)

// prices are laws of a price with the parameter that costs 1, and whether they grow.
var prices = map[string]struct {
	growing bool
	price   func(x float64) float64
	at      float64
}{
	"noise":       {false, func(x float64) float64 { return 3 / x }, 3},
	"square":      {false, func(x float64) float64 { return 16 / (x * x) }, 4},
	"exponential": {false, func(x float64) float64 { return math.Exp(2 - x) }, 2},
	"a tail": {false, func(x float64) float64 { return 1e6 * math.Erfc(x/math.Sqrt2) },
		4.891638475699035},
	"local epsilon":  {true, func(x float64) float64 { return math.Expm1(x) / 5 }, math.Log(6)},
	"a root":         {true, func(x float64) float64 { return math.Sqrt(x) / 10 }, 100},
	"all or nothing": {false, func(x float64) float64 { return step(x, 7, math.Inf(1), 0) }, 7},
	"a step":         {false, func(x float64) float64 { return step(x, 7, 1.5, 0.9) }, 7},
	"flat, then up":  {true, func(x float64) float64 { return max(0.1, x*x*x/8) }, 2},
}

func step(x, at, below, above float64) float64 {
	if x < at {
		return below
	}
	return above
}

// From any start the search ends within its tolerance of the answer, on the private side, at a
// value that it priced.
func TestCalibrateEndsOnThePrivateSide(t *testing.T) {
	for name, p := range prices {
		for _, start := range []float64{1e-4, 0.9, p.at, 30, 1e5} {
			for _, tolerance := range []float64{1e-2, 1e-4, 1e-12} {
				seen := map[float64]float64{}
				x, cost, err := Calibrate(t.Context(), 1,
					Search{Start: start, Least: 1e-6, Most: 1e7, Growing: p.growing, Tolerance: tolerance},
					func(x float64) (float64, error) {
						seen[x] = p.price(x)
						return seen[x], nil
					})
				v, priced := seen[x]
				near := math.Abs(math.Log(x/p.at)) <= tolerance*1.01 || cost >= 1-tolerance
				if err != nil || !priced || v != cost || !(cost <= 1) || !near || len(seen) > 100 {
					t.Errorf("%s from %g to %g: %v at %v, %v after %d prices; want %v", name, start, tolerance,
						cost, x, err, len(seen), p.at)
				}
			}
		}
	}
}

// A smooth price needs few trials: each may take a second.
func TestCalibrateIsThrifty(t *testing.T) {
	for _, tt := range []struct {
		law              string
		start, tolerance float64
		most             int
	}{{"noise", 3, 1e-4, 1}, {"noise", 2.9, 1e-4, 4}, {"square", 4.1, 1e-4, 5}, {"a tail", 5, 1e-4, 7},
		{"local epsilon", 1, 2e-5, 8}, {"a tail", 1, 1e-12, 14}} {
		p, n := prices[tt.law], 0
		if _, _, err := Calibrate(t.Context(), 1, Search{Start: tt.start, Least: 1e-6, Most: 1e6,
			Growing: p.growing, Tolerance: tt.tolerance}, func(x float64) (float64, error) {
			n++
			return p.price(x), nil
		}); err != nil || n > tt.most {
			t.Errorf("%s from %g: %d prices, %v", tt.law, tt.start, n, err)
		}
	}
}

// Prices that are only nearly monotone, as those of a grid of orders or losses are, still end at a
// value that was priced within the budget, near where they cross it.
func TestCalibrateAmongPricesThatAreNotMonotone(t *testing.T) {
	for _, wobble := range []float64{1e-9, 1e-3, 0.05} {
		for _, start := range []float64{0.01, 2.9, 3, 3.1, 500} {
			law := func(x float64) float64 { return 3 / x * (1 + wobble*math.Sin(1e4*x)) }
			seen := map[float64]float64{}
			x, cost, err := Calibrate(t.Context(), 1, Search{Start: start, Least: 1e-6, Most: 1e6,
				Tolerance: 1e-6}, func(x float64) (float64, error) {
				seen[x] = law(x)
				return seen[x], nil
			})
			if v, priced := seen[x]; err != nil || !priced || v != cost || !(cost <= 1) ||
				math.Abs(x/3-1) > 1.1*wobble+1e-5 {
				t.Errorf("wobble %g from %g: %v at %v, %v", wobble, start, cost, x, err)
			}
		}
	}
}

// Where part of the range has no price, the search goes on in the rest; an answer at an end of the
// range is an answer.
func TestCalibrateWithinItsRange(t *testing.T) {
	s := Search{Start: 1, Least: 0.5, Most: 100, Tolerance: 1e-9}
	refused := errors.New("too quiet")
	x, _, err := Calibrate(t.Context(), 1, s, func(x float64) (float64, error) {
		if x < 20 {
			return 0, refused
		}
		return 1 / x, nil
	})
	if err != nil || !(x >= 20 && x < 20.001) {
		t.Errorf("%v, %v", x, err)
	}
	x, cost, err := Calibrate(t.Context(), 1, s,
		func(x float64) (float64, error) { return 0.1 / x, nil })
	if err != nil || x != 0.5 || cost != 0.2 {
		t.Errorf("the least is enough: %v costs %v, %v", x, cost, err)
	}
	for what, price := range map[string]func(x float64) (float64, error){
		"above": func(x float64) (float64, error) { return 1000 / x, nil },
		"no number, and above": func(x float64) (float64, error) {
			if x < 2 {
				return math.NaN(), nil
			}
			return 2, nil
		},
	} {
		if x, _, err := Calibrate(t.Context(), 1, s, price); x != 0 || !errors.Is(err, ErrTarget) ||
			!strings.Contains(err.Error(), "above 1") {
			t.Errorf("%s: %v, %v", what, x, err)
		}
	}
	if _, _, err := Calibrate(t.Context(), 1, s, func(x float64) (float64, error) { return 0, refused }); err != refused { //nolint:errorlint // as it is
		t.Errorf("nothing has a price: %v", err)
	}
	for _, bad := range []Search{{}, {Start: 1, Least: 2, Most: 3, Tolerance: 1},
		{Start: math.Inf(1), Tolerance: 1}, {Start: math.NaN(), Least: 1, Most: 2, Tolerance: 1},
		{Start: 1, Least: 1, Most: 2}} {
		if _, _, err := Calibrate(t.Context(), 1, bad,
			func(float64) (float64, error) { return 0, nil }); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}

// An ended context ends the search before its next price.
func TestCalibrateHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, _, err := Calibrate(ctx, 1, Search{Start: 1, Least: 1e-9, Most: 1e9, Tolerance: 1e-9},
		func(x float64) (float64, error) {
			if n++; n == 2 {
				cancel()
			}
			return 1e6 / (x * x), nil
		})
	if !errors.Is(err, context.Canceled) || n != 2 {
		t.Errorf("%v after %d prices", err, n)
	}
}

// What a person pays is the recursion of group privacy, (ε,δ)-DP step by step: from
// P(S) ≤ e^ε·Q(S) + δ between neighbours follows δ' = δ + e^ε·δ at every further row. It is worked
// out in 200 bits, and the price is never below it. What is for a row is never above the target.
func TestGroupCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 40).Draw(t, "rows")
		c := accountant.Cost{Epsilon: rapid.Float64Range(1e-3, 2).Draw(t, "epsilon"),
			Delta: math.Exp(rapid.Float64Range(-60, -5).Draw(t, "ln delta"))}
		got := GroupCost(c, rows)
		exact := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
		// e^ε to 200 bits by its series
		power, term := exact(1), exact(1)
		for i := 1; i < 200; i++ {
			term.Quo(term.Mul(term, exact(c.Epsilon)), exact(float64(i)))
			power.Add(power, term)
		}
		delta := exact(0)
		for range rows {
			delta.Add(delta.Mul(delta, power), exact(c.Delta))
		}
		want, _ := delta.Float64()
		epsilon := new(big.Float).SetPrec(200).Mul(exact(c.Epsilon), exact(float64(rows)))
		if exact(got.Epsilon).Cmp(epsilon) < 0 || got.Delta < 1 && exact(got.Delta).Cmp(delta) < 0 {
			t.Fatalf("%v of %d rows costs %v, less than δ = %v", c, rows, got, want)
		}
		if got.Epsilon > float64(rows)*c.Epsilon*(1+1e-12) || got.Delta > min(1, want)*(1+1e-10) {
			t.Fatalf("%v of %d rows costs %v, more than δ = %v by far", c, rows, got, want)
		}
		row, err := ForGroup(c, rows)
		if err != nil {
			t.Fatal(err)
		}
		if back := GroupCost(row, rows); back.Epsilon > c.Epsilon || back.Delta > c.Delta ||
			back.Epsilon < c.Epsilon*(1-1e-10) || back.Delta < c.Delta*(1-1e-8) {
			t.Fatalf("%v for a row is %v for %d rows, of %v", row, back, rows, c)
		}
	})
	for _, rows := range []int{0, -1, maxRows + 1} {
		if _, err := ForGroup(accountant.Cost{Epsilon: 1, Delta: 1e-6}, rows); err == nil {
			t.Errorf("%d rows of a person are taken", rows)
		}
	}
}

package train

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
)

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

package solve

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/darrm/darrm/gamma"
)

// Problems that had no table after minutes, or none at all. Where ε is near 2 the optimum is a
// constant, beside which thousands of multisets are the worst but for rounding errors: the loop went
// on with violations of 1e-12, each of whose searches took seconds. For m = 1 and ε = 0.1 plain Go's
// solver failed once the bound had arrived. A limit on rounds and not on time: nothing here is
// decided by a clock.
func TestBesideAPlateau(t *testing.T) {
	for _, c := range []struct {
		k             int
		m, eps, delta float64
		worstCase     bool
	}{
		{151, 1, 0.1, 0, false}, {151, 1, 0.1, 1e-5, false}, {151, 1, 0.1, 1e-3, false},
		{101, 1, 2, 1e-3, false}, {151, 1, 2, 1e-3, true}, {201, 1, 2, 0, false},
		{201, 2, 2, 1e-5, false}, {201, 1, 2, 1e-3, false},
	} {
		rounds := 0
		o := Options{WorstCase: c.worstCase, Progress: func(p Progress) { rounds = p.Round }}
		table := optimal(t, problem(t, c.k, c.m, c.eps, c.delta), o)
		// HiGHS keeps rows to within 1e-10 by itself, so that its loop may end by convergence just above.
		if coin := table.ErrorOfCoin(); table.Gap > 3*near*coin || rounds > 60 {
			t.Errorf("%+v: gap %g of %g after %d rounds", c, table.Gap, coin, rounds)
		}
	}
}

// The grid of teachers, allowances, promises, objectives and shapes: each problem has a certified
// table within 1 % of its optimum. Every seventh one for many teachers; all up to 201 if long.
func TestGridOfTables(t *testing.T) {
	if !long() {
		t.Skip("it takes many minutes: DARRM_LONG=1")
	}
	var gap, slowest worst
	n := 0
	for _, k := range []int{51, 151, 201, 301, 501, 1001} {
		for _, m := range []float64{1, 2, 3, float64(k) / 10} {
			for _, eps := range []float64{0.1, 0.5, 1, 2, 4} {
				for _, delta := range []float64{0, 1e-5, 1e-3} {
					for _, worstCase := range []bool{false, true} {
						for _, shape := range gamma.Shapes() {
							if n++; k > 201 && n%7 != 0 || k > 501 && n%49 != 0 {
								continue
							}
							name := fmt.Sprintf("K=%d m=%g ε=%g Δ=%g worst case %v, %s", k, m, eps, delta, worstCase,
								shape)
							began := time.Now()
							table, err := Optimal(context.Background(), problem(t, k, m, eps, delta),
								Options{WorstCase: worstCase, Shape: shape})
							if err != nil {
								t.Errorf("%s: %v", name, err)
								continue
							}
							slowest.offer(time.Since(began).Seconds(), name)
							gap.offer(table.Gap/table.ErrorOfCoin(), name)
						}
					}
				}
			}
		}
	}
	t.Logf("largest gap %g of coins' error: %s", gap.value, gap.about)
	t.Logf("slowest %.1f s: %s", slowest.value, slowest.about)
	if !(gap.value <= 0.01) || math.IsNaN(gap.value) {
		t.Errorf("gap %g: %s", gap.value, gap.about)
	}
}

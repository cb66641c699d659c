package lp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// After any pivots the tableau is the one that its basis has.
func TestTableauAfterPivots(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, rows = 12, 30
	m := &model{problem: Problem{C: make([]float64, n)}}
	low, high, cost := make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range n {
		low[j], high[j], cost[j] = -1, 2, random.Float64()-0.5
	}
	for range rows {
		coef := make([]float64, n)
		for j := range coef {
			coef[j] = 2*random.Float64() - 1
		}
		m.rows = append(m.rows, scaledRow{coef: coef, rhs: random.Float64()})
	}
	updated := newTableau(m, low, high, cost)
	updated.addRows(0)
	if _, err := updated.refresh(); err != nil {
		t.Fatal(err)
	}
	updated.shift(3, 0.25)
	for updated.pivots < 40 {
		r, q := random.IntN(rows), random.IntN(n)
		if math.Abs(updated.cells[r][q]) < 0.2 {
			continue
		}
		if off := updated.columnError(r, q); off > 1e-12 {
			t.Errorf("after %d pivots: column %d is off by %g", updated.pivots, q, off)
		}
		_, high := updated.bounds(updated.basic[r])
		updated.exchange(r, q, random.IntN(2) == 0 && !math.IsInf(high, 1))
	}
	fresh := *updated
	fresh.cells = make([][]float64, rows)
	for p := range fresh.cells {
		fresh.cells[p] = make([]float64, n)
	}
	fresh.edge, fresh.value = make([]float64, rows), make([]float64, rows)
	fresh.reduced = make([]float64, n)
	if _, err := fresh.refresh(); err != nil {
		t.Fatal(err)
	}
	near := func(what string, a, b float64) {
		t.Helper()
		if math.Abs(a-b) > 1e-9*max(1, math.Abs(b)) {
			t.Errorf("%s: %g after pivots, %g from the rows", what, a, b)
		}
	}
	tight := 0
	for q := range n {
		near("reduced cost", updated.reduced[q], fresh.reduced[q])
		if updated.nonbasic[q] >= n {
			tight++
		}
	}
	for p := range rows {
		near("value", updated.value[p], fresh.value[p])
		near("edge", updated.edge[p], fresh.edge[p])
		for q := range n {
			near("cell", updated.cells[p][q], fresh.cells[p][q])
		}
	}
	if tight == 0 {
		t.Error("no row is tight: nothing was tried")
	}
	updated.cells[0][0]++
	updated.basic[0], updated.basic[1] = updated.basic[1], updated.basic[0]
	if updated.columnError(0, 0) < 1e-6 {
		t.Error("a wrong column is not noticed")
	}
}

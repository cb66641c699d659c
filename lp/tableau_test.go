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

// The primal method moves a variable to its other bound where no row blocks it, and as far as a row
// lets it where one does.
func TestPrimalFlips(t *testing.T) {
	for _, c := range []struct {
		rhs, want float64 // x ≤ rhs as a row, beside x ≤ 1
	}{{5, 1}, {0.25, 0.25}} {
		m := &model{problem: Problem{C: []float64{-1}}, rows: []scaledRow{{coef: []float64{1}, rhs: c.rhs}}}
		tab := newTableau(m, []float64{0}, []float64{1}, []float64{-1})
		tab.addRows(0)
		tab.above[0] = false // the wrong bound for its cost
		b, err := tab.refresh()
		if err != nil {
			t.Fatal(err)
		}
		left := 10
		if b, err = tab.primalSimplex(t.Context(), b, &left); err != nil {
			t.Fatal(err)
		}
		x := tab.point(b)
		if math.Abs(x[0]-c.want) > 1e-12 {
			t.Errorf("x ≤ %g: %v; want %g", c.rhs, x, c.want)
		}
	}
}

// A step of no length, of a variable whose row is at its bound already, leaves every other variable where it
// is: the next step goes as far as the rows let it. x and y grow; x ≤ 0.5, where it starts, x + y ≤ 2 and y ≤ most.
func TestPrimalStepsOfNoLength(t *testing.T) {
	for _, most := range []float64{1.45, 1.55} {
		m := &model{problem: Problem{C: []float64{-4, -1}}, rows: []scaledRow{{coef: []float64{1, 0}, rhs: 0.5},
			{coef: []float64{1, 1}, rhs: 2}, {coef: []float64{0, 1}, rhs: most}}}
		tab := newTableau(m, []float64{0.5, 0}, []float64{1, 10}, []float64{-4, -1})
		tab.addRows(0)
		tab.above[0], tab.above[1] = false, false
		b, err := tab.refresh()
		if err != nil {
			t.Fatal(err)
		}
		if r, step := tab.blocking(tab.steepest()); r != 0 || step != 0 {
			t.Fatalf("the first step is %g, by row %d: the test shows nothing", step, r)
		}
		left := 10
		if b, err = tab.primalSimplex(t.Context(), b, &left); err != nil {
			t.Fatal(err)
		}
		if r, _ := tab.leaving(); r >= 0 {
			t.Errorf("y ≤ %g: row %d is beyond its bound", most, r)
		}
		x := tab.point(b)
		if math.Abs(x[0]-0.5) > 1e-12 || math.Abs(x[1]-min(most, 1.5)) > 1e-12 {
			t.Errorf("y ≤ %g: %v", most, x)
		}
	}
}

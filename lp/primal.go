package lp

import (
	"context"
	"math"
)

// primalSimplex makes pivots from a fresh tableau of basis b whose basic variables are within their
// bounds until no reduced cost has the wrong sign, and leaves a fresh tableau of the basis that it
// returns.
func (t *tableau) primalSimplex(ctx context.Context, b *basis, left *int) (*basis, error) {
	for {
		q := t.steepest()
		if q < 0 && t.pivots == 0 {
			return b, nil
		}
		r, step := -1, math.Inf(1)
		if q >= 0 {
			r, step = t.blocking(q)
		}
		if q < 0 || t.pivots >= refreshAfter || r >= 0 && t.pivots > 0 && t.columnError(r, q) > cellError {
			var err error
			if b, err = t.refresh(); err != nil {
				return nil, err
			}
			continue
		}
		low, high := t.bounds(t.nonbasic[q])
		if high-low <= step {
			if math.IsInf(high-low, 1) {
				return nil, statusErrorf(Unbounded, "simplex: nothing bounds variable %d", t.nonbasic[q])
			}
			t.flip(q)
			t.pivots++
			if *left--; *left < 0 {
				return nil, statusErrorf(IterationLimit, "simplex: too many pivots")
			}
			continue
		}
		above := (t.cells[r][q] > 0) != t.above[q]
		low, high = t.bounds(t.basic[r])
		if step <= 0 { // outside its bound by the tolerance
			t.value[r] = low
			if above {
				t.value[r] = high
			}
		}
		if err := t.pivot(ctx, r, q, above, left); err != nil {
			return nil, err
		}
	}
}

// steepest returns the column along which the objective falls most, by the edge's length; -1 if
// along none.
func (t *tableau) steepest() int {
	best, most := -1, 0.0
	for q := range t.nonbasic {
		wrong := t.wrong(q)
		if wrong <= dualTolerance {
			continue
		}
		length := 1.0
		t.spend(len(t.cells))
		for _, cells := range t.cells {
			length += cells[q] * cells[q]
		}
		if wrong*wrong > most*length {
			best, most = q, wrong*wrong/length
		}
	}
	return best
}

// blocking returns the row whose variable is the first to reach a bound as that of column q moves
// from its own, and how far that is: of rows that reach it within the tolerance, that with the
// largest cell (Harris).
func (t *tableau) blocking(q int) (row int, step float64) {
	direction := 1.0
	if t.above[q] {
		direction = -1
	}
	length := 1.0
	for _, cells := range t.cells {
		length += cells[q] * cells[q]
	}
	least := t.leastCell() * math.Sqrt(length)
	room := func(p int) (room, size float64) {
		a := direction * t.cells[p][q]
		low, high := t.bounds(t.basic[p])
		switch {
		case a > least:
			return high - t.value[p], a
		case a < -least:
			return t.value[p] - low, -a
		}
		return math.Inf(1), 1
	}
	limit := math.Inf(1)
	for p := range t.cells {
		r, a := room(p)
		limit = min(limit, (max(r, 0)+primalTolerance)/a)
	}
	row, most := -1, 0.0
	for p := range t.cells {
		if r, a := room(p); r/a <= limit && !math.IsInf(r, 1) && a > most {
			row, step, most = p, max(r, 0)/a, a
		}
	}
	if row < 0 {
		return -1, math.Inf(1)
	}
	return row, step
}

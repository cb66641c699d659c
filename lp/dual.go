package lp

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// The tolerances are those of HiGHS or less.
const (
	primalTolerance = 1e-10 // a variable may be outside its bounds by that much
	dualTolerance   = 1e-11 // a reduced cost may have the wrong sign by that much
	cellError       = 1e-9  // from there on the cells are computed again
	refreshAfter    = 100   // pivots
)

// dualFeasible shifts the costs that make t not dual feasible: rounding's, or what a tolerance
// left.
func (t *tableau) dualFeasible() {
	for q := range t.nonbasic {
		if t.wrong(q) > 0 {
			t.shift(q, -t.reduced[q])
		}
	}
}

// dualSimplex makes pivots from a fresh tableau of basis b, which it makes dual feasible, until no
// basic variable is outside its bounds, and leaves a fresh tableau of the basis that it returns.
func (t *tableau) dualSimplex(ctx context.Context, b *basis, left *int) (*basis, error) {
	t.dualFeasible()
	for {
		r, above := t.leaving()
		if r < 0 && t.pivots == 0 {
			return b, nil
		}
		q, flips := -1, []int(nil)
		if r >= 0 {
			q, flips = t.entering(r, above)
		}
		if q < 0 && r >= 0 && t.pivots == 0 {
			return nil, statusErrorf(Infeasible, "simplex: no column can mend variable %d", t.basic[r])
		}
		if q < 0 || t.pivots >= refreshAfter || t.pivots > 0 && t.columnError(r, q) > cellError {
			var err error
			if b, err = t.refresh(); err != nil {
				return nil, err
			}
			t.dualFeasible()
			continue
		}
		for _, f := range flips {
			t.flip(f)
		}
		if t.wrong(q) > 0 {
			t.shift(q, -t.reduced[q])
		}
		if err := t.pivot(ctx, r, q, above, left); err != nil {
			return nil, err
		}
	}
}

// pivot is exchange, counted.
func (t *tableau) pivot(ctx context.Context, r, q int, above bool, left *int) error {
	if *left--; *left < 0 {
		return statusErrorf(IterationLimit, "simplex: too many pivots")
	}
	t.exchange(r, q, above)
	return contextError(ctx)
}

// leaving returns the row whose variable is furthest outside its bounds, as steepest edge counts
// it, and whether it is above the upper one; -1 if none is outside.
func (t *tableau) leaving() (row int, above bool) {
	row, most := -1, 0.0
	for p, v := range t.basic {
		low, high := t.bounds(v)
		off := max(low-t.value[p], t.value[p]-high)
		if off > primalTolerance && off*off > most*t.edge[p] {
			row, above, most = p, t.value[p] > high, off*off/t.edge[p]
		}
	}
	return row, above
}

// breakpoint is a step at which a reduced cost changes its sign.
type breakpoint struct {
	q           int
	ratio, size float64 // |reduced| / |cell|, |cell|
	slope       float64 // by which the dual objective's slope falls there
}

// entering returns the column that replaces row r, which goes down if above, and the columns that
// change to their other bound before, which is as far as the dual objective rises. Among columns
// whose ratios differ by rounding it takes that with the largest cell (Harris). It returns -1 where
// no column can mend the row.
func (t *tableau) entering(r int, above bool) (int, []int) {
	direction := 1.0
	low, high := t.bounds(t.basic[r])
	slope := low - t.value[r]
	if above {
		direction, slope = -1, t.value[r]-high
	}
	least := t.leastCell() * math.Sqrt(t.edge[r])
	var found []breakpoint
	for q, cell := range t.cells[r] {
		a := direction * cell
		d := t.reduced[q]
		if t.above[q] {
			a, d = -a, -d
		}
		if a <= least {
			continue
		}
		low, high := t.bounds(t.nonbasic[q])
		if low < high {
			found = append(found, breakpoint{q, max(d, 0) / a, a, a * (high - low)})
		}
	}
	slices.SortFunc(found, func(a, b breakpoint) int { return cmp.Compare(a.ratio, b.ratio) })
	passed := 0
	for ; passed < len(found) && slope-found[passed].slope > primalTolerance; passed++ {
		slope -= found[passed].slope
	}
	if passed == len(found) {
		return -1, nil
	}
	limit := math.Inf(1)
	for _, c := range found[passed:] {
		limit = min(limit, c.ratio+dualTolerance/c.size)
	}
	best := passed
	for k, c := range found[passed:] {
		if c.ratio > limit {
			break
		}
		if c.size > found[best].size {
			best = passed + k
		}
	}
	var flips []int
	for _, c := range found[:passed] {
		flips = append(flips, c.q)
	}
	return found[best].q, flips
}

// leastCell is the size below which a cell may be a rounded 0, relative to its row or column.
func (t *tableau) leastCell() float64 {
	if t.pivots == 0 {
		return 1e-12
	}
	return 1e-9
}

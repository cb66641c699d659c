package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
)

// smallest is the least m, and the least ε of one label, that is tried.
const smallest = 1e-6

var errOverBudget = errors.New("the labels' own delta adds up to more than the budget's")

// within reports whether a cost is at most the budget. Both float64s stand for their decimals, so
// the comparison is exact and needs no tolerance.
func within(c, budget accountant.Cost) bool {
	return c.Epsilon <= budget.Epsilon && c.Delta <= budget.Delta
}

// cost returns the cost of all labels at x. ε is +Inf where no ε belongs to the budget's δ.
func (r *Request) cost(ctx context.Context, k kind, x float64) (accountant.Cost, error) {
	if err := ctx.Err(); err != nil {
		return accountant.Cost{}, err
	}
	total := accountant.Cost{Epsilon: math.Inf(1)}
	var err error
	if k.priced != nil {
		var c Choice
		if c, err = k.priced(x); err == nil {
			total = c.Total
		}
	} else if a, wrong := k.answers(x); wrong != nil {
		err = wrong
	} else {
		var t ensemble.Total
		if t, err = a.Total(); err == nil {
			total = t.Cost
		}
	}
	if errors.Is(err, accountant.ErrDeltaTooSmall) {
		err = errOverBudget
	}
	return total, err
}

// largest returns the largest x of the grid that fits, at most k.most. It guesses the next x from
// costs that grow in proportion to x, and brackets the answer. It only returns an x whose cost it
// compared with the budget. If nothing fits, the error gives the reason.
func (r *Request) largest(ctx context.Context, k kind) (float64, error) {
	first, last := gridBelow(num.Decimal(smallest)), gridBelow(num.Decimal(k.most))
	lo, hi := first-1, last+1 // what fits, once it is at least first, and what does not
	i := min(max(gridBelow(num.Decimal(k.guess())), first), last)
	for turn, step := 0, 1; hi-lo > 1; turn++ {
		cost, err := r.cost(ctx, k, gridValue(i))
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil && !errors.Is(err, errOverBudget) && lo < first {
			return 0, err // too small for the mechanism
		}
		fits := err == nil && within(cost, r.Budget)
		if fits {
			lo = i
		} else {
			hi = i // out of range, if there was an error
		}
		next := -1
		if err == nil && cost.Epsilon > 0 {
			next = gridBelow(num.Decimal(gridValue(i) * r.Budget.Epsilon / cost.Epsilon))
		}
		switch {
		case lo < first:
			i, step = min(next, hi-step), 4*step
		case hi > last:
			i, step = max(next, lo+step), 4*step
		case turn%4 == 3: // so that a bad guess cannot make it slow
			i = (lo + hi) / 2
		default:
			i = next
		}
		i = min(max(i, lo+1), hi-1)
	}
	if lo < first {
		return 0, r.tooSmall(k)
	}
	return gridValue(lo), nil
}

// tooSmall returns an error with the cost of k at the least x that is tried: no smaller budget pays
// for what is planned.
func (r *Request) tooSmall(k kind) error {
	least, err := r.cost(context.Background(), k, smallest)
	if err == nil {
		err = fmt.Errorf("%d labels cost %v even at the smallest ε or m of one label that a plan considers, %v",
			r.Queries, least, smallest)
	}
	return err
}

// The grid has the decimals of four digits, from 1.000e-30 up, by index. A search tries these
// alone, so that a command line can state exactly the value that was checked.
const gridOrigin = 30

// gridValue returns decimal number i ≥ 0 of the grid.
func gridValue(i int) float64 {
	// A decimal of four digits always parses.
	x, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", 1000+i%9000, i/9000-gridOrigin-3), 64)
	return x
}

// gridBelow returns the index of the largest decimal of the grid that is at most x, -1 if
// there is none.
func gridBelow(x *big.Rat) int {
	lo, hi := -1, 9000*2*gridOrigin
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; num.Decimal(gridValue(mid)).Cmp(x) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// gridFloor rounds x > 0 down to the grid, to 0 below it.
func gridFloor(x *big.Rat) float64 {
	if i := gridBelow(x); i >= 0 {
		return gridValue(i)
	}
	return 0
}

// gridCeil rounds x > 0 up to the grid.
func gridCeil(x float64) float64 {
	r := num.Decimal(x)
	i := gridBelow(r)
	if i >= 0 && num.Decimal(gridValue(i)).Cmp(r) == 0 {
		return gridValue(i)
	}
	return gridValue(i + 1)
}

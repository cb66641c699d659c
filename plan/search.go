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

// choose returns the mechanism of a kind that spends the most of the budget. What it costs is
// worked out again, from the mechanism itself.
func (r *Request) choose(ctx context.Context, k kind) (Choice, error) {
	if k.whole != nil {
		return r.madeForAll(ctx, k)
	}
	x, err := r.largest(ctx, k)
	if err != nil {
		return Choice{}, err
	}
	if k.tries > 0 {
		// A larger x may fit, but not twice as large.
		label := k.label(2 * x)
		if most := r.Votes.most(r.reach(), label); r.Votes.useless(most) {
			return Choice{}, &UselessError{label, most, r.Votes.Guess()}
		}
	}
	c, err := r.built(ctx, k, x)
	if err == nil && !within(c.Total, r.Budget) {
		err = fmt.Errorf("it costs %v, more than planned", c.Total)
	}
	if err != nil {
		return Choice{}, err
	}
	if c, err = r.larger(ctx, k, c); err != nil {
		return Choice{}, err
	}
	return r.judged(ctx, c)
}

// built makes the mechanism of a kind at x, with its own cost.
func (r *Request) built(ctx context.Context, k kind, x float64) (Choice, error) {
	build := func(x float64) (Choice, error) {
		c, err := k.build(ctx, x)
		if err != nil {
			return Choice{}, err
		}
		return c.priced()
	}
	if k.priced != nil {
		build = k.priced
	}
	c, err := build(x)
	c.x = x
	return c, err
}

// priced returns the choice with what a release charges for it.
func (c Choice) priced() (Choice, error) {
	var err error
	if c.Bounds, err = c.answers.Bounds(); err != nil {
		return Choice{}, err
	}
	total, ok := c.Bounds.Best() // what Answers.Total says
	if !ok {
		_, err := c.answers.Total() // which says why
		return Choice{}, err
	}
	c.Total, c.Rule = total.Cost, total.Rule()
	return c, nil
}

// larger returns a choice with a larger x than c that fits, or c. A mechanism that is priced after it
// is built costs less than the estimate that x was chosen by. Each try takes a build.
func (r *Request) larger(ctx context.Context, k kind, c Choice) (Choice, error) {
	if k.tries == 0 {
		return c, nil
	}
	defer func(work int64) { r.Work = work }(r.Work)
	r.Work /= int64(k.tries) // all tries together take no more than the first
	var tooMuch *Choice
	for range k.tries {
		// Costs are roughly proportional to x, and between two of them to a power of it.
		power := 1.0
		if tooMuch != nil {
			power = math.Log(tooMuch.x/c.x) / math.Log(tooMuch.Total.Epsilon/c.Total.Epsilon)
		}
		x := min(c.x*math.Pow(r.Budget.Epsilon/c.Total.Epsilon, power), k.most)
		if tooMuch != nil && !(x < tooMuch.x) {
			x = (c.x + tooMuch.x) / 2
		}
		if x = gridValue(gridBelow(num.Decimal(x))); x <= c.x*(1+worthwhile) {
			break
		}
		next, err := r.built(ctx, k, x)
		if ctx.Err() != nil {
			return Choice{}, ctx.Err()
		}
		if err != nil {
			break // c is there
		}
		if within(next.Total, r.Budget) {
			c = next
		} else {
			tooMuch = &next
		}
	}
	return c, nil
}

// worthwhile is the relative growth of x below which no further mechanism is built.
const worthwhile = 0.005

package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// Search sets the range and the tolerance of [Calibrate] for a parameter, such as a noise.
type Search struct {
	// Start is priced first. The nearer it is to the answer, the fewer prices are worked out.
	Start float64
	// Least and Most bound what is priced, from above 0; 0 is no bound.
	Least, Most float64
	// Growing is true where prices grow with the parameter; the search then finds its largest value
	// within the budget. Otherwise prices fall, as with noise, and it finds the least value.
	Growing bool
	// Tolerance ends the search: the relative distance to a value beyond the budget, or of the price
	// to the budget.
	Tolerance float64
}

// ErrTarget is the error of a search whose range has no parameter within the budget.
var ErrTarget = errors.New("no parameter in the range of the search meets the target")

// maxPrices ends a search among prices that jump.
const maxPrices = 300

// Calibrate returns the dearest parameter that it found within the budget, and its price: the
// least noise, or the largest value where prices grow. What it returns was itself priced: where
// prices are not monotone, it may be more noise than is needed, but never less. A price that is an
// error, or no number, is beyond any budget.
//
// The error is that of ctx where ctx ends, which is looked at before each price; the first error
// of price where nothing had a price; and otherwise wraps [ErrTarget].
//
// Prices are taken for about a power of the parameter: the search goes by secants of their
// logarithms, within what is known, and halves where that does not help.
func Calibrate(
	ctx context.Context, budget float64, s Search, price func(x float64) (float64, error),
) (x, cost float64, err error) {
	s.Least = max(s.Least, math.SmallestNonzeroFloat64)
	if s.Most == 0 || s.Most > math.MaxFloat64 {
		s.Most = math.MaxFloat64
	}
	if !(s.Least <= s.Start && s.Start <= s.Most && s.Tolerance > 0) {
		return 0, 0, fmt.Errorf("search from %g in [%g, %g] to a part of %g: "+
			"the numbers must be above 0 and in order", s.Start, s.Least, s.Most, s.Tolerance)
	}
	c := calibration{Search: s, budget: budget, stride: 2 * math.Ln2}
	for done := false; !done && c.prices < maxPrices; c.prices++ {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		at := c.next()
		now, err := price(at)
		if err != nil || math.IsNaN(now) {
			c.refused, now = cmp.Or(c.refused, err), math.Inf(1)
		}
		done = c.learn(at, now)
	}
	switch {
	case c.within.x > 0:
		return c.within.x, c.within.price, nil
	case !c.priced && c.refused != nil:
		return 0, 0, c.refused
	}
	err = fmt.Errorf("%w: at %g it costs %g, above %g", ErrTarget, c.beyond.x, c.beyond.price, budget)
	return 0, 0, errors.Join(err, c.refused)
}

// trial is a parameter with its price; 0 is none.
type trial struct{ x, price float64 }

// calibration is the state of a search.
type calibration struct {
	Search
	budget         float64
	within, beyond trial // the last on each side of the budget
	last, before   trial // the last two
	prices         int
	priced         bool      // some trial had a price
	refused        error     // the first
	stride         float64   // outwards, as a logarithm, where prices tell nothing
	widths         []float64 // of the bracket, before each trial in it
}

// learn records a price and reports whether the search is over.
func (c *calibration) learn(x, price float64) (done bool) {
	c.before, c.last = c.last, trial{x, price}
	c.priced = c.priced || !math.IsInf(price, 1)
	inside := price <= c.budget && !math.IsInf(price, 1) // an error is no price, whatever the budget
	if inside {
		c.within = c.last
	} else {
		c.beyond = c.last
	}
	switch {
	case inside && price >= c.budget*(1-c.Tolerance):
		return true
	case c.bracketed():
		return c.width() <= c.Tolerance
	case inside:
		return c.moved(x, -math.Ln2) == x // the end of the range
	}
	return c.moved(x, math.Ln2) == x
}

// next returns the parameter to price.
func (c *calibration) next() float64 {
	if c.prices == 0 {
		return c.Start
	}
	x, ok := c.secant()
	if c.bracketed() {
		width := c.width()
		c.widths = append(c.widths, width)
		n := len(c.widths)
		stalled := n > 4 && width > c.widths[n-5]/2
		if from := c.step(c.beyond.x, x); !ok || stalled || !(from > 0 && from < width) {
			return c.moved(c.beyond.x, width/2)
		}
		return x
	}
	direction := 1.0 // to smaller prices
	if c.within.x > 0 {
		direction = -1
	}
	if step := direction * c.step(c.last.x, x); ok && step > 0 && step < 3*math.Ln10 {
		return x
	}
	x = c.moved(c.last.x, direction*c.stride)
	c.stride *= 2
	return x
}

// secant fits a power of the parameter to the last two prices. It returns the parameter whose price
// is below the budget by half of the tolerance. ok is false where the last price is of no use.
func (c *calibration) secant() (x float64, ok bool) {
	usable := func(t trial) bool { return t.x > 0 && t.price > 0 && !math.IsInf(t.price, 1) }
	if !usable(c.last) {
		return 0, false
	}
	power := 1.0
	if usable(c.before) {
		power = math.Abs(math.Log(c.last.price/c.before.price) / math.Log(c.last.x/c.before.x))
		power = min(max(power, 0.5), 64)
	}
	if c.Growing {
		power = -power
	}
	x = c.last.x * math.Pow(c.budget*(1-c.Tolerance/2)/c.last.price, -1/power)
	return min(max(x, c.Least), c.Most), true
}

// bracketed reports whether there are trials on both sides of the budget.
func (c *calibration) bracketed() bool { return c.within.x > 0 && c.beyond.x > 0 }

// moved returns x, moved to smaller prices by a step of its logarithm, in the range.
func (c *calibration) moved(x, step float64) float64 {
	if c.Growing {
		step = -step
	}
	return min(max(x*math.Exp(step), c.Least), c.Most)
}

// step is the inverse of moved: how far to smaller prices another parameter is.
func (c *calibration) step(from, to float64) float64 {
	if c.Growing {
		from, to = to, from
	}
	return math.Log(to / from)
}

// width returns the distance between the two sides of the bracket, in either order.
func (c *calibration) width() float64 { return math.Abs(c.step(c.beyond.x, c.within.x)) }

// maxRows bounds the rows of a person: beyond it no model is worth training.
const maxRows = 1000

// GroupCost returns what a model of that cost for a row costs for a person with up to rows of them,
// rounded up: rows·ε and δ(1 + e^ε + … + e^((rows-1)ε)), the group privacy of (ε,δ)-DP (Dwork and
// Roth, The Algorithmic Foundations of Differential Privacy, Theorem 2.2, with its δ summed up).
// Between the records with and without the person are rows steps from neighbour to neighbour, and
// each step's δ is multiplied by e^ε at every later one.
func GroupCost(c accountant.Cost, rows int) accountant.Cost {
	if rows == 1 {
		return c
	}
	return accountant.Cost{Epsilon: float64(rows) * c.Epsilon * (1 + 0x1p-51),
		Delta: min(1, c.Delta*groupFactor(rows, c.Epsilon)*(1+0x1p-51))}
}

// groupFactor returns 1 + e^ε + … + e^((rows-1)ε), rounded up: each summand is off by some units in
// the last place, and by ε·rows times the rounding of its argument.
func groupFactor(rows int, epsilon float64) float64 {
	sum := 0.0
	for i := range rows {
		sum += math.Exp(float64(i) * epsilon)
	}
	return sum * (1 + float64(rows+8)*0x1p-50*(1+epsilon))
}

// ForGroup returns a cost for a row that is at most target for a person with up to rows of them,
// rounded down.
func ForGroup(target accountant.Cost, rows int) (accountant.Cost, error) {
	if err := check.Whole("rows per person", rows, 1, maxRows); err != nil {
		return accountant.Cost{}, err
	}
	if err := check.Target(target.Epsilon, target.Delta); err != nil || rows == 1 {
		return target, err
	}
	c := accountant.Cost{Epsilon: target.Epsilon / float64(rows) * (1 - 0x1p-49)}
	c.Delta = target.Delta / groupFactor(rows, c.Epsilon) * (1 - 0x1p-49)
	return c, nil
}

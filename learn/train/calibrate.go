package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
)

// Search is where [Calibrate] looks for a parameter, such as a noise, and how closely.
type Search struct {
	// Start is priced first. The nearer it is to the answer, the fewer prices are worked out.
	Start float64
	// Least and Most bound what is priced, from above 0; 0 is no bound.
	Least, Most float64
	// Growing says that prices grow with the parameter, whose largest value within the budget is
	// then looked for. Otherwise they fall, as with noise, and its least value is.
	Growing bool
	// Tolerance ends the search: the relative distance to a value beyond the budget, or of the price
	// to the budget.
	Tolerance float64
}

// ErrTarget says that no parameter in the range of a search is within the budget.
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
func Calibrate(ctx context.Context, budget float64, s Search, price func(x float64) (float64, error)) (x, cost float64, err error) {
	s.Least = max(s.Least, math.SmallestNonzeroFloat64)
	if s.Most == 0 || s.Most > math.MaxFloat64 {
		s.Most = math.MaxFloat64
	}
	if !(s.Least <= s.Start && s.Start <= s.Most && s.Tolerance > 0) {
		return 0, 0, fmt.Errorf("search from %g in [%g, %g] to a part of %g: the numbers must be above 0 and in order", s.Start, s.Least, s.Most, s.Tolerance)
	}
	c := calibration{Search: s, budget: budget, stride: math.Ln2, margin: s.Tolerance / 2}
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
	return 0, 0, errors.Join(fmt.Errorf("%w: at %g it costs %g, above %g", ErrTarget, c.beyond.x, c.beyond.price, budget), c.refused)
}

// trial is a parameter with its price; 0 is none.
type trial struct{ x, price float64 }

// calibration is what a search knows.
type calibration struct {
	Search
	budget         float64
	within, beyond trial // the last on each side of the budget
	last, before   trial // the last two
	prices         int
	priced         bool  // some trial had a price
	refused        error // the first
	stride, margin float64
	// bracket has the logarithm of the ratio of both ends, before each trial between them.
	bracket []float64
	// The excesses that a secant goes by: by the Illinois rule, that of an end which stays is halved.
	withinBy, beyondBy float64
}

// learn takes in a price, and says whether the search is over.
func (c *calibration) learn(x, price float64) (done bool) {
	c.before, c.last = c.last, trial{x, price}
	c.priced = c.priced || !math.IsInf(price, 1)
	inside, again := price <= c.budget, c.before.x > 0 && (c.before.price <= c.budget) == (price <= c.budget)
	switch {
	case inside:
		c.within, c.withinBy = c.last, c.excess(price)
		if again {
			c.beyondBy /= 2
		}
	default:
		c.beyond, c.beyondBy = c.last, c.excess(price)
		if again {
			c.withinBy /= 2
		}
	}
	switch {
	case inside && price >= c.budget*(1-c.Tolerance):
		return true
	case c.within.x > 0 && c.beyond.x > 0:
		return c.width() <= c.Tolerance
	case inside:
		return c.moved(x, -math.Ln2) == x // the end of the range
	}
	return c.moved(x, math.Ln2) == x
}

// next returns the parameter to price.
func (c *calibration) next() float64 {
	switch {
	case c.prices == 0:
		return c.Start
	case c.within.x > 0 && c.beyond.x > 0:
		return c.between()
	}
	return c.outward()
}

// between returns a parameter between both ends: by a secant, or the middle where prices are
// unknown or the last three trials have not halved the bracket.
func (c *calibration) between() float64 {
	width := c.width()
	c.bracket = append(c.bracket, width)
	share := 0.5 // of the way from beyond to within
	if n := len(c.bracket); (n < 4 || width <= c.bracket[n-4]/2) && !math.IsInf(c.beyondBy, 1) {
		share = c.beyondBy / (c.beyondBy - c.withinBy)
	}
	// Off the ends by a third of the tolerance, so that both come near.
	edge := min(c.Tolerance/3/width, 0.5)
	return c.moved(c.beyond.x, min(max(share, edge), 1-edge)*width)
}

// outward returns a parameter on the side of the budget where nothing is known: a little beyond
// where a power of the parameter meets the budget.
func (c *calibration) outward() float64 {
	excess, step := c.excess(c.last.price), c.stride
	if math.Abs(excess) < mostExcess {
		power := 1.0
		if e := c.excess(c.before.price); c.before.x > 0 && math.Abs(e) < mostExcess {
			power = min(max(math.Abs((e-excess)/math.Log(c.before.x/c.last.x)), 0.25), 8)
		}
		step = min(math.Abs(excess)/power*1.02+c.margin, 3*math.Ln10)
		c.margin *= 4
	} else {
		c.stride *= 2
	}
	if excess <= 0 {
		step = -step
	}
	return c.moved(c.last.x, step)
}

// moved returns x, moved to smaller prices by a step of its logarithm, in the range.
func (c *calibration) moved(x, step float64) float64 {
	if c.Growing {
		step = -step
	}
	return min(max(x*math.Exp(step), c.Least), c.Most)
}

// width is the logarithm of the ratio of both ends.
func (c *calibration) width() float64 { return math.Abs(math.Log(c.within.x / c.beyond.x)) }

// excess is the logarithm of a price over the budget; beyond mostExcess, either way, a secant
// cannot use it.
func (c *calibration) excess(price float64) float64 {
	return max(math.Log(price/c.budget), -mostExcess) // a price may be 0
}

const mostExcess = 50

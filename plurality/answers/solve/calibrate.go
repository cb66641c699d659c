package solve

import (
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/plurality/answers"
)

const (
	// tolerance is by how much ln δ of a table may be below that of its promise: agreement differs by
	// less than 2e-4.
	tolerance = 0.015
	// Where a price takes some milliseconds, more of them are worth a table that is nearer.
	nearer, quickGame = tolerance / 8, 1 << 15 // pairs times answers
	// A price of a large table takes half a minute, and five are worth it. That of a small one
	// takes milliseconds.
	fewPrices, manyPrices = 5, 16
	smallGame             = 1 << 19 // pairs times answers
	// Lattice steps: the second one costs .5 % of δ, the third one 2 %. The first is that of coins, and
	// stepOf has finer ones.
	fineStep, smallStep, largeStep = 1. / 64, 1. / 20, 1. / 10
	// More prices are made where none was low enough, each of a table that is more private.
	morePrices = 40
	// What the dearest pair costs is some 1 to 10 % of δ below the price of all pairs.
	pairPremium = 1.03
)

// family is tables of one parameter: the larger x is, the more private they are.
type family struct {
	probabilities func(x float64) ([]float64, error)
	low, high     float64 // between which x is sought
	near          float64 // where the search begins
}

var errNoTable = errors.New("no table of this kind is found to keep the promise: epsilon and " +
	"delta may be too small for so many answers")

// found is a table of a family that keeps the promise.
type found struct {
	x             float64
	probabilities []float64
	certified     *answers.Certified
}

// calibrate returns the table of the smallest x whose price keeps the promise, within the
// tolerance. Where to look first comes from the family's model, which costs little. The first price
// corrects that, and the second one is within the tolerance but for few answers; further steps are
// secants of ln δ over x, between the nearest prices on both sides of the promise. Prices need not fall at every step of x, so that a table is returned only if it
// was priced itself. x is where to begin, or NaN.
func (f family) calibrate(ctx context.Context, s *answers.System, o game.Options, x float64,
	tell func(delta float64)) (*found, error) {
	target := logarithm(s.Problem().Delta)
	if math.IsNaN(x) {
		var err error
		if x, err = f.guess(ctx, s); err != nil {
			return nil, err
		}
	}
	prices := fewPrices
	if small(s) {
		prices = manyPrices
	}
	slack := slackOf(s)
	var best *found
	var last point
	low, high := point{f.low, math.Inf(1)}, point{f.high, math.Inf(-1)}
	step := tolerance
	for n := 0; n < prices || best == nil && n < prices+morePrices; n++ {
		now := &found{x: x}
		var err error
		if now.probabilities, err = f.probabilities(x); err != nil {
			return nil, err
		}
		at := point{x: x}
		var over *answers.PriceError
		now.certified, err = answers.Certify(ctx, s, masses(s, now.probabilities), o)
		switch {
		case errors.As(err, &over):
			at.price = logarithm(over.Delta)
			if x > low.x {
				low = at
			}
		case err != nil:
			return nil, err
		default:
			at.price = logarithm(now.certified.Certificate().Delta)
			if best == nil || x < best.x {
				best, high = now, at
			}
		}
		tell(math.Exp(at.price))
		if best == now && at.price >= target-slack || high.x-low.x < 1e-7 {
			break
		}
		aim := target - slack/2
		both := !math.IsInf(low.price, 0) && !math.IsInf(high.price, 0)
		switch {
		case n >= prices-1: // only until the first that keeps the promise
			x, step = x+step, 2*step
			last = at
			continue
		case n == 0:
			if x, err = f.corrected(ctx, s, x, at.price); err != nil {
				return nil, err
			}
		case both && n%3 == 2:
			x = (low.x + high.x) / 2
		case both:
			x = secant(low, high, aim)
		default:
			x = secant(last, at, aim)
		}
		if !(x > low.x && x < high.x) {
			if x = (low.x + high.x) / 2; !both { // where one end is far
				x = at.x + math.Copysign(max(slack/4, math.Abs(at.price-aim)/15), at.price-aim)
				x = min(high.x, max(low.x, x))
			}
		}
		last = at
	}
	if best == nil {
		return nil, errNoTable
	}
	return best, nil
}

// point is the ln δ of the table at x.
type point struct{ x, price float64 }

// secant returns where the line through two points has the price aim.
func secant(a, b point, aim float64) float64 {
	return a.x + (aim-a.price)*(b.x-a.x)/(b.price-a.price)
}

// slackOf returns the tolerance of a problem.
func slackOf(s *answers.System) float64 {
	if s.PairCount()*s.Problem().Answers <= quickGame {
		return nearer
	}
	return tolerance
}

// small reports whether prices cost little.
func small(s *answers.System) bool { return s.PairCount()*s.Problem().Answers <= smallGame }

// stepOf returns the lattice step of a price. Of few answers the ratios are few too, and a coarse
// lattice moves them past e^ε: one of s/10 costs up to .004 of agreement.
func stepOf(s *answers.System) float64 {
	if !small(s) {
		return largeStep
	}
	switch q := s.Problem().Answers; {
	case q <= 5:
		return 1. / 400
	case q <= 10:
		return 1. / 120
	case q <= 20:
		return 1. / 50
	}
	return smallStep
}

// model returns about ln δ of the table at x, off by nearly the same everywhere. It rests on no
// price: no promise rests on it.
//
// Of two outcomes it is the price of the dearest pair alone, asked Q times, which is a binomial sum
// (answers.System.CoinDelta). Otherwise it is Rényi composition, less the factor e/√(4π·ln(1/δ)) by
// which its bound is above the tail of a normal loss.
func (f family) model(ctx context.Context, s *answers.System, x float64) (float64, error) {
	q, err := f.probabilities(x)
	if err != nil {
		return 0, err
	}
	p := s.Problem()
	if p.Classes == 2 && !p.Abstain {
		delta, err := s.CoinDelta(ctx, masses(s, q))
		return logarithm(pairPremium * delta), err
	}
	r, err := game.NewRenyi(ctx, s.Laws(ctx, masses(s, q)))
	if err != nil {
		return 0, err
	}
	return logarithm(r.Delta(p.Epsilon, p.Answers)) + 1 - math.Log(-4*math.Pi*math.Log(p.Delta))/2, nil
}

// where returns the x at which the model is ln δ of the promise and so much more, looking around
// near first.
func (f family) where(ctx context.Context, s *answers.System, near, step, more float64) (float64,
	error) {
	aim := logarithm(s.Problem().Delta) - slackOf(s)/2 + more
	return root(f.low, near, f.high, step, func(x float64) (float64, error) {
		at, err := f.model(ctx, s, x)
		return at - aim, err
	})
}

// guess returns where the price should be near that of the promise.
func (f family) guess(ctx context.Context, s *answers.System) (float64, error) {
	return f.where(ctx, s, f.near, 0.25, 0)
}

// corrected returns where the price should be just below the promise, if ln δ was price at x.
func (f family) corrected(ctx context.Context, s *answers.System, x,
	price float64) (float64, error) {
	at, err := f.model(ctx, s, x)
	if err != nil {
		return 0, err
	}
	return f.where(ctx, s, x, 0.05, at-price)
}

// logarithm returns ln δ, finite where δ is 0.
func logarithm(delta float64) float64 { return math.Log(max(delta, 0x1p-1000)) }

// root returns an x between low and high where the falling f is about 0, or the end that the root lies
// beyond. It looks around x first. It halves the range at every other step at least, since f
// may jump.
func root(low, x, high, step float64, f func(x float64) (float64, error)) (float64, error) {
	a, b := point{low, math.Inf(1)}, point{high, math.Inf(-1)}
	for n := 0; b.x-a.x > 1e-5; n++ {
		at, err := f(x)
		switch {
		case err != nil:
			return 0, err
		case math.Abs(at) < 1e-4:
			return x, nil
		case at > 0:
			a = point{x, at}
		default:
			b = point{x, at}
		}
		switch next := secant(a, b, 0); {
		case math.IsInf(b.price, -1) && x+step < high:
			x, step = x+step, 2*step
		case math.IsInf(a.price, 1) && x-step > low:
			x, step = x-step, 2*step
		case n%2 == 1 && next > a.x && next < b.x:
			x = next
		default:
			x = (a.x + b.x) / 2
		}
	}
	return (a.x + b.x) / 2, nil
}

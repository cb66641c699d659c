package game

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Point is one point of a curve: the answers are (Epsilon, Delta)-DP together.
type Point struct{ Epsilon, Delta float64 }

// MaxPoints is the largest number of points of a curve.
const MaxPoints = 1000

// share is about the part of a price that windows may add to it.
const share = 1e-7

// Delta returns a δ such that all answers together are (epsilon, δ)-DP, epsilon in [0, 700]. It
// is never below the true δ. Cost: O(answers·points·atoms), over GOMAXPROCS processors.
func (g *Game) Delta(ctx context.Context, epsilon float64, answers int) (float64, error) {
	if g == nil || g.lattice == nil {
		return 0, errNoGame
	}
	if err := cmp.Or(check.ProfileEpsilon(epsilon), checkAnswers(answers)); err != nil {
		return 0, err
	}
	k, lower, upper := g.position(epsilon)
	values, err := g.play(ctx, k, k+1, answers, share*g.renyi.finiteDelta(epsilon, answers))
	if err != nil {
		return 0, err
	}
	return between(values[0], values[1], lower, upper), nil
}

var errNoGame = errors.New("game must be given: use New")

func checkAnswers(answers int) error { return check.Whole("answers", answers, 1, MaxAnswers) }

// position returns k and weights such that W(e^epsilon) ≤ lower·W(x_k) + upper·W(x_{k+1}), k ≥ 0.
func (g *Game) position(epsilon float64) (k int, lower, upper float64) {
	l := g.lattice
	e := num.FromRat(num.Decimal(epsilon))
	k = int(epsilon / l.step)
	rest := e.Sub(rational(l.step).Mul(num.FromInt(int64(k))))
	shift, lower, upper := l.split(num.ExpReal(rest).Lower()) // shift is 0, or -1 or 1 next to a point
	if k += shift; k < 0 {
		return 0, 1, 0 // W(e^epsilon) ≤ W(1)
	}
	return k, lower, upper
}

// between returns the value of the chord, rounded up.
func between(a, b, lower, upper float64) float64 {
	return min(1, float64(float64(lower*a)+float64(upper*b))*dearer)
}

// Epsilon returns an ε such that all answers together are (ε, delta)-DP, delta in (0,1). It is
// never below the true ε. The error is ErrDelta where no ε up to 700 will do. Cost: that of Delta,
// and several times as much where Rényi composition is far from the price.
func (g *Game) Epsilon(ctx context.Context, delta float64, answers int) (float64, error) {
	if g == nil || g.lattice == nil {
		return 0, errNoGame
	}
	if err := cmp.Or(check.Within("delta", delta), checkAnswers(answers)); err != nil {
		return 0, err
	}
	if g.renyi.sure(answers) > delta {
		return 0, ErrDelta
	}
	guess := g.guess(delta, answers)
	from, values, err := g.until(ctx, delta, answers, int(0.85*guess/g.lattice.step), guess)
	if err != nil {
		return 0, err
	}
	if values[0] <= delta { // then from is 0
		return 0, nil
	}
	k := 1
	for values[k] > delta {
		k++
	}
	return g.crossing(from+k-1, values[k-1], values[k], delta), nil
}

// guess returns an ε that is likely to be above that of delta: by Rényi composition, or a fixed one
// where that has no bound.
func (g *Game) guess(delta float64, answers int) float64 {
	r := *g.renyi
	r.divergences = r.finite
	if guess := r.Epsilon(delta, answers) + float64(4*g.lattice.step); guess < MaxEpsilon {
		return guess
	}
	return 16
}

// until plays from x_from to a point where W is at most delta, first guessed to be e^guess, and from a
// smaller point where W is at most delta at x_from already. The points only grow in number, since
// pruning makes figures of two plays differ.
func (g *Game) until(ctx context.Context, delta float64, answers, from int,
	guess float64) (int, []float64, error) {
	top := int(MaxEpsilon / g.lattice.step)
	to := max(from+1, min(top, int(guess/g.lattice.step)+1))
	for {
		values, err := g.play(ctx, from, to, answers, share*delta)
		switch {
		case err != nil:
			return 0, nil, err
		case values[0] <= delta && from > 0:
			from /= 2
		case values[to-from] <= delta:
			return from, values, nil
		case to == top:
			return 0, nil, ErrDelta
		default:
			to = min(top, to+to/4+16)
		}
	}
}

// crossing returns the ε at which the chord from a > delta at x_k to b ≤ delta at x_{k+1} is at
// most delta: float64s above the exact one are tried, and the last resort is the point itself.
func (g *Game) crossing(k int, a, b, delta float64) float64 {
	h := rational(g.lattice.step)
	last := h.Mul(num.FromInt(int64(k + 1))).DecimalUp()
	// x = x_k·(1 + (e^h - 1)·(a - delta)/(a - b))
	part := rational(a).Sub(rational(delta)).Quo(rational(a).Sub(rational(b)))
	x := num.Expm1(h).Mul(part).Add(num.FromInt(1))
	epsilon := num.Log(x).Add(h.Mul(num.FromInt(int64(k)))).DecimalUp()
	for part := 0x1p-50; part < 1; part *= 2 {
		if at, lower, upper := g.position(epsilon); at == k && between(a, b, lower, upper) <= delta {
			return epsilon
		}
		epsilon = min(last, math.Nextafter(epsilon+float64((last-epsilon)*part), math.Inf(1)))
	}
	return last
}

// Curve returns the price of all answers at ε = 0 and at larger ε, ascending, with δ falling to
// least in (0,1), or to the ε at which Rényi composition without sure answers has it, or to 16
// where that shows nothing. At most MaxPoints points. They are what accountant.NewHockeyStick
// takes, so that these answers add up with other events. Cost: some three times that of Epsilon.
func (g *Game) Curve(ctx context.Context, least float64, answers int) ([]Point, error) {
	if g == nil || g.lattice == nil {
		return nil, errNoGame
	}
	if err := cmp.Or(check.Within("least delta of a curve", least), checkAnswers(answers)); err != nil {
		return nil, err
	}
	top := max(1, int(g.guess(least, answers)/g.lattice.step)+1)
	values, err := g.play(ctx, 0, top, answers, share*least)
	if err != nil {
		return nil, err
	}
	last := 0
	for last < top && values[last] > least {
		last++
	}
	stride := last/MaxPoints + 1
	var points []Point
	delta := 1.0
	for k := 0; ; k = min(last, k+stride) {
		delta = min(delta, values[k]) // W falls
		points = append(points, Point{rational(g.lattice.step).Mul(num.FromInt(int64(k))).DecimalUp(),
			delta})
		if k == last {
			return points, nil
		}
	}
}

package solve

import (
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality/answers"
)

// Needs is the price of answers of a wanted value, by normal noise.
type Needs struct {
	Epsilon float64 // least ε of all Q answers at the problem's δ
	Answers int     // most answers within the problem's ε and δ; 0 for none
}

// spare is by how much the noise of Needs is better than wanted: Best ends within a tolerance.
const spare = 3e-4

// NeedsOf returns what answers of at least the wanted value in (0,1) cost: another ε for p's
// number of answers, and another number of them, at most p's, for p's ε. ok is false where no
// normal noise between deviations 0.05 and 1e7 has the value, or no ε up to 700 pays for it. The
// errors are those of Best. Cost: that of some dozen prices.
func NeedsOf(ctx context.Context, p answers.Problem, prior answers.Prior, wanted float64) (
	n Needs, ok bool, err error) {
	if err := prior.Validate(p); err != nil {
		return n, false, err
	}
	if err := check.Within("wanted value", wanted); err != nil {
		return n, false, err
	}
	s, err := answers.NewSystem(ctx, p)
	if err != nil {
		return n, false, err
	}
	weights, err := prior.Weights(ctx, s)
	if err != nil {
		return n, false, err
	}
	useful := func(x float64) []uint64 {
		m := masses(s, normal(s, math.Exp(x)))
		if s.Value(prior, weights, m) < wanted+spare {
			return nil
		}
		return m
	}
	low, high := math.Log(0.05), math.Log(1e7)
	best := useful(low)
	if best == nil {
		return n, false, nil
	}
	for high-low > 1e-4 {
		if err := ctx.Err(); err != nil {
			return n, false, err
		}
		x := (low + high) / 2
		if m := useful(x); m != nil {
			best, low = m, x
		} else {
			high = x
		}
	}
	g, err := game.New(ctx, s.Laws(ctx, best), game.Options{})
	if err != nil {
		return n, false, err
	}
	if n.Epsilon, err = g.Epsilon(ctx, p.Delta, p.Answers); err != nil {
		if errors.Is(err, game.ErrDelta) {
			err = nil
		}
		return n, false, err
	}
	// The price rises with the number of answers. Rényi composition tells about where to look.
	lo, hi := 0, p.Answers+1
	for hi-lo > 1+lo/200 {
		mid := (lo + hi) / 2
		delta := g.Renyi().Delta(p.Epsilon, mid)
		if delta > p.Delta { // what that bound shows is enough
			if delta, err = g.Delta(ctx, p.Epsilon, mid); err != nil {
				return n, false, err
			}
		}
		if delta <= p.Delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	n.Answers = lo
	return n, true, nil
}

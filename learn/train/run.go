package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrDiverged is the error of a run with too large a step size, whose numbers left the range.
var ErrDiverged = errors.New("the run diverged: the step size is too large")

// beyond is the size from which on a number of the state counts as diverged, far below
// overflow.
const beyond = 1e100

// run leads a Run from round to round.
type run struct {
	a      Algorithm
	coins  Coins
	steps  Run
	state  []Vector    // of steps
	before [][]float64 // the state as the round began
	round  int         // rounds done
}

// Inner does a whole run of an algorithm within a round of another's, with coins that are derived
// from the round's, and returns its model as a release would have it. It is part of what that
// other algorithm pays for, and no release.
func Inner(ctx context.Context, a Algorithm, coins Coins) ([]float64, error) {
	r := newRun(a, coins)
	if err := r.finish(ctx, nil); err != nil {
		return nil, err
	}
	return r.released(), nil
}

// released returns the model, rounded to the grid.
func (r *run) released() []float64 {
	x := slices.Clone(r.steps.Output())
	roundToGrid(x, grid(r.a))
	return x
}

func newRun(a Algorithm, coins Coins) *run {
	r := &run{a: a, coins: coins, steps: a.Start(coins)}
	r.state = r.steps.State()
	for _, v := range r.state {
		r.before = append(r.before, make([]float64, len(v.Values)))
	}
	return r
}

// finish does the remaining rounds, and calls after, unless nil, after each. An error ends it
// between rounds or within one, whose state before it is then restored.
func (r *run) finish(ctx context.Context, after func() error) error {
	for r.round < r.a.Rounds {
		if err := r.next(ctx); err != nil {
			return fmt.Errorf("round %d: %w", r.round+1, err)
		}
		if after != nil {
			if err := after(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) next(ctx context.Context) error {
	for i, v := range r.state {
		copy(r.before[i], v.Values)
	}
	err := r.steps.Round(ctx, r.round)
	if err == nil && !finite(r.state) {
		err = ErrDiverged
	}
	if err != nil {
		for i, v := range r.state {
			copy(v.Values, r.before[i])
		}
		return err
	}
	r.round++
	return nil
}

// finite reports whether all numbers of a state are at most beyond in size.
func finite(state []Vector) bool {
	for _, v := range state {
		for _, x := range v.Values {
			if !(math.Abs(x) <= beyond) {
				return false
			}
		}
	}
	return true
}

package train

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
)

// Algorithm is a method of private learning whose parameters, data and account are fixed,
// and whose randomness is not. It is safe for concurrent use while nobody writes to its fields.
type Algorithm struct {
	Cost accountant.Cost // of one released model; ε is +Inf where nothing bounds it
	// Refused is the reason that no model may be released, beyond a cost without a bound. It must not
	// depend on the private records.
	Refused error
	Rounds  int // of a run, which can be kept and resumed between two of them
	// Digest is a hash of everything that a run depends on but its coins, the data included.
	Digest [32]byte
	// NoiseScale is the standard deviation of the noise that one step, or the one addition of noise,
	// leaves on a coordinate of the model; 0 where no private data go in.
	NoiseScale float64
	Start      func(coins Coins) Run // a run before its first round
}

// Releasable returns an error if no model may be released, with the reason.
func (a Algorithm) Releasable() error {
	if a.Refused != nil {
		return a.Refused
	}
	if a.Start == nil || !(a.Cost.Epsilon >= 0) || math.IsInf(a.Cost.Epsilon, 1) {
		return errors.New("no price, no release: make a plan with a method's Plan")
	}
	return nil
}

// DigestOf returns the digest of a run on records, of which all else is in a text.
func DigestOf(records [32]byte, format string, all ...any) [32]byte {
	return sha256.Sum256(fmt.Appendf(fmt.Appendf(nil, format, all...), "%x\n", records))
}

// Run is one run of an Algorithm. It is not safe for concurrent use.
type Run interface {
	// Round does round k, counted from 0, with the coins of that round only: what it does is
	// a function of the state before it, k and the coins.
	Round(ctx context.Context, k int) error
	// State returns the vectors that later rounds depend on besides the coins. They are the run's
	// own memory: the run goes on with values written to them. Names and lengths stay the same.
	State() []Vector
	// Output returns the model after the rounds done, in memory of the run.
	Output() []float64
}

// Vector is a named part of a state.
type Vector struct {
	Name   string
	Values []float64
}

// Coins are all randomness of a run. An Algorithm takes each stream for one purpose of one
// round.
type Coins = stream.Coins

// Choice is the result of a choice among candidates, released beside the model at the same cost.
type Choice struct {
	Candidate int    `json:"-"`         // from 0; -1 where there was no run to choose from, and the model is 0
	Name      string `json:"candidate"` // of it, "" where there was no run
	// of the model, with its noise; nil where none is released
	Score     *float64 `json:"score,omitempty"`
	Deviation float64  `json:"score_deviation,omitempty"` // of that noise
}

// chooser is a Run of such a method.
type chooser interface {
	// Choice returns the choice, nil before the last round.
	Choice() *Choice
}

// choice returns the choice of a run, once it is done.
func (r *run) choice() *Choice {
	if c, ok := r.steps.(chooser); ok && r.round == r.a.Rounds {
		return c.Choice()
	}
	return nil
}

// Test is a figure of a model on records that it did not learn from, with noise that covers them.
// It is released beside the model, whose cost covers both.
type Test struct {
	Kind      string  `json:"kind"`              // what is measured
	Value     float64 `json:"value"`             // with its noise
	Deviation float64 `json:"deviation"`         // of that noise
	Epsilon   float64 `json:"epsilon"`           // that the noise promises a record of the test
	Records   int     `json:"records,omitempty"` // of the test; 0 where their number is private
}

// tester is a Run whose model is tested.
type tester interface {
	// Test returns the test of the released model x. Its noise is made of the run's coins, so that
	// it is the same whenever it is asked for.
	Test(x []float64) (*Test, error)
}

// Test returns the test of the model, nil where there is none. It is to be asked for after Run.
func (r *Release) Test() (*Test, error) {
	return r.run().test()
}

// Test returns the test of the model, which promises nothing here; nil where there is none.
func (s *Simulation) Test() (*Test, error) { return s.run().test() }

func (r *run) test() (*Test, error) {
	if t, ok := r.steps.(tester); ok && r.round == r.a.Rounds {
		return t.Test(r.released())
	}
	return nil, nil
}

// ErrDiverged is the error of a run with too large a step size, whose numbers left the range.
var ErrDiverged = errors.New("the run diverged: the step size is too large")

// InRange reports whether a number of a model or of a state has not diverged: it is at most 1e100 in
// size, far below overflow.
func InRange(x float64) bool { return math.Abs(x) <= 1e100 }

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

// noRun is the run of an algorithm that has none. Its one round is an error, and it costs anything.
type noRun struct{}

func (noRun) Round(context.Context, int) error {
	return errors.New("the algorithm has no Start: make one with a plan's Train")
}
func (noRun) State() []Vector   { return nil }
func (noRun) Output() []float64 { return nil }

func newRun(a Algorithm, coins Coins) *run {
	if a.Start == nil {
		a.Rounds, a.Start = 1, func(Coins) Run { return noRun{} }
		a.Cost = accountant.Cost{Epsilon: math.Inf(1), Delta: 1}
	}
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
	if err == nil && !inRange(r.state) {
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

// inRange reports whether no number of a state has diverged.
func inRange(state []Vector) bool {
	return !slices.ContainsFunc(state, func(v Vector) bool {
		return slices.ContainsFunc(v.Values, func(x float64) bool { return !InRange(x) })
	})
}

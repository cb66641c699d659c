package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/randsrc/stream"
)

// Simulation repeats a run from a seed. Nothing that it returns is private. It is not safe
// for concurrent use.
type Simulation struct {
	r *run
}

// Simulate begins the simulation with the given seed: the same algorithm and seed give the
// same models. Different algorithms on one seed share noise and orders round by round.
func Simulate(a Algorithm, seed uint64) *Simulation {
	return &Simulation{newRun(a, stream.Seeded(seed))}
}

// run returns the run, and for the zero Simulation one that does nothing.
func (s *Simulation) run() *run {
	if s == nil || s.r == nil {
		return newRun(Algorithm{}, Coins{})
	}
	return s.r
}

// Round returns the number of rounds done.
func (s *Simulation) Round() int { return s.run().round }

// Model returns the model after the last round done.
func (s *Simulation) Model() []float64 { return slices.Clone(s.run().steps.Output()) }

// Choice returns the run's choice, nil for a method that chooses nothing.
func (s *Simulation) Choice() *Choice { return s.run().choice() }

// State returns the state after the last round done. The run owns its memory: do not change it. A
// method that may return one of several models has all of them there.
func (s *Simulation) State() []Vector { return s.run().state }

// Run does the remaining rounds and returns the last model. After each round it calls after, unless
// nil, with the number of rounds done and the model, which it must not keep. The error is
// ErrDiverged where the state left the range of numbers.
func (s *Simulation) Run(ctx context.Context,
	after func(round int, x []float64) error) ([]float64, error) {
	var each func() error
	if after != nil {
		each = func() error { return after(s.run().round, s.run().steps.Output()) }
	}
	if err := s.run().finish(ctx, each); err != nil {
		return nil, err
	}
	return s.Model(), nil
}

// Point is the objective after a round.
type Point struct {
	Epoch     int     // rounds done; 0 for the start
	Objective float64 // G(x; D)
	Excess    float64 // over G(x*; D)
	Distance  float64 // ‖x-x*‖
}

// Trace runs the rest of the simulation and returns the objective before it and after each
// round, against its optimum.
func (s *Simulation) Trace(ctx context.Context, objective func(x []float64) float64,
	optimum Optimum) ([]Point, error) {
	if objective == nil {
		return nil, errors.New("objective must be given")
	}
	if d := len(s.run().steps.Output()); len(optimum.X) != d {
		return nil, fmt.Errorf("the optimum has dimension %d, the model %d", len(optimum.X), d)
	}
	point := func(round int, x []float64) Point {
		g := objective(x)
		return Point{round, g, g - optimum.Value, floats.Distance(x, optimum.X, 2)}
	}
	points := make([]Point, 0, s.run().a.Rounds+1)
	points = append(points, point(s.run().round, s.run().steps.Output()))
	_, err := s.Run(ctx, func(round int, x []float64) error {
		points = append(points, point(round, x))
		return nil
	})
	return points, err
}

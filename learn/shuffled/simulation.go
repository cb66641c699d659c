package shuffled

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/learn/data"
	"gonum.org/v1/gonum/floats"
)

// Simulation repeats a run from a seed. Nothing that it returns is private. It is not safe
// for concurrent use.
type Simulation struct {
	e *engine
}

// Simulate begins the simulation with the given seed: the same plan and seed give the same
// iterates. Different plans on one seed share noise and orders epoch by epoch.
func (p *Plan) Simulate(seed uint64) *Simulation {
	return &Simulation{newEngine(p, seededKey(seed), false)}
}

// Epoch returns how many epochs are done.
func (s *Simulation) Epoch() int { return s.e.epoch }

// Iterate returns the iterate after the last epoch done.
func (s *Simulation) Iterate() []float64 { return s.e.model() }

// Run does the remaining epochs and returns the last iterate. After each epoch it calls
// after, unless nil, with the number of epochs done and the iterate, which it must not
// keep. ErrDiverged says that the iterate left the range of numbers.
func (s *Simulation) Run(ctx context.Context, after func(epoch int, x []float64) error) ([]float64, error) {
	for !s.e.done() {
		if err := s.e.runEpoch(ctx); err != nil {
			return nil, fmt.Errorf("epoch %d: %w", s.e.epoch+1, err)
		}
		if after != nil {
			if err := after(s.e.epoch, s.e.x); err != nil {
				return nil, err
			}
		}
	}
	return s.e.model(), nil
}

// Point is the objective after an epoch.
type Point struct {
	Epoch     int     // 0 for the start
	Objective float64 // G(x; D)
	Excess    float64 // over G(x*; D)
	Distance  float64 // ‖x-x*‖
}

// Trace runs the rest of the simulation and returns the objective before it and after each
// epoch, on the records given (the private ones as they are) against their optimum.
func (s *Simulation) Trace(ctx context.Context, records *data.Records, optimum Optimum) ([]Point, error) {
	p := s.e.p
	if records.Dim() != p.d || len(optimum.X) != p.d {
		return nil, fmt.Errorf("dimension of the records or their optimum is not the plan's, %d", p.d)
	}
	point := func(epoch int, x []float64) Point {
		g := Objective(p.c.Task, p.c.Regularizer, records, x)
		return Point{epoch, g, g - optimum.Value, floats.Distance(x, optimum.X, 2)}
	}
	points := make([]Point, 0, p.Epochs()+1)
	points = append(points, point(s.e.epoch, s.e.x))
	_, err := s.Run(ctx, func(epoch int, x []float64) error {
		points = append(points, point(epoch, x))
		return nil
	})
	return points, err
}

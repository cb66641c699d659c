package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/internal/check"
)

// Grid runs simulations of one algorithm for several step sizes and seeds. Choosing a step
// size by its results is not private and not paid for in ε.
type Grid struct {
	Plan      func(ctx context.Context, stepSize float64) (Algorithm, error)
	StepSizes []float64
	Seeds     []uint64
	Workers   int                   // simulations at a time; 0 is the number of processors
	Progress  func(done, total int) // called after each simulation, one call at a time; may be nil
	// KeepTraces keeps the objective after each round; otherwise only the last is worked
	// out.
	KeepTraces bool
}

// Cell is one simulation of a Grid.
type Cell struct {
	StepSize float64
	Seed     uint64
	Last     Point   // +Inf where it diverged
	Trace    []Point // with KeepTraces; up to the round before it diverged
	Diverged bool
}

// StepSizes returns the source's grid of step sizes, {5·10⁻ᵐ, 10⁻ᵐ : m = 1..9}, the
// largest first.
func StepSizes() []float64 {
	return []float64{
		5e-1, 1e-1, 5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4, 5e-5, 1e-5, 5e-6, 1e-6, 5e-7, 1e-7, 5e-8, 1e-8,
		5e-9, 1e-9,
	}
}

// Below returns the step sizes at which steps on losses of the given smoothness are
// non-expansive, η ≤ 2/L. Larger ones only seem to do well.
func Below(stepSizes []float64, smoothness float64) []float64 {
	var s []float64
	for _, eta := range stepSizes {
		if eta*smoothness <= 2 {
			s = append(s, eta)
		}
	}
	return s
}

// Run simulates every step size with every seed, in parallel, and returns the cells by
// step size, then seed, in the order given: the same for any number of workers. Cells are
// measured by the objective against its optimum. It stops at the first error, or when the
// context ends.
func (g Grid) Run(ctx context.Context, objective func(x []float64) float64,
	optimum Optimum) ([]Cell, error) {
	if len(g.StepSizes) == 0 || len(g.Seeds) == 0 {
		return nil, errors.New("a grid needs step sizes and seeds")
	}
	if g.Workers < 0 {
		return nil, check.Want("workers", g.Workers, "≥ 0")
	}
	workers := cmp.Or(g.Workers, runtime.GOMAXPROCS(0))
	// Every plan is checked before anything runs.
	plans := make([]Algorithm, len(g.StepSizes))
	for i, eta := range g.StepSizes {
		var err error
		if plans[i], err = g.Plan(ctx, eta); err != nil {
			return nil, fmt.Errorf("step size %g: %w", eta, err)
		}
	}
	cells := make([]Cell, len(g.StepSizes)*len(g.Seeds))
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	var mu sync.Mutex
	done := 0
	for i := range cells {
		group.Go(func() error {
			step := i / len(g.Seeds)
			cell := Cell{StepSize: g.StepSizes[step], Seed: g.Seeds[i%len(g.Seeds)]}
			if err := cell.simulate(running, plans[step], objective, optimum, g.KeepTraces); err != nil {
				return err
			}
			cells[i] = cell
			mu.Lock()
			defer mu.Unlock()
			done++
			if g.Progress != nil {
				g.Progress(done, len(cells))
			}
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return cells, nil
}

// simulate fills in the cell's figures.
func (c *Cell) simulate(ctx context.Context, a Algorithm, objective func(x []float64) float64,
	optimum Optimum, keep bool) error {
	s := Simulate(a, c.Seed)
	if !keep { // the trace is then one point, after all rounds
		if _, err := s.Run(ctx, nil); err != nil {
			return c.endWith(a, err)
		}
	}
	points, err := s.Trace(ctx, objective, optimum)
	if keep {
		c.Trace = points
	}
	if err != nil {
		return c.endWith(a, err)
	}
	c.Last = points[len(points)-1]
	if !keep && !(c.Last.Objective < math.Inf(1)) { // NaN, and +Inf from overflow
		c.Last.Objective, c.Last.Excess = math.Inf(1), math.Inf(1)
	}
	return nil
}

// endWith makes a cell of a run that an error ended: diverging is a result.
func (c *Cell) endWith(a Algorithm, err error) error {
	if !errors.Is(err, ErrDiverged) {
		return err
	}
	inf := math.Inf(1)
	c.Diverged, c.Last = true, Point{a.Rounds, inf, inf, inf}
	return nil
}

// Tuned is a step size's results over the seeds.
type Tuned struct {
	StepSize float64
	Mean     float64 // of the last excess; +Inf if any run diverged
	Std      float64 // sample standard deviation over the seeds; 0 for one seed
	Cells    []Cell
}

// Best returns the step size with the smallest mean excess of the last iterate, which a
// diverged run makes +Inf; the first in a tie. The cells are as Run returns them.
func Best(cells []Cell) (Tuned, error) {
	best := Tuned{Mean: math.Inf(1)}
	for i := 0; i < len(cells); {
		j := i
		for j < len(cells) && cells[j].StepSize == cells[i].StepSize {
			j++
		}
		t := tuned(cells[i:j])
		if t.Mean < best.Mean || best.Cells == nil {
			best = t
		}
		i = j
	}
	if best.Cells == nil {
		return Tuned{}, errors.New("no cells")
	}
	if math.IsInf(best.Mean, 1) {
		return best, fmt.Errorf("every step size: %w", ErrDiverged)
	}
	return best, nil
}

func tuned(cells []Cell) Tuned {
	t := Tuned{StepSize: cells[0].StepSize, Cells: cells}
	n := float64(len(cells))
	for _, c := range cells {
		t.Mean += c.Last.Excess / n
	}
	if math.IsNaN(t.Mean) {
		t.Mean = math.Inf(1)
	}
	if len(cells) > 1 && !math.IsInf(t.Mean, 1) {
		s := 0.0
		for _, c := range cells {
			s += (c.Last.Excess - t.Mean) * (c.Last.Excess - t.Mean)
		}
		t.Std = math.Sqrt(s / (n - 1))
	}
	return t
}

package lp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

const (
	simplexMaxColumns = 512
	simplexMaxCells   = 1 << 22
)

// simplexSolver is the Solver that is in every build: the dual simplex method on a dense tableau,
// with steepest edges and bound flipping. Rows that are added leave the last basis dual feasible,
// so it goes on from there.
//
// Costs are shifted by random amounts of about 1e-9, so that no two breakpoints coincide. The basis
// then reached is made optimal for the costs without the shift by the primal method: rows of
// neighbouring multisets are nearly the same, and multipliers off by the condition times 1e-9 would
// prove nothing. finish checks the answer.
type simplexSolver struct {
	*model
	tableau *tableau // of the last Solve; nil if there is none
	known   int      // rows that it has
	spent   effort   // of this Solve
}

// effort is the work of a Solve, failed attempts included.
type effort struct {
	iterations int
	work       int64 // see Solution.Work
}

// on returns the solution, or that of the error, with the effort.
func (e effort) on(sol Solution, err error) (Solution, error) {
	if err != nil {
		sol = failedSolution(err)
	}
	sol.Iterations, sol.Work = e.iterations, e.work
	return sol, err
}

func newSimplex(p Problem) (Solver, error) {
	m, err := newModel(p)
	if err != nil {
		return nil, err
	}
	n := len(p.C)
	if n > simplexMaxColumns {
		return nil, fmt.Errorf("%w: %d columns, it takes at most %d", ErrTooLarge, n, simplexMaxColumns)
	}
	for j := range n {
		if math.IsInf(p.Lower[j], 0) && math.IsInf(p.Upper[j], 0) {
			return nil, fmt.Errorf("lp: column %d has no finite bound, which the simplex method of "+
				"plain Go needs; use a build with HiGHS", j)
		}
	}
	return &simplexSolver{model: m}, nil
}

func (s *simplexSolver) Rows() int { return s.numRows() }

func (s *simplexSolver) AddRows(rows []Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	n := len(s.problem.C)
	if total := len(s.rows) + len(rows); total > simplexMaxCells/n {
		return fmt.Errorf("%w: %d rows of %d columns, it takes at most %d", ErrTooLarge, total, n,
			simplexMaxCells/n)
	}
	scaled, err := s.scale(rows)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, scaled...)
	return nil
}

func (s *simplexSolver) DeleteRows(indices []int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if err := checkIndices(indices, len(s.rows)); err != nil {
		return err
	}
	moved, next, known := make([]int, len(s.rows)), 0, 0
	for i := range moved {
		if next < len(indices) && indices[next] == i {
			moved[i] = -1
			next++
			continue
		}
		moved[i] = i - next
		if i < s.known {
			known++
		}
	}
	s.known = known
	if s.tableau != nil && !s.tableau.deleteRows(moved) {
		s.tableau = nil
	}
	s.deleteRows(indices)
	return nil
}

func (s *simplexSolver) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.rows, s.tableau = nil, nil
	return nil
}

func (s *simplexSolver) Solve(ctx context.Context) (Solution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Solution{}, ErrClosed
	}
	s.spent = effort{}
	sol, err := s.solve(ctx)
	return s.spent.on(sol, err)
}

// shifts are the sizes of the random shift of the costs that are tried in turn.
var shifts = []float64{1e-9, 1e-8, 0}

// solve goes on from the last basis, and begins anew with other shifts after numerical trouble.
func (s *simplexSolver) solve(ctx context.Context) (Solution, error) {
	var sol Solution
	var err error
	for k := -1; k < len(shifts); k++ {
		if err := contextError(ctx); err != nil {
			return Solution{}, err
		}
		if k >= 0 {
			s.begin()
		} else if s.tableau == nil {
			continue
		}
		if s.tableau != nil {
			clear(s.tableau.shifts)
		}
		sol, err = s.attempt(ctx, shifts[max(k, 0)])
		if err == nil {
			return sol, nil
		}
		s.tableau = nil
		var status *StatusError
		if k >= 0 && errors.As(err, &status) && status.Status != Numerical &&
			status.Status != IterationLimit {
			break
		}
	}
	return sol, err
}

// begin makes the tableau of the basis of all slacks.
func (s *simplexSolver) begin() {
	p := s.problem
	low, high := append([]float64(nil), p.Lower...), append([]float64(nil), p.Upper...)
	cost := s.scaledCost()
	far := s.farAway()
	for j, c := range cost {
		switch {
		case c < 0 && math.IsInf(high[j], 1):
			high[j] = low[j] + far
		case c > 0 && math.IsInf(low[j], -1):
			low[j] = high[j] - far
		}
	}
	s.tableau, s.known = newTableau(s.model, low, high, cost), 0
}

// unboundedAt is the largest distance of a column from its only bound, in units of the
// largest right-hand side. A solution there is reported as Unbounded.
const unboundedAt = 1e6

// farAway returns that distance.
func (s *simplexSolver) farAway() float64 {
	largest := 1.0
	for _, r := range s.rows {
		if r.rhs < infinite {
			largest = max(largest, math.Abs(r.rhs))
		}
	}
	return unboundedAt * largest
}

// attempt solves from the tableau, with random shifts of the costs of that size.
func (s *simplexSolver) attempt(ctx context.Context, shift float64) (Solution, error) {
	t := s.tableau
	before := t.work
	t.addRows(s.known)
	s.known = len(s.rows)
	most := 1000 + 20*(t.n+len(t.rows))
	left := most
	b, err := t.optimise(ctx, shift, &left)
	s.spent.iterations += most - left
	s.spent.work += t.work - before
	if err != nil {
		return Solution{}, err
	}
	for q, v := range t.nonbasic {
		if v < t.n && t.at(q) != s.problem.Lower[v] && t.at(q) != s.problem.Upper[v] {
			return Solution{}, statusErrorf(Unbounded, "column %d is at %g", v, t.at(q))
		}
	}
	x, y := t.point(b), t.multipliers(b, s.scaledCost())
	for i := range y {
		y[i] = max(y[i], 0) // below 0 by the tolerance at most; finish checks the gap
	}
	return s.finish(x, y)
}

// optimise makes the dual simplex method's pivots with shifted costs, and then the primal one's
// without. Either may leave what the other one has to mend.
func (t *tableau) optimise(ctx context.Context, shift float64, left *int) (b *basis, err error) {
	if b, err = t.refresh(); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(len(t.rows)), 0x6c70)) // the same in each build
	for range alternations {
		t.dualFeasible()
		for q := range t.nonbasic {
			by := shift * (0.5 + 0.5*random.Float64())
			if t.above[q] {
				by = -by
			}
			t.shift(q, by)
		}
		if b, err = t.dualSimplex(ctx, b, left); err != nil {
			return nil, err
		}
		clear(t.shifts)
		t.reprice(b)
		if b, err = t.primalSimplex(ctx, b, left); err != nil {
			return nil, err
		}
		if r, _ := t.leaving(); r < 0 {
			return b, nil
		}
	}
	return nil, statusErrorf(Numerical, "simplex: no basis within both tolerances")
}

// alternations bounds how often optimise begins anew.
const alternations = 10

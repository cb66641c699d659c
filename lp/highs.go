//go:build cgo && highs

package lp

import (
	"context"
	"errors"
	"math"
)

func newBest(p Problem) (Solver, error) { return newHiGHS(p) }

func backend() string { return "HiGHS " + highsVersion() }

// highsSolver is the Solver on HiGHS. Each has its own instance, which runs on
// the calling thread only.
type highsSolver struct {
	*model
	raw    *rawModel
	broken error  // HiGHS and the model may differ: nothing works any more
	spent  effort // of this Solve
}

// configure sets the options that matter; those not named keep HiGHS's defaults.
func configure(raw *rawModel) error {
	return errors.Join(
		raw.Set("output_flag", false),
		// The default, 1e-9, silently drops coefficients. This is the minimum.
		raw.Set("small_matrix_value", dropBelow),
		// The minimum of both: the default, 1e-7, is larger than many a δ.
		raw.Set("primal_feasibility_tolerance", 1e-10),
		raw.Set("dual_feasibility_tolerance", 1e-10),
		// Any other number must be that of HiGHS's global scheduler, or is an error.
		raw.Set("threads", 1),
		// Only the simplex method starts from a basis.
		raw.Set("solver", "simplex"),
		// Rows and costs are scaled already (model.scale). HiGHS's own scaling goes
		// stale when rows are added: 1.10 then returned points that break rows by 1e-3
		// as optimal (TestHiGHS/RecordedRun replays it).
		raw.Set("simplex_scale_strategy", 0),
		// Presolve cannot be interrupted, and gains nothing on dense programs.
		raw.Set("presolve", "off"),
	)
}

func newHiGHS(p Problem) (Solver, error) {
	m, err := newModel(p)
	if err != nil {
		return nil, err
	}
	raw, err := newInstance(m)
	if err != nil {
		return nil, err
	}
	return &highsSolver{model: m, raw: raw}, nil
}

// newInstance returns a configured instance with m's columns and rows.
func newInstance(m *model) (*rawModel, error) {
	raw, err := newRawModel()
	if err != nil {
		return nil, err
	}
	err = errors.Join(configure(raw), raw.AddColumns(m.scaledCost(), m.problem.Lower, m.problem.Upper))
	if err == nil && len(m.rows) > 0 {
		err = addScaled(raw, m.rows)
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	return raw, nil
}

// usable returns why s cannot be used, with s locked.
func (s *highsSolver) usable() error {
	if s.closed {
		return ErrClosed
	}
	return s.broken
}

func (s *highsSolver) Rows() int { return s.numRows() }

func (s *highsSolver) AddRows(rows []Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	scaled, err := s.scale(rows)
	if err != nil {
		return err
	}
	if err := addScaled(s.raw, scaled); err != nil {
		s.broken = err
		return err
	}
	s.rows = append(s.rows, scaled...)
	return nil
}

// addScaled hands rows to an instance.
func addScaled(raw *rawModel, scaled []scaledRow) error {
	lower, upper := make([]float64, len(scaled)), make([]float64, len(scaled))
	start := make([]int32, len(scaled))
	var index []int32
	var value []float64
	for i, r := range scaled {
		lower[i], upper[i] = math.Inf(-1), r.rhs
		if r.rhs >= infinite {
			upper[i] = math.Inf(1) // the bounds imply the row: see scale
		}
		if len(value) > math.MaxInt32 {
			break // refused by AddCompSparseRows, which looks at start no more
		}
		start[i] = int32(len(value))
		for j, a := range r.coef {
			if a != 0 {
				index, value = append(index, int32(j)), append(value, a)
			}
		}
	}
	return raw.AddCompSparseRows(lower, start, index, value, upper)
}

// DeleteRows: HiGHS keeps its basis if all deleted rows are basic (not binding),
// and else uses what is left of it (seen in 1.10; older ones start again).
func (s *highsSolver) DeleteRows(indices []int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	if err := checkIndices(indices, len(s.rows)); err != nil {
		return err
	}
	if len(indices) == 0 {
		return nil
	}
	set := make([]int32, len(indices))
	for k, i := range indices {
		set[k] = int32(i)
	}
	if err := s.raw.DeleteRows(set); err != nil {
		s.broken = err
		return err
	}
	s.deleteRows(indices)
	return nil
}

func (s *highsSolver) Solve(ctx context.Context) (Solution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return Solution{}, err
	}
	if err := contextError(ctx); err != nil {
		return failedSolution(err), err
	}

	s.spent = effort{}
	sol, err := s.attempt(ctx, s.raw)
	var status *StatusError
	retry := func() bool {
		return errors.As(err, &status) && (status.Status == Numerical || status.Status == Unknown) &&
			ctx.Err() == nil
	}
	if retry() {
		// A basis from long ago may be a bad start; once more from none.
		if err := s.raw.ClearSolver(); err != nil {
			s.broken = err
			return failedSolution(err), err
		}
		sol, err = s.attempt(ctx, s.raw)
	}
	if retry() {
		// Last, with HiGHS's scaling: on an instance of its own, as it would spoil
		// this one for rows to come (see configure).
		sol, err = s.scaledAttempt(ctx)
	}
	if ctxErr := contextError(ctx); ctxErr != nil && errors.As(err, &status) &&
		status.Status == Interrupted {
		err = ctxErr
	}
	return s.spent.on(sol, err)
}

// scaledAttempt is attempt on a new instance with HiGHS's own scaling.
func (s *highsSolver) scaledAttempt(ctx context.Context) (Solution, error) {
	raw, err := newInstance(s.model)
	if err != nil {
		return Solution{}, err
	}
	defer raw.Close()
	if err := raw.Set("simplex_scale_strategy", 1); err != nil { // HiGHS's default
		return Solution{}, err
	}
	return s.attempt(ctx, raw)
}

// attempt runs HiGHS once and checks its answer.
func (s *highsSolver) attempt(ctx context.Context, raw *rawModel) (Solution, error) {
	// HiGHS looks at the flag in each iteration. A deadline takes this way too:
	// HiGHS's own time limit counts from the first run of the instance.
	raw.Interrupt(false)
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		raw.Interrupt(true)
		close(done)
	})
	defer func() {
		if !stop() {
			<-done // or it would write to an instance that Close has freed
		}
	}()

	answer, iterations, err := raw.Solve()
	s.spent.iterations += iterations
	s.spent.work += 2 * int64(iterations) * int64(len(s.rows)) * int64(len(s.problem.C))
	if err != nil {
		return Solution{}, err
	}
	for i, v := range answer.RowDual {
		answer.RowDual[i] = -v // HiGHS has them ≤ 0: see rawSolution
	}
	return s.finish(answer.ColumnPrimal, answer.RowDual)
}

func (s *highsSolver) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.raw.Close()
	}
	return nil
}

package lp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"
	gonumlp "gonum.org/v1/gonum/optimize/convex/lp"
)

const (
	simplexMaxColumns = 128
	simplexMaxCells   = 1 << 22
	simplexTimeLimit  = time.Minute
	simplexTolerance  = 1e-10 // on reduced costs of the dual: residuals of the primal
)

// simplexSolver is the Solver on gonum's simplex method, applied to the dual.
//
// Columns are turned to z ≥ 0, x_j = l_j + z_j (or u_j - z_j where l_j is -Inf),
// z ≤ w. With the rows so turned, A'z ≤ b', the dual in gonum's form is
//
//	minimise  b'·y + w·v   subject to   A'ᵀy + v - s = -c',   y, v, s ≥ 0
//
// It has n equations, however many rows there are; v_j = -c'_j or s_j = c'_j,
// whichever is not negative, is a basis to start from; and a basis stays one when
// rows are added, since they are new columns here. The optimal z is the vector of
// simplex multipliers, z = B⁻ᵀ (cost of the basis).
//
// gonum returns the solution but not the basis B, and a degenerate dual solution
// (ties in the primal) does not tell it. So c' is first shifted by random amounts of
// about 1e-9: then, with probability 1, the basis is where the solution is not 0. The
// answer's objective is off by at most 1e-9·n·max w for that, and finish checks it.
type simplexSolver struct {
	*model
	flip  []bool    // x_j = u_j - z_j
	cost  []float64 // c', scaled
	width []float64 // w, +Inf where there is none
	basis []int     // of the last Solve: see dualColumn; nil if there is none
}

// Columns of the dual are named so that names survive added rows:
// row i is i ≥ 0, v_j is -1-j, s_j is -1-n-j.

func newSimplex(p Problem) (Solver, error) {
	m, err := newModel(p)
	if err != nil {
		return nil, err
	}
	n := len(p.C)
	if n > simplexMaxColumns {
		return nil, fmt.Errorf("%w: %d columns, it takes at most %d", ErrTooLarge, n, simplexMaxColumns)
	}
	s := &simplexSolver{model: m, flip: make([]bool, n), cost: m.scaledCost(),
		width: make([]float64, n)}
	for j := range n {
		lo, up := m.problem.Lower[j], m.problem.Upper[j]
		if math.IsInf(lo, 0) && math.IsInf(up, 0) {
			return nil, fmt.Errorf(
				"lp: column %d has no finite bound, which gonum's simplex method needs here; use a build "+
					"with HiGHS", j)
		}
		s.width[j] = up - lo
		if math.IsInf(lo, 0) {
			s.flip[j] = true
			s.cost[j] = -s.cost[j]
		}
	}
	return s, nil
}

func (s *simplexSolver) Rows() int { return s.numRows() }

func (s *simplexSolver) AddRows(rows []Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	n := len(s.problem.C)
	if total := len(s.rows) + len(rows); total > simplexMaxCells/n-2*n {
		return fmt.Errorf("%w: %d rows of %d columns, it takes at most %d", ErrTooLarge, total, n,
			simplexMaxCells/n-2*n)
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
	// Rows of the basis get their new numbers; if one of them goes, so does the basis.
	moved, next := make([]int, len(s.rows)), 0
	for i := range moved {
		if next < len(indices) && indices[next] == i {
			moved[i] = -1
			next++
			continue
		}
		moved[i] = i - next
	}
	for k, b := range s.basis {
		if b < 0 {
			continue
		}
		if moved[b] < 0 {
			s.basis = nil
			break
		}
		s.basis[k] = moved[b]
	}
	s.deleteRows(indices)
	return nil
}

func (s *simplexSolver) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.rows, s.basis = nil, nil
	return nil
}

func (s *simplexSolver) Solve(ctx context.Context) (Solution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Solution{}, ErrClosed
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, simplexTimeLimit)
		defer cancel()
	}
	sol, err := s.solve(ctx)
	if err != nil {
		return failedSolution(err), err
	}
	return sol, nil
}

// shifts are the sizes of the random shift of the costs that are tried in turn.
var shifts = []float64{1e-10, 1e-9, 1e-8, 1e-11}

func (s *simplexSolver) solve(ctx context.Context) (Solution, error) {
	var err error
	for k, shift := range shifts {
		start := s.basis
		s.basis = nil
		if ctxErr := contextError(ctx); ctxErr != nil {
			return Solution{}, ctxErr
		}
		d := s.dual(s.width, shift, uint64(k))
		var end dualEnd
		end, err = d.solve(ctx, start)
		if err != nil && start != nil && contextError(ctx) == nil {
			// Rounding may make an old basis infeasible.
			end, err = d.solve(ctx, nil)
		}
		if err == nil {
			var sol Solution
			if sol, err = s.answer(d, end); err == nil {
				s.basis = end.basis
				return sol, nil
			}
		}
		var status *StatusError
		if !errors.As(err, &status) || status.Status != Numerical {
			return Solution{}, err
		}
	}
	return Solution{}, err
}

// answer turns the end of the dual's solution into a checked Solution, or an
// Unbounded error where it lies on a bound that only we have set.
func (s *simplexSolver) answer(d *dual, end dualEnd) (Solution, error) {
	for _, b := range end.basis {
		if b < 0 && b >= -d.n && math.IsInf(s.width[-1-b], 1) {
			return Solution{}, statusErrorf(Unbounded, "column %d exceeds %g", -1-b, d.width[-1-b])
		}
	}
	x := make([]float64, d.n)
	for j, z := range end.z {
		x[j] = s.problem.Lower[j] + z
		if s.flip[j] {
			x[j] = s.problem.Upper[j] - z
		}
	}
	return s.finish(x, end.y)
}

// dual is the linear program that gonum gets. It owns its data: an abandoned
// goroutine may still read it.
type dual struct {
	n       int
	width   []float64
	shifted []float64  // c' with the shift
	cost    []float64  // c'
	matrix  *mat.Dense // n × len(names)
	price   []float64  // objective, by column of matrix
	names   []int      // by column of matrix
	place   map[int]int
	rows    int
	trivial error // a row of zeros that cannot hold
}

type dualEnd struct {
	basis []int     // names
	z     []float64 // the primal's turned columns
	y     []float64 // multipliers of the scaled rows
}

// unboundedAt is the bound given to a column that has none but whose cost draws it
// there, in units of the largest right-hand side. A solution on it is reported as
// Unbounded.
const unboundedAt = 1e6

func (s *simplexSolver) dual(width []float64, shift float64, seed uint64) *dual {
	n := len(s.cost)
	d := &dual{n: n, width: make([]float64, n), cost: s.cost, rows: len(s.rows), place: map[int]int{}}

	// Right-hand sides of the turned rows; rows that gonum cannot take are left out.
	rhs := make([]float64, len(s.rows))
	var used []int
	largest := 1.0
	for i, r := range s.rows {
		rhs[i] = r.rhs
		zero := true
		for j, a := range r.coef {
			if a == 0 {
				continue
			}
			zero = false
			at := s.problem.Lower[j]
			if s.flip[j] {
				at = s.problem.Upper[j]
			}
			rhs[i] -= a * at
		}
		switch {
		case zero && r.rhs < -simplexTolerance:
			d.trivial = statusErrorf(Infeasible, "row %d is zero and its right-hand side is %g", i,
				r.orig.RHS)
		case zero || r.rhs >= infinite: // holds always: see scale
		default:
			used = append(used, i)
			largest = max(largest, math.Abs(rhs[i]))
		}
	}

	random := rand.New(rand.NewPCG(seed, 0x6c70)) // the same for each Solve, or bases would not last
	d.shifted = make([]float64, n)
	for j, c := range s.cost {
		// Upwards: columns without a cost then need no bound.
		d.shifted[j] = c + shift*(0.5+0.5*random.Float64())
		d.width[j] = width[j]
		if math.IsInf(width[j], 1) && d.shifted[j] < 0 {
			d.width[j] = unboundedAt * largest
		}
	}

	d.names = append(d.names, used...)
	d.price = make([]float64, 0, len(used)+2*n)
	for _, i := range used {
		d.price = append(d.price, rhs[i])
	}
	for j, w := range d.width {
		if !math.IsInf(w, 1) {
			d.names, d.price = append(d.names, -1-j), append(d.price, w)
		}
	}
	for j := range n {
		d.names, d.price = append(d.names, -1-n-j), append(d.price, 0)
	}
	d.matrix = mat.NewDense(n, len(d.names), nil)
	for k, name := range d.names {
		d.place[name] = k
		switch {
		case name >= 0:
			for j, a := range s.rows[name].coef {
				if s.flip[j] {
					a = -a
				}
				d.matrix.Set(j, k, a)
			}
		case name >= -n:
			d.matrix.Set(-1-name, k, 1)
		default:
			d.matrix.Set(-1-n-name, k, -1)
		}
	}
	return d
}

// startBasis returns the places of the names in start, or of the basis v_j, s_j if
// start is nil or no longer fits.
func (d *dual) startBasis(start []int) []int {
	places := make([]int, 0, d.n)
	for _, name := range start {
		if k, ok := d.place[name]; ok {
			places = append(places, k)
		}
	}
	if len(places) == d.n {
		return places
	}
	places = places[:0]
	for j, c := range d.shifted {
		name := -1 - d.n - j
		if c < 0 {
			name = -1 - j
		}
		places = append(places, d.place[name])
	}
	return places
}

// solve runs gonum in a goroutine of its own and leaves it behind when ctx ends.
func (d *dual) solve(ctx context.Context, start []int) (dualEnd, error) {
	if d.trivial != nil {
		return dualEnd{}, d.trivial
	}
	type result struct {
		y   []float64
		err error
	}
	results := make(chan result, 1) // so that a goroutine left behind can end
	go func() {
		y, err := d.callGonum(d.startBasis(start))
		results <- result{y, err}
	}()
	select {
	case <-ctx.Done():
		return dualEnd{}, contextError(ctx)
	case r := <-results:
		if r.err != nil {
			return dualEnd{}, r.err
		}
		return d.end(r.y)
	}
}

// callGonum turns gonum's errors and panics into ours.
func (d *dual) callGonum(basis []int) (y []float64, err error) {
	defer func() {
		if r := recover(); r != nil {
			y, err = nil, statusErrorf(Numerical, "gonum simplex: panic: %v", r)
		}
	}()
	b := make([]float64, d.n)
	for j, c := range d.shifted {
		b[j] = -c
	}
	if _, columns := d.matrix.Dims(); columns == d.n {
		// Without rows and upper bounds gonum solves the equations instead: s = c.
		y = make([]float64, d.n)
		copy(y, d.shifted)
		return y, nil
	}
	_, y, err = gonumlp.Simplex(d.price, d.matrix, b, simplexTolerance, basis)
	switch {
	case err == nil:
		return y, nil
	case errors.Is(err, gonumlp.ErrUnbounded):
		return nil, statusErrorf(Infeasible, "gonum simplex: the dual is unbounded")
	default:
		return nil, &StatusError{Status: Numerical, Err: fmt.Errorf("gonum simplex: %w", err)}
	}
}

// end finds the basis where y is not 0, the primal solution from it, and the
// multipliers for the costs without their shift.
func (d *dual) end(y []float64) (dualEnd, error) {
	e := dualEnd{y: make([]float64, d.rows)}
	var places []int
	for k, v := range y {
		if v != 0 {
			places = append(places, k)
			e.basis = append(e.basis, d.names[k])
		}
	}
	if len(places) != d.n {
		return dualEnd{}, statusErrorf(Numerical,
			"gonum simplex: %d values of the dual are not 0, want %d", len(places), d.n)
	}
	basis, price, b := mat.NewDense(d.n, d.n, nil), mat.NewVecDense(d.n, nil),
		mat.NewVecDense(d.n, nil)
	for k, p := range places {
		for j := range d.n {
			basis.Set(j, k, d.matrix.At(j, p))
		}
		price.SetVec(k, d.price[p])
		b.SetVec(k, -d.cost[k])
	}
	var z, yB mat.VecDense
	if err := errors.Join(z.SolveVec(basis.T(), price), yB.SolveVec(basis, b)); err != nil {
		return dualEnd{}, &StatusError{Status: Numerical, Err: fmt.Errorf("gonum simplex: %w", err)}
	}
	e.z = z.RawVector().Data
	for k, name := range e.basis {
		if name >= 0 {
			e.y[name] = max(yB.AtVec(k), 0) // below 0 by the shift at most; finish checks the gap
		}
	}
	return e, nil
}

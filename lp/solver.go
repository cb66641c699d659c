package lp

import "context"

// Solver is a linear program that can be solved again and again while rows are
// added and deleted. Its methods may be called from several goroutines; they
// wait for each other, so Close waits for a running Solve. For work in parallel
// use one Solver per goroutine.
type Solver interface {
	// AddRows appends rows to the program; it copies them. The basis of an
	// earlier Solve is kept. On error no row was added. Cost: O(len(rows)·n).
	AddRows(rows []Row) error

	// DeleteRows deletes the rows with the given numbers, strictly increasing;
	// the others keep their order and close up. The basis is kept where no
	// deleted row belongs to it as a binding one.
	DeleteRows(indices []int) error

	// Rows returns the number of rows, 0 after Close.
	Rows() int

	// Solve returns the optimum with Status Optimal and a nil error. Any other
	// end is an error that wraps a *StatusError; its Status is that of the
	// Solution too. When ctx ends first the error also matches
	// context.Canceled or context.DeadlineExceeded; the Solver stays usable.
	Solve(ctx context.Context) (Solution, error)

	// Close frees the solver. It may be called more than once.
	Close() error
}

// Solution is the result of Solve.
type Solution struct {
	Status Status

	// X has length n and lies within the bounds exactly.
	X []float64

	// Dual has one entry per row, Dual[i] ≥ 0: the multiplier of row i in
	//
	//	C·x + Σ_i Dual[i] (Coef_i·x - RHS_i)
	//
	// Negative values within the solver's tolerance are set to 0.
	Dual []float64

	// Objective is C·X.
	Objective float64

	// Bound is the Lagrangian bound L(Dual), at most the optimum of this
	// program up to rounding; see the package comment. It is computed in plain
	// floating point: for a bound to be published, compute it again with
	// directed rounding from Dual.
	Bound float64

	// PrimalResidual is the largest amount by which X breaks a row, in units of
	// that row's largest coefficient (rounded down to a power of two); 0 where
	// none is broken.
	PrimalResidual float64

	// Iterations is the number of simplex iterations of this Solve.
	Iterations int

	// Work counts the multiplications of this Solve, failed attempts included: those that NewSimplex
	// made with cells, and for HiGHS two for each iteration and cell. The same calls give the same
	// number, whatever the machine and its load, so that limits can count it.
	Work int64
}

// Tolerance is the slack in the check of each answer: a row may be broken by Tolerance in the units
// of Solution.PrimalResidual, times max(1, |b|) in the same units; and Objective may exceed Bound
// by Tolerance times (n·max(1, max|X|) + the sum of the multipliers), rows and costs scaled to
// about 1 (multipliers weigh what rows may be off by).
const Tolerance = 1e-9

// New returns a solver for p of the best kind in this build: HiGHS if there is
// one, else the simplex method of [NewSimplex]. The Problem is copied.
func New(p Problem) (Solver, error) { return newBest(p) }

// NewSimplex returns the solver that is in every build: a dual simplex method on a dense tableau,
// for programs of at most 512 columns and 2²² cells (columns × rows) whose variables have at least
// one finite bound each. Beyond that size the error is ErrTooLarge. On dense rows it takes about
// as long as HiGHS; rows that are mostly zeros save it little. A program whose optimum is large,
// beyond 1e6 times its largest right-hand side in a column without bounds, is called unbounded.
//
// It ends after a number of pivots that grows with the size: with IterationLimit, if rounding
// makes it cycle.
func NewSimplex(p Problem) (Solver, error) { return newSimplex(p) }

// NewHiGHS returns a solver that uses HiGHS, or ErrNoHiGHS in a build without.
func NewHiGHS(p Problem) (Solver, error) { return newHiGHS(p) }

// SimplexName is the name of the solver of NewSimplex.
const SimplexName = "Go simplex"

// Backend returns the name of the solver that New uses, such as "HiGHS 1.10.0"
// or "Go simplex".
func Backend() string { return backend() }

package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// liar is an LP solver whose answers are tampered with.
type liar struct {
	lp.Solver
	lie func(*lp.Solution)
}

func (s liar) Solve(ctx context.Context) (lp.Solution, error) {
	sol, err := s.Solver.Solve(ctx)
	if err == nil {
		sol.X, sol.Dual = slices.Clone(sol.X), slices.Clone(sol.Dual)
		s.lie(&sol)
	}
	return sol, err
}

func lying(lie func(*lp.Solution)) func(lp.Problem) (lp.Solver, error) {
	return func(p lp.Problem) (lp.Solver, error) {
		s, err := lp.NewSimplex(p)
		if err != nil {
			return nil, err
		}
		return liar{s, lie}, nil
	}
}

// Nothing that a solver says is believed: whatever it lies about, either there is
// no table, or the table is private and its lower bound holds (the honest optimum
// is not below it), so its gap is never smaller than the truth.
func TestLyingSolver(t *testing.T) {
	each := func(lie func(i int, x float64) float64) func(*lp.Solution) {
		return func(s *lp.Solution) {
			for i, x := range s.X {
				s.X[i] = lie(i, x)
			}
		}
	}
	duals := func(lie func(i int, y float64) float64) func(*lp.Solution) {
		return func(s *lp.Solution) {
			for i, y := range s.Dual {
				s.Dual[i] = lie(i, y)
			}
		}
	}
	lies := map[string]func(*lp.Solution){
		"X × 1.01":   each(func(_ int, x float64) float64 { return 1.01 * x }),
		"X + 1e-7":   each(func(_ int, x float64) float64 { return x + 1e-7 }),
		"X = 1":      each(func(int, float64) float64 { return 1 }),
		"X = 2":      each(func(int, float64) float64 { return 2 }),
		"X negative": each(func(int, float64) float64 { return -1 }),
		"X NaN":      each(func(int, float64) float64 { return math.NaN() }),
		"X one NaN": each(func(i int, x float64) float64 {
			return []float64{math.NaN(), x}[min(i, 1)]
		}),
		"X infinite":      each(func(int, float64) float64 { return math.Inf(1) }),
		"X reversed":      func(s *lp.Solution) { slices.Reverse(s.X) },
		"X short":         func(s *lp.Solution) { s.X = s.X[:len(s.X)-1] },
		"X long":          func(s *lp.Solution) { s.X = append(s.X, 1) },
		"X nil":           func(s *lp.Solution) { s.X = nil },
		"Work negative":   func(s *lp.Solution) { s.Work = math.MinInt64 },
		"Work huge":       func(s *lp.Solution) { s.Work = math.MaxInt64 },
		"Dual × 2":        duals(func(_ int, y float64) float64 { return 2 * y }),
		"Dual + 1":        duals(func(_ int, y float64) float64 { return y + 1 }),
		"Dual negative":   duals(func(_ int, y float64) float64 { return -y - 1 }),
		"Dual huge":       duals(func(int, float64) float64 { return math.MaxFloat64 }),
		"Dual NaN":        duals(func(int, float64) float64 { return math.NaN() }),
		"Dual infinite":   duals(func(int, float64) float64 { return math.Inf(1) }),
		"Dual reversed":   func(s *lp.Solution) { slices.Reverse(s.Dual) },
		"Dual garbage":    duals(func(i int, _ float64) float64 { return float64(i*i%7) / 3 }),
		"Dual nil":        func(s *lp.Solution) { s.Dual = nil },
		"Objective":       func(s *lp.Solution) { s.Objective, s.Bound = -1e9, -1e9 },
		"Status":          func(s *lp.Solution) { s.Status = lp.Infeasible },
		"all zero":        func(s *lp.Solution) { clear(s.X); clear(s.Dual) },
		"nothing but yes": func(s *lp.Solution) { *s = lp.Solution{Status: lp.Optimal} },
	}
	for _, p := range []constraints.Problem{problem(t, 7, 2, 0.1, 1e-5), problem(t, 6, 2, 0.5, 0)} {
		for _, shape := range []gamma.Shape{gamma.Free, gamma.Monotone} {
			honest := optimal(t, p, Options{Shape: shape, NewSolver: lp.NewSimplex})
			for name, lie := range lies {
				for _, method := range []Method{CuttingPlanes, Exhaustive} {
					where := name + ", " + string(method) + ", " + string(shape)
					table, err := tryOptimal(t, where, p, Options{Shape: shape, Method: method,
						NewSolver: lying(lie)})
					if err != nil {
						if table != nil {
							t.Errorf("%s: a table besides the error %v", where, err)
						}
						continue
					}
					if _, err := gamma.Certify(context.Background(), p, table.Func()); err != nil ||
						table.Problem() != p {
						t.Errorf("%s: the table is not certified: %v", where, err)
					}
					// The honest optimum is private, so no valid lower bound exceeds it.
					if table.LowerBound > honest.ExpectedError {
						t.Errorf("%s: lower bound %.15f, but %.15f can be reached", where, table.LowerBound,
							honest.ExpectedError)
					}
					if truth := table.ExpectedError - honest.ExpectedError; table.Gap < truth {
						t.Errorf("%s: gap %g, the truth is %g", where, table.Gap, truth)
					}
				}
			}
		}
	}
}

// tryOptimal reports a panic as a failure of the test, and goes on.
func tryOptimal(t *testing.T, where string, p constraints.Problem,
	o Options) (table *gamma.Table, err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", where, r)
			err = errors.New("panic")
		}
	}()
	return Optimal(context.Background(), p, o)
}

// A solver's own failures come out as they are.
func TestSolverErrorsComeOut(t *testing.T) {
	want := errors.New("out of order")
	p := problem(t, 7, 2, 0.1, 1e-5)
	for name, o := range map[string]Options{
		"making":  {NewSolver: func(lp.Problem) (lp.Solver, error) { return nil, want }},
		"adding":  {NewSolver: failing(failingSolver{add: want})},
		"order":   {Shape: gamma.Monotone, NewSolver: failing(failingSolver{add: want})},
		"all":     {Method: Exhaustive, NewSolver: failing(failingSolver{add: want})},
		"solving": {NewSolver: failing(failingSolver{solve: want})},
	} {
		if table, err := Optimal(context.Background(), p, o); table != nil || !errors.Is(err, want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

type failingSolver struct {
	lp.Solver
	add, solve error
}

func failing(f failingSolver) func(lp.Problem) (lp.Solver, error) {
	return func(p lp.Problem) (lp.Solver, error) {
		s, err := lp.NewSimplex(p)
		f.Solver = s
		return f, err
	}
}

func (f failingSolver) AddRows(rows []lp.Row) error {
	if f.add != nil {
		return f.add
	}
	return f.Solver.AddRows(rows)
}

func (f failingSolver) Solve(ctx context.Context) (lp.Solution, error) {
	if f.solve != nil {
		return lp.Solution{}, f.solve
	}
	return f.Solver.Solve(ctx)
}

// The solver is closed however a solve ends.
func TestTheSolverIsClosed(t *testing.T) {
	for name, o := range map[string]Options{"done": {}, "failed": {}, "all": {Method: Exhaustive}} {
		closed := 0
		o.NewSolver = func(p lp.Problem) (lp.Solver, error) {
			s, err := lp.NewSimplex(p)
			f := failingSolver{Solver: s}
			if name == "failed" {
				f.solve = errors.New("out of order")
			}
			return closeCounter{f, &closed}, err
		}
		_, err := Optimal(context.Background(), problem(t, 5, 2, 0.1, 1e-5), o)
		if (err != nil) != (name == "failed") || closed != 1 {
			t.Errorf("%s: %v, closed %d times", name, err, closed)
		}
	}
}

type closeCounter struct {
	lp.Solver
	closed *int
}

func (c closeCounter) Close() error {
	*c.closed++
	return c.Solver.Close()
}

// Multipliers that are off within a solver's tolerance still make a proof: in the worst case
// their weights, which must not sum to more than ½, are scaled back to it.
func TestMultipliersWithinToleranceStillProve(t *testing.T) {
	p := constraints.Problem{K: 7, M: 2, Epsilon: 0.1, TeacherDelta: 1e-5, Delta: 1.99999e-5,
		Affected: 7}
	for _, factor := range []float64{1 - 1e-9, 1, 1 + 1e-9, 1 + 1e-8} {
		lie := lying(func(s *lp.Solution) {
			for i := range s.Dual {
				s.Dual[i] *= factor
			}
		})
		table, err := Optimal(context.Background(), p, Options{WorstCase: true, NewSolver: lie})
		if err != nil || !(table.Gap < 1e-6) {
			t.Errorf("multipliers × %v: %v", factor, err)
		}
	}
}

// moody is a solver with numerical trouble in the solves that trouble selects.
type moody struct {
	lp.Solver
	solves  *int
	status  lp.Status
	trouble func(solve, rows int) bool
}

func (s moody) Solve(ctx context.Context) (lp.Solution, error) {
	*s.solves++
	if s.trouble(*s.solves, s.Rows()) {
		return lp.Solution{}, &lp.StatusError{Status: s.status}
	}
	return s.Solver.Solve(ctx)
}

// Numerical trouble in some rounds, the first one too, costs time and no quality; in all rounds it
// comes out.
func TestNumericalTrouble(t *testing.T) {
	p := problem(t, 41, 5, 0.1, 1e-5)
	for _, o := range []Options{{}, {Shape: gamma.Monotone}} {
		most := 0
		o.Progress = func(p Progress) { most = max(most, p.Rows) }
		honest := optimal(t, p, o)
		for name, c := range map[string]struct {
			trouble func(solve, rows int) bool
			want    int // solves before the error comes out, 0 for no error
		}{
			"three times": {func(solve, _ int) bool { return solve%3 == 0 && solve < 12 }, 0},
			"once":        {func(solve, _ int) bool { return solve == 4 }, 0},
			"many rows":   {func(_, rows int) bool { return rows > most*3/4 }, 0},
			"first":       {func(solve, _ int) bool { return solve == 1 }, 0},
			"always":      {func(int, int) bool { return true }, 5}, // until one row is left
		} {
			where := fmt.Sprintf("%s, shape %s", name, o.Shape)
			solves := 0
			var rounds []int
			o.SolverName = lp.SimplexName // no other takes its place
			o.NewSolver = func(p lp.Problem) (lp.Solver, error) {
				s, err := lp.New(p)
				return moody{s, &solves, lp.Numerical, c.trouble}, err
			}
			o.Progress = func(p Progress) { rounds = append(rounds, p.Round) }
			table, err := Optimal(context.Background(), p, o)
			var status *lp.StatusError
			switch {
			case c.want > 0:
				if !errors.As(err, &status) || solves != c.want {
					t.Errorf("%s: %v after %d solves, want numerical trouble after %d", where, err, solves, c.want)
				}
			case err != nil:
				t.Errorf("%s: %v", where, err)
			case math.Abs(table.ExpectedError-honest.ExpectedError) > 1e-9 || table.Gap > 1e-9:
				t.Errorf("%s: error %v, gap %g; without trouble %v", where, table.ExpectedError, table.Gap,
					honest.ExpectedError)
			case rounds[len(rounds)-1] != len(rounds):
				t.Errorf("%s: rounds %v", where, rounds)
			}
		}
	}
}

// Trouble without end, and rounds without end, end with the best certified table, its proof, and its
// gap, which is true; the cache does not keep it.
func TestTroubleWithoutEnd(t *testing.T) {
	p := problem(t, 41, 5, 0.1, 1e-5)
	honest := optimal(t, p, Options{})
	for _, status := range []lp.Status{lp.Numerical, lp.IterationLimit, lp.Unknown} {
		for _, good := range []int{1, 3} {
			solves := 0
			o := Options{SolverName: lp.SimplexName, NewSolver: func(p lp.Problem) (lp.Solver, error) {
				s, err := lp.New(p)
				return moody{s, &solves, status, func(solve, _ int) bool { return solve > good }}, err
			}}
			store, err := cache.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			r, err := Cached(context.Background(), store, p, o)
			if err != nil {
				t.Fatalf("%v after %d rounds: %v", status, good, err)
			}
			table := r.Table
			// After one retreat no row is slack, and the solver is not asked about the same program again.
			if solves != good+2 || table.BetterBaseline() != nil ||
				table.LowerBound > honest.ExpectedError || table.ExpectedError < honest.LowerBound ||
				table.Gap < table.ExpectedError-honest.ExpectedError ||
				!strings.Contains(table.Solver, "stopped early by numerical trouble") {
				t.Errorf("%v after %d rounds, %d solves by %q: error %v, at least %v, gap %v; the optimum is %v",
					status, good, solves, table.Solver, table.ExpectedError, table.LowerBound, table.Gap,
					honest.ExpectedError)
			}
			if _, err := gamma.Certify(context.Background(), p, table.Func()); err != nil {
				t.Errorf("%v after %d rounds: %v", status, good, err)
			}
			if again, err := store.Get(keyOf(p, o)); r.Path != "" || err == nil {
				t.Errorf("%v after %d rounds: the cache keeps %d bytes", status, good, len(again))
			}
		}
	}
}

// Where another solver has trouble, in its first round or later, that of plain Go takes its place.
func TestTheOtherSolverTakesItsPlace(t *testing.T) {
	p := problem(t, 41, 5, 0.1, 1e-5)
	honest := optimal(t, p, Options{NewSolver: lp.NewSimplex})
	for _, good := range []int{0, 3} {
		solves := 0
		table := optimal(t, p, Options{SolverName: "moody", NewSolver: func(p lp.Problem) (lp.Solver, error) {
			s, err := lp.NewSimplex(p)
			return moody{s, &solves, lp.Unknown, func(solve, _ int) bool { return solve > good }}, err
		}})
		if table.Solver != lp.SimplexName || table.Gap > near*table.ErrorOfCoin() ||
			math.Abs(table.ExpectedError-honest.ExpectedError) > 1e-9 {
			t.Errorf("trouble after %d solves: error %v, gap %v by %q", good, table.ExpectedError, table.Gap,
				table.Solver)
		}
	}
}

// No solver is asked where γ ≡ 1 breaks no row: one that returned γ = 0 at counts of no weight made
// the complete search take minutes for 255 teachers.
func TestNoiselessNeedsNoSolver(t *testing.T) {
	p, err := constraints.NewProblem(41, 36, 1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if p.PostProcessing() {
		t.Fatal("every γ is private")
	}
	for _, shape := range []gamma.Shape{gamma.Free, gamma.Any} {
		table, err := Optimal(t.Context(), p, Options{Shape: shape, NewSolver: lying(func(*lp.Solution) {
			t.Errorf("shape %s: a program is solved", shape)
		})})
		if err != nil {
			t.Fatal(err)
		}
		if table.ExpectedError > 1e-11 || table.Gap > 1e-11 {
			t.Errorf("shape %s: error %g, gap %g", shape, table.ExpectedError, table.Gap)
		}
	}
}

// The suite_ files are one conformance suite for both solvers: Run runs it with a solver's
// constructor, Check and Vertices are its oracles.
package lp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/lp"
)

// tolerance is the suite's own slack beside lp.Tolerance, for its own rounding and for products of
// two quantities that are each within it.
const tolerance = 10 * lp.Tolerance

// Constructor makes a solver, as lp.New does.
type Constructor = func(lp.Problem) (lp.Solver, error)

// Run runs the suite on the solvers that newSolver makes.
func Run(t *testing.T, newSolver func(lp.Problem) (lp.Solver, error)) {
	t.Run("Known", func(t *testing.T) { testKnown(t, newSolver) })
	t.Run("Status", func(t *testing.T) { testStatus(t, newSolver) })
	t.Run("Vertices", func(t *testing.T) { testVertices(t, newSolver) })
	t.Run("Optimality", func(t *testing.T) { testOptimality(t, newSolver) })
	t.Run("Majority", func(t *testing.T) { testMajority(t, newSolver) })
	t.Run("CuttingPlanes", func(t *testing.T) { testCuttingPlanes(t, newSolver) })
	t.Run("Degenerate", func(t *testing.T) { testDegenerate(t, newSolver) })
	t.Run("Scaling", func(t *testing.T) { testScaling(t, newSolver) })
	t.Run("WarmStart", func(t *testing.T) { testWarmStart(t, newSolver) })
	t.Run("KeepsBasis", func(t *testing.T) { testKeepsBasis(t, newSolver) })
	t.Run("Work", func(t *testing.T) { testWork(t, newSolver) })
	t.Run("RecordedRun", func(t *testing.T) { testRecordedRun(t, newSolver) })
	t.Run("DeleteRows", func(t *testing.T) { testDeleteRows(t, newSolver) })
	t.Run("Histories", func(t *testing.T) { testHistories(t, newSolver) })
	t.Run("Context", func(t *testing.T) { testContext(t, newSolver) })
	t.Run("Close", func(t *testing.T) { testClose(t, newSolver) })
	t.Run("BadData", func(t *testing.T) { testBadData(t, newSolver) })
	t.Run("Copies", func(t *testing.T) { testCopies(t, newSolver) })
	t.Run("Parallel", func(t *testing.T) { testParallel(t, newSolver) })
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func open(t fataler, newSolver Constructor, p lp.Problem, rows []lp.Row) lp.Solver {
	t.Helper()
	s, err := newSolver(p)
	if err != nil {
		t.Fatalf("new solver: %v", err)
	}
	if err := s.AddRows(rows); err != nil {
		s.Close()
		t.Fatalf("AddRows: %v", err)
	}
	return s
}

// solve solves and checks.
func solve(t fataler, s lp.Solver, p lp.Problem, rows []lp.Row) lp.Solution {
	t.Helper()
	sol, err := s.Solve(context.Background())
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	if err := Check(p, rows, sol, tolerance); err != nil {
		t.Fatalf("wrong solution: %v", err)
	}
	return sol
}

func near(a, b float64) bool { return math.Abs(a-b) <= tolerance*max(1, math.Abs(b)) }

// Optima and multipliers worked out by hand.
func testKnown(t *testing.T, newSolver Constructor) {
	inf := math.Inf(1)
	for _, test := range []struct {
		name      string
		p         lp.Problem
		rows      []lp.Row
		objective float64
		x, dual   []float64 // nil: not unique
	}{
		{"no rows", Box(1, -2, 0), nil, -2, nil, []float64{}},
		{"one row", Box(-1, -1), []lp.Row{{Coef: []float64{1, 2}, RHS: 2}}, -1.5, []float64{1, 0.5},
			[]float64{0.5}},
		{"slack row", Box(-1, -1), []lp.Row{{Coef: []float64{1, 2}, RHS: 4}}, -2, []float64{1, 1},
			[]float64{0}},
		{
			"two rows, no upper bounds", // Dantzig's example: max 3x+5y
			lp.Problem{C: []float64{-3, -5}, Lower: []float64{0, 0}, Upper: []float64{inf, inf}},
			[]lp.Row{{Coef: []float64{1, 0}, RHS: 4}, {Coef: []float64{0, 2}, RHS: 12},
				{Coef: []float64{3, 2}, RHS: 18}},
			-36, []float64{2, 6}, []float64{0, 1.5, 1},
		},
		{
			"row from below", // x + y ≥ 1
			Box(2, 1), []lp.Row{{Coef: []float64{-1, -1}, RHS: -1}}, 1, []float64{0, 1}, nil,
		},
		{
			"upper bounds only",
			lp.Problem{C: []float64{1, 1}, Lower: []float64{-inf, -inf}, Upper: []float64{3, 3}},
			[]lp.Row{{Coef: []float64{-1, -2}, RHS: 5}, {Coef: []float64{-2, -1}, RHS: 4}},
			-3, []float64{-1, -2}, []float64{1. / 3, 1. / 3},
		},
		{
			"negative and fixed columns",
			lp.Problem{C: []float64{1, 1, -1}, Lower: []float64{-2, 0.5, -3}, Upper: []float64{-1, 0.5, 4}},
			[]lp.Row{{Coef: []float64{-1, 1, 1}, RHS: 3.5}}, -2.5, nil, nil,
		},
		{"zero cost", Box(0, 0), []lp.Row{{Coef: []float64{1, 1}, RHS: 1}}, 0, nil, []float64{0}},
		{"zero row", Box(-1), []lp.Row{{Coef: []float64{0}, RHS: 0}, {Coef: []float64{0}, RHS: 7}}, -1,
			[]float64{1}, []float64{0, 0}},
		{"feasible point only", Box(-1, 2), []lp.Row{{Coef: []float64{1, 0}, RHS: 0.25},
			{Coef: []float64{-1, 0}, RHS: -0.25}}, -0.25, []float64{0.25, 0}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, newSolver, test.p, test.rows)
			defer s.Close()
			sol := solve(t, s, test.p, test.rows)
			if !near(sol.Objective, test.objective) {
				t.Errorf("objective %g, want %g", sol.Objective, test.objective)
			}
			if test.x != nil && !slices.EqualFunc(sol.X, test.x, near) {
				t.Errorf("x = %v, want %v", sol.X, test.x)
			}
			if test.dual != nil && !slices.EqualFunc(sol.Dual, test.dual, near) {
				t.Errorf("dual = %v, want %v", sol.Dual, test.dual)
			}
			if s.Rows() != len(test.rows) {
				t.Errorf("Rows() = %d, want %d", s.Rows(), len(test.rows))
			}
		})
	}
}

func wantStatus(t *testing.T, sol lp.Solution, err error, want lp.Status) {
	t.Helper()
	var status *lp.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("error %v, want a *StatusError", err)
	}
	if status.Status != want || sol.Status != want {
		t.Fatalf("status %v in the error, %v in the solution, want %v: %v", status.Status, sol.Status,
			want, err)
	}
	if sol.X != nil || sol.Dual != nil {
		t.Fatalf("solution %+v beside the error %v", sol, err)
	}
}

func testStatus(t *testing.T, newSolver Constructor) {
	inf := math.Inf(1)
	open2 := lp.Problem{C: []float64{-1, 0}, Lower: []float64{0, 0}, Upper: []float64{inf, inf}}
	for _, test := range []struct {
		name string
		p    lp.Problem
		rows []lp.Row
		want lp.Status
	}{
		{"rows against each other", Box(1, 1), []lp.Row{{Coef: []float64{1, 1}, RHS: 0.5},
			{Coef: []float64{-1, -1}, RHS: -0.6}}, lp.Infeasible},
		{"row against bounds", Box(1, 1), []lp.Row{{Coef: []float64{-1, -1}, RHS: -2.5}}, lp.Infeasible},
		{"zero row", Box(1), []lp.Row{{Coef: []float64{0}, RHS: -1}}, lp.Infeasible},
		{"small row", Box(1), []lp.Row{{Coef: []float64{1e-14}, RHS: -1e-14}}, lp.Infeasible},
		{"no rows", open2, nil, lp.Unbounded},
		{"ray between rows", open2, []lp.Row{{Coef: []float64{1, -1}, RHS: 1},
			{Coef: []float64{-1, 1}, RHS: 1}}, lp.Unbounded},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, newSolver, test.p, test.rows)
			defer s.Close()
			sol, err := s.Solve(context.Background())
			wantStatus(t, sol, err, test.want)
		})
	}
	t.Run("infeasible, then not", func(t *testing.T) {
		p, rows := Box(-1, -1), []lp.Row{{Coef: []float64{1, 1}, RHS: 0.5},
			{Coef: []float64{-1, -1}, RHS: -0.6}}
		s := open(t, newSolver, p, rows)
		defer s.Close()
		sol, err := s.Solve(context.Background())
		wantStatus(t, sol, err, lp.Infeasible)
		if err := s.DeleteRows([]int{1}); err != nil {
			t.Fatal(err)
		}
		solve(t, s, p, rows[:1])
	})
}

// small draws a program of at most 4 columns whose few and small integers make
// ties, duplicate rows, zero rows and infeasible programs common.
func small(t *rapid.T) (lp.Problem, []lp.Row) {
	n := rapid.IntRange(1, 4).Draw(t, "columns")
	ints := func(name string, lo, hi int) []float64 {
		v := rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(t, name)
		f := make([]float64, n)
		for j := range v {
			f[j] = float64(v[j])
		}
		return f
	}
	p := lp.Problem{C: ints("C", -3, 3), Lower: ints("Lower", -2, 0), Upper: ints("Upper", 0, 3)}
	rows := make([]lp.Row, rapid.IntRange(0, 7).Draw(t, "rows"))
	for i := range rows {
		rows[i] = lp.Row{Coef: ints("Coef", -3, 3), RHS: float64(rapid.IntRange(-4, 6).Draw(t, "RHS"))}
	}
	return p, rows
}

// compare solves with s and by enumeration.
func compare(t *rapid.T, s lp.Solver, p lp.Problem, rows []lp.Row) {
	optimum, feasible := Vertices(p, rows)
	sol, err := s.Solve(context.Background())
	var status *lp.StatusError
	switch {
	case !feasible && errors.As(err, &status) && status.Status == lp.Infeasible:
	case !feasible:
		t.Fatalf("%+v, %v, but no vertex is feasible", sol, err)
	case err != nil:
		t.Fatalf("Solve: %v, but the optimum is %g", err, optimum)
	case !near(sol.Objective, optimum):
		t.Fatalf("objective %g, want %g, the best vertex", sol.Objective, optimum)
	default:
		if err := Check(p, rows, sol, tolerance); err != nil {
			t.Fatalf("wrong solution: %v", err)
		}
	}
}

func testVertices(t *testing.T, newSolver Constructor) {
	rapid.Check(t, func(t *rapid.T) {
		p, rows := small(t)
		s := open(t, newSolver, p, rows)
		defer s.Close()
		compare(t, s, p, rows)
	})
}

// Strong duality and complementary slackness where vertices cannot be enumerated.
func testOptimality(t *testing.T, newSolver Constructor) {
	for _, size := range [][2]int{{1, 1}, {2, 50}, {5, 5}, {10, 100}, {30, 20}, {30, 300}} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%dx%d/%d", size[1], size[0], seed), func(t *testing.T) {
				p, rows := Random(seed, size[0], size[1])
				s := open(t, newSolver, p, rows)
				defer s.Close()
				solve(t, s, p, rows)
			})
		}
	}
}

// The expected errors come from enumerations and cutting planes with another
// implementation, which agreed to 1e-10; K = 11, m = 1 has the closed form 1-2l/K.
func testMajority(t *testing.T, newSolver Constructor) {
	for _, test := range []struct {
		K       int
		m, del  float64
		rows    int
		want    float64
		precise float64 // of want
	}{
		{11, 1, 1e-5, 31824, 0.215672492986, 1e-11},
		{11, 3, 1e-5, 31824, 0.041269485245, 1e-11},
		{11, 3, 0, 364, 0.041306023299, 1e-11},
		{11, 7, 0, 364, 0, 1e-11},
		{15, 4, 0, 816, 0.024491582496, 1e-11},
		{41, 5, 0, 13244, 0.0174197572, 1e-9},
	} {
		t.Run(fmt.Sprintf("K=%d,m=%g,Δ=%g", test.K, test.m, test.del), func(t *testing.T) {
			p, rows, constant := Majority(test.K, test.m, 0.1, test.del, 0.75)
			if len(rows) != test.rows {
				t.Fatalf("%d rows, want %d", len(rows), test.rows)
			}
			s := open(t, newSolver, p, rows)
			defer s.Close()
			sol := solve(t, s, p, rows)
			if got := constant + sol.Objective; math.Abs(got-test.want) > test.precise {
				t.Errorf("expected error %.12g, want %.12g", got, test.want)
			}
		})
	}
}

func testDegenerate(t *testing.T, newSolver Constructor) {
	n := 8
	ones, c := make([]float64, n), make([]float64, n)
	for j := range n {
		ones[j], c[j] = 1, -1 // every column is as good as every other
	}
	p := Box(c...)
	binding := lp.Row{Coef: ones, RHS: 2.5}

	duplicates := make([]lp.Row, 40)
	redundant := []lp.Row{binding}
	for i := range duplicates {
		duplicates[i] = binding
		redundant = append(redundant, lp.Row{Coef: ones, RHS: 2.5 + float64(i)/8})
	}
	multiples := []lp.Row{binding}
	for k := -30; k <= 30; k += 10 {
		f := math.Ldexp(1, k)
		row := lp.Row{Coef: make([]float64, n), RHS: 2.5 * f}
		for j := range n {
			row.Coef[j] = f
		}
		multiples = append(multiples, row)
	}
	// A vertex at the origin with far more rows than columns, as ε → 0 makes them.
	var cone []lp.Row
	_, random := Random(1, n, 60)
	for _, r := range random {
		cone = append(cone, lp.Row{Coef: r.Coef, RHS: 0})
	}
	// Klee and Minty's cube, on which Dantzig's rule visits all vertices.
	var cube []lp.Row
	for i := range n {
		row := lp.Row{Coef: make([]float64, n), RHS: math.Pow(0.01, float64(n-1-i))}
		for j := range i {
			row.Coef[j] = 2 * math.Pow(10, float64(i-j)) * row.RHS
		}
		row.Coef[i] = row.RHS
		cube = append(cube, row)
	}
	for _, test := range []struct {
		name string
		rows []lp.Row
	}{
		{"duplicates", duplicates}, {"redundant", redundant}, {"multiples", multiples}, {"cone", cone},
		{"Klee-Minty", cube},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, newSolver, p, test.rows)
			defer s.Close()
			solve(t, s, p, test.rows)
			// Ties once more, from a basis.
			more := []lp.Row{test.rows[0], test.rows[len(test.rows)-1]}
			if err := s.AddRows(more); err != nil {
				t.Fatal(err)
			}
			solve(t, s, p, slices.Concat(test.rows, more))
		})
	}
}

// Coefficients far from 1 must count: HiGHS by default drops those up to 1e-9.
func testScaling(t *testing.T, newSolver Constructor) {
	for _, test := range []struct {
		name      string
		p         lp.Problem
		row       lp.Row
		objective float64
	}{
		{"small row", Box(-1, -1), lp.Row{Coef: []float64{1e-10, 2e-10}, RHS: 2e-10}, -1.5},
		{"very small row", Box(-1, -1), lp.Row{Coef: []float64{1e-200, 2e-200}, RHS: 2e-200}, -1.5},
		{"large row", Box(-1, -1), lp.Row{Coef: []float64{1e200, 2e200}, RHS: 2e200}, -1.5},
		{
			"small beside 1", // 1e-10 x ≤ 1e-8, with x up to 1e3: dropped, x would be 1000
			lp.Problem{C: []float64{-1, 0}, Lower: []float64{0, 0}, Upper: []float64{1000, 1}},
			lp.Row{Coef: []float64{1e-10, 1}, RHS: 1e-8}, -100,
		},
		{
			"at the limit", // 1e-11 x - y ≤ -0.5 with y ≤ 0.5 + 1e-9
			lp.Problem{C: []float64{-1, 0}, Lower: []float64{0, 0}, Upper: []float64{1000, 0.5 + 1e-9}},
			lp.Row{Coef: []float64{1e-11, -1}, RHS: -0.5}, -100,
		},
		{"small costs", lp.Problem{C: []float64{-1e-12, -1e-12}, Lower: []float64{0, 0},
			Upper: []float64{1, 1}}, lp.Row{Coef: []float64{1, 2}, RHS: 2}, -1.5e-12},
		{"huge costs", lp.Problem{C: []float64{-1e30, -1e30}, Lower: []float64{0, 0},
			Upper: []float64{1, 1}}, lp.Row{Coef: []float64{1, 2}, RHS: 2}, -1.5e30},
		{"right-hand side beyond 1e20", Box(-1, -1), lp.Row{Coef: []float64{1e-30, 1e-30}, RHS: 1}, -2},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, newSolver, test.p, []lp.Row{test.row})
			defer s.Close()
			sol, err := s.Solve(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			// Tolerances would allow more where a small coefficient meets a large one, but
			// the optimal vertices of these programs are far from each other.
			if math.Abs(sol.Objective-test.objective) > 1e-6*math.Abs(test.objective) {
				t.Errorf("objective %g, want %g; x = %v", sol.Objective, test.objective, sol.X)
			}
		})
	}
	t.Run("dropped", func(t *testing.T) {
		// Below 1e-12 of the largest, a coefficient is replaced by its most on the box.
		p := Box(-1, 0)
		row := lp.Row{Coef: []float64{1, 1e-13}, RHS: 0.5}
		s := open(t, newSolver, p, []lp.Row{row})
		defer s.Close()
		sol := solve(t, s, p, []lp.Row{row})
		if sol.X[0]+1e-13 > 0.5+1e-16 {
			t.Errorf("x = %v: the row was loosened", sol.X)
		}
		q := p
		q.Upper = []float64{1, math.Inf(1)}
		s2, err := newSolver(q)
		if err != nil {
			t.Fatal(err)
		}
		defer s2.Close()
		if err := s2.AddRows([]lp.Row{row}); err == nil || !strings.Contains(err.Error(), "Coef[1]") {
			t.Errorf("AddRows: %v, want an error that names Coef[1]", err)
		}
		if s2.Rows() != 0 {
			t.Errorf("Rows() = %d after a refused row", s2.Rows())
		}
	})
}

func testWarmStart(t *testing.T, newSolver Constructor) {
	for seed := range uint64(3) {
		p, rows := Random(seed, 20, 120)
		warm := open(t, newSolver, p, nil)
		defer warm.Close()
		for k := 0; k < len(rows); k += 15 {
			if err := warm.AddRows(rows[k : k+15]); err != nil {
				t.Fatal(err)
			}
			got := solve(t, warm, p, rows[:k+15])
			cold := open(t, newSolver, p, rows[:k+15])
			want := solve(t, cold, p, rows[:k+15])
			cold.Close()
			if !near(got.Objective, want.Objective) {
				t.Errorf("%d rows: objective %g warm, %g cold", k+15, got.Objective, want.Objective)
			}
			// A second solve of the same program changes nothing.
			if again := solve(t, warm, p, rows[:k+15]); !near(again.Objective, got.Objective) {
				t.Errorf("%d rows: objective %g, again %g", k+15, got.Objective, again.Objective)
			}
		}
	}
}

func testDeleteRows(t *testing.T, newSolver Constructor) {
	p, rows := Random(5, 12, 80)
	s := open(t, newSolver, p, rows)
	defer s.Close()
	sol := solve(t, s, p, rows)

	remove := func(drop func(i int) bool) {
		t.Helper()
		var indices []int
		var kept []lp.Row
		for i, r := range rows {
			if drop(i) {
				indices = append(indices, i)
			} else {
				kept = append(kept, r)
			}
		}
		if len(indices) == 0 || len(indices) == len(rows) {
			t.Fatalf("bad test: %d of %d rows to delete", len(indices), len(rows))
		}
		if err := s.DeleteRows(indices); err != nil {
			t.Fatal(err)
		}
		rows = kept
		if s.Rows() != len(rows) {
			t.Fatalf("Rows() = %d, want %d", s.Rows(), len(rows))
		}
	}
	before := sol.Objective
	remove(func(i int) bool { return sol.Dual[i] == 0 && i%2 == 0 }) // not binding
	sol = solve(t, s, p, rows)
	if !near(sol.Objective, before) {
		t.Errorf("objective %g after deleting rows that do not bind, want %g", sol.Objective, before)
	}
	remove(func(i int) bool { return sol.Dual[i] > 0 }) // binding
	sol = solve(t, s, p, rows)
	if sol.Objective >= before-1e-6 {
		t.Errorf("objective %g after deleting all binding rows, %g before", sol.Objective, before)
	}
	for name, indices := range map[string][]int{"negative": {-1}, "too large": {len(rows)},
		"twice": {1, 1}, "falling": {2, 1}} {
		if err := s.DeleteRows(indices); err == nil {
			t.Errorf("DeleteRows(%v), %s: no error", indices, name)
		}
	}
	if err := s.DeleteRows(nil); err != nil {
		t.Errorf("DeleteRows(nil): %v", err)
	}
	solve(t, s, p, rows)
}

// Any history of adding, deleting and solving ends where a new solver does.
func testHistories(t *testing.T, newSolver Constructor) {
	rapid.Check(t, func(t *rapid.T) {
		p, pool := small(t)
		s := open(t, newSolver, p, nil)
		defer s.Close()
		var rows []lp.Row
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				if room := 7 - len(rows); room > 0 && len(pool) > 0 {
					add := pool[:rapid.IntRange(0, min(room, len(pool))).Draw(t, "add")]
					if err := s.AddRows(add); err != nil {
						t.Fatalf("AddRows: %v", err)
					}
					rows = slices.Concat(rows, add)
				}
			case 1:
				var indices []int
				var kept []lp.Row
				for i, r := range rows {
					if rapid.Bool().Draw(t, "delete") {
						indices = append(indices, i)
					} else {
						kept = append(kept, r)
					}
				}
				if err := s.DeleteRows(indices); err != nil {
					t.Fatalf("DeleteRows: %v", err)
				}
				rows = kept
			case 2:
				compare(t, s, p, rows)
			}
		}
		compare(t, s, p, rows)
	})
}

func testContext(t *testing.T, newSolver Constructor) {
	p, rows := Random(1, 10, 20)
	s := open(t, newSolver, p, rows)
	defer s.Close()

	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		sol, err := s.Solve(ctx)
		wantStatus(t, sol, err, lp.Interrupted)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	})
	t.Run("deadline before", func(t *testing.T) {
		ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
		defer cancel()
		sol, err := s.Solve(ctx)
		wantStatus(t, sol, err, lp.TimeLimit)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want context.DeadlineExceeded", err)
		}
	})
	t.Run("usable after", func(t *testing.T) { solve(t, s, p, rows) })

	// A program that takes a while, stopped after a small part of that. The
	// machine may be busy and the stop come late, so several tries count.
	p, rows = Random(2, 50, 3000)
	start := time.Now()
	s2 := open(t, newSolver, p, rows)
	want := solve(t, s2, p, rows)
	s2.Close()
	wait := time.Since(start) / 20
	for name, stop := range map[string]struct {
		begin func() (context.Context, context.CancelFunc)
		cause error
		want  lp.Status
	}{
		"cancelled meanwhile": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			timer := time.AfterFunc(wait, cancel)
			return ctx, func() { timer.Stop(); cancel() }
		}, context.Canceled, lp.Interrupted},
		"deadline meanwhile": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), wait)
		}, context.DeadlineExceeded, lp.TimeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				s := open(t, newSolver, p, rows)
				ctx, cancel := stop.begin()
				sol, err := s.Solve(ctx)
				cancel()
				if err == nil {
					s.Close()
					continue
				}
				wantStatus(t, sol, err, stop.want)
				if !errors.Is(err, stop.cause) {
					t.Errorf("error %v, want %v", err, stop.cause)
				}
				after := solve(t, s, p, rows)
				if !near(after.Objective, want.Objective) {
					t.Errorf("objective %g after the interruption, want %g", after.Objective, want.Objective)
				}
				s.Close()
				return
			}
			t.Errorf("10 solves of %v each ran to their ends, none stopped after %v", 20*wait, wait)
		})
	}
}

func testClose(t *testing.T, newSolver Constructor) {
	p, rows := Random(1, 4, 4)
	s := open(t, newSolver, p, rows)
	solve(t, s, p, rows)
	for range 3 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	_, err := s.Solve(context.Background())
	for name, err := range map[string]error{
		"Solve": err, "AddRows": s.AddRows(rows), "AddRows(nil)": s.AddRows(nil),
		"DeleteRows": s.DeleteRows([]int{0}),
	} {
		if !errors.Is(err, lp.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
	if s.Rows() != 0 {
		t.Errorf("Rows() = %d after Close", s.Rows())
	}
}

func testBadData(t *testing.T, newSolver Constructor) {
	nan, inf := math.NaN(), math.Inf(1)
	good := func() lp.Problem { return Box(1, 2) }
	for _, test := range []struct {
		name  string
		spoil func(*lp.Problem)
		want  string // in the error
	}{
		{"empty", func(p *lp.Problem) { *p = lp.Problem{} }, "no columns"},
		{"short Lower", func(p *lp.Problem) { p.Lower = p.Lower[:1] }, "len(Lower) = 1"},
		{"nil Upper", func(p *lp.Problem) { p.Upper = nil }, "len(Upper) = 0"},
		{"NaN cost", func(p *lp.Problem) { p.C[1] = nan }, "C[1] = NaN"},
		{"infinite cost", func(p *lp.Problem) { p.C[1] = -inf }, "C[1] = -Inf"},
		{"NaN lower", func(p *lp.Problem) { p.Lower[0] = nan }, "Lower[0] = NaN"},
		{"NaN upper", func(p *lp.Problem) { p.Upper[0] = nan }, "Upper[0] = NaN"},
		{"lower +Inf", func(p *lp.Problem) { p.Lower[0], p.Upper[0] = inf, inf }, "Lower[0] = +Inf"},
		{"upper -Inf", func(p *lp.Problem) { p.Lower[0], p.Upper[0] = -inf, -inf }, "Upper[0] = -Inf"},
		{"large lower", func(p *lp.Problem) { p.Lower[0] = -1e20 }, "Lower[0] = -1e+20"},
		{"large upper", func(p *lp.Problem) { p.Upper[0] = 1e20 }, "Upper[0] = 1e+20"},
		{"crossed", func(p *lp.Problem) { p.Lower[1] = 1.5 }, "Lower[1] = 1.5 is above Upper[1] = 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := good()
			test.spoil(&p)
			s, err := newSolver(p)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	s := open(t, newSolver, good(), nil)
	defer s.Close()
	fine := lp.Row{Coef: []float64{1, 1}, RHS: 1}
	for _, test := range []struct {
		name string
		row  lp.Row
		want string
	}{
		{"short", lp.Row{Coef: []float64{1}, RHS: 1}, "row 1: len(Coef) = 1"},
		{"long", lp.Row{Coef: []float64{1, 2, 3}, RHS: 1}, "row 1: len(Coef) = 3"},
		{"nil", lp.Row{RHS: 1}, "row 1: len(Coef) = 0"},
		{"NaN", lp.Row{Coef: []float64{1, nan}, RHS: 1}, "row 1: Coef[1] = NaN"},
		{"Inf", lp.Row{Coef: []float64{-inf, 1}, RHS: 1}, "row 1: Coef[0] = -Inf"},
		{"NaN side", lp.Row{Coef: []float64{1, 1}, RHS: nan}, "row 1: RHS = NaN"},
		{"Inf side", lp.Row{Coef: []float64{1, 1}, RHS: inf}, "row 1: RHS = +Inf"},
		{"side too far below", lp.Row{Coef: []float64{1e-30, 1e-30}, RHS: -1}, "row 1: RHS = -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := s.AddRows([]lp.Row{fine, test.row}); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if s.Rows() != 0 {
				t.Errorf("Rows() = %d after a refused AddRows", s.Rows())
			}
		})
	}
	solve(t, s, good(), nil)
}

// The solver keeps nothing of the caller's slices.
func testCopies(t *testing.T, newSolver Constructor) {
	p, rows := Random(3, 6, 10)
	q, same := Random(3, 6, 10)
	s := open(t, newSolver, p, rows)
	defer s.Close()
	for j := range p.C {
		p.C[j], p.Lower[j], p.Upper[j] = 1, 0.5, 0.5
	}
	for _, r := range rows {
		clear(r.Coef)
	}
	solve(t, s, q, same)
	first := solve(t, s, q, same)
	clear(first.X)
	clear(first.Dual)
	solve(t, s, q, same)
}

// One solver per goroutine, and one shared by all.
func testParallel(t *testing.T, newSolver Constructor) {
	p, rows := Random(4, 15, 60)
	shared := open(t, newSolver, p, rows)
	defer shared.Close()
	want := solve(t, shared, p, rows)
	done := make(chan error)
	const workers = 8
	for w := range workers {
		go func() {
			done <- func() error {
				s := shared
				if w%2 == 0 {
					var err error
					if s, err = newSolver(p); err != nil {
						return err
					}
					defer s.Close()
					if err := s.AddRows(rows); err != nil {
						return err
					}
				}
				for range 5 {
					sol, err := s.Solve(context.Background())
					if err != nil {
						return err
					}
					if !near(sol.Objective, want.Objective) {
						return fmt.Errorf("objective %g, want %g", sol.Objective, want.Objective)
					}
				}
				return nil
			}()
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// testRecordedRun replays a recorded run; each warm answer must be the cold one.
func testRecordedRun(t *testing.T, newSolver Constructor) {
	p, batches := recordedRun()
	warm := open(t, newSolver, p, nil)
	defer warm.Close()
	var rows []lp.Row
	for i, b := range batches {
		rows = append(rows, b...)
		if err := warm.AddRows(b); err != nil {
			t.Fatalf("batch %d: %v", i, err)
		}
		got := solve(t, warm, p, rows)
		cold := open(t, newSolver, p, rows)
		want := solve(t, cold, p, rows)
		cold.Close()
		if !near(got.Objective, want.Objective) {
			t.Errorf("batch %d: objective %v warm, %v cold", i, got.Objective, want.Objective)
		}
	}
}

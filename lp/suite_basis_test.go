package lp_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
)

// A basis survives added rows and the deletion of rows that do not bind. The
// counts are those of a deterministic algorithm, with a wide margin.
func testKeepsBasis(t *testing.T, newSolver Constructor) {
	p, rows := Random(7, 50, 400)
	solve := func(s lp.Solver) lp.Solution {
		t.Helper()
		return must.Get(s.Solve(context.Background()))(t)
	}
	open := func(rows []lp.Row) lp.Solver {
		t.Helper()
		s, err := newSolver(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.AddRows(rows); err != nil {
			t.Fatal(err)
		}
		return s
	}
	cold, warm := open(rows), open(rows[:350])
	defer cold.Close()
	defer warm.Close()
	coldIterations := solve(cold).Iterations
	solve(warm)
	if err := warm.AddRows(rows[350:]); err != nil {
		t.Fatal(err)
	}
	sol := solve(warm)
	t.Logf("iterations: cold %d, warm %d", coldIterations, sol.Iterations)
	if sol.Iterations == 0 || 3*sol.Iterations >= 2*coldIterations {
		t.Errorf("%d iterations warm, %d cold: the basis was lost", sol.Iterations, coldIterations)
	}

	if again := solve(warm); again.Iterations != 0 {
		t.Errorf("%d iterations to solve a solved program", again.Iterations)
	}
	var loose []int
	for i, y := range sol.Dual {
		activity := 0.0
		for j, a := range rows[i].Coef {
			activity += a * sol.X[j]
		}
		if y == 0 && activity < rows[i].RHS-1e-6 {
			loose = append(loose, i)
		}
	}
	if len(loose) < 300 {
		t.Fatalf("bad test: only %d rows do not bind", len(loose))
	}
	if err := warm.DeleteRows(loose[1:]); err != nil {
		t.Fatal(err)
	}
	if after := solve(warm); after.Iterations != 0 || math.Abs(after.Objective-sol.Objective) > 1e-9 {
		t.Errorf("after deleting rows that do not bind: %d iterations, objective %g, want 0 and %g",
			after.Iterations, after.Objective, sol.Objective)
	}

	// A row that is new when another goes is still known to be new: a cut costs a few iterations and not
	// a new beginning.
	slack := lp.Row{Coef: make([]float64, len(p.C)), RHS: 1}
	cut := lp.Row{Coef: make([]float64, len(p.C)), RHS: -1e-3}
	for j, x := range sol.X {
		slack.Coef[j] = p.C[j] * 1e-3
		cut.Coef[j] = -p.C[j]
		cut.RHS -= p.C[j] * x
	}
	if err := warm.AddRows([]lp.Row{cut, slack, slack}); err != nil {
		t.Fatal(err)
	}
	if err := warm.DeleteRows([]int{loose[0], warm.Rows() - 1}); err != nil {
		t.Fatal(err)
	}
	var kept []lp.Row
	for i, r := range rows {
		if !slices.Contains(loose, i) {
			kept = append(kept, r)
		}
	}
	fresh := open(append(kept, cut, slack))
	defer fresh.Close()
	after, coldly := solve(warm), solve(fresh)
	if after.Iterations == 0 || 2*after.Iterations >= coldly.Iterations ||
		math.Abs(after.Objective-sol.Objective-1e-3) > 1e-9 {
		t.Errorf("a cut: %d iterations, cold %d; the objective rises by %g", after.Iterations,
			coldly.Iterations, after.Objective-sol.Objective)
	}
}

// Work is counted: the same for the same calls, no less than what the iterations touch, none where nothing
// is left to do, and that of an attempt that failed, too.
func testWork(t *testing.T, newSolver Constructor) {
	p, rows := Random(11, 30, 120)
	run := func() (out []lp.Solution) {
		s := open(t, newSolver, p, rows[:80])
		defer s.Close()
		out = append(out, solve(t, s, p, rows[:80]))
		if err := s.AddRows(rows[80:]); err != nil {
			t.Fatal(err)
		}
		return append(out, solve(t, s, p, rows), solve(t, s, p, rows))
	}
	first, second := run(), run()
	for i, sol := range first {
		if sol.Work != second[i].Work {
			t.Errorf("solve %d: work %d, and %d", i, sol.Work, second[i].Work)
		}
		if least := int64(sol.Iterations) * int64(len(sol.Dual)*len(sol.X)); sol.Work < least {
			t.Errorf("solve %d: work %d of %d iterations", i, sol.Work, sol.Iterations)
		}
	}
	if first[0].Work == 0 || first[1].Work == 0 || first[2].Work >= first[1].Work {
		t.Errorf("work %d, with new rows %d, again %d", first[0].Work, first[1].Work, first[2].Work)
	}
	// Rows that exclude each other: there is no optimum, but work.
	s := open(t, newSolver, p, append(slices.Clone(rows), lp.Row{Coef: slices.Repeat([]float64{-1}, 30), RHS: -29.9}))
	defer s.Close()
	if sol, err := s.Solve(context.Background()); err == nil || sol.Work == 0 {
		t.Errorf("work %d of a program without solution: %v", sol.Work, err)
	}
}

package lp_test

import (
	"context"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/must"
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
	if err := warm.DeleteRows(loose); err != nil {
		t.Fatal(err)
	}
	if after := solve(warm); after.Iterations != 0 || math.Abs(after.Objective-sol.Objective) > 1e-9 {
		t.Errorf("after deleting rows that do not bind: %d iterations, objective %g, want 0 and %g",
			after.Iterations, after.Objective, sol.Objective)
	}
}

package lp_test

import (
	"slices"
	"testing"

	"github.com/darrm/darrm/lp"
)

// testCuttingPlanes uses a solver as its callers do: solve with few rows, add those
// that the answer breaks most, delete those that have not been binding, repeat. The
// optimum is the optimum of all rows, known from elsewhere.
func testCuttingPlanes(t *testing.T, newSolver Constructor) {
	const (
		want   = 0.0174197572 // K = 41, m = 5: see testMajority
		batch  = 25
		rounds = 200
	)
	p, all, constant := Majority(41, 5, 0.1, 0, 0.75)
	s := open(t, newSolver, p, nil)
	defer s.Close()
	var active []int // rows of s, as numbers in all
	before := -1.0
	for round := range rounds {
		rows := make([]lp.Row, len(active))
		for k, i := range active {
			rows[k] = all[i]
		}
		sol := solve(t, s, p, rows)
		// More rows, higher optimum; deleted ones were not binding.
		if sol.Objective < before-1e-9 {
			t.Fatalf("round %d: objective %.12g after %.12g", round, sol.Objective, before)
		}
		before = sol.Objective

		type broken struct {
			row int
			by  float64
		}
		var worst []broken
		for i, r := range all {
			if by := product(r.Coef, sol.X) - r.RHS; by > 1e-10 && !slices.Contains(active, i) {
				worst = append(worst, broken{i, by})
			}
		}
		if len(worst) == 0 {
			t.Logf("%d rounds, %d rows at the end", round+1, len(active))
			if got := constant + sol.Objective; got > want+1e-9 || got < want-1e-9 {
				t.Errorf("expected error %.12g, want %.10g", got, want)
			}
			return
		}
		if round%3 == 2 {
			var indices, kept []int
			for k, i := range active {
				if sol.Dual[k] == 0 && product(all[i].Coef, sol.X) < all[i].RHS-1e-6 {
					indices = append(indices, k)
				} else {
					kept = append(kept, i)
				}
			}
			if err := s.DeleteRows(indices); err != nil {
				t.Fatal(err)
			}
			active = kept
		}
		slices.SortFunc(worst, func(a, b broken) int {
			switch {
			case a.by > b.by:
				return -1
			case a.by < b.by:
				return 1
			}
			return a.row - b.row
		})
		var add []lp.Row
		for _, b := range worst[:min(batch, len(worst))] {
			active = append(active, b.row)
			add = append(add, all[b.row])
		}
		if err := s.AddRows(add); err != nil {
			t.Fatal(err)
		}
		if s.Rows() != len(active) {
			t.Fatalf("Rows() = %d, want %d", s.Rows(), len(active))
		}
	}
	t.Fatalf("not done after %d rounds", rounds)
}

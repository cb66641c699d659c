package lp_test

import (
	"math"
	"testing"

	"github.com/darrm/darrm/lp"
)

// The oracles themselves, on a program worked out by hand, and mutants of its
// answer, which Check must reject.
func TestCheckRejects(t *testing.T) {
	p := Box(-1, -1)
	rows := []lp.Row{{Coef: []float64{1, 2}, RHS: 2}, {Coef: []float64{4, 0}, RHS: 8}}
	right := func() lp.Solution {
		return lp.Solution{Status: lp.Optimal, X: []float64{1, 0.5}, Dual: []float64{0.5, 0},
			Objective: -1.5, Bound: -1.5}
	}
	if err := Check(p, rows, right(), 1e-12); err != nil {
		t.Fatalf("right solution: %v", err)
	}
	for name, mutate := range map[string]func(*lp.Solution){
		"status":             func(s *lp.Solution) { s.Status = lp.Unknown },
		"no x":               func(s *lp.Solution) { s.X = nil },
		"no dual":            func(s *lp.Solution) { s.Dual = nil },
		"NaN":                func(s *lp.Solution) { s.X[0] = math.NaN() },
		"outside":            func(s *lp.Solution) { s.X[0] += 1e-6 },
		"row broken":         func(s *lp.Solution) { s.X[1] += 1e-6 },
		"not optimal":        func(s *lp.Solution) { s.X[1] -= 1e-6 },
		"sign of dual":       func(s *lp.Solution) { s.Dual[0] *= -1 },
		"scale of dual":      func(s *lp.Solution) { s.Dual[0] *= 1.001 },
		"dual of slack row":  func(s *lp.Solution) { s.Dual[1] = 1e-6 },
		"duals exchanged":    func(s *lp.Solution) { s.Dual[0], s.Dual[1] = s.Dual[1], s.Dual[0] },
		"sign of objective":  func(s *lp.Solution) { s.Objective *= -1 },
		"objective":          func(s *lp.Solution) { s.Objective += 1e-6 },
		"bound above":        func(s *lp.Solution) { s.Bound += 1e-6 },
		"bound far below":    func(s *lp.Solution) { s.Bound -= 1e-6 },
		"residual":           func(s *lp.Solution) { s.PrimalResidual = 1 },
		"residual below 0":   func(s *lp.Solution) { s.PrimalResidual = -1 },
		"residual NaN":       func(s *lp.Solution) { s.PrimalResidual = math.NaN() },
		"multiplier is NaN":  func(s *lp.Solution) { s.Dual[0] = math.NaN() },
		"another good point": func(s *lp.Solution) { s.X = []float64{0.9, 0.55}; s.Objective = -1.45 },
	} {
		s := right()
		mutate(&s)
		if err := Check(p, rows, s, 1e-9); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestVertices(t *testing.T) {
	row := func(rhs float64, coef ...float64) lp.Row { return lp.Row{Coef: coef, RHS: rhs} }
	for _, test := range []struct {
		name     string
		p        lp.Problem
		rows     []lp.Row
		want     float64
		feasible bool
	}{
		{"box", Box(1, -2), nil, -2, true},
		{"one row", Box(-1, -1), []lp.Row{row(2, 1, 2)}, -1.5, true},
		{"empty", Box(1), []lp.Row{row(-1, 1)}, 0, false},
		{"cube cut by a plane", Box(-1, -1, -1), []lp.Row{row(1, 1, 1, 1)}, -1, true},
	} {
		got, feasible := Vertices(test.p, test.rows)
		if feasible != test.feasible || feasible && math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %g, %v, want %g, %v", test.name, got, feasible, test.want, test.feasible)
		}
	}
}

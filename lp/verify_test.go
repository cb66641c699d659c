package lp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// finish protects the callers from a wrong solver. Its mutants here are wrong answers to one
// program: minimise -x-y, x + 2y ≤ 2, 4x ≤ 8, in [0, 1]²; the answer is (1, 1/2), with multipliers
// 1/2 and 0.
func TestFinishRejects(t *testing.T) {
	m, err := newModel(Problem{C: []float64{-1, -1}, Lower: []float64{0, 0}, Upper: []float64{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	m.rows, err = m.scale([]Row{{Coef: []float64{1, 2}, RHS: 2}, {Coef: []float64{4, 0}, RHS: 8}})
	if err != nil {
		t.Fatal(err)
	}
	// The first row's largest coefficient is 2, so that its scaled multiplier is 1.
	sol, err := m.finish([]float64{1, 0.5}, []float64{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if sol.Objective != -1.5 || sol.Bound != -1.5 || sol.PrimalResidual != 0 ||
		!slices.Equal(sol.Dual, []float64{0.5, 0}) {
		t.Errorf("%+v", sol)
	}
	// What rounding does is mended.
	sol, err = m.finish([]float64{1 + 1e-10, -1e-10 + 0.5}, []float64{1, -1e-10})
	if err != nil || sol.X[0] != 1 || sol.Dual[1] != 0 {
		t.Errorf("%+v, %v", sol, err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name    string
		x, dual []float64
		want    string
	}{
		{"few values", []float64{1}, []float64{1, 0}, "1 values"},
		{"few multipliers", []float64{1, 0.5}, []float64{1}, "1 multipliers"},
		{"NaN", []float64{1, nan}, []float64{1, 0}, "x[1] = NaN"},
		{"Inf", []float64{inf, 0.5}, []float64{1, 0}, "x[0] = +Inf"},
		{"above bounds", []float64{1.00001, 0.5}, []float64{1, 0}, "x[0] = 1.00001"},
		{"below bounds", []float64{1, -0.00001}, []float64{1, 0}, "x[1] = -1e-05"},
		{"row broken", []float64{1, 0.50001}, []float64{1, 0}, "row 0 is broken"},
		{"row broken a little", []float64{1, 0.5 + 1e-8}, []float64{1, 0}, "row 0 is broken"},
		{"not optimal", []float64{0.9, 0.5}, []float64{1, 0}, "exceeds its bound"},
		{"origin", []float64{0, 0}, []float64{1, 0}, "exceeds its bound"},
		{"sign of multipliers", []float64{1, 0.5}, []float64{-1, 0}, "multiplier -1 for row 0"},
		{"multipliers exchanged", []float64{1, 0.5}, []float64{0, 1}, "exceeds its bound"},
		{"multipliers not scaled", []float64{1, 0.5}, []float64{0.5, 0}, "exceeds its bound"},
		{"no multipliers", []float64{1, 0.5}, []float64{0, 0}, "exceeds its bound"},
		{"NaN multiplier", []float64{1, 0.5}, []float64{nan, 0}, "multiplier NaN"},
		{"infinite multiplier", []float64{1, 0.5}, []float64{inf, 0}, "multiplier +Inf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := m.finish(test.x, test.dual)
			var status *StatusError
			if !errors.As(err, &status) || status.Status != Numerical ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want a Numerical StatusError with %q", err, test.want)
			}
		})
	}
}

// Without an upper bound a reduced cost below 0 proves the answer wrong.
func TestFinishRejectsWithoutBounds(t *testing.T) {
	inf := math.Inf(1)
	m, err := newModel(Problem{C: []float64{-1}, Lower: []float64{0}, Upper: []float64{inf}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.finish([]float64{5}, []float64{}); err == nil ||
		!strings.Contains(err.Error(), "no bound") {
		t.Errorf("error %v, want one about the bound", err)
	}
}

func TestScaleIsExact(t *testing.T) {
	m, err := newModel(Problem{C: []float64{3e-7, 1}, Lower: []float64{0, 0}, Upper: []float64{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Row{
		{Coef: []float64{1, 2}, RHS: 3},
		{Coef: []float64{0.1, -0.3}, RHS: 0.7},
		{Coef: []float64{1e-9, 1e-17}, RHS: 1e-10},
		{Coef: []float64{1e300, -1e299}, RHS: 1e290},
		{Coef: []float64{0, 0}, RHS: 5},
	} {
		scaled, err := m.scale([]Row{r})
		if err != nil {
			t.Fatal(err)
		}
		s := scaled[0]
		most := max(math.Abs(s.coef[0]), math.Abs(s.coef[1]))
		if most != 0 && !(most >= 1 && most < 2) {
			t.Errorf("%v: largest scaled coefficient %g, want [1, 2)", r, most)
		}
		for j, a := range s.coef {
			if back := math.Ldexp(a, s.exp); back != r.Coef[j] {
				t.Errorf("%v: Coef[%d] comes back as %g", r, j, back)
			}
		}
		if back := math.Ldexp(s.rhs, s.exp); back != r.RHS {
			t.Errorf("%v: RHS comes back as %g", r, back)
		}
	}
}

// Rows whose small coefficients are dropped imply the rows as they were given.
func TestScaleDropsOnThePrivateSide(t *testing.T) {
	m, err := newModel(Problem{C: []float64{1, 1, 1}, Lower: []float64{0, -2, -3},
		Upper: []float64{1, 4, 5}})
	if err != nil {
		t.Fatal(err)
	}
	scaled, err := m.scale([]Row{{Coef: []float64{1, 1e-13, -1e-13}, RHS: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	s := scaled[0]
	if s.coef[1] != 0 || s.coef[2] != 0 {
		t.Errorf("coefficients %v, want the small ones dropped", s.coef)
	}
	// max 1e-13 y - 1e-13 z = 4e-13 + 3e-13
	if want := 0.5 - 7e-13; math.Abs(s.rhs-want) > 1e-16 {
		t.Errorf("right-hand side %.17g, want %.17g", s.rhs, want)
	}
}

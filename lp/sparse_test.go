package lp_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/darrm/darrm/lp"
)

// sparseOf writes a dense program as a sparse one.
func sparseOf(p lp.Problem, rows []lp.Row) lp.Sparse {
	s := lp.Sparse{C: p.C, Lower: p.Lower, Upper: p.Upper}
	for _, r := range rows {
		s.Start = append(s.Start, int32(len(s.Value)))
		s.RowLower, s.RowUpper = append(s.RowLower, math.Inf(-1)), append(s.RowUpper, r.RHS)
		for j, a := range r.Coef {
			if a != 0 {
				s.Index, s.Value = append(s.Index, int32(j)), append(s.Value, a)
			}
		}
	}
	return s
}

// All of HiGHS's ways end where the Solver does, with duals of the sign that is stated.
func TestSolveSparse(t *testing.T) {
	p, rows := Random(3, 12, 60)
	solver, err := lp.NewSimplex(p)
	if err != nil {
		t.Fatal(err)
	}
	defer solver.Close()
	if err := solver.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	want, err := solver.Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []lp.Algorithm{lp.Simplex, lp.InteriorPoint, lp.FirstOrder} {
		tolerance, close := 1e-10, 1e-7
		if a == lp.FirstOrder {
			tolerance, close = 1e-6, 1e-3
		}
		got, err := lp.SolveSparse(context.Background(), sparseOf(p, rows), a, tolerance)
		if errors.Is(err, lp.ErrNoHiGHS) {
			t.Skip(err)
		}
		if err != nil {
			t.Errorf("%s: %v", a, err)
			continue
		}
		objective := 0.0
		for j, x := range got.X {
			objective += p.C[j] * x
		}
		if math.Abs(objective-want.Objective) > close*(1+math.Abs(want.Objective)) {
			t.Errorf("%s: objective %g, want %g (%v)", a, objective, want.Objective, got.Status)
		}
		for i, y := range got.RowDual {
			if y > close*10 {
				t.Errorf("%s: dual of row %d is %g, want at most 0", a, i, y)
			}
		}
	}
}

// A context that ends ends the solver, and the solution so far comes back, or an error if there is
// none.
func TestSolveSparseStops(t *testing.T) {
	p, rows := Random(5, 200, 4000) // seconds of work
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	got, err := lp.SolveSparse(ctx, sparseOf(p, rows), lp.Simplex, 1e-10)
	if errors.Is(err, lp.ErrNoHiGHS) {
		t.Skip(err)
	}
	if err == nil && (len(got.X) != 200 || got.Status == lp.Optimal) || err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d values, %v, %v", len(got.X), got.Status, err)
	}
	cancel()
	if _, err := lp.SolveSparse(ctx, sparseOf(p, rows), lp.InteriorPoint, 1e-10); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("after its end: %v", err)
	}
}

func TestSparseIsChecked(t *testing.T) {
	good := func() lp.Sparse {
		return lp.Sparse{
			C: []float64{1, 1}, Lower: []float64{0, 0}, Upper: []float64{1, 1},
			RowLower: []float64{0}, RowUpper: []float64{1}, Start: []int32{0}, Index: []int32{0, 1},
			Value: []float64{1, 1},
		}
	}
	for name, change := range map[string]func(*lp.Sparse){
		"no column":          func(p *lp.Sparse) { *p = lp.Sparse{} },
		"too few bounds":     func(p *lp.Sparse) { p.Upper = p.Upper[1:] },
		"too few row bounds": func(p *lp.Sparse) { p.RowUpper = nil },
		"no such column":     func(p *lp.Sparse) { p.Index[1] = 2 },
		"a negative column":  func(p *lp.Sparse) { p.Index[1] = -1 },
		"start":              func(p *lp.Sparse) { p.Start[0] = 3 },
		"NaN":                func(p *lp.Sparse) { p.Value[0] = math.NaN() },
		"cost":               func(p *lp.Sparse) { p.C[0] = math.Inf(1) },
		"indices":            func(p *lp.Sparse) { p.Index = p.Index[1:] },
	} {
		p := good()
		change(&p)
		if _, err := lp.SolveSparse(context.Background(), p, lp.Simplex, 1e-10); err == nil ||
			errors.Is(err, lp.ErrNoHiGHS) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Rows may have no coefficient, the last one too.
	empty := good()
	empty.RowLower, empty.RowUpper, empty.Start = []float64{0, 0, 0}, []float64{1, 1, 1}, []int32{0, 0, 2}
	for name, p := range map[string]lp.Sparse{"as it is": good(), "empty rows": empty} {
		if _, err := lp.SolveSparse(context.Background(), p, lp.Simplex, 1e-10); err != nil &&
			!errors.Is(err, lp.ErrNoHiGHS) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package solve

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// noWorse wants the table to be at least as good as every baseline of its shape, with
// no tolerance, and its lower bound and gap to be true of them too.
func noWorse(t interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
}, table *gamma.Table) {
	t.Helper()
	p := table.Problem()
	baselines, err := gamma.Baselines(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range baselines {
		if table.Shape == gamma.Monotone && !b.Certified.Func().Monotone() {
			continue
		}
		e := table.Objective.Error(b.Certified.Func())
		if !(table.ExpectedError <= e) {
			t.Errorf("%+v: error %v, %s has %v", p, table.ExpectedError, b.Name, e)
		}
		if !(table.LowerBound <= e) {
			t.Errorf("%+v: lower bound %v, %s has %v", p, table.LowerBound, b.Name, e)
		}
	}
	if e := table.Objective.Error(table.Func()); e != table.ExpectedError ||
		!(table.Gap >= e-table.LowerBound) {
		t.Errorf("%+v: error %v, said to be %v, at least %v, gap %v", p, e, table.ExpectedError,
			table.LowerBound, table.Gap)
	}
	if _, err := gamma.Certify(context.Background(), p, table.Func()); err != nil {
		t.Errorf("%+v: %v", p, err)
	}
	if table.Shape == gamma.Monotone && !table.Func().Monotone() {
		t.Errorf("%+v: γ is not monotone: %v", p, table.Func())
	}
}

// Whatever is asked for, no baseline is better: not with an honest solver, and not with
// one that proposes nothing but coins or nothing but ones.
func TestNoBaselineIsBetter(t *testing.T) {
	proposing := func(x float64) func(lp.Problem) (lp.Solver, error) {
		return lying(func(s *lp.Solution) {
			for i := range s.X {
				s.X[i] = x
			}
		})
	}
	chosen := 0
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 13).Draw(t, "K")
		eps := rapid.SampledFrom([]float64{0.01, 0.1, 0.5, 1, 3}).Draw(t, "ε")
		delta := rapid.SampledFrom([]float64{0, 1e-8, 1e-5, 1e-2}).Draw(t, "Δ")
		var p constraints.Problem
		var err error
		if rapid.Bool().Draw(t, "total") {
			p, err = constraints.NewTotalProblem(k, k, rapid.Float64Range(0.01, 5).Draw(t, "total ε"), eps,
				delta)
		} else {
			p, err = constraints.NewProblem(k, rapid.Float64Range(0.2, float64(k)).Draw(t, "m"), eps, delta)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Affected = rapid.IntRange(1, k).Draw(t, "affected")
		p.Delta = p.DefaultDelta()
		o := Options{Shape: rapid.SampledFrom([]gamma.Shape{gamma.Free, gamma.Monotone}).Draw(t, "shape")}
		switch rapid.IntRange(0, 2).Draw(t, "objective") {
		case 0:
			o.PriorMean = rapid.Float64Range(0.51, 0.999).Draw(t, "prior mean")
		case 1:
			o.Counts = rapid.SliceOfN(rapid.Float64Range(0, 10), k+1, k+1).Draw(t, "counts")
			o.Counts[0] += 1e-3 // not all zero, and not ties only
		default:
			o.WorstCase = true
		}
		honest, err := Optimal(context.Background(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		noWorse(t, honest)
		for _, x := range []float64{0, 1} {
			o.NewSolver = proposing(x)
			table, err := Optimal(context.Background(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			noWorse(t, table)
			if !(table.LowerBound <= honest.ExpectedError && honest.LowerBound <= table.ExpectedError) {
				t.Errorf("%+v: at least %v and %v, but %v and %v can be reached", p, table.LowerBound,
					honest.LowerBound, honest.ExpectedError, table.ExpectedError)
			}
			if by := named(table); len(by) > 0 {
				chosen++
				if table.Solver != lp.Backend()+", then "+by[0] {
					t.Errorf("%+v: by %q, but it is %s", p, table.Solver, by[0])
				}
			}
		}
	})
	if chosen == 0 {
		t.Error("no baseline was ever better than a useless proposal")
	}
}

// named are the baselines that are the table's own function.
func named(table *gamma.Table) (names []string) {
	for _, b := range table.Baselines {
		if b.Certified == table.Certified {
			names = append(names, b.Name)
		}
	}
	return names
}

// K = 101 pure teachers and m ≥ 50: the weight of γ(0) is below 1e-11, which HiGHS does not see,
// and its γ(0) is 0. The error was 4e-12, that of γ ≡ 1, shrunk by the certificate's rounding,
// 2e-14. The table says so where a baseline takes the solver's place.
func TestBaselineWhereTheSolverSeesNoWeight(t *testing.T) {
	for _, c := range []struct{ m, delta float64 }{{50, 0}, {100, 0}, {60, 1e-5}} {
		for _, shape := range []gamma.Shape{gamma.Free, gamma.Monotone} {
			table := optimal(t, problem(t, 101, c.m, 0.1, c.delta), Options{Shape: shape})
			noWorse(t, table)
			if table.ExpectedError > 1e-13 || table.Gap > 1e-13 || table.Func().At(0) < 1-1e-9 {
				t.Errorf("m = %g, Δ = %g, %s: error %g, gap %g, γ(0) = %g", c.m, c.delta, shape,
					table.ExpectedError, table.Gap, table.Func().At(0))
			}
			want := lp.Backend()
			if by := named(table); len(by) > 0 {
				want = by[0]
			}
			if !strings.HasSuffix(table.Solver, want) {
				t.Errorf("m = %g, Δ = %g, %s: by %q, baselines %q", c.m, c.delta, shape, table.Solver,
					named(table))
			}
		}
	}
}

// A table that is better than the baselines is not replaced by one.
func TestTheSolverIsBetterAsARule(t *testing.T) {
	table := optimal(t, problem(t, 11, 3, 0.1, 1e-5), Options{})
	if by := named(table); len(by) > 0 || table.Solver != lp.Backend() ||
		slices.ContainsFunc(table.Baselines, func(b gamma.Named) bool {
			return table.BaselineError(b) < 1.4*table.ExpectedError
		}) {
		t.Errorf("by %q, error %v, the baselines %q", table.Solver, table.ExpectedError, by)
	}
}

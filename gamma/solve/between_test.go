package solve

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/lp"
)

// Optima that the loop found before it looked between a private function and the relaxation's optimum,
// to the tolerance of both. The table is the same however many cores search.
func TestManyTeachers(t *testing.T) {
	if raced.Enabled {
		t.Skip("solves as the smaller problems do, which are raced")
	}
	for _, c := range []struct {
		k    int
		m    float64
		want float64
	}{{301, 3, 0.0625191093052}, {257, 3, 0}} { // 0: none was kept
		p := problem(t, c.k, c.m, 0.1, 1e-5)
		table := optimal(t, p, Options{})
		if coin := table.ErrorOfCoin(); table.Gap > 3*near*coin {
			t.Errorf("K=%d: gap %g of %g", c.k, table.Gap, coin)
		}
		if c.want == 0 {
			before := runtime.GOMAXPROCS(1)
			again := optimal(t, p, Options{})
			runtime.GOMAXPROCS(before)
			if !again.Func().Equal(table.Func()) || again.LowerBound != table.LowerBound {
				t.Errorf("K=%d: another table on one core", c.k)
			}
		} else if math.Abs(table.ExpectedError-c.want) > 2*near {
			t.Errorf("K=%d: error %.13g, want %.13g", c.k, table.ExpectedError, c.want)
		}
	}
}

// manyTeachers returns the program of 301 teachers for plain Go's solver, which each build has.
func manyTeachers(t *testing.T) *program {
	t.Helper()
	s := must.Get(constraints.NewSystem(problem(t, 301, 3, 0.1, 1e-5)))(t)
	baselines := must.Get(gamma.SystemBaselines(t.Context(), s))(t)
	pr := must.Get(newProgram(s, Options{NewSolver: lp.NewSimplex}.withDefaults(), baselines))(t)
	t.Cleanup(pr.close)
	return pr
}

// What breaks a new row goes back towards the private function, just far enough.
func TestRetract(t *testing.T) {
	pr := manyTeachers(t)
	ones := pr.majority()
	if violation := must.Get(pr.separate(t.Context(), ones))(t); violation == 0 {
		t.Fatal("γ ≡ 1 is private: this tests nothing")
	}
	pr.inner = ones
	pr.retract()
	least := math.Inf(1)
	for _, r := range pr.rows {
		least = min(least, pr.slack(r, pr.inner))
	}
	if math.Abs(least) > 1e-12 {
		t.Errorf("least slack %g, want one row tight and none broken", least)
	}
	before := pr.inner
	if pr.retract(); &before[0] != &pr.inner[0] {
		t.Error("moved without need")
	}
}

// An inner function as good as the bound ends the loop only where a search finds nothing broken there.
func TestWithinSearchesBeforeItEnds(t *testing.T) {
	pr := manyTeachers(t)
	pr.inner = pr.majority() // as good as any, and not private
	inner, violation, err := pr.within(t.Context())
	if inner != nil || err != nil || violation == 0 || len(pr.rows) == 0 {
		t.Errorf("violation %g, %v, %d rows, ended %v", violation, err, len(pr.rows), inner != nil)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	pr.inner = pr.majority()
	pr.rows = nil // as if nothing were broken that the program has
	if inner, _, err = pr.within(ended); inner != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v, ended %v", err, inner != nil)
	}
}

// The first search looks at the least numbers at (b,a) and at those of rows, each once.
func TestLowsInUse(t *testing.T) {
	pr := manyTeachers(t)
	for _, n := range []int{7, 1, 40, 7} {
		pr.rows = append(pr.rows, row{place: place{Multiset: constraints.Multiset{constraints.Low: n}}})
	}
	if got, want := pr.lowsInUse(), []int{0, 1, 2, 7, 40}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

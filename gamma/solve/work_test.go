package solve

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/lp"
)

// encoded returns a table as its file.
func encoded(t testing.TB, table *gamma.Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// workOf solves and returns the table with the work of its last report.
func workOf(t testing.TB, p constraints.Problem, o Options) (*gamma.Table, Progress) {
	t.Helper()
	var last Progress
	o.Progress = func(p Progress) { last = p }
	return optimal(t, p, o), last
}

// Where the work is taken, the solve ends with a table that is certified as any, says that it ended
// early, and states a gap that is true: the optimum is not below its bound, and the bound is that of the
// last relaxation, not less. More work makes no worse bound.
func TestEndByWork(t *testing.T) {
	if raced.Enabled {
		t.Skip("solves as the smaller problems do, which are raced")
	}
	for _, c := range []struct {
		k int
		o Options
	}{{41, Options{}}, {41, Options{Shape: gamma.Any}}, {41, Options{Shape: gamma.Monotone}},
		{21, Options{WorstCase: true}}, {257, Options{}}} {
		p := problem(t, c.k, 5, 0.1, 1e-5)
		best, all := workOf(t, p, c.o)
		if all.Work <= 0 || all.Work >= DefaultWork/10 || strings.Contains(best.Solver, "early") {
			t.Fatalf("K=%d: work %d, by %s", c.k, all.Work, best.Solver)
		}
		before, early := 0.0, 0
		for _, share := range []float64{0, 0.1, 0.3, 0.6, 0.9} {
			o := c.o
			o.Work = max(1, int64(share*float64(all.Work)))
			table, last := workOf(t, p, o)
			if !strings.Contains(table.Solver, "stopped early after") {
				continue // the last round begins before its work is taken
			}
			early++
			coin := table.ErrorOfCoin()
			if table.Gap < best.ExpectedError-table.LowerBound-1e-9*coin ||
				table.LowerBound > best.ExpectedError || table.ExpectedError < best.LowerBound ||
				math.Abs(table.Gap-(table.ExpectedError-table.LowerBound)) > 1e-12 {
				t.Errorf("K=%d, %g of the work: error %g, bound %g, gap %g; the optimum is %g", c.k, share,
					table.ExpectedError, table.LowerBound, table.Gap, best.ExpectedError)
			}
			if last.Round > 0 && math.Abs(table.LowerBound-last.Error) > 1e-9*coin || table.LowerBound < before {
				t.Errorf("K=%d, %g of the work: bound %g, the relaxation's is %g, and %g with less work", c.k,
					share, table.LowerBound, last.Error, before)
			}
			before = table.LowerBound
			if b := table.BetterBaseline(); b != nil {
				t.Errorf("K=%d, %g of the work: %s is better", c.k, share, b.Name)
			}
			// The file is read by whoever believes nothing.
			claim := must.Get(gamma.ReadClaim(bytes.NewReader(encoded(t, table))))(t)
			if again := must.Get(claim.Verify(t.Context()))(t); again.Gap != table.Gap {
				t.Errorf("K=%d: gap %g, the file has %g", c.k, table.Gap, again.Gap)
			}
		}
		if early < 3 {
			t.Errorf("K=%d: %d of five ended early", c.k, early)
		}
	}
}

// The place where the work ends does not depend on the number of cores, nor on how often it was tried.
func TestWorkIsTheSameEverywhere(t *testing.T) {
	p := problem(t, 101, 3, 0.1, 1e-3)
	_, all := workOf(t, p, Options{})
	var first []byte
	for _, cores := range []int{1, 2, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		table := optimal(t, p, Options{Work: all.Work / 2})
		if at := encoded(t, table); first == nil {
			first = at
		} else if !bytes.Equal(at, first) {
			t.Errorf("on %d cores it ended elsewhere", cores)
		}
		if !strings.Contains(table.Solver, "early") {
			t.Errorf("half of the work was enough: %s", table.Solver)
		}
	}
}

// The table where the work ends is the best of the relaxation shrunk, the point between it and a private
// function, and what half of the teachers found, which is much better than both for long.
func TestEndByWorkTakesTheBest(t *testing.T) {
	if raced.Enabled {
		t.Skip("solves as the smaller problems do, which are raced")
	}
	p := problem(t, 257, 3, 0.1, 1e-5)
	_, all := workOf(t, p, Options{})
	taken := 0
	for _, share := range []float64{0.2, 0.4, 0.6, 0.8} {
		o := Options{Work: int64(share * float64(all.Work))}.withDefaults()
		system := must.Get(constraints.NewSystem(p))(t)
		baselines := must.Get(gamma.SystemBaselines(t.Context(), system))(t)
		pr := must.Get(newProgram(system, o, baselines))(t)
		defer pr.close()
		pr.startFromHalf(t.Context())
		if _, _, err := pr.cuttingPlanes(t.Context()); err == nil {
			continue // half of the teachers took nothing here
		} else if !errors.Is(err, errWork) {
			t.Fatalf("%g of the work: %v", share, err)
		}
		shrunk := must.Get(pr.certified(t.Context(), pr.last, pr.lastProof))(t)
		table := must.Get(pr.best(t.Context(), "early"))(t)
		inner := must.Get(pr.certified(t.Context(), pr.inner, pr.lastProof))(t)
		half := math.Inf(1)
		for _, c := range pr.private[len(baselines):] {
			half = o.objective().Error(c.Func())
		}
		want := min(shrunk.ExpectedError, inner.ExpectedError, half)
		if table.ExpectedError != want {
			t.Errorf("%g of the work: error %g, could be %g", share, table.ExpectedError, want)
		}
		if want < shrunk.ExpectedError-1e-3 && want < inner.ExpectedError-1e-3 {
			taken++
		}
	}
	if taken == 0 {
		t.Error("half of the teachers never were better by much: this tests nothing")
	}
}

// Both programs of a solve count their work together, and so does the solver that takes the place of
// one with trouble. A second program that ends early changes nothing of what is proved.
func TestWorkOfAllPrograms(t *testing.T) {
	p := problem(t, 101, 3, 0.1, 1e-5)
	programs, works := 0, []int64{}
	o := Options{Progress: func(p Progress) { works = append(works, p.Work) },
		NewSolver: func(p lp.Problem) (lp.Solver, error) { programs++; return lp.NewSimplex(p) }}
	optimal(t, p, o)
	if programs != 2 || !slices.IsSorted(works) {
		t.Fatalf("%d programs, work %v", programs, works)
	}
	o.Work = works[len(works)-1] - 1
	if table := optimal(t, p, o); table.Gap > near*table.ErrorOfCoin() || strings.Contains(table.Solver, "early") {
		t.Errorf("gap %g of %s, where only the second program ended early", table.Gap, table.Solver)
	}
	// A solver that fails at once has taken what it says.
	reports := []int64{}
	fails := Options{Work: 1e9, SolverName: "another", Progress: func(p Progress) { reports = append(reports, p.Work) },
		NewSolver: func(p lp.Problem) (lp.Solver, error) {
			return spent{must.Get(lp.NewSimplex(p))(t), 1e9 - 1}, nil
		}}
	if table := optimal(t, p, fails); !strings.HasPrefix(table.Solver, "another, stopped early after") || len(reports) > 1 {
		t.Errorf("%s after %v", table.Solver, reports)
	}
	if _, err := Optimal(t.Context(), p, Options{Work: -1}); err == nil || !strings.Contains(err.Error(), "work = -1") {
		t.Errorf("work -1: %v", err)
	}
}

// spent is a solver that has taken work and found nothing.
type spent struct {
	lp.Solver
	work int64
}

func (s spent) Solve(context.Context) (lp.Solution, error) {
	return lp.Solution{Work: s.work}, &lp.StatusError{Status: lp.Numerical}
}

// The cache changes nothing of an end by work: what ended early is not kept, and what more work found
// does not stand for what less work finds.
func TestCacheOfAnEndByWork(t *testing.T) {
	store := must.Get(cache.Open(t.TempDir()))(t)
	p := problem(t, 41, 5, 0.1, 1e-5)
	whole, all := workOf(t, p, Options{})
	o := Options{Work: all.Work / 3}
	alone := optimal(t, p, o)
	if alone.Optimal() || alone.ExpectedError <= whole.ExpectedError {
		t.Fatalf("gap %g, error %g", alone.Gap, alone.ExpectedError)
	}
	for i, work := range []int64{o.Work, o.Work, 0, o.Work} {
		r, err := Cached(t.Context(), store, p, Options{Work: work})
		if err != nil {
			t.Fatal(err)
		}
		want := alone
		if work == 0 {
			want = whole
		}
		if r.Table.Optimal() != (work == 0) {
			t.Errorf("solve %d: proved %t, by %s", i, r.Table.Optimal(), r.Table.Solver)
		}
		if r.Cached || !bytes.Equal(encoded(t, r.Table), encoded(t, want)) || (r.Path == "") != (work > 0) {
			t.Errorf("solve %d: cached %t in %q, by %s", i, r.Cached, r.Path, r.Table.Solver)
		}
	}
	if r := must.Get(Cached(t.Context(), store, p, Options{}))(t); !r.Cached {
		t.Error("what was proved is not kept")
	}
}

// A solver that lies about its multipliers where the work ends has its gap stated for what they show.
func TestLiesAtAnEndByWork(t *testing.T) {
	p := problem(t, 41, 5, 0.1, 1e-5)
	best, all := workOf(t, p, Options{})
	for _, factor := range []float64{0, 0.5, 1.5, 3} {
		lie := lying(func(s *lp.Solution) {
			for i := range s.Dual {
				s.Dual[i] *= factor
			}
			s.Objective, s.Bound = s.Objective*(1-factor/10), s.Bound*(1-factor/10)
		})
		table := optimal(t, p, Options{NewSolver: lie, Work: all.Work / 2})
		if table.LowerBound > best.ExpectedError || table.Gap < table.ExpectedError-best.ExpectedError-1e-12 {
			t.Errorf("multipliers × %g: error %g at least %g, gap %g; the optimum is %g", factor,
				table.ExpectedError, table.LowerBound, table.Gap, best.ExpectedError)
		}
	}
}

// Searches are counted by the places that they look at.
func TestWorkOfASearch(t *testing.T) {
	for _, c := range []struct{ k, affected int }{{5, 5}, {9, 4}, {20, 20}, {30, 1}} {
		p := affecting(problem(t, c.k, 1, 0.1, 1e-5), c.affected)
		pr := must.Get(newProgram(must.Get(constraints.NewSystem(p))(t), Options{}.withDefaults(), nil))(t)
		defer pr.close()
		for _, lows := range []int{1, -1} {
			places := 0
			for n4 := 0; n4 <= c.affected && (lows < 0 || n4 < lows); n4++ {
				for n3 := 0; n3+n4 <= c.affected; n3++ {
					places += c.k - n3 - n4 + 1
				}
			}
			pr.work = 0
			pr.spendSearch(lows)
			got := float64(pr.work) / workOfPlace
			if slack := 0.2*float64(places) + float64(2*c.k); math.Abs(got-float64(places)) > slack {
				t.Errorf("K=%d t=%d lows %d: %g places, not %d", c.k, c.affected, lows, got, places)
			}
		}
	}
}

package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
)

func openStore(t testing.TB) *cache.Store {
	t.Helper()
	return must.Get(cache.Open(t.TempDir()))(t)
}

// noiseSweep is a sweep to be run.
type noiseSweep struct {
	Options[*gamma.Table]
	points []Point
	store  *cache.Store
	solve  solve.Options
	errors []float64 // of each point
}

func (s noiseSweep) run(ctx context.Context) (Result, error) {
	options := map[int]solve.Options{}
	for _, p := range s.points {
		options[p.Problem.K] = s.solve
	}
	return Run(ctx, s.points, Noise(s.store, options), s.Options)
}

// sweepOf returns the sweep of a grid that keeps each point's error.
func sweepOf(t testing.TB, k []int, m []float64, jobs int, store *cache.Store) noiseSweep {
	t.Helper()
	points, invalid, err := Grid{K: k, M: m, Epsilon: []float64{0.1}, TeacherDelta: []float64{1e-5},
		Affected: []int{All}}.Points(context.Background())
	if err != nil || len(invalid) > 0 {
		t.Fatal(err, invalid)
	}
	s := noiseSweep{points: points, store: store, errors: make([]float64, len(points))}
	s.Jobs = jobs
	s.Each = func(i int, table *gamma.Table) error { s.errors[i] = table.ExpectedError; return nil }
	return s
}

// A sweep that is interrupted reports the tables that it has, and the next one goes on from there.
func TestSweepResumes(t *testing.T) {
	store := openStore(t)
	odd, two := []int{3, 5, 7, 9, 11}, []float64{1, 2}
	ctx, cancel := context.WithCancel(context.Background())
	o := sweepOf(t, odd, two, 1, store)
	o.Progress = func(done int) {
		if done == 4 {
			cancel()
		}
	}
	r, err := o.run(ctx)
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(),
		"4 of 10 problems are in the cache, where the same command goes on: ") {
		t.Errorf("interrupted: %v", err)
	}
	entries, err := store.List()
	if err != nil || len(entries) != 4 || r.Solved != 4 {
		t.Errorf("%d entries in the cache, %v, %d solved, want 4", len(entries), err, r.Solved)
	}
	again := sweepOf(t, odd, two, 2, store)
	if r, err := again.run(context.Background()); err != nil || r.Cached != 4 || r.Solved != 6 {
		t.Errorf("again: %v, %d from the cache, %d solved", err, r.Cached, r.Solved)
	}
	fresh := sweepOf(t, odd, two, 2, nil)
	if _, err := fresh.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.errors, fresh.errors) {
		t.Errorf("resumed: %v, want %v", again.errors, fresh.errors)
	}
	// Without a cache there is nothing to go on from.
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	o = sweepOf(t, []int{3}, two, 2, nil)
	if _, err := o.run(ctx); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "0 of 2 problems were solved and, without a cache, are lost") {
		t.Errorf("without a cache: %v", err)
	}
}

// One problem that cannot be solved fails the sweep by its kind and by its name; the
// tables before it stay.
func TestSweepFails(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		store := openStore(t)
		o := sweepOf(t, []int{3, 5, 7, 9}, []float64{1, 2}, jobs, store)
		o.solve.NewSolver = func(p lp.Problem) (lp.Solver, error) {
			if len(p.C) == 4 { // K = 7
				return nil, lp.ErrTooLarge
			}
			return lp.New(p)
		}
		r, err := o.run(context.Background())
		if !errors.Is(err, lp.ErrTooLarge) {
			t.Fatalf("%d jobs: %v", jobs, err)
		}
		if !strings.HasPrefix(err.Error(), "K = 7, m = ") {
			t.Errorf("%d jobs: the problem is not named: %v", jobs, err)
		}
		entries, listErr := store.List()
		if listErr != nil || len(entries) != r.Solved || jobs == 1 && r.Solved != 4 {
			t.Errorf("%d jobs: %d solved, %d in the cache, %v", jobs, r.Solved, len(entries), listErr)
		}
	}
}

// A table that nobody can take ends the sweep.
func TestSweepEachFails(t *testing.T) {
	o := sweepOf(t, []int{3, 5}, []float64{1}, 1, nil)
	boom := errors.New("boom")
	o.Each = func(int, *gamma.Table) error { return boom }
	if r, err := o.run(context.Background()); !errors.Is(err, boom) ||
		!strings.HasPrefix(err.Error(), "K = 3, m = 1") || r.Solved != 0 {
		t.Errorf("%d solved, %v", r.Solved, err)
	}
}

// A cache that takes no more tables costs a resumed sweep, not this one. An interrupted one
// does not count them as kept.
func TestSweepUnsaved(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		store := openStore(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		o := sweepOf(t, []int{3, 4, 5}, []float64{1}, 1, store)
		var once sync.Once
		o.Progress = func(done int) {
			if done == 1 {
				once.Do(func() {
					if err := os.RemoveAll(store.Dir()); err != nil {
						t.Error(err)
					}
					if err := os.WriteFile(store.Dir(), nil, 0o600); err != nil {
						t.Error(err)
					}
				})
			}
			if done == 2 && interrupted {
				cancel()
			}
		}
		r, err := o.run(ctx)
		if interrupted {
			if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(),
				"1 of 3 problems are in the cache") {
				t.Errorf("interrupted: %v", err)
			}
			continue
		}
		if err != nil || r.Solved != 3 || r.Unsaved != 2 || r.UnsavedErr == nil ||
			slices.Contains(o.errors, 0) {
			t.Errorf("%v: %d solved, %d unsaved: %v; %v", err, r.Solved, r.Unsaved, r.UnsavedErr, o.errors)
		}
	}
}

// BenchmarkSweep compares numbers of jobs; the sweeps inside a solve use all cores
// whatever it is.
func BenchmarkSweep(b *testing.B) {
	for _, k := range []int{11, 41, 101} {
		for _, jobs := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("K=%d/jobs=%d", k, jobs), func(b *testing.B) {
				for b.Loop() {
					o := sweepOf(b, []int{k}, floats(8, 1), jobs, nil)
					if _, err := o.run(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// What is solved in time, or was before, comes back; what is not has an error of its own, which
// an interruption of the caller's is not taken for.
func TestWithin(t *testing.T) {
	ctx := context.Background()
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, o := plurality.Problem{K: 9, Classes: 3, Epsilon: .5, Affected: 1},
		plurality.Objective{Accuracy: .6}
	for _, cached := range []bool{false, true} {
		r, err := Within(ctx, time.Minute, store, p, o, Options{Gap: 1e-4})
		if err != nil || r.Cached != cached || !(r.Table.Gap <= 1e-4) {
			t.Errorf("cached %t: %+v, %v", cached, r, err)
		}
	}
	big := p
	big.K = 100
	var limit *LimitError
	if r, err := Within(ctx, time.Nanosecond, store, big, o, Options{}); !errors.As(err, &limit) ||
		r.Table != nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no time: %+v, %v", r, err)
	}
	if r, err := Within(ctx, 50*time.Millisecond, nil, big, o, Options{Gap: 1e-9}); !errors.As(err,
		&limit) || limit.Limit != 50*time.Millisecond || r.Table != nil {
		t.Errorf("little time: %+v, %v", r, err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Within(stopped, time.Minute, store, big, o, Options{}); !errors.Is(err,
		context.Canceled) || errors.As(err, &limit) {
		t.Errorf("interrupted: %v", err)
	}
	past, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	if _, err := Within(past, time.Minute, store, big, o, Options{}); !errors.Is(err,
		context.DeadlineExceeded) || errors.As(err, &limit) {
		t.Errorf("the caller's own deadline: %v", err)
	}
	var wrong error
	if _, wrong = Within(ctx, time.Minute, store, plurality.Problem{K: 9, Classes: 1}, o,
		Options{}); wrong == nil || errors.As(wrong, &limit) {
		t.Errorf("no problem: %v", wrong)
	}
}

// Work is counted: the same search ends at the same count on every machine and with any number of
// workers, and what it would find with more work is not found in a cache.
func TestWorkIsCounted(t *testing.T) {
	raced.Sequential(t)
	ctx := context.Background()
	store, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, objective := plurality.Problem{K: 20, Classes: 4, Epsilon: .3, Affected: 1},
		plurality.Objective{Concentration: 1}
	if _, err := Cached(ctx, store, p, objective, Options{Gap: 1e-4}); err != nil {
		t.Fatal(err)
	}
	least, most := int64(1), int64(1<<40)
	for most-least > 1 {
		work := (least + most) / 2
		if _, err := Optimal(ctx, p, objective, Options{Gap: 1e-4, Work: work, Workers: 1}); err == nil {
			most = work
		} else {
			least = work
		}
	}
	for _, workers := range []int{1, 3} {
		if _, err := Optimal(ctx, p, objective, Options{Gap: 1e-4, Work: most,
			Workers: workers}); err != nil {
			t.Errorf("%d workers, %d: %v", workers, most, err)
		}
		var limit *LimitError
		if r, err := Cached(ctx, store, p, objective, Options{Gap: 1e-4, Work: least,
			Workers: workers}); !errors.As(err, &limit) || r.Table != nil || limit.Work != least {
			t.Errorf("%d workers, %d: %+v, %v", workers, least, r, err)
		}
	}
}

// A program that is too large for the work is left out while its rows are counted, with that reason:
// no more of them are listed, and nothing else is worked out. Where the work reaches one step
// further, the search begins and ends as before.
func TestTooLargeIsCountedFirst(t *testing.T) {
	raced.Sequential(t)
	ctx := context.Background()
	for _, p := range []plurality.Problem{
		{K: 20, Classes: 4, Epsilon: .3, Affected: 1},
		{K: 20, Classes: 4, Epsilon: .3, Affected: 1, Delta: 1e-3},
	} {
		all, err := newRows(ctx, mustSystem(t, p), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, values := all.block(all.blocks() - 1)
		o := Options{Method: FirstOrder, Work: firstLook * int64(values)}
		if _, err := newRows(ctx, mustSystem(t, p), o); err != nil {
			t.Errorf("δ = %v, %d values: %v", p.Delta, values, err)
		}
		o.Work--
		var limit *LimitError
		_, err = Optimal(ctx, p, plurality.Objective{Concentration: 1}, o)
		if !errors.As(err, &limit) || limit.Values != values-1 ||
			!strings.Contains(err.Error(), fmt.Sprintf("more than %d dual values", values-1)) {
			t.Errorf("δ = %v, %d values: %v", p.Delta, values, err)
		}
		o.Method = InteriorPoint // which work does not bound
		if most := o.mostValues(p.Delta > 0); most != math.MaxInt {
			t.Errorf("δ = %v: %d values", p.Delta, most)
		}
	}

	// 800,000 histograms with ten million pairs: gigabytes of rows, and 17 s of a core for the rest.
	big := plurality.Problem{K: 60, Classes: 20, Epsilon: .7, Affected: 1}
	for _, big.Delta = range []float64{0, .01} {
		s := mustSystem(t, big)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := newRows(ctx, s, Options{Work: 100_000_000})
		runtime.ReadMemStats(&after)
		var limit *LimitError
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; !errors.As(err, &limit) || mib > 400 {
			t.Errorf("δ = %v: %v, %d MiB", big.Delta, err, mib)
		} else {
			t.Logf("δ = %v: %d MiB", big.Delta, mib)
		}
	}
}

// What allows too few steps for a fine gap is refused before the first one; a coarse gap, and a start that is
// nearly best, are tried.
func TestTooFewStepsAreNotBegun(t *testing.T) {
	steps := func(epsilon, gap float64) (steps int, err error) {
		p := plurality.Problem{K: 16, Classes: 4, Epsilon: epsilon, Affected: 1}
		all := must.Get(newRows(t.Context(), mustSystem(t, p), Options{}))(t)
		_, values := all.block(all.blocks() - 1)
		o := Options{Method: FirstOrder, Gap: gap, Workers: 1, Work: (fineSteps - 1) * int64(values),
			Progress: func(p Progress) { steps = p.Steps }}
		_, err = Optimal(t.Context(), p, plurality.DefaultObjective(4), o)
		return steps, err
	}
	limit := (*LimitError)(nil)
	if n, err := steps(.1, 1e-4); n != 0 || !errors.As(err, &limit) {
		t.Errorf("%d steps, %v", n, err)
	}
	if n, err := steps(.1, 1e-2); n == 0 {
		t.Errorf("a coarse gap: %d steps, %v", n, err)
	}
	if n, err := steps(6, 1e-4); n == 0 || err != nil {
		t.Errorf("a good start: %d steps, %v", n, err)
	}
}

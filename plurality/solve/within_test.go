package solve

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/darrm/darrm/cache"
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

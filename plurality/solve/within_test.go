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

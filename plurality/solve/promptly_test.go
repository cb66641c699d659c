package solve

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/darrm/darrm/plurality"
)

// A search that does not end is left when the caller's patience ends. The newest checkpoint is
// returned where the best table was asked for, and nowhere else.
func TestPromptlyLeavesASearch(t *testing.T) {
	for _, c := range []struct {
		best, checkpoint bool
	}{{true, true}, {true, false}, {false, true}} {
		ctx, cancel := context.WithCancel(t.Context())
		first, newest := new(plurality.Table), new(plurality.Table)
		taken := 0
		seen, asked := false, 0
		hold := make(chan struct{})
		grace := func(checkpoint bool) time.Duration {
			seen = checkpoint
			asked++
			return time.Millisecond
		}
		o := Options{BestOnCancel: c.best, Checkpoint: func(*plurality.Table) { taken++ }}
		r, err := promptly(ctx, grace, o, func(o Options) (Result, error) {
			if c.checkpoint {
				o.Checkpoint(first)
				o.Checkpoint(newest)
			}
			cancel()
			<-hold
			return Result{Table: new(plurality.Table)}, nil
		})
		close(hold)
		if !errors.Is(err, ErrLeft) || !errors.Is(err, context.Canceled) || seen != c.checkpoint ||
			asked != 1 {
			t.Fatalf("%+v: %v, told of a checkpoint: %v, %d times", c, err, seen, asked)
		}
		if want := c.best && c.checkpoint; (r.Table == newest) != want || (r.Table != nil) != want {
			t.Errorf("%+v: the table is the newest checkpoint's: %v", c, r.Table == newest)
		}
		if c.checkpoint && taken != 2 {
			t.Errorf("%d of 2 checkpoints were passed on", taken)
		}
	}
}

// A search that ends within the patience is that of Cached.
func TestPromptlyWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	patient := func(bool) time.Duration { return time.Minute }
	p := plurality.Problem{K: 5, Classes: 3, Epsilon: 1, Affected: 1}
	o := plurality.Objective{Concentration: 1}
	r, err := Promptly(ctx, patient, nil, p, o, Options{BestOnCancel: true})
	if err != nil || r.Table == nil {
		t.Fatalf("%v, %v", r.Table, err)
	}
	r, err = Promptly(ctx, patient, nil, p, o, Options{})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrLeft) || r.Table != nil {
		t.Errorf("%v, %v", r.Table, err)
	}
}

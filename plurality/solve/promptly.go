package solve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality"
)

// ErrLeft reports that a search had not ended when the caller would wait no longer. The search
// ends in the background.
var ErrLeft = errors.New("the search did not end in time")

// Promptly is Cached for callers who must go on soon after ctx ends. A search that is stopped
// still certifies its best table where o.BestOnCancel asks for it, which can take seconds. Promptly
// waits for that as long as grace returns, which it calls once ctx has ended; checkpoint reports
// whether the search gave a table to o.Checkpoint before. If that is too short, Promptly returns
// ErrLeft, joined with ctx.Err(), and the newest of these tables where o.BestOnCancel is set, or
// no table.
func Promptly(ctx context.Context, grace func(checkpoint bool) time.Duration, store *cache.Store,
	p plurality.Problem, objective plurality.Objective, o Options) (Result, error) {
	return promptly(ctx, grace, o, func(o Options) (Result, error) {
		return Cached(ctx, store, p, objective, o)
	})
}

func promptly(ctx context.Context, grace func(checkpoint bool) time.Duration, o Options,
	search func(Options) (Result, error)) (Result, error) {
	var mu sync.Mutex
	var newest *plurality.Table
	if take := o.Checkpoint; take != nil {
		o.Checkpoint = func(t *plurality.Table) {
			take(t)
			mu.Lock()
			defer mu.Unlock()
			newest = t
		}
	}
	checkpoint := func() *plurality.Table {
		mu.Lock()
		defer mu.Unlock()
		return newest
	}
	type outcome struct {
		Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := search(o)
		done <- outcome{r, err}
	}()
	select {
	case r := <-done:
		return r.Result, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.Result, r.err
	case <-time.After(grace(checkpoint() != nil)):
	}
	var r Result
	if o.BestOnCancel {
		r.Table = checkpoint()
	}
	return r, errors.Join(ErrLeft, ctx.Err())
}

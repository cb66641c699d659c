package solve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality"
)

// Result is a table and where it came from.
type Result = cache.Found[*plurality.Table]

// keyOf returns the cache key: everything that determines the table. A table of another gap, or one
// that took more work than is allowed, would make what is found depend on what was sought before.
func keyOf(p plurality.Problem, o plurality.Objective, options Options) string {
	counts := ""
	if o.Counts != nil { // there may be more of them than a key has room for
		counts = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, o.Counts)))
	}
	return fmt.Sprintf("darrm plurality format=%d k=%d classes=%d epsilon=%v delta=%v affected=%d "+
		"abstain=%t value=%v accuracy=%v concentration=%v counts=%v method=%s gap=%v work=%d solvers=%d",
		plurality.FormatVersion, p.K, p.Classes, p.Epsilon, p.Delta, p.Affected, p.Abstain,
		o.AbstainValue, o.Accuracy, o.Concentration, counts, options.Method, options.Gap, options.Work,
		cache.Solvers)
}

// Cached is Optimal with a cache in front; a nil store means none. An entry is used only if
// it is a table for exactly p and objective, certifies again, and its proof shows a gap of at
// most o.Gap; otherwise Result.Rejected has the reason, and the table is solved and stored anew.
//
// An error to store comes with the Result, which is complete and certified.
func Cached(ctx context.Context, store *cache.Store, p plurality.Problem,
	objective plurality.Objective, o Options) (Result, error) {
	o = o.withDefaults()
	if err := cmp.Or(o.validate(), p.Validate()); err != nil {
		return Result{}, err
	}
	return cache.Search[*plurality.Table]{
		Key: keyOf(p, objective, o),
		Certify: func(r io.Reader) (*plurality.Table, error) {
			return fromCache(ctx, r, p, objective, o.Gap)
		},
		Solve:        func() (*plurality.Table, error) { return Optimal(ctx, p, objective, o) },
		Keep:         func(t *plurality.Table) bool { return t.Gap <= o.Gap },
		BestOnCancel: o.BestOnCancel,
	}.Find(ctx, store)
}

// fromCache returns the table of a cache entry, or why it is not used.
func fromCache(ctx context.Context, r io.Reader, p plurality.Problem, objective plurality.Objective,
	gap float64) (*plurality.Table, error) {
	claim, err := plurality.ReadClaim(r)
	if err != nil {
		return nil, err
	}
	if claim.System.Problem() != p || !claim.Objective.Equal(objective) {
		return nil, cache.ErrOther
	}
	t, err := claim.Certify(ctx)
	if err == nil && t.Gap > gap {
		err = fmt.Errorf("its table is only shown to be within %.3g of the optimum", t.Gap)
	}
	return t, err
}

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

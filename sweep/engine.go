package sweep

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
)

// outcome describes the table of a point.
type outcome struct {
	found, cached bool   // whether there is a table, and whether it was in the cache
	path          string // in the cache, "" where it is not there
	rejected      error
}

// hand hands the i-th table, if there is one, to each. An error beside a table is the cache's.
func hand[T any](each func(int, *T) error, i int, table *T, err error,
	out outcome) (outcome, error) {
	if table != nil {
		if wrong := each(i, table); wrong != nil {
			return out, wrong
		}
		out.found = true
	}
	return out, err
}

// run is a sweep under way.
type run struct {
	points int
	stored bool // there is a cache
	name   func(i int) string
	// an error beside a table is the cache's
	solve    func(ctx context.Context, i int) (outcome, error)
	progress func(done int) // nil for nobody

	mu     sync.Mutex // of what follows
	result Result
	failed error // of the first point that failed before the sweep was interrupted
}

// all solves all points.
func (r *run) all(ctx context.Context, jobs int) (Result, error) {
	g, all := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for i := range r.points {
		g.Go(func() error { return r.point(all, i) })
	}
	_ = g.Wait() // the first error may be an interruption's; failed is what counts
	switch {
	case r.done() == r.points:
		return r.result, nil
	case r.failed != nil:
		return r.result, fmt.Errorf("%w (%s)", r.failed, r.kept())
	}
	return r.result, fmt.Errorf("%s: %w", r.kept(), ctx.Err())
}

// point solves one point. Its error, but for an interruption, ends the sweep.
func (r *run) point(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	out, err := r.solve(ctx, i)
	if err := r.record(ctx, i, out, err); err != nil {
		return err
	}
	if r.progress != nil {
		r.progress(r.done())
	}
	return nil
}

func (r *run) record(ctx context.Context, i int, out outcome, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if out.rejected != nil {
		r.result.Rejected = append(r.result.Rejected, out.rejected)
	}
	// After an interruption, or another point's failure, an error says nothing of this point,
	// and a table of the last moment is not in the cache.
	interrupted := ctx.Err() != nil || r.failed != nil
	switch {
	case interrupted && (!out.found || r.stored && out.path == ""):
		return ctx.Err()
	case !out.found:
		r.failed = fmt.Errorf("%s: %w", r.name(i), err)
		return r.failed
	case out.cached:
		r.result.Cached++
	default:
		r.result.Solved++
	}
	if err != nil {
		if r.result.Unsaved == 0 {
			r.result.UnsavedErr = err
		}
		r.result.Unsaved++
	}
	return nil
}

func (r *run) done() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result.Solved + r.result.Cached
}

// kept describes what remains of a sweep that did not end.
func (r *run) kept() string {
	done := r.done()
	if !r.stored {
		return fmt.Sprintf("%d of %d problems were solved and, without a cache, are lost", done, r.points)
	}
	return fmt.Sprintf("%d of %d problems are in the cache, where the same command goes on",
		done-r.result.Unsaved, r.points)
}

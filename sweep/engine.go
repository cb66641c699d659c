package sweep

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/cache"
)

// run is a sweep under way.
type run[P any, T cache.Table] struct {
	Solver[P, T]
	Options[T]
	points []P

	mu     sync.Mutex // of what follows
	result Result
	failed error // of the first point that failed before the sweep was interrupted
}

// all solves all points.
func (r *run[P, T]) all(ctx context.Context) (Result, error) {
	g, all := errgroup.WithContext(ctx)
	g.SetLimit(r.Jobs)
	for i := range r.points {
		g.Go(func() error { return r.point(all, i) })
	}
	_ = g.Wait() // the first error may be an interruption's; failed is what counts
	switch {
	case r.done() == len(r.points):
		return r.result, nil
	case r.failed != nil:
		return r.result, fmt.Errorf("%w (%s)", r.failed, r.kept())
	}
	return r.result, fmt.Errorf("%s: %w", r.kept(), ctx.Err())
}

// point solves one point. Its error, but for an interruption, ends the sweep.
func (r *run[P, T]) point(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tell := func() { r.Progress(r.done()) }
	out, err := r.find(ctx, r.points[i], tell)
	found := out.Table != *new(T)
	if found { // err is the cache's
		if wrong := r.Each(i, out.Table); wrong != nil {
			found, err = false, wrong
		}
	}
	if err := r.record(ctx, i, out, found, err); err != nil {
		return err
	}
	tell()
	return nil
}

// record counts the outcome of a point. An error beside a table that was found is the cache's.
func (r *run[P, T]) record(ctx context.Context, i int, out cache.Found[T], found bool, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if out.Rejected != nil {
		r.result.Rejected = append(r.result.Rejected, out.Rejected)
	}
	// After an interruption, or another point's failure, an error says nothing of this point,
	// and a table of the last moment is not in the cache.
	interrupted := ctx.Err() != nil || r.failed != nil
	switch {
	case interrupted && (!found || r.store != nil && out.Path == ""):
		return ctx.Err()
	case !found:
		r.failed = fmt.Errorf("%s: %w", r.name(r.points[i]), err)
		return r.failed
	case out.Cached:
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

func (r *run[P, T]) done() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result.Solved + r.result.Cached
}

// kept describes what remains of a sweep that did not end.
func (r *run[P, T]) kept() string {
	done := r.done()
	if r.store == nil {
		return fmt.Sprintf("%d of %d problems were solved and, without a cache, are lost", done,
			len(r.points))
	}
	return fmt.Sprintf("%d of %d problems are in the cache, where the same command goes on",
		done-r.result.Unsaved, len(r.points))
}

package sweep

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
)

// MaxJobs bounds Options.Jobs: each keeps a linear program in memory.
const MaxJobs = 256

// Options say how a sweep is solved.
type Options struct {
	Solve solve.Options // but for Counts and Progress

	// Counts are solve.Options.Counts for each K; nil where the objective has none.
	Counts map[int][]float64

	Store *cache.Store // nil for none
	Jobs  int          // how many problems are solved at a time: between 1 and [MaxJobs]

	// Each takes the table of the i-th point. It is called from several goroutines, and an
	// error ends the sweep. The table is not kept: thousands of them would fill the memory.
	Each func(i int, t *gamma.Table) error

	// Progress is called now and then, from several goroutines; nil for nobody.
	Progress func(done int)
}

// CheckJobs checks Jobs. The error is a *constraints.ParameterError.
func (o Options) CheckJobs() error { return check.Whole("jobs", o.Jobs, 1, MaxJobs) }

// Result says where the tables of a sweep came from.
type Result struct {
	Solved, Cached int
	Rejected       []error // cache entries that were not used
	Unsaved        int     // solved, but the cache did not take them
	UnsavedErr     error   // the first reason
}

// Run solves all points, Jobs at a time. The error is the first one that a point had, with
// its name, or that of ctx; it says what is kept. What a cache does not take is no error,
// see Result.
//
// Every job has a solver of its own. The constraint sweeps inside a solve use all cores by
// themselves; jobs fill the cores while solves do what cannot be split.
func Run(ctx context.Context, points []Point, o Options) (Result, error) {
	if err := o.CheckJobs(); err != nil {
		return Result{}, err
	}
	r := run{points: points, options: o}
	if o.Progress != nil {
		r.options.Solve.Progress = func(solve.Progress) { o.Progress(r.done()) }
	}
	g, all := errgroup.WithContext(ctx)
	g.SetLimit(o.Jobs)
	for i := range points {
		g.Go(func() error { return r.point(all, i) })
	}
	_ = g.Wait() // the first error may be an interruption's; failed is what counts
	switch {
	case r.done() == len(points):
		return r.result, nil
	case r.failed != nil:
		return r.result, fmt.Errorf("%w (%s)", r.failed, r.kept())
	}
	return r.result, fmt.Errorf("%s: %w", r.kept(), ctx.Err())
}

// run is a sweep under way.
type run struct {
	points  []Point
	options Options

	mu     sync.Mutex // of what follows
	result Result
	failed error // of the first point that failed before the sweep was interrupted
}

// point solves one point. Its error, but for an interruption, ends the sweep.
func (r *run) point(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := r.options.Solve
	o.Counts = r.options.Counts[r.points[i].Problem.K]
	solved, err := solve.Cached(ctx, r.options.Store, r.points[i].Problem, o)
	if solved.Table != nil { // an error beside a table is the cache's
		if wrong := r.options.Each(i, solved.Table); wrong != nil {
			solved.Table, err = nil, wrong
		}
	}
	if err := r.record(ctx, i, solved, err); err != nil {
		return err
	}
	if r.options.Progress != nil {
		r.options.Progress(r.done())
	}
	return nil
}

func (r *run) record(ctx context.Context, i int, solved solve.Result, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if solved.Rejected != nil {
		r.result.Rejected = append(r.result.Rejected, solved.Rejected)
	}
	// After an interruption, or another point's failure, an error says nothing of this point,
	// and a table of the last moment is not in the cache.
	interrupted := ctx.Err() != nil || r.failed != nil
	switch {
	case interrupted && (solved.Table == nil || r.options.Store != nil && solved.Path == ""):
		return ctx.Err()
	case solved.Table == nil:
		r.failed = fmt.Errorf("%v: %w", r.points[i], err)
		return r.failed
	case solved.Cached:
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

// kept says what is left of a sweep that did not end.
func (r *run) kept() string {
	done := r.done()
	if r.options.Store == nil {
		return fmt.Sprintf("%d of %d problems were solved and, without a cache, are lost", done, len(r.points))
	}
	return fmt.Sprintf("%d of %d problems are in the cache, where the same command goes on", done-r.result.Unsaved, len(r.points))
}

package sweep

import (
	"context"
	"fmt"
	"sync"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"golang.org/x/sync/errgroup"
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

// maxJobs bounds Options.Jobs: each keeps a linear program in memory.
const maxJobs = 256

// Solver finds the tables T of problems P, through a cache if it has one. Make one with [Noise] or
// [Classes].
type Solver[P any, T cache.Table] struct {
	store *cache.Store
	name  func(P) string
	find  func(ctx context.Context, p P, tell func()) (cache.Found[T], error)
}

// Noise returns the solver of the points of a [Grid], by the options for each K, which are without Progress.
func Noise(store *cache.Store, options map[int]solve.Options) Solver[Point, *gamma.Table] {
	return Solver[Point, *gamma.Table]{store, Point.String,
		func(ctx context.Context, p Point, tell func()) (solve.Result, error) {
			o := options[p.Problem.K]
			o.Progress = func(solve.Progress) { tell() }
			return solve.Cached(ctx, store, p.Problem, o)
		}}
}

// Classes returns the solver of the problems of a [ClassGrid]. o is without Progress and Workers:
// jobs fill the cores.
func Classes(store *cache.Store, o pluralitysolve.Options,
	objective func(plurality.Problem) plurality.Objective) Solver[plurality.Problem, *plurality.Table] {
	return Solver[plurality.Problem, *plurality.Table]{store, className,
		func(ctx context.Context, p plurality.Problem, tell func()) (pluralitysolve.Result, error) {
			o := o
			o.Workers, o.Progress = 1, func(pluralitysolve.Progress) { tell() }
			return pluralitysolve.Cached(ctx, store, p, objective(p), o)
		}}
}

// Options configure a sweep for tables T.
type Options[T any] struct {
	Jobs int // how many problems are solved at a time: between 1 and 256

	// Each takes the table of the i-th point. It is called from several goroutines, and an
	// error ends the sweep. The table is not kept: thousands of them would fill the memory.
	Each func(i int, t T) error

	// Progress is called now and then, from several goroutines; nil for nobody.
	Progress func(done int)
}

// CheckJobs checks Options.Jobs. The error is a *constraints.ParameterError.
func CheckJobs(n int) error { return check.Whole("jobs", n, 1, maxJobs) }

// Result counts the tables of a sweep by their origin.
type Result struct {
	Solved, Cached int
	Rejected       []error // cache entries that were not used
	Unsaved        int     // solved, but the cache did not take them
	UnsavedErr     error   // the first reason
}

// Run solves all points, Jobs at a time. The error is the first one that a point had, with its
// name, or that of ctx. It states how many tables are kept. A table that the cache does not take is
// no error, see Result.
//
// Every job has a solver of its own. The constraint sweeps inside a solve use all cores by
// themselves; jobs fill the cores while solves do what cannot be split.
func Run[P any, T cache.Table](ctx context.Context, points []P, s Solver[P, T], o Options[T]) (Result, error) {
	if err := CheckJobs(o.Jobs); err != nil {
		return Result{}, err
	}
	r := run[P, T]{Solver: s, Options: o, points: points}
	if r.Progress == nil {
		r.Progress = func(int) {}
	}
	return r.all(ctx)
}

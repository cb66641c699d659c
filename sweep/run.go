package sweep

import (
	"context"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
)

// maxJobs bounds Options.Jobs: each keeps a linear program in memory.
const maxJobs = 256

// Options configure the solves of a sweep.
type Options struct {
	Solve solve.Options // but for Counts and Progress

	// Counts are solve.Options.Counts for each K; nil where the objective has none.
	Counts map[int][]float64

	Store *cache.Store // nil for none
	Jobs  int          // how many problems are solved at a time: between 1 and 256

	// Each takes the table of the i-th point. It is called from several goroutines, and an
	// error ends the sweep. The table is not kept: thousands of them would fill the memory.
	Each func(i int, t *gamma.Table) error

	// Progress is called now and then, from several goroutines; nil for nobody.
	Progress func(done int)
}

// CheckJobs checks Jobs. The error is a *constraints.ParameterError.
func (o Options) CheckJobs() error { return checkJobs(o.Jobs) }

func checkJobs(n int) error { return check.Whole("jobs", n, 1, maxJobs) }

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
func Run(ctx context.Context, points []Point, o Options) (Result, error) {
	if err := o.CheckJobs(); err != nil {
		return Result{}, err
	}
	r := run{points: len(points), stored: o.Store != nil, progress: o.Progress}
	if o.Progress != nil {
		o.Solve.Progress = func(solve.Progress) { o.Progress(r.done()) }
	}
	r.solve = func(ctx context.Context, i int) (outcome, error) {
		so := o.Solve
		so.Counts = o.Counts[points[i].Problem.K]
		s, err := solve.Cached(ctx, o.Store, points[i].Problem, so)
		return hand(o.Each, i, s.Table, err, outcome{cached: s.Cached, path: s.Path,
			rejected: s.Rejected})
	}
	r.name = func(i int) string { return points[i].String() }
	return r.all(ctx, o.Jobs)
}

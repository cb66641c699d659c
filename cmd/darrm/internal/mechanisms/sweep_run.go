package mechanisms

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/sweep"
)

// sweepTable is a table that a sweep makes a row of.
type sweepTable interface {
	cache.Table
	Summary() ([]byte, error)
}

// sweepOf is a checked sweep of problems P for tables T.
type sweepOf[P any, T sweepTable] struct {
	points  []P
	invalid []error // combinations that were left out
	row     func(T) sweepRow
	always  []string // columns of the table even where all rows have the same value

	axes                 []sweepAxis
	drawn, title, y, own string // the column that is drawn, the titles, the name of its curve

	// priorCounts is the value of --prior-counts, "" where the objective has none, and priorMean the mean of
	// binomial counts.
	priorCounts string
	priorMean   float64
	// shares and cost are the values of --shares and --cost.
	shares, cost string
}

// solve solves all problems and returns their rows, with JSON where it is asked for. Several goroutines make
// rows of their own.
func (k *sweepOf[P, T]) solve(ctx context.Context, by sweep.Solver[P, T], jobs int, json bool,
	progress func(done int)) ([]sweepRow, sweep.Result, error) {
	rows := make([]sweepRow, len(k.points))
	r, err := sweep.Run(ctx, k.points, by, sweep.Options[T]{Jobs: jobs, Progress: progress,
		Each: func(i int, t T) (err error) {
			r := k.row(t)
			if i > 0 {
				r.columns = nil // as those of the first row
			}
			if json {
				r.json, err = t.Summary()
			}
			rows[i] = r
			return err
		}})
	return rows, r, err
}

// runSweep solves the problems by a solver with the cache of the flags, writes the rows and the picture, and
// reports how many tables were cached.
func runSweep[P any, T sweepTable](ctx context.Context, f *sweepFlags, a *cli.App, k *sweepOf[P, T],
	by func(*cache.Store) sweep.Solver[P, T]) error {
	var plan sweepPlan
	var err error
	if f.plot != "" {
		if plan, err = planSweepPicture(k.axes); err != nil {
			return err
		}
	}
	store, err := f.outputs()
	if err != nil {
		return err
	}
	p := cli.NewProgress(a)
	defer p.Stop()
	count := p.Count("solving", "problems")
	start := time.Now()
	rows, r, err := k.solve(ctx, by(store), f.jobs, f.format == "json",
		func(done int) { count(done, len(k.points)) })
	err = f.Late("solve all", err)
	p.Stop()
	for _, rejected := range r.Rejected {
		a.Say("darrm: not used, and solved again: %v", rejected)
	}
	if err != nil {
		return err
	}
	if err := a.Deliver(f.out, func(w io.Writer) error {
		return writeSweep(a.Page(w), f.format, rows, k.always)
	}); err != nil {
		return err
	}
	if err := picture.Deliver(a, "plot", f.plot, func() (figure.Sheet, error) { return k.picture(plan, rows) }); err != nil {
		return err
	}
	if len(k.invalid) > 0 {
		a.Say("invalid combinations left out: %d, the first: %v", len(k.invalid), k.invalid[0])
	}
	a.Say("%d solved and %d read from the cache (certified again) in %v", r.Solved, r.Cached,
		time.Since(start).Round(time.Millisecond))
	if r.Unsaved > 0 {
		return &release.OutputError{Err: fmt.Errorf(
			"the rows are complete, but %d tables are not in the cache: %w", r.Unsaved, r.UnsavedErr)}
	}
	return nil
}

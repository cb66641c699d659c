package problem

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	noisesolve "github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
	"github.com/spf13/cobra"
)

// Solved is a table with its origin.
type Solved[T cache.Table] struct {
	cache.Found[T]
	Took    time.Duration
	Unsaved error // the cache could not store the table: to be returned once that is delivered
}

// PricedAs is the line on the origin of a priced table; made describes the work where no cache had it.
func (s Solved[T]) PricedAs(made string) string {
	if s.Cached {
		return "Read from the cache and priced again: " + s.Path
	}
	return fmt.Sprintf("%s in %v.", made, s.Took.Round(time.Millisecond))
}

// Find returns the table that solve finds, within --timeout and with the cache of the flags. It says why an entry
// of the cache was not used; again is what was done in its place: "solved".
func Find[T cache.Table](ctx context.Context, f *Flags, a *cli.App, again string,
	solve func(context.Context, *cache.Store, *cli.Progress) (cache.Found[T], error)) (s Solved[T], err error) {
	store, err := f.Store()
	if err != nil {
		return s, err
	}
	ctx, cancel := f.Limit(ctx)
	defer cancel()
	bar := cli.NewProgress(a)
	defer bar.Stop()
	start := time.Now()
	s.Found, err = solve(ctx, store, bar)
	s.Took = time.Since(start)
	bar.Stop()
	if s.Rejected != nil {
		a.Say("darrm: not used, and %s again: %v", again, s.Rejected)
	}
	err = f.Late("solve", err)
	if none := *new(T); s.Table != none && err != nil {
		s.Unsaved, err = &release.OutputError{Err: err}, nil
	}
	return s, err
}

// forLibrary returns the table, and leaves it to the flags to tell what the cache could not keep.
func (s Solved[T]) forLibrary(f *Flags) T {
	f.Unsaved = cmp.Or(f.Unsaved, s.Unsaved)
	return s.Table
}

// Origin says in a sentence how the table, of this solver, was obtained and where it is kept.
func (s Solved[T]) Origin(solver string) string {
	if s.Cached {
		return "Read from the cache and certified again: " + s.Path
	}
	kept := "not cached."
	if s.Path != "" && s.Unsaved == nil {
		kept = "cached in " + s.Path
	}
	return fmt.Sprintf("Solved by %s in %v, %s", solver, s.Took.Round(time.Millisecond), kept)
}

// SayEarly says that a search was stopped before its end.
func SayEarly(a *cli.App, gap float64) {
	a.Say("darrm: stopped early: this is the best certified table so far, within %.3g of the optimum", gap)
}

// solveNoise returns the certified table of a problem, from the cache if it is there.
func (f *Flags) solveNoise(ctx context.Context, a *cli.App, p constraints.Problem,
	o noisesolve.Options) (Solved[*gamma.Table], error) {
	return Find(ctx, f, a, "solved", func(ctx context.Context, store *cache.Store,
		bar *cli.Progress) (noisesolve.Result, error) {
		o.Version, o.Progress = cli.Version, bar.Round
		r, err := noisesolve.Cached(ctx, store, p, o)
		bar.Stop()
		if r.Table != nil && (ctx.Err() != nil && o.BestOnCancel || !r.Table.Optimal()) {
			SayEarly(a, r.Table.Gap)
		}
		return r, err
	})
}

// solvePlurality returns the optimal table of the problem, from the cache if it is there. work is as in
// solve.Options. --solve-within bounds the time.
func (f *Flags) solvePlurality(ctx context.Context, a *cli.App, p plurality.Problem,
	o plurality.Objective, work int64) (Solved[*plurality.Table], error) {
	gap := cli.Or(f.Many.Gap, choose.DefaultGap)
	return Find(ctx, f, a, "solved", func(ctx context.Context, store *cache.Store,
		bar *cli.Progress) (solve.Result, error) {
		options := solve.Options{Gap: gap, Work: work, Version: cli.Version, Progress: bar.Gap(gap)}
		if f.SolveWithin != nil {
			return solve.Within(ctx, *f.SolveWithin, store, p, o, options)
		}
		return solve.Cached(ctx, store, p, o, options)
	})
}

// SolveAnswers makes a table for many answers within --timeout, or reads it from the cache. best
// asks for the best table so far where the time ends.
func (f *Flags) SolveAnswers(ctx context.Context, a *cli.App, p answers.Problem, prior answers.Prior,
	best bool) (Solved[*answers.Table], error) {
	return Find(ctx, f, a, "made", func(ctx context.Context, store *cache.Store,
		bar *cli.Progress) (answerssolve.Result, error) {
		ctx, progress := bar.Prices(ctx)
		o := answerssolve.Options{Version: cli.Version, BestOnCancel: best, Progress: progress}
		if f.SolveWithin != nil {
			return answerssolve.Within(ctx, *f.SolveWithin, store, p, prior, o)
		}
		return answerssolve.Cached(ctx, store, p, prior, o)
	})
}

// PriceNoise finds noise that is priced by its label within --timeout, or reads it from the cache.
func (f *Flags) PriceNoise(ctx context.Context, a *cli.App, p noisymax.Problem) (Solved[*noisymax.Table], error) {
	return Find(ctx, f, a, "priced", func(ctx context.Context, store *cache.Store,
		bar *cli.Progress) (cache.Found[*noisymax.Table], error) {
		const prices = 7 // about: of two classes, and of more
		return answerssolve.CachedNoise(bar.Work(ctx, "pricing noise by its label", prices), store, p, cli.Version)
	})
}

// NoisePricer returns the function that prices noise for a library.
func (f *Flags) NoisePricer(a *cli.App) func(context.Context, noisymax.Problem) (*noisymax.Table, error) {
	return func(ctx context.Context, p noisymax.Problem) (*noisymax.Table, error) {
		s, err := f.PriceNoise(ctx, a, p)
		return s.forLibrary(f), err
	}
}

// AnswersSolver returns the function that makes tables for many answers for a library.
func (f *Flags) AnswersSolver(a *cli.App) func(context.Context, answers.Problem, answers.Prior) (
	*answers.Table, error) {
	return func(ctx context.Context, p answers.Problem, prior answers.Prior) (*answers.Table, error) {
		s, err := f.SolveAnswers(ctx, a, p, prior, false)
		return s.forLibrary(f), err
	}
}

// Solvers returns the functions that find optima for a library, and the readers of their priors.
func (f *Flags) Solvers(a *cli.App) choose.Solvers {
	return choose.Solvers{
		Noise: func(ctx context.Context, p constraints.Problem, o noisesolve.Options) (*gamma.Table, error) {
			s, err := f.solveNoise(ctx, a, p, o)
			return s.forLibrary(f), err
		},
		Plurality: func(ctx context.Context, p plurality.Problem, o plurality.Objective,
			work int64) (*plurality.Table, error) {
			s, err := f.solvePlurality(ctx, a, p, o, work)
			return s.forLibrary(f), err
		},
		Histogram: Histogram(a), Histograms: Histograms(a),
	}
}

// UsageObjective explains the flags of the objective, in the help of the commands that solve.
const UsageObjective = `--objective says what γ is optimal for. It never decides what is private.
  source     the least expected |Pr[label = 1] - Pr[majority = 1]|: the
             literature's objective, and the default. Teachers vote for the
             likelier answer with mean probability 0.75 (--prior, --prior-mean).
             It compares two laws: a wrong 0 makes up for a wrong 1.
  agreement  the least Pr[label ≠ majority of its votes]. Take it if you use the
             labels. --prior-counts says how often each number of votes occurs:
             "binomial" (the default), "uniform" if only agreement counts, or a
             public FILE, which is taken as it is where it favours one label.
`

// RegisterObjective adds the flags of the objective of two classes, which is one by default.
func (f *Flags) RegisterObjective(c *cobra.Command, byDefault string) {
	f.Register(c, "objective", "prior", "prior-mean", "prior-counts", "shape")
	other := map[string]string{choose.Source: "", choose.Agreement: " where --prior is not stated"}
	c.Flag("objective").Usage += " (default " + byDefault + other[byDefault] + ")"
	// or a file
	cli.Offer(c, "prior-counts", cobra.FixedCompletions([]string{choose.BinomialCounts,
		choose.UniformCounts}, cobra.ShellCompDirectiveDefault))
}

// Histogram returns the reader of a file of --prior-counts for two classes.
func Histogram(a *cli.App) func(ctx context.Context, file string, k int) ([]float64, error) {
	return func(ctx context.Context, file string, k int) ([]float64, error) {
		return readCounts(ctx, a, file, votes.MaxHistogramBytes,
			func(r io.Reader) ([]float64, error) { return votes.ReadHistogram(r, file, k) })
	}
}

// Histograms returns the reader of a file of --prior-counts for many classes.
func Histograms(a *cli.App) func(ctx context.Context, file string, k,
	classes int) ([]plurality.HistogramCount, error) {
	return func(ctx context.Context, file string, k, classes int) ([]plurality.HistogramCount, error) {
		return readCounts(ctx, a, file, votes.MaxHistogramsBytes,
			func(r io.Reader) ([]plurality.HistogramCount, error) {
				histograms, counts, err := votes.ReadHistograms(r, file, k, classes)
				if err != nil {
					return nil, err
				}
				return plurality.CountHistograms(histograms, counts), nil
			})
	}
}

// readCounts reads public counts of at most limit bytes, and says that they must be public.
func readCounts[T any](ctx context.Context, a *cli.App, file string, limit int64,
	read func(io.Reader) ([]T, error)) ([]T, error) {
	r, err := a.Open(ctx, file, limit)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counts, err := read(r)
	if err != nil {
		return nil, &release.InputError{Err: err}
	}
	a.Say("darrm: the prior counts in %s become part of the mechanism: they must come from public "+
		"data",
		file)
	return counts, nil
}

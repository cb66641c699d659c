package problem

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

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

package problem

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// ObjectiveFlags hold the objective of the optimal noise function and the shapes to choose from.
type ObjectiveFlags struct {
	Name, prior, PriorCounts string
	PriorMean                float64
	shape                    string
}

// UsageObjective explains the flags of the objective, in the help of the commands that solve.
const UsageObjective = `--objective says what γ is optimal for. It never decides what is private.
  source     the least expected |Pr[label = 1] - Pr[majority = 1]|: the
             literature's objective, and the default. Teachers vote for the
             likelier answer with mean probability 0.75 (--prior, --prior-mean).
             It compares two laws: a wrong 0 makes up for a wrong 1.
  agreement  the least Pr[label ≠ majority of its votes]. Take it if you use the
             labels. --prior-counts says how often each number of votes occurs:
             "binomial" (the default), or "uniform" if only agreement counts.
`

// RegisterObjective adds the flags to a command, of which one is the objective by default.
func (f *ObjectiveFlags) RegisterObjective(c *cobra.Command, byDefault string) {
	fl := c.Flags()
	other := map[string]string{choose.Source: "", choose.Agreement: " where --prior is not stated"}
	fl.StringVar(&f.Name, "objective", "",
		"what to be optimal for: \"agreement\" of a label with the majority of its votes, or the "+
			"literature's, \"source\" (default "+byDefault+other[byDefault]+")")
	cli.OneOf(c, "objective", choose.Source, choose.Agreement)
	fl.StringVar(&f.prior, "prior", "",
		"votes that the source's objective presumes: \"uniform\" (a vote for the likelier answer has "+
			"mean 0.75, the default), \"clear\" (0.85), \"custom\" (--prior-mean) or \"worst-case\" (the "+
			"largest error, whatever the teachers do); \"counts\" asks for agreement")
	cli.OneOf(c, "prior", choose.Uniform, choose.Clear, choose.Custom, choose.Counts, choose.WorstCase)
	fl.Float64Var(&f.PriorMean, "prior-mean", solve.DefaultPriorMean,
		"mean probability that a teacher votes for the likelier answer, in (0.5,1)")
	fl.StringVar(&f.PriorCounts, "prior-counts", "",
		"how often each number of votes occurs, for agreement: \"binomial\" (the default: votes of "+
			"--prior-mean, for either answer), \"uniform\", or a file (CSV: votes,count; many classes: "+
			"the votes for each class, then the count). A file becomes part of the mechanism, so it must "+
			"come from PUBLIC data")
	// or a file
	cli.Offer(c, "prior-counts", cobra.FixedCompletions([]string{choose.BinomialCounts,
		choose.UniformCounts}, cobra.ShellCompDirectiveDefault))
	fl.StringVar(&f.shape, "shape", "",
		"noise functions to choose from: \"any\" (γ in [-1,1], the default for agreement), \"free\" "+
			"(γ ≥ 0, the source's, and the default otherwise), or \"monotone\" (γ ≥ 0, never more noise "+
			"with more agreement)")
	cli.OneOf(c, "shape", gamma.Shapes()...)
}

// Noise returns the objective of the optimal noise function that the flags state.
func (f *ObjectiveFlags) Noise(c *cobra.Command) choose.Noise {
	return choose.Noise{
		Objective: f.Name, Prior: f.prior, PriorCounts: f.PriorCounts,
		PriorMean: cli.WhenGiven(c, "prior-mean", &f.PriorMean),
		Shape:     cli.Value(cli.WhenGiven(c, "shape", &f.shape)),
	}
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

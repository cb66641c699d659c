package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// objectiveFlags say what to be optimal for, and among which functions.
type objectiveFlags struct {
	name, prior, priorCounts string
	priorMean                float64
	shape                    string
}

// usageObjective explains the flags of the objective, in the help of the commands that solve.
const usageObjective = `--objective says what γ is optimal for. It never decides what is private.
  source     the least expected |Pr[label = 1] - Pr[majority = 1]|: the
             literature's objective, and the default. Teachers vote for the
             likelier answer with mean probability 0.75 (--prior, --prior-mean).
             It compares two laws: a wrong 0 makes up for a wrong 1.
  agreement  the least Pr[label ≠ majority of its votes]. Take it if you use the
             labels. --prior-counts says how often each number of votes occurs:
             "binomial" (the default), or "uniform" if only agreement counts.
`

func (f *objectiveFlags) registerObjective(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.name, "objective", "",
		"what to be optimal for: \"source\" (default), or \"agreement\" of a label with the majority "+
			"of its votes")
	oneOf(c, "objective", choose.Source, choose.Agreement)
	fl.StringVar(&f.prior, "prior", "",
		"votes that the source's objective presumes: \"uniform\" (a vote for the likelier answer has "+
			"mean 0.75, the default), \"clear\" (0.85), \"custom\" (--prior-mean) or \"worst-case\" (the "+
			"largest error, whatever the teachers do); \"counts\" asks for agreement")
	oneOf(c, "prior", choose.Uniform, choose.Clear, choose.Custom, choose.Counts, choose.WorstCase)
	fl.Float64Var(&f.priorMean, "prior-mean", solve.DefaultPriorMean,
		"mean probability that a teacher votes for the likelier answer, in (0.5,1)")
	fl.StringVar(&f.priorCounts, "prior-counts", "",
		"how often each number of votes occurs, for agreement: \"binomial\" (the default: votes of "+
			"--prior-mean, for either answer), \"uniform\", or a file (CSV: votes,count; many classes: "+
			"the votes for each class, then the count). A file becomes part of the mechanism, so it must "+
			"come from PUBLIC data")
	// or a file
	offer(c, "prior-counts", cobra.FixedCompletions([]string{choose.BinomialCounts,
		choose.UniformCounts}, cobra.ShellCompDirectiveDefault))
	fl.StringVar(&f.shape, "shape", string(gamma.Free),
		"noise functions to choose from: \"free\", or \"monotone\" (never more noise with more "+
			"agreement)")
	oneOf(c, "shape", gamma.Shapes()...)
}

// noise returns the objective of the optimal noise function that the flags state.
func (f *objectiveFlags) noise(c *cobra.Command) choose.Noise {
	return choose.Noise{
		Objective: f.name, Prior: f.prior, PriorCounts: f.priorCounts,
		PriorMean: whenGiven(c, "prior-mean", &f.priorMean),
		Shape:     value(whenGiven(c, "shape", &f.shape)),
	}
}

// histogram reads a file of --prior-counts for two classes.
func (a *app) histogram(ctx context.Context, file string, k int) ([]float64, error) {
	r, err := a.open(ctx, file, votes.MaxHistogramBytes)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counts, err := votes.ReadHistogram(r, file, k)
	if err != nil {
		return nil, release.InputError{Err: err}
	}
	a.sayPriorCounts(file)
	return counts, nil
}

// histograms reads a file of --prior-counts for many classes.
func (a *app) histograms(ctx context.Context, file string, k,
	classes int) ([]plurality.HistogramCount, error) {
	r, err := a.open(ctx, file, votes.MaxHistogramsBytes)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	histograms, counts, err := votes.ReadHistograms(r, file, k, classes)
	if err != nil {
		return nil, release.InputError{Err: err}
	}
	a.sayPriorCounts(file)
	return plurality.CountHistograms(histograms, counts), nil
}

func (a *app) sayPriorCounts(file string) {
	a.say("darrm: the prior counts in %s become part of the mechanism: they must come from public data", file)
}

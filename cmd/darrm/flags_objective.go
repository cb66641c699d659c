package main

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

// objectiveFlags say what to be optimal for, and among which functions.
type objectiveFlags struct {
	prior, priorCounts string
	priorMean          float64
	shape              string
}

// The values of --prior.
const (
	priorUniform   = "uniform"
	priorClear     = "clear"
	priorCustom    = "custom"
	priorOfCounts  = "counts"
	priorWorstCase = "worst-case"
)

func (f *objectiveFlags) registerObjective(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.prior, "prior", "", "what to be optimal for; it never decides what is private:\n\"uniform\" (a vote for the likelier answer has mean 0.75, the default),\n\"clear\" (0.85), \"custom\" (--prior-mean), \"counts\" (--prior-counts) or\n\"worst-case\" (the largest error, whatever the teachers do)")
	fl.Float64Var(&f.priorMean, "prior-mean", solve.DefaultPriorMean, "mean probability that a teacher votes for the likelier\nanswer, in (0.5,1)")
	fl.StringVar(&f.priorCounts, "prior-counts", "", "file with how often each number of votes occurs (CSV: votes,count);\nit becomes part of the mechanism, so it must come from PUBLIC data")
	fl.StringVar(&f.shape, "shape", string(gamma.Free), "noise functions to choose from: \"free\", or \"monotone\" (never more noise with\nmore agreement)")
}

// objective checks the flags. It reads no file: see counts.
func (f *objectiveFlags) objective(c *cobra.Command) (solve.Options, error) {
	o := solve.Options{Version: version}
	var err error
	if o.Shape, err = gamma.ParseShape(f.shape); err != nil {
		return o, err
	}
	prior, mean, counts := f.prior, c.Flags().Changed("prior-mean"), f.priorCounts != ""
	if prior == "" {
		switch {
		case counts:
			prior = priorOfCounts
		case mean:
			prior = priorCustom
		default:
			prior = priorUniform
		}
	}
	if mean != (prior == priorCustom) {
		return o, usagef("prior = %q: --prior-mean goes with %q, and only with it", prior, priorCustom)
	}
	if counts != (prior == priorOfCounts) {
		return o, usagef("prior = %q: --prior-counts goes with %q, and only with it", prior, priorOfCounts)
	}
	switch prior {
	case priorUniform:
		o.PriorMean = solve.DefaultPriorMean
	case priorClear:
		o.PriorMean = solve.ClearPriorMean
	case priorCustom:
		// Here, since a prior mean of 0 that was typed would be the default to solve.
		o.PriorMean, err = f.priorMean, check.PriorMean(f.priorMean)
	case priorWorstCase:
		o.WorstCase = true
	case priorOfCounts:
	default:
		err = usagef("prior = %q, but it must be \"uniform\", \"clear\", \"custom\", \"counts\" or \"worst-case\"", prior)
	}
	return o, err
}

// priorName is the value of --prior that asks for the objective.
func priorName(o gamma.Objective) string {
	switch {
	case o.WorstCase:
		return priorWorstCase
	case o.Counts != nil:
		return priorOfCounts
	case o.PriorMean == solve.DefaultPriorMean:
		return priorUniform
	case o.PriorMean == solve.ClearPriorMean:
		return priorClear
	}
	return priorCustom
}

// counts reads the file of --prior-counts, if one was given.
func (f *objectiveFlags) counts(c *cobra.Command, a *app, k int) ([]float64, error) {
	if f.priorCounts == "" {
		return nil, nil
	}
	r, err := a.open(c.Context(), f.priorCounts, votes.MaxHistogramBytes)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counts, err := votes.ReadHistogram(r, f.priorCounts, k)
	if err != nil {
		return nil, inputError{err}
	}
	a.say("darrm: the prior counts in %s become part of the mechanism: they must come from public data", f.priorCounts)
	return counts, nil
}

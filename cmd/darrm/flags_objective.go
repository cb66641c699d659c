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
	name, prior, priorCounts string
	priorMean                float64
	shape                    string
}

// The values of --objective.
const (
	objectiveSource    = "source"
	objectiveAgreement = "agreement"
)

// The values of --prior.
const (
	priorUniform   = "uniform"
	priorClear     = "clear"
	priorCustom    = "custom"
	priorOfCounts  = "counts"
	priorWorstCase = "worst-case"
)

// The values of --prior-counts that are no file.
const (
	countsUniform  = "uniform"
	countsBinomial = "binomial"
)

// usageObjective says what the flags below choose. Commands that solve have it in their help.
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
	fl.StringVar(&f.name, "objective", "", "what to be optimal for: \"source\" (default), or \"agreement\" of a label with the majority of its votes")
	oneOf(c, "objective", objectiveSource, objectiveAgreement)
	fl.StringVar(&f.prior, "prior", "", "votes that the source's objective presumes: \"uniform\" (a vote for the likelier answer has mean 0.75, the default), \"clear\" (0.85), \"custom\" (--prior-mean) or \"worst-case\" (the largest error, whatever the teachers do); \"counts\" asks for agreement")
	oneOf(c, "prior", priorUniform, priorClear, priorCustom, priorOfCounts, priorWorstCase)
	fl.Float64Var(&f.priorMean, "prior-mean", solve.DefaultPriorMean, "mean probability that a teacher votes for the likelier answer, in (0.5,1)")
	fl.StringVar(&f.priorCounts, "prior-counts", "", "how often each number of votes occurs, for agreement: \"binomial\" (the default: votes of --prior-mean, for either answer), \"uniform\", or a file (CSV: votes,count; many classes: the votes for each class, then the count). A file becomes part of the mechanism, so it must come from PUBLIC data")
	offer(c, "prior-counts", cobra.FixedCompletions([]string{countsBinomial, countsUniform}, cobra.ShellCompDirectiveDefault)) // or a file
	fl.StringVar(&f.shape, "shape", string(gamma.Free), "noise functions to choose from: \"free\", or \"monotone\" (never more noise with more agreement)")
	oneOf(c, "shape", gamma.Shapes()...)
}

// objective checks the flags. It reads no file: see counts.
func (f *objectiveFlags) objective(c *cobra.Command) (solve.Options, error) {
	o := solve.Options{Version: version}
	var err error
	if o.Shape, err = gamma.ParseShape(f.shape); err != nil {
		return o, err
	}
	mean := c.Flags().Changed("prior-mean")
	if mean {
		// Here, since a prior mean of 0 that was typed would be the default to solve.
		if err := check.PriorMean(f.priorMean); err != nil {
			return o, err
		}
	}
	agreement, err := f.agreement()
	if err != nil || agreement {
		if err == nil && mean && f.lawOfCounts() != countsBinomial {
			err = usagef("prior-counts = %q: --prior-mean goes with %q, and only with it", f.priorCounts, countsBinomial)
		}
		return o, err
	}
	prior := f.prior
	if prior == "" {
		prior = priorUniform
		if mean {
			prior = priorCustom
		}
	}
	if mean != (prior == priorCustom) {
		return o, usagef("prior = %q: --prior-mean goes with %q, and only with it", prior, priorCustom)
	}
	switch prior {
	case priorUniform:
		o.PriorMean = solve.DefaultPriorMean
	case priorClear:
		o.PriorMean = solve.ClearPriorMean
	case priorCustom:
		o.PriorMean = f.priorMean
	case priorWorstCase:
		o.WorstCase = true
	default:
		err = usagef("prior = %q, but it must be \"uniform\", \"clear\", \"custom\", \"counts\" or \"worst-case\"", prior)
	}
	return o, err
}

// agreement says whether the objective is agreement: by --objective, or by what goes with
// it alone.
func (f *objectiveFlags) agreement() (bool, error) {
	counts := f.prior == priorOfCounts
	switch f.name {
	case "":
		if f.prior == "" {
			return f.priorCounts != "", nil
		}
		if counts != (f.priorCounts != "") {
			return false, usagef("prior = %q: --prior-counts goes with %q, and only with it", f.prior, priorOfCounts)
		}
		return counts, nil
	case objectiveSource:
		if counts || f.priorCounts != "" {
			return false, usagef("objective = %q: --prior-counts goes with %q", f.name, objectiveAgreement)
		}
		return false, nil
	case objectiveAgreement:
		if f.prior != "" && !counts {
			return false, usagef("objective = %q, prior = %q: agreement has --prior-counts instead", f.name, f.prior)
		}
		return true, nil
	}
	return false, usagef("objective = %q, but it must be %q or %q", f.name, objectiveSource, objectiveAgreement)
}

// lawOfCounts is the value of --prior-counts or its default: what counts means where the
// objective is agreement.
func (f *objectiveFlags) lawOfCounts() string {
	if f.priorCounts == "" {
		return countsBinomial
	}
	return f.priorCounts
}

// countsFile says whether --prior-counts names a file.
func (f *objectiveFlags) countsFile() bool {
	return f.priorCounts != "" && f.priorCounts != countsUniform && f.priorCounts != countsBinomial
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

// counts returns the vote counts of the objective for k teachers, nil where it has none. It
// reads the file of --prior-counts, if one was given.
func (f *objectiveFlags) counts(c *cobra.Command, a *app, k int) ([]float64, error) {
	if agreement, err := f.agreement(); err != nil || !agreement {
		return nil, err
	}
	switch f.lawOfCounts() {
	case countsUniform:
		return gamma.UniformCounts(k)
	case countsBinomial:
		return gamma.TwoSidedCounts(k, f.priorMean)
	}
	r, err := a.open(c.Context(), f.priorCounts, votes.MaxHistogramBytes)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counts, err := votes.ReadHistogram(r, f.priorCounts, k)
	if err != nil {
		return nil, inputError{Err: err}
	}
	a.say("darrm: the prior counts in %s become part of the mechanism: they must come from public data", f.priorCounts)
	return counts, nil
}

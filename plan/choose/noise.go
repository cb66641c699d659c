package choose

import (
	"context"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
)

// Noise holds the objective and the solver of the optimal noise function of two classes.
type Noise struct {
	Objective   string   // Source or Agreement; by default that which goes with what else is stated
	Prior       string   // of Source: Uniform, Clear, Custom or WorstCase; Counts means Agreement
	PriorMean   *float64 // in (½, 1), of Custom and of BinomialCounts
	PriorCounts string   // of Agreement: BinomialCounts, UniformCounts or the name of a file
	Shape       string   // as gamma.ParseShape reads it; solve.Options says the default
	Method      string   // as solve.ParseMethod reads it; solve.CuttingPlanes by default
	OnInterrupt string   // Best or Nothing, the default
}

// The values of Noise.Objective.
const (
	Source    = "source"
	Agreement = "agreement"
)

// The values of Noise.Prior.
const (
	Uniform   = "uniform"
	Clear     = "clear"
	Custom    = "custom"
	Counts    = "counts"
	WorstCase = "worst-case"
)

// The values of Noise.PriorCounts that are no file.
const (
	UniformCounts  = "uniform"
	BinomialCounts = "binomial"
)

// The values of Noise.OnInterrupt.
const (
	Nothing = "nothing"
	Best    = "best"
)

// Options checks what is stated and returns it, without the counts of the prior: see Complete.
func (n Noise) Options() (o solve.Options, err error) {
	if n.Shape != "" {
		if o.Shape, err = gamma.ParseShape(n.Shape); err != nil {
			return o, err
		}
	}
	if n.PriorMean != nil {
		// Here, since a prior mean of 0 that was stated would be the default to solve.
		if err := check.PriorMean(*n.PriorMean); err != nil {
			return o, err
		}
	}
	if err := n.objective(&o); err != nil {
		return o, err
	}
	if n.Method != "" {
		if o.Method, err = solve.ParseMethod(n.Method); err != nil {
			return o, err
		}
	}
	o.BestOnCancel = n.OnInterrupt == Best
	return o, nil
}

func (n Noise) objective(o *solve.Options) error {
	agreement, err := n.ForAgreement()
	if err != nil {
		return err
	}
	if agreement {
		if n.PriorMean != nil && n.LawOfCounts() != BinomialCounts {
			return usagef("prior-counts = %q: %s goes with %q, and only with it",
				n.PriorCounts, pPriorMean, BinomialCounts)
		}
		return nil
	}
	prior := n.Prior
	if prior == "" {
		prior = Uniform
		if n.PriorMean != nil {
			prior = Custom
		}
	}
	if (n.PriorMean != nil) != (prior == Custom) {
		return usagef("prior = %q: %s goes with %q, and only with it", prior, pPriorMean, Custom)
	}
	switch prior {
	case Uniform:
		o.PriorMean = solve.DefaultPriorMean
	case Clear:
		o.PriorMean = solve.ClearPriorMean
	case Custom:
		o.PriorMean = *n.PriorMean
	case WorstCase:
		o.WorstCase = true
	default:
		return usagef("prior = %q, but it must be \"uniform\", \"clear\", \"custom\", \"counts\" "+
			"or \"worst-case\"", prior)
	}
	return nil
}

// ForAgreement reports whether the objective is agreement, by Objective or, where that is empty, by
// the prior. It returns an error if the objective is unknown or contradicts the prior.
func (n Noise) ForAgreement() (bool, error) {
	counts := n.Prior == Counts
	switch n.Objective {
	case "":
		if n.Prior == "" {
			return n.PriorCounts != "", nil
		}
		if counts != (n.PriorCounts != "") {
			return false, usagef("prior = %q: %s goes with %q, and only with it",
				n.Prior, pPriorCounts, Counts)
		}
		return counts, nil
	case Source:
		if counts || n.PriorCounts != "" {
			return false, usagef("objective = %q: %s goes with %q",
				n.Objective, pPriorCounts, Agreement)
		}
		return false, nil
	case Agreement:
		if n.Prior != "" && !counts {
			return false, usagef("objective = %q, prior = %q: agreement has %s instead",
				n.Objective, n.Prior, pPriorCounts)
		}
		return true, nil
	}
	return false, usagef("objective = %q, but it must be %q or %q", n.Objective, Source, Agreement)
}

// LawOfCounts returns PriorCounts or its default.
func (n Noise) LawOfCounts() string {
	if n.PriorCounts == "" {
		return BinomialCounts
	}
	return n.PriorCounts
}

// CountsFile reports whether PriorCounts names a file.
func (n Noise) CountsFile() bool {
	return n.PriorCounts != "" && n.PriorCounts != UniformCounts && n.PriorCounts != BinomialCounts
}

// Counts returns the vote counts of the objective for k teachers, nil where it has none; read reads
// the file of PriorCounts.
func (n Noise) Counts(ctx context.Context, k int, read ReadCounts) ([]float64, error) {
	if agreement, err := n.ForAgreement(); err != nil || !agreement {
		return nil, err
	}
	switch n.LawOfCounts() {
	case UniformCounts:
		return gamma.UniformCounts(k)
	case BinomialCounts:
		mean := solve.DefaultPriorMean
		if n.PriorMean != nil {
			mean = *n.PriorMean
		}
		return gamma.TwoSidedCounts(k, mean)
	}
	return read(ctx, n.PriorCounts, k)
}

// Complete returns Options with Counts.
func (n Noise) Complete(ctx context.Context, k int, read ReadCounts) (solve.Options, error) {
	o, err := n.Options()
	if err == nil {
		o.Counts, err = n.Counts(ctx, k, read)
	}
	return o, err
}

// PriorName returns the Noise.Prior that asks for the objective.
func PriorName(o gamma.Objective) string {
	switch {
	case o.WorstCase:
		return WorstCase
	case o.Counts != nil:
		return Counts
	case o.PriorMean == solve.DefaultPriorMean:
		return Uniform
	case o.PriorMean == solve.ClearPriorMean:
		return Clear
	}
	return Custom
}

package choose

import (
	"context"
	"math"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan"
)

// Noise holds the objective and the solver of the optimal noise function of two classes.
type Noise struct {
	// Source or Agreement; by default that which goes with what else is stated
	Objective string `flag:"objective" help:"what to be optimal for: \"agreement\" of a label with the majority of its votes, or the literature's, \"source\""`
	// of Source: Uniform, Clear, Custom or WorstCase; Counts means Agreement
	Prior string `flag:"prior" help:"votes that the source's objective presumes: \"uniform\" (a vote for the likelier answer has mean 0.75, the default), \"clear\" (0.85), \"custom\" ($prior-mean) or \"worst-case\" (the largest error, whatever the teachers do); \"counts\" asks for agreement"`
	// in (½, 1), of Custom and of BinomialCounts
	PriorMean *float64 `flag:"prior-mean" default:"0.75" help:"mean probability that a teacher votes for the likelier answer, in (0.5,1)"`
	// of Agreement: BinomialCounts, UniformCounts or the name of a file
	PriorCounts string `flag:"prior-counts" help:"how often each number of votes occurs, for agreement: \"binomial\" (the default: votes of $prior-mean, for either answer), \"uniform\", or a file (CSV: votes,count; many classes: the votes for each class, then the count). A file becomes part of the mechanism, so it must come from PUBLIC data"`
	// a gamma.Shape; solve.Options says the default
	Shape string `flag:"shape" help:"noise functions to choose from: \"any\" (γ in [-1,1], the default for agreement), \"free\" (γ ≥ 0, the source's, and the default otherwise), \"monotone\" (γ ≥ 0, never more noise with more agreement), or \"by-name\" (labels need not be alike: the default for counts that favour one, and for $shares and $cost)"`
	// a solve.Method; solve.CuttingPlanes by default
	Method string `flag:"method" default:"cutting-planes" help:"\"cutting-planes\", or \"exhaustive\" to hand all constraints to the solver"`
	// Best or Nothing, the default
	OnInterrupt string `flag:"on-interrupt" default:"nothing" help:"when Ctrl-C or $timeout ends the solve: \"nothing\", or \"best\" for the best certified table so far, with the gap proved by then"`
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
	if o.Shape = gamma.Shape(n.Shape); n.Shape != "" {
		if err := check.Known("shape", o.Shape, gamma.Shapes()); err != nil {
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
	if o.Method = solve.Method(n.Method); n.Method != "" {
		if err := check.Known("method", o.Method, solve.Methods()); err != nil {
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

// Always is always one class as the answer, by public counts of votes, beside the labels of a Choice.
type Always struct {
	Class     int
	Agreement float64 // of that answer with the majority; a tie agrees
	Labels    float64 // of the labels
}

// Always returns the class that agrees most often by the public counts that the noise function was
// solved for. It is not ok without such counts, and where they treat the two classes alike, as every
// prior does that is no file.
func (c Choice) Always() (a Always, ok bool) {
	if c.Noise == nil || c.Noise.Counts == nil {
		return a, false
	}
	counts := c.Noise.Counts
	k := len(counts) - 1
	law, err := plan.NewSample(k, 2)
	for ones, n := range counts {
		if err == nil && n > 0 {
			err = law.AddTimes([]int{k - ones, ones}, n)
		}
	}
	if err != nil {
		return a, false
	}
	if a.Class, a.Agreement, ok = law.Always(); !ok {
		return a, false
	}
	missed, err := gamma.Disagreement(c.Noise.Func(), counts)
	a.Labels = 1 - missed
	leads := law.Leads()
	return a, err == nil && math.Abs(leads[1]-leads[0]) > alike
}

// alike is the share of queries below which the two classes lead equally often: sums round.
const alike = 1e-9

package gamma

import (
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/poissonbinom"
)

// DefaultPriorMean is the mean of the source's first prior, Uniform[½,1].
const DefaultPriorMean = 0.75

// UniformCounts returns the law of vote counts in which every count 0 … k is equally
// likely, for Objective.Counts. It needs no data.
func UniformCounts(k int) ([]float64, error) {
	if err := check.Teachers(k); err != nil {
		return nil, err
	}
	return slices.Repeat([]float64{1}, k+1), nil
}

// TwoSidedCounts returns the law of vote counts of teachers who vote for the likelier
// answer with mean probability μ in (0.5, 1), where either answer may be the likelier:
//
//	½·Binomial(k, μ) + ½·Binomial(k, 1-μ)
//
// for Objective.Counts. It needs no data.
func TwoSidedCounts(k int, mu float64) ([]float64, error) {
	if err := check.Teachers(k); err != nil {
		return nil, err
	}
	if err := check.PriorMean(mu); err != nil {
		return nil, err
	}
	b := poissonbinom.Binomial(k, mu)
	counts := make([]float64, k+1)
	for l := range counts {
		counts[l] = (b[l] + b[k-l]) / 2
	}
	return counts, nil
}

// Disagreement returns the probability that a label of f differs from the majority of the
// very votes that it was drawn for, where counts[l] is how often l votes occur, l = 0 … K:
//
//	Pr[label ≠ majority] = ½·Σ_{l≠K/2} h(l)·(1-γ(l)),   h = counts / Σ counts
//
// in [0, ½] for γ ≥ 0; a tie has no majority and counts as agreement. It is what Objective.Counts
// minimises. ExpectedError is never larger for teachers who vote as the counts say: it
// compares the laws of label and majority, where a wrong 0 makes up for a wrong 1. The
// errors name counts that are negative, not finite or all 0, or not K+1.
func Disagreement(f Func, counts []float64) (float64, error) {
	if err := checkCounts(counts, f.K()); err != nil {
		return 0, err
	}
	weights, err := countWeights(counts)
	if err != nil {
		return 0, err
	}
	return expectedError(f, weights), nil
}

// Disagreements are Disagreement under the two laws of vote counts that need no data.
type Disagreements struct {
	// TwoSidedCounts of the objective's prior mean, or of DefaultPriorMean
	Binomial float64 `json:"binomial"`
	Uniform  float64 `json:"uniform"` // UniformCounts
}

// Disagreements returns how often labels of f differ from the majority of their votes,
// whatever f is optimal for.
func (o Objective) Disagreements(f Func) Disagreements {
	mean := o.PriorMean
	if mean == 0 {
		mean = DefaultPriorMean
	}
	of := func(counts []float64, err error) float64 {
		d := 0.0
		if err == nil {
			d, err = Disagreement(f, counts)
		}
		if err != nil {
			return 1 // of no function, or under no objective
		}
		return d
	}
	return Disagreements{Binomial: of(TwoSidedCounts(f.K(), mean)), Uniform: of(UniformCounts(f.K()))}
}

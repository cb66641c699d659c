package gamma

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/poissonbinom"
)

// Weights returns what each free value of γ is worth when the teachers vote for
// the more likely answer independently with mean probability μ in (0.5, 1):
//
//	weight(l) = ½·(B(K-l) - B(l)),   B = Binomial(K, μ),   l = 0 … ⌈K/2⌉-1
//
// The source averages over sampled p_i; that is unnecessary, since the Poisson
// binomial law is affine in each p_i and independent p_i with mean μ give
// E[α_l] = B(l) exactly. Uniform[½,1], the source's first prior, has μ = 0.75;
// Uniform[0.7,1] has 0.85.
//
// The weights decide how useful γ is and never whether it is private, as long as
// they do not depend on the private data.
func Weights(k int, mu float64) ([]float64, error) {
	if err := cmp.Or(check.Teachers(k), check.PriorMean(mu)); err != nil {
		return nil, err
	}
	b := poissonbinom.Binomial(k, mu)
	w := make([]float64, (k+1)/2)
	for l := range w {
		w[l] = (b[k-l] - b[l]) / 2
	}
	return w, nil
}

// countWeights returns what each free value of γ is worth when a query's vote count
// is l with a frequency proportional to counts[l], l = 0 … K:
//
//	weight(l) = ½·(counts(l) + counts(K-l)) / Σ counts,   l = 0 … ⌈K/2⌉-1
//
// so that ExpectedError is the probability that the released label differs from
// the majority (ties aside). It returns an error naming index, value and rule if a count is
// negative or not finite, or if their sum is not positive and finite.
//
// The counts become part of the mechanism: they must come from public data.
func countWeights(counts []float64) ([]float64, error) {
	total, err := totalCount(counts)
	if err != nil {
		return nil, err
	}
	k := len(counts) - 1
	w := make([]float64, (k+1)/2)
	worth := 0.0
	for l := range w {
		w[l] = float64((counts[l]/total + counts[k-l]/total) / 2)
		worth += w[l]
	}
	if worth == 0 {
		return nil, errTies
	}
	return w, nil
}

var errTies = check.Want("counts", "ties only", "positive for some count that has a majority")

func totalCount(counts []float64) (float64, error) {
	if err := check.Teachers(len(counts) - 1); err != nil {
		return 0, fmt.Errorf("%d counts: %w", len(counts), err)
	}
	total := 0.0
	for l, c := range counts {
		if !(c >= 0) || math.IsInf(c, 1) {
			return 0, check.Want(fmt.Sprintf("count of %d votes", l), c, "finite and ≥ 0")
		}
		total += c
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return 0, check.Want("sum of counts", total, "finite and > 0")
	}
	return total, nil
}

// weightsByName returns what each value of γ is worth where both labels count for themselves: counts are
// taken as they are, and a wrong label has the cost of where it is answered,
//
//	weight(l) = ½·cost·counts(l) / Σ counts,   cost = costs[0] above K/2 and costs[1] below
//
// so that Σ weight(l)·(1-γ(l)) is the expected cost of a label. A tie has weight 0.
func weightsByName(counts []float64, costs [2]float64) ([]float64, error) {
	total, err := totalCount(counts)
	if err != nil {
		return nil, err
	}
	w := make([]float64, len(counts))
	worth := 0.0
	for l, c := range counts {
		switch k := len(counts) - 1; {
		case 2*l < k:
			w[l] = float64(c/total) * costs[1] / 2
		case 2*l > k:
			w[l] = float64(c/total) * costs[0] / 2
		}
		worth += w[l]
	}
	if worth == 0 {
		return nil, errTies
	}
	return w, nil
}

// weightsError bounds Σ_l |computed - exact| of Weights and of countWeights, where the mean and the
// counts are the decimals that people write. With u = 2⁻⁵³: the law is within 2u in all, and a mean
// that is off by u/2 moves it by at most Ku; each weight is half a difference. A share of counts
// takes K sums, two decimals and three roundings, of numbers ≥ 0 that add up to ½. So
//
//	max(½·(2u+Ku) + u, ½·(K+7)u) ≤ (K+16)·u
func weightsError(k int) float64 { return float64(float64(k+16) * 0x1p-53) }

// WorstError returns the largest distance between the released and the plain
// majority over all probabilities of the teachers:
//
//	max_p ErrorAt(γ, p) = max_{l<K/2} ½·(1-γ(l))
//
// in [0,1]; a γ below 0 errs more often than a coin.
// ErrorAt without its absolute value is affine in each p_i, so it is largest where
// every teacher is certain of its answer, and there L is one number.
func WorstError(f Func) float64 {
	least := 1.0
	for l := 0; 2*l < f.K(); l++ {
		least = min(least, f.At(l))
	}
	return (1 - least) / 2
}

// ExpectedError returns the expected distance between the released majority and
// the plain one, given Weights:
//
//	ℰ = Σ_{l<K/2} weight(l)·(1-γ(l))
//
// in [0, ½] for γ ≥ 0. The error is for weights of another number of teachers than f's.
func ExpectedError(f Func, weights []float64) (float64, error) {
	if len(weights) != (f.K()+1)/2 {
		return 0, check.Wantf("number of weights", len(weights), "%d for K = %d teachers", (f.K()+1)/2,
			f.K())
	}
	return expectedError(f, weights), nil
}

// expectedError takes weights of the free values of a symmetric γ, or of all its values.
func expectedError(f Func, weights []float64) float64 {
	sum := 0.0
	for l, w := range weights {
		of := f.At(l)
		if len(weights) <= f.K() {
			// Both labels count alike: half of what each number of votes has. The same where γ is symmetric.
			of = (of + f.At(f.K()-l)) / 2
		}
		sum += float64(w * (1 - of))
	}
	return sum
}

// ErrorAt returns the distance between the released and the plain majority when
// teacher i answers 1 with probability p[i]:
//
//	|Pr[DaRRM = 1] - Pr[majority = 1]| = ½·|Σ_{l>K/2} (α_l - α_{K-l})·(1-γ(l))|
//
// p has length K, entries in [0,1]. Cost O(K²).
func ErrorAt(f Func, p []float64) (float64, error) {
	if len(p) != f.K() {
		return 0, fmt.Errorf("%d probabilities for K = %d teachers", len(p), f.K())
	}
	alpha, err := poissonbinom.PMF(p)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	k := f.K()
	for l := k/2 + 1; l <= k; l++ {
		sum += float64((alpha[l] - alpha[k-l]) * (1 - f.At(l)))
	}
	return math.Abs(sum) / 2, nil
}

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
	if err := cmp.Or(check.Teachers(k), check.PriorMean(mu)); err != nil {
		return nil, err
	}
	b := poissonbinom.Binomial(k, mu)
	counts := make([]float64, k+1)
	for l := range counts {
		counts[l] = (b[l] + b[k-l]) / 2
	}
	return counts, nil
}

// SharedCounts is TwoSidedCounts where label 1 is the likelier answer in a stated share of the queries:
//
//	share·Binomial(k, μ) + (1-share)·Binomial(k, 1-μ),   share in (0,1)
func SharedCounts(k int, mu, share float64) ([]float64, error) {
	if err := cmp.Or(check.Teachers(k), check.PriorMean(mu), check.Within("share of label 1", share)); err != nil {
		return nil, err
	}
	b := poissonbinom.Binomial(k, mu)
	counts := make([]float64, k+1)
	for l := range counts {
		counts[l] = float64(share*b[l]) + float64((1-share)*b[k-l])
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
	weigh := countWeights
	if !f.Symmetric() {
		weigh = func(counts []float64) ([]float64, error) { return weightsByName(counts, [2]float64{1, 1}) }
	}
	weights, err := weigh(counts)
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

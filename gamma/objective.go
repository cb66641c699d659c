package gamma

import (
	"fmt"
	"math"

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
	if err := check.Teachers(k); err != nil {
		return nil, err
	}
	if err := check.PriorMean(mu); err != nil {
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
	k := len(counts) - 1
	if err := check.Teachers(k); err != nil {
		return nil, fmt.Errorf("%d counts: %w", len(counts), err)
	}
	total := 0.0
	for l, c := range counts {
		if !(c >= 0) || math.IsInf(c, 1) {
			return nil, &check.Error{Name: fmt.Sprintf("count of %d votes", l), Value: c,
				Rule: "finite and ≥ 0"}
		}
		total += c
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, &check.Error{Name: "sum of counts", Value: total, Rule: "finite and > 0"}
	}
	w := make([]float64, (k+1)/2)
	worth := 0.0
	for l := range w {
		w[l] = float64((counts[l]/total + counts[k-l]/total) / 2)
		worth += w[l]
	}
	if worth == 0 {
		return nil, &check.Error{Name: "counts", Value: "ties only",
			Rule: "positive for some count that has a majority"}
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
		return 0, &check.Error{Name: "number of weights", Value: len(weights),
			Rule: fmt.Sprintf("%d for K = %d teachers", (f.K()+1)/2, f.K())}
	}
	return expectedError(f, weights), nil
}

func expectedError(f Func, weights []float64) float64 {
	sum := 0.0
	for l, w := range weights {
		sum += float64(w * (1 - f.At(l)))
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

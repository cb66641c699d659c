package model

import (
	"slices"

	"github.com/darrm/darrm/internal/num"
)

// AUC returns the share of pairs of a positive and another record whose positive one has the
// higher score, ties counting a half: the statistic of Mann and Whitney over the number of
// pairs. It is nil without such pairs. Scores must not be NaN. Cost: O(n log n).
func AUC(scores []float64, positive []bool) *float64 {
	o, ok := order(scores, positive)
	if !ok {
		return nil
	}
	auc := o.auc()
	return &auc
}

// Concordant counts the pairs of a positive and another record whose positive one has the higher
// score, twice, and those that tie, once. Scores must not be NaN. Cost: O(n log n).
func Concordant(scores []float64, positive []bool) (twice int) {
	o, _ := order(scores, positive)
	return o.twice
}

// Interval is a low and a high end.
type Interval [2]float64

// ordered holds the counts of ordered pairs, from which the AUC and its interval are computed. A
// pair counts 2 and a tie 1, so that all counts are whole numbers.
type ordered struct {
	n     [2]float64 // negatives, positives
	twice int        // pairs in order
	// squares are the sums, over the records of a class, of the squared number of records of
	// the other class that they are in order with, in units of half a record.
	squares [2]float64
}

// order counts; ok is false where a class is missing.
func order(scores []float64, positive []bool) (o ordered, ok bool) {
	by := make([]int, len(scores))
	all := [2]int{}
	for i := range by {
		by[i] = i
		all[class(positive[i])]++
	}
	slices.SortFunc(by, func(i, j int) int {
		switch {
		case scores[i] < scores[j]:
			return -1
		case scores[i] > scores[j]:
			return 1
		}
		return 0
	})
	below := [2]int{}
	for i := 0; i < len(by); {
		tied := [2]int{}
		for z := scores[by[i]]; i < len(by) && scores[by[i]] == z; i++ {
			tied[class(positive[by[i]])]++
		}
		ahead := 2*below[0] + tied[0]                   // of each positive
		behind := 2*(all[1]-below[1]-tied[1]) + tied[1] // of each negative
		o.twice += tied[1] * ahead
		o.squares[1] += float64(tied[1]) * float64(ahead) * float64(ahead)
		o.squares[0] += float64(tied[0]) * float64(behind) * float64(behind)
		below[0], below[1] = below[0]+tied[0], below[1]+tied[1]
	}
	o.n = [2]float64{float64(all[0]), float64(all[1])}
	return o, all[0] > 0 && all[1] > 0
}

func class(positive bool) int {
	if positive {
		return 1
	}
	return 0
}

func (o ordered) auc() float64 { return float64(o.twice) / 2 / o.n[0] / o.n[1] }

// interval returns the 95 % interval of the AUC that other records of the same kind would
// give. It is Wilson's for as many trials as a share of DeLong's variance
//
//	V = S₊/n₊ + S₋/n₋
//
// would need, A(1-A)/V, where S is the sample variance of the share of the other class that a
// record is ahead of, or behind; of min(n₊, n₋) trials where V is 0, since V ≤ A(1-A)/min(n₊, n₋)
// for every law (Birnbaum and Klose, 1957), and of no more trials than records. So it does not end
// where all pairs are right, as DeLong's does. Cost: O(n log n).
//
// Source: DeLong, DeLong and Clarke-Pearson, Comparing the Areas under Two or More Correlated
// Receiver Operating Characteristic Curves (1988).
func (o ordered) interval() Interval {
	a, least := o.auc(), min(o.n[0], o.n[1])
	trials, v := least, 0.0
	if least > 1 {
		for c, n := range o.n {
			other := 2 * o.n[1-c]
			v += max(0, o.squares[c]/(other*other)/n-a*a) / (n - 1)
		}
	}
	if v > 0 {
		trials = min(a*(1-a)/v, o.n[0]+o.n[1])
	}
	low, high := num.Wilson(a, trials)
	return Interval{low, high}
}

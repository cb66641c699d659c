package labellaw

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// A Prior yields histograms of votes with their weights, which are at least 0 and need not sum to 1.
// It must be public: what is worked out by it is published. Where it treats the classes alike, any
// order of a histogram's votes stands for all of them.
type Prior = iter.Seq2[[]int, float64]

// Plurality returns the probability that the label is a class with the most votes, any of them where
// several tie, which is the one metric of plans, scores and comparisons, and how many tie. law has the probability of each class, and may have that of abstaining
// behind them. Both are 0 without classes.
func Plurality(counts []int, law []float64) (agrees float64, tied int) {
	most := 0
	for c, n := range counts {
		if tied == 0 || n > most {
			most, tied, agrees = n, 0, 0
		}
		if n == most {
			tied++
			agrees += law[c]
		}
	}
	return agrees, tied
}

// query is a histogram with the law of its label.
type query struct {
	counts      []int
	law         []float64
	weight      float64
	most, named float64 // the largest count; how often the label is a class
}

// LabelOf returns the probability of each class as the label of a query with these votes, and may have
// that of abstaining behind them.
type LabelOf = func(counts []int) ([]float64, error)

// Fit sets the Channel of a mechanism under the prior, and its layer, in l, of which Classes and Shares are set. The
// classes are told apart or alike: what is alike has a prior that is. The error names the weight that
// breaks its rule, or a class that is told apart and never leads; or it is of's, or ctx.Err(). Cost: one law a histogram.
func Fit(ctx context.Context, l *Law, apart bool, prior Prior, of LabelOf) error {
	l = handle.Made(l)
	all, err := queries(ctx, prior, of)
	switch {
	case err != nil:
		return err
	case !apart:
		l.Channel, l.Beta = channel(all, l.Classes), beta(all)
		if l.Shares == nil {
			l.Shares = Equal(l.Classes)
		}
		return nil
	}
	t, leads := byClass(all, l.Classes)
	for c, share := range leads {
		if share == 0 {
			return check.Wantf("prior of the votes", "given", "one in which each class has the most votes somewhere: class %d never has, "+
				"so its labels have no law", c)
		}
	}
	l.Apart = t
	if l.Shares == nil {
		l.Shares = leads
	}
	if err := checkShares(l.Shares, l.Classes); err != nil {
		return err
	}
	l.Agrees = l.diagonal(l.Shares)
	l.Beta, l.Offsets = layer(all, l.Classes)
	return nil
}

// byClass returns T of the queries, and how often each class has the most votes; a tie shares its weight.
func byClass(all []query, classes int) (t [][]float64, leads []float64) {
	t, leads = make([][]float64, classes), make([]float64, classes)
	for c := range t {
		t[c] = make([]float64, classes)
	}
	for _, q := range all {
		_, tied := Plurality(q.counts, q.law)
		for c, n := range q.counts {
			if float64(n) != q.most {
				continue
			}
			weight := q.weight / float64(tied)
			leads[c] += weight
			for y, p := range q.law {
				t[c][y] += float64(weight * p)
			}
		}
	}
	for c, row := range t {
		for y := range row {
			row[y] /= max(leads[c], math.SmallestNonzeroFloat64)
		}
	}
	return t, leads
}

// queries returns the laws over the prior, with weights that sum to 1.
func queries(ctx context.Context, prior Prior, of LabelOf) (all []query, err error) {
	if prior == nil || of == nil {
		return nil, errors.New("prior and law of the labels must be given")
	}
	total := 0.0
	for counts, weight := range prior {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !(weight >= 0) || math.IsInf(weight, 1) {
			return nil, check.Want("weight of a histogram", weight, "finite and ≥ 0")
		}
		if weight == 0 {
			continue
		}
		law, err := of(counts)
		if err != nil {
			return nil, err
		}
		q := query{counts: slices.Clone(counts), law: law, weight: weight, most: float64(slices.Max(counts))}
		for c := range counts {
			q.named += law[c]
		}
		all = append(all, q)
		total += weight
	}
	if !(total > 0) {
		return nil, errors.New("the prior must have a histogram of votes")
	}
	for i := range all {
		all[i].weight /= total
	}
	return all, nil
}

// channel returns the Channel of the queries' mean law.
func channel(all []query, classes int) Channel {
	c := Channel{Classes: classes}
	for _, q := range all {
		agrees, tied := Plurality(q.counts, q.law)
		c.Agrees += q.weight * agrees / float64(tied)
		if len(q.law) > classes {
			c.Abstains += q.weight * q.law[classes]
		}
	}
	c.Agrees = min(c.Agrees, 1)
	return c
}

// beta returns the b ≥ 0 that maximises
//
//	Σ_h prior(h) Σ_y law(y given h)·ln softmax(b·h)_y,   y over the classes
//
// It is concave in b, and its slope is the mean votes of the label less those that softmax(b·h) expects.
// It returns +Inf where no label has noise: then the slope is above 0 for every b. Cost: O(C) a
// histogram, some sixty times.
func beta(all []query) float64 {
	slope := func(b float64) float64 {
		sum := 0.0
		for _, q := range all {
			weights, expected, label := 0.0, 0.0, 0.0
			for c, n := range q.counts {
				below := float64(n) - q.most // so that the largest term is 1
				w := math.Exp(b * below)
				weights += w
				expected += w * below
				label += q.law[c] * below
			}
			sum += q.weight * (label - q.named*expected/weights)
		}
		return sum
	}
	noise := 0.0 // by how many votes labels are behind
	for _, q := range all {
		for c, n := range q.counts {
			noise += q.weight * q.law[c] * (q.most - float64(n))
		}
	}
	low, high := 0.0, 1.0
	if noise < rounding {
		return math.Inf(1)
	}
	if !(slope(0) > 0) {
		return 0
	}
	for slope(high) > 0 {
		low, high = high, 2*high
	}
	for high-low > 1e-13*high {
		if mid := (low + high) / 2; slope(mid) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

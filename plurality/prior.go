package plurality

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Objective is what a mechanism is to be best at: the probability that the answer is a
// plurality class of the votes, whose sorted histograms come from a law. There is no best
// mechanism for all laws. The law decides what is useful and never what is private, as
// long as it does not depend on private data. Exactly one of Accuracy and Counts gives it.
type Objective struct {
	// Accuracy μ in (1/C, 1): each teacher is right with probability μ, and otherwise
	// votes for each other class with the same probability.
	Accuracy float64
	// Counts of sorted histograms, from public data.
	Counts []HistogramCount
	// AbstainValue in [0,1] is what abstaining counts, where a plurality class counts 1
	// and another class 0. It is 0 where abstaining is no answer.
	AbstainValue float64
}

// HistogramCount says how often a histogram occurs.
type HistogramCount struct {
	Votes []int   `json:"votes"` // of each class, in any order
	Count float64 `json:"count"` // finite and ≥ 0
}

// DefaultAccuracy is the μ that is presumed where nobody says one: ½, and for two classes ¾, as
// for the private majority.
func DefaultAccuracy(classes int) float64 {
	if classes == 2 {
		return 0.75
	}
	return 0.5
}

// CountHistograms returns the counts of histograms, each once, in ascending lexicographic order of
// their descending votes: which classes they were for does not matter. There are as many counts
// as histograms.
func CountHistograms(votes [][]int, counts []float64) []HistogramCount {
	out := make([]HistogramCount, len(votes))
	for i, v := range votes {
		v = slices.Clone(v)
		slices.SortFunc(v, func(a, b int) int { return b - a })
		out[i] = HistogramCount{Votes: v, Count: counts[i]}
	}
	slices.SortStableFunc(out, func(a, b HistogramCount) int { return slices.Compare(a.Votes, b.Votes) })
	n := 0
	for _, c := range out {
		if n > 0 && slices.Equal(out[n-1].Votes, c.Votes) {
			out[n-1].Count += c.Count
		} else {
			out[n] = c
			n++
		}
	}
	return out[:n]
}

// UnevenCounts returns the law of the sorted histograms of s where classes have uneven shares of a query's
// votes, as real teachers' votes do: wrong ones gather in few classes, and some queries are clearer than
// others. The shares are Dirichlet-distributed with parameters A/C, and the votes are drawn by them:
//
//	w(λ) = [C!/Π_v m_v!]·[K!/Π λ_i!]·Γ(A)/Γ(A+K)·Π_i Γ(λ_i+A/C)/Γ(A/C)
//
// The concentration A > 0 says how clear votes are: one class has nearly all votes where A is small, all
// have similar ones where it is large; 1 serves most. It takes A in (0, 10⁶]. The float64 are near that law, and as the Counts of an
// Objective they are a law themselves. It needs no data.
// Source: Mosimann, On the Compound Multinomial Distribution (Biometrika 49, 1962).
func UnevenCounts(s *Space, concentration float64) ([]HistogramCount, error) {
	if err := check.UpTo("concentration", concentration, 1e6); err != nil {
		return nil, err
	}
	log := func(x float64) float64 {
		v, _ := math.Lgamma(x) // of x > 0: its sign is +
		return v
	}
	each := concentration / float64(s.classes)
	all := log(float64(s.classes+1)) + log(float64(s.k+1)) + log(concentration) - log(concentration+float64(s.k))
	counts := make([]HistogramCount, s.Histograms())
	var runs []run
	for h := range counts {
		w := all
		runs = s.runs(h, runs)
		for _, r := range runs {
			v := float64(r.votes)
			w += float64(r.classes)*(log(v+each)-log(each)-log(v+1)) - log(float64(r.classes+1))
		}
		counts[h] = HistogramCount{Votes: s.Histogram(h), Count: math.Exp(w)}
	}
	return counts, nil
}

// Validate returns an error naming the first field that breaks its rule.
func (o Objective) Validate(p Problem) error {
	if (o.Accuracy != 0) == (o.Counts != nil) {
		return &check.Error{Name: "prior", Value: fmt.Sprintf("accuracy %v and %d counts", o.Accuracy, len(o.Counts)), Rule: "one of accuracy and counts"}
	}
	if o.Counts == nil {
		if err := check.Open("accuracy", o.Accuracy, 1/float64(p.Classes), 1); err != nil {
			return err
		}
	}
	if err := check.Probability("value of abstaining", o.AbstainValue); err != nil {
		return err
	}
	if !p.Abstain && o.AbstainValue != 0 {
		return &check.Error{Name: "value of abstaining", Value: o.AbstainValue, Rule: "0 where abstaining is no answer"}
	}
	return nil
}

// Equal reports whether o and p are the same objective.
func (o Objective) Equal(p Objective) bool {
	return o.Accuracy == p.Accuracy && o.AbstainValue == p.AbstainValue && (o.Counts == nil) == (p.Counts == nil) &&
		slices.EqualFunc(o.Counts, p.Counts, func(a, b HistogramCount) bool { return a.Count == b.Count && slices.Equal(a.Votes, b.Votes) })
}

// Weights are the law of sorted histograms, each known to lie between two float64.
type Weights struct{ Low, High []float64 }

// Weights returns the law of the sorted histograms of s,
//
//	w(λ) = [C!/Π_v m_v!]·[K!/Π λ_i!]·(1/C)·Σ_i μ^{λ_i}·((1-μ)/(C-1))^{K-λ_i}
//
// or the given counts divided by their sum. The error names the count that breaks its
// rule. Cost: O(variables) operations on 320 bits.
func (o Objective) Weights(s *Space) (Weights, error) {
	if o.Counts != nil {
		return countWeights(s, o.Counts)
	}
	factorial := make([]num.Interval, max(s.k, s.classes)+1)
	factorial[0] = num.FromInt(1)
	for n := 1; n < len(factorial); n++ {
		factorial[n] = factorial[n-1].Mul(num.FromInt(int64(n)))
	}
	right := num.Decimal(o.Accuracy)
	wrong := new(big.Rat).Sub(big.NewRat(1, 1), right)
	wrong.Quo(wrong, big.NewRat(int64(s.classes-1), 1))
	each := power(num.FromRat(right), s.k)
	for v, w := range power(num.FromRat(wrong), s.k) {
		each[s.k-v] = each[s.k-v].Mul(w)
	}
	all := factorial[s.classes].Mul(factorial[s.k]).Quo(num.FromInt(int64(s.classes)))
	w := Weights{make([]float64, s.Histograms()), make([]float64, s.Histograms())}
	var runs []run
	for h := range w.Low {
		runs = s.runs(h, runs)
		sum, ways := num.FromInt(0), num.FromInt(1)
		for _, r := range runs {
			sum = sum.Add(num.FromInt(int64(r.classes)).Mul(each[r.votes]))
			ways = ways.Mul(factorial[r.classes])
			for range r.classes {
				ways = ways.Mul(factorial[r.votes])
			}
		}
		x := all.Mul(sum).Quo(ways)
		w.Low[h], w.High[h] = x.Lower(), x.Upper()
	}
	return w, nil
}

// power returns x⁰ … xⁿ.
func power(x num.Interval, n int) []num.Interval {
	p := make([]num.Interval, n+1)
	p[0] = num.FromInt(1)
	for i := 1; i <= n; i++ {
		p[i] = p[i-1].Mul(x)
	}
	return p
}

func countWeights(s *Space, counts []HistogramCount) (Weights, error) {
	var w Weights
	each := make([]*big.Rat, s.Histograms())
	total := new(big.Rat)
	for i, c := range counts {
		if !(c.Count >= 0) || math.IsInf(c.Count, 1) {
			return w, &check.Error{Name: fmt.Sprintf("prior count %d", i), Value: c.Count, Rule: "finite and ≥ 0"}
		}
		h, err := s.Index(c.Votes)
		if err != nil {
			return w, fmt.Errorf("prior count %d: %w", i, err)
		}
		x := num.Decimal(c.Count)
		total.Add(total, x)
		if each[h] == nil {
			each[h] = x
		} else {
			each[h].Add(each[h], x)
		}
	}
	if total.Sign() == 0 {
		return w, &check.Error{Name: "sum of prior counts", Value: 0, Rule: "> 0"}
	}
	w = Weights{make([]float64, len(each)), make([]float64, len(each))}
	for h, x := range each {
		if x != nil {
			share := num.FromRat(x.Quo(x, total))
			w.Low[h], w.High[h] = share.Lower(), share.Upper()
		}
	}
	return w, nil
}

package plurality

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Weights are the law of sorted histograms, each known to lie between two float64.
type Weights struct{ Low, High []float64 }

// Weights returns the law of the histograms of s: sorted ones, unless the classes are told apart. See SharedWeights.
func (o Objective) Weights(ctx context.Context, s *Space) (Weights, error) {
	return o.SharedWeights(ctx, s, nil)
}

// SharedWeights returns the law of the sorted histograms of s, which is for Accuracy μ
//
//	w(λ) = [C!/Π_v m_v!]·[K!/Π λ_i!]·(1/C)·Σ_i μ^{λ_i}·((1-μ)/(C-1))^{K-λ_i}
//
// for Concentration A, with x^(n) = x(x+1)…(x+n-1),
//
//	w(λ) = [C!/Π_v m_v!]·[K!/Π λ_i!]·Π_i (A/C)^(λ_i) / A^(K)
//
// and for Counts these divided by their sum, each as it is stated. That the first factors count the votes of a sorted
// histogram: ways_sorted in proofs/ManyBound.v. Of a named Space the first factor is left out, and class i, whose share
// is q_i, has q_i in the place of 1/C. Shares that are not exactly 1 in all are divided by their sum. Where classes are
// alike, shares are not looked at. The error names the count that breaks its rule, or is ctx.Err(). Cost: O(variables)
// operations on 320 bits, some seconds for 10⁵ histograms.
//
// Source of the second: Mosimann, On the Compound Multinomial Distribution (Biometrika 49, 1962).
func (o Objective) SharedWeights(ctx context.Context, s *Space, shares Shares) (Weights, error) {
	switch {
	case s == nil || s.classes == 0:
		return Weights{}, errNoSystem
	case o.Counts != nil:
		return countWeights(s, o.Counts)
	}
	factorial := factorials(max(s.k, s.classes))
	all := factorial[s.k]
	if !s.named {
		all = all.Mul(factorial[s.classes])
	}
	share, total := s.shares(shares)
	last := len(share) - 1 // of the only share where classes are alike
	if o.Concentration != 0 {
		a := num.Decimal(o.Concentration)
		of := rising(a, s.k)[s.k]
		each := make([][]num.Interval, len(share)) // (A·q)^(v), over v! where classes are alike
		for c, q := range share {
			q = new(big.Rat).Quo(q, total)
			each[c] = rising(q.Mul(a, q), s.k)
		}
		if !s.named {
			all, of = all.Quo(of), num.FromInt(1)
			for v, f := range factorial[:s.k+1] {
				each[0][v] = each[0][v].Quo(f)
			}
		}
		return weigh(ctx, s, func(runs []run) num.Interval {
			w := all
			for _, r := range runs {
				if s.named {
					w = w.Quo(factorial[r.votes])
				} else {
					w = w.Quo(factorial[r.classes])
				}
			}
			w = w.Quo(of)
			for c, r := range runs {
				if r.votes == 0 { // each[c][0] is 1
					continue
				}
				for range r.classes {
					w = w.Mul(each[min(c, last)][r.votes])
				}
			}
			return w
		})
	}
	all = all.Quo(num.FromRat(total))
	right := num.Decimal(o.Accuracy)
	wrong := new(big.Rat).Sub(big.NewRat(1, 1), right)
	wrong.Quo(wrong, big.NewRat(int64(s.classes-1), 1))
	each := num.Powers(num.FromRat(right), s.k)
	for v, w := range num.Powers(num.FromRat(wrong), s.k) {
		each[s.k-v] = each[s.k-v].Mul(w)
	}
	return weigh(ctx, s, func(runs []run) num.Interval {
		sum, ways := num.FromInt(0), num.FromInt(1)
		for c, r := range runs {
			of := num.FromInt(int64(r.classes)).Mul(num.FromRat(share[min(c, last)]))
			sum = sum.Add(of.Mul(each[r.votes]))
			ways = ways.Mul(factorial[r.classes])
			for range r.classes {
				ways = ways.Mul(factorial[r.votes])
			}
		}
		return all.Mul(sum).Quo(ways)
	})
}

// shares returns the shares of the classes and their sum: one for all where they are alike.
func (s *Space) shares(stated Shares) (share []*big.Rat, total *big.Rat) {
	if !s.named {
		return []*big.Rat{big.NewRat(1, 1)}, big.NewRat(int64(s.classes), 1)
	}
	share, total = make([]*big.Rat, s.classes), new(big.Rat)
	for c := range share {
		share[c] = big.NewRat(1, int64(s.classes))
		if stated != nil {
			share[c] = num.Decimal(stated[c])
		}
		total.Add(total, share[c])
	}
	return share, total
}

// weigh returns the weights that of gives the histograms' runs.
func weigh(ctx context.Context, s *Space, of func([]run) num.Interval) (Weights, error) {
	w := Weights{make([]float64, s.Histograms()), make([]float64, s.Histograms())}
	var runs []run
	for h := range w.Low {
		if h%256 == 0 && ctx.Err() != nil {
			return w, ctx.Err()
		}
		runs = s.runs(h, runs)
		x := of(runs)
		w.Low[h], w.High[h] = x.Lower(), x.Upper()
	}
	return w, nil
}

// rising returns x^(0) … x^(n), where x^(i) = x(x+1)…(x+i-1).
func rising(x *big.Rat, n int) []num.Interval {
	p := make([]num.Interval, n+1)
	p[0] = num.FromInt(1)
	for i := 1; i <= n; i++ {
		p[i] = p[i-1].Mul(num.FromRat(new(big.Rat).Add(x, big.NewRat(int64(i-1), 1))))
	}
	return p
}

// factorials returns 0! … n!.
func factorials(n int) []num.Interval { return rising(big.NewRat(1, 1), n) }

func countWeights(s *Space, counts []HistogramCount) (Weights, error) {
	var w Weights
	each := make([]*big.Rat, s.Histograms())
	total := new(big.Rat)
	for i, c := range counts {
		if !(c.Count >= 0) || math.IsInf(c.Count, 1) {
			return w, check.Want(fmt.Sprintf("prior count %d", i), c.Count, "finite and ≥ 0")
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
		return w, check.Want("sum of prior counts", 0, "> 0")
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

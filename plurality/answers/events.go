package answers

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
)

// Event is a multiplier of a bound on all tables that are used for all Q answers, of any number of
// classes. For every event S of labels and neighbours P, P', Q coins of P(S) and Q of P'(S) are
// (ε, δ)-indistinguishable, since the same two histograms may be asked Q times. So P(S) is at most
// Next(P'(S)) of the CoinLink, and of every line above that:
//
//	P(S) - s·P'(S) ≤ b(s),   b(s) = max over x of Next(x) - s·x
//
// An Event names the pair, S by the places of its columns in plurality.Pair.Columns, and s ≥ 1.
// Tables that treat the classes differently by their names are averaged, which neither the price
// nor a prior without names notices. A problem of classes that are told apart has such tables themselves.
type Event struct {
	From    int                `json:"from"`
	Changes []plurality.Change `json:"changes,omitempty"` // none where the classes are told apart
	To      int                `json:"to,omitempty"`      // in their place there
	Columns []int              `json:"columns"`           // ascending
	Factor  float64            `json:"factor"`
	Value   float64            `json:"value"`
}

// maxEvents bounds what a file may ask for, and maxFactors the lines, of which each takes some
// milliseconds.
const maxEvents, maxFactors = 1 << 20, 256

// EventDeltas returns b of Event for the problem's Q, ε and δ at each factor ≥ 1, rounded up.
func (p Problem) EventDeltas(factors []float64) (b []float64) {
	link := p.CoinLink(p.Epsilon)
	for _, s := range factors {
		b = append(b, p.eventDelta(link, s))
	}
	return b
}

// eventDelta is b of one factor: of one answer exactly δ from e^ε on, which is its promise, and 0 from e^(ε/Q) on where
// δ is.
func (p Problem) eventDelta(link *Link, factor float64) float64 {
	one := num.Decimal(p.Epsilon)
	if p.Pure() {
		one = one.Quo(one, big.NewRat(int64(p.Answers), 1))
	}
	switch {
	case (p.Answers == 1 || p.Pure()) && factor >= num.Exp(one).Upper():
		return num.FromRat(num.Decimal(p.Delta)).Upper()
	case p.Pure(): // nothing is worked out of smaller factors
		return 1
	}
	return link.above(factor)
}

// above returns the largest Next(x) - factor·x of the CoinLink, rounded up. Between two places Next is
// at most that of the larger one, and at most a line through 0: Next(x)/x falls, since coins that
// are replaced by tails with some probability, both alike, are no easier to tell apart. Where what
// these leave is largest, places are added.
func (l *Link) above(factor float64) float64 {
	const most = 1000
	xs := []float64{0}
	for k := 40; k > 5; k-- {
		xs = append(xs, math.Ldexp(1, -k))
	}
	for i := 1.0; i <= 32; i++ {
		xs = append(xs, i/32)
	}
	for {
		at, high, low := 0, math.Inf(-1), math.Inf(-1)
		for i := range len(xs) - 1 {
			x, y := xs[i], xs[i+1]
			line, first := max(0, down(factor*x)), l.Next(x)
			cell := up(l.Next(y) - line)
			if x > 0 { // the line's difference from factor·x is largest at an end
				end := up(up(up(first/x)*y) - down(factor*y))
				cell = min(cell, max(end, up(first-line)))
			}
			if cell > high {
				at, high = i, cell
			}
			low = max(low, first-line)
		}
		middle := xs[at] + float64((xs[at+1]-xs[at])/2)
		if high-low < 1e-7+float64(high/8192) || len(xs) >= most || middle == xs[at] || middle == xs[at+1] {
			return min(1, max(0, high))
		}
		xs = slices.Insert(xs, at+1, middle)
	}
}

// eventBound returns
//
//	U = Σ_λ max_v r(λ,v)/m(λ,v) + Σ y·b(s),   r = w·m·[plurality class] - Σ y·(P(S) - s·P'(S))
//
// rounded up, at most 1: no table that is used for all Q answers agrees more often. Where the classes are told apart,
// what an answer is worth stands in the place of [plurality class], and the bound is at most what the plurality
// itself is worth. The error names a multiplier that breaks a rule.
func (s *System) eventBound(w plurality.Weights, prior Prior, events []Event) (float64, error) {
	if len(events) == 0 {
		return prior.perfect(), nil
	}
	if len(events) > maxEvents {
		return 0, check.Wantf("events of a bound", len(events), "at most %d", maxEvents)
	}
	n := s.space.Variables()
	gain, loss, terms := make([]float64, n), make([]float64, n), make([]int32, n)
	sum := new(big.Float).SetPrec(128).SetMode(big.ToPositiveInf)
	link, above := s.problem.CoinLink(s.problem.Epsilon), map[float64]float64{}
	for k, e := range events {
		pair, ok := s.space.Between(e.From, s.reach(), e.Changes)
		if s.problem.Named {
			pair, ok = s.space.BetweenNamed(e.From, e.To, s.reach())
			ok = ok && len(e.Changes) == 0
		}
		if !ok {
			return 0, fmt.Errorf("event %d is of no pair of neighbouring histograms", k)
		}
		if !(e.Value >= 0) || math.IsInf(e.Value, 1) {
			return 0, fmt.Errorf("the multiplier of event %d = %v, but it must be finite and ≥ 0", k, e.Value)
		}
		if !(e.Factor >= 1) || math.IsInf(e.Factor, 1) {
			return 0, fmt.Errorf("the factor of event %d = %v, but it must be finite and ≥ 1", k, e.Factor)
		}
		b, ok := above[e.Factor]
		if !ok {
			if len(above) == maxFactors {
				return 0, fmt.Errorf("the events have more than %d factors", maxFactors)
			}
			b = s.problem.eventDelta(link, e.Factor)
			above[e.Factor] = b
		}
		sum.Add(sum, big.NewFloat(up(e.Value*b)))
		for i, c := range e.Columns {
			if c < 0 || c >= len(pair.Columns) || i > 0 && c <= e.Columns[i-1] {
				return 0, fmt.Errorf("event %d has column %d, of %d, ascending", k, c, len(pair.Columns))
			}
			column := pair.Columns[c]
			of := float64(column.Classes) * e.Value
			loss[column.I] += max(0, down(of))
			gain[column.J] += up(up(of) * e.Factor)
			terms[column.I]++
			terms[column.J]++
		}
	}
	total, _ := sum.Float64()
	if s.problem.Named {
		var votes []int
		of := -1
		return min(prior.perfect(), s.space.CeilingOf(func(h, i int) float64 {
			if h != of {
				votes, of = s.space.Histogram(h), h
			}
			first, _ := s.space.Range(h)
			worth := prior.Worth(votes, i-first)
			if worth < 0 {
				return up(w.Low[h] * worth)
			}
			return up(w.High[h] * worth)
		}, gain, loss, terms, up(total))), nil
	}
	return s.space.Ceiling(w, prior.AbstainValue, gain, loss, terms, up(total)), nil
}

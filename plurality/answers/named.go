package answers

import (
	"context"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/plurality"
)

// Worth is the value of an answer at these votes: 1 for a class with the most votes and 0 for others, or
// minus its cost.
func (o Prior) Worth(votes []int, answer int) float64 {
	if o.Costs == nil {
		return 1 - o.Costs.Cost(votes, answer)
	}
	return -o.Costs.Cost(votes, answer)
}

// Value returns the value of masses under the prior and its weights, rounded down: see Table.Value.
func (s *System) Value(o Prior, w plurality.Weights, masses []uint64) float64 {
	switch s = handle.Made(s); {
	case s.problem.Labels > 0:
		return s.valueOfLabels(o, w, masses)
	case s.problem.Named:
		return s.namedValue(o, w, masses)
	}
	return s.space.Value(w, o.AbstainValue, masses)
}

// bound returns an upper bound on the value of any table that is used for all Q answers.
func (s *System) bound(o Prior, w plurality.Weights) float64 {
	switch {
	case s.problem.Labels > 0:
		return s.boundOfLabels(o, w)
	case s.problem.Named:
		return s.namedBound(o, w)
	}
	return s.twoClassBound(w)
}

// namedValue returns the value of masses of classes that are told apart, rounded down: the expected worth
// of an answer.
func (s *System) namedValue(o Prior, w plurality.Weights, masses []uint64) float64 {
	sum := 0.0
	for h := range s.space.Histograms() {
		votes := s.space.Histogram(h)
		first, _ := s.space.Range(h)
		for c := range votes {
			worth := o.Worth(votes, c)
			weight := w.Low[h]
			if worth < 0 {
				weight = w.High[h]
			}
			if worth != 0 && masses[first+c] > 0 {
				sum = down(sum + down(down(weight*worth)*(float64(masses[first+c])/float64(plurality.One))))
			}
		}
	}
	return sum
}

// namedBound returns an upper bound on the value of any table of classes that are told apart that is used
// for all Q answers. Of two classes that is the bound of chains that Q coins allow; of more, of which events tell
// another (eventBound), it is what the plurality itself would be worth, and where votes may be missing: a table that looks
// at their number, which chains of leads do not, may be worth more than these.
func (s *System) namedBound(o Prior, w plurality.Weights) float64 {
	p := s.problem
	if p.Classes != 2 || p.Missing {
		return o.perfect()
	}
	gain, base := s.gains(o, w.High)
	value := p.newAnchored(gain, p.CoinLink(p.Epsilon)).bound(p.boundLinks(), boundSlack/4)
	for h, weight := range w.High { // each gain may be off by the width of its weight
		value += float64(2 * (weight - w.Low[h]) * max(1, math.Abs(o.Worth(s.space.Histogram(h), 0)), math.Abs(o.Worth(
			s.space.Histogram(h), 1))))
	}
	return min(o.perfect(), up(value+base)+boundSlack)
}

// perfect is the value of the plurality itself: 1, or 0 with costs.
func (o Prior) perfect() float64 {
	if o.Costs != nil {
		return 0
	}
	return 1
}

// gains returns, for each number of votes for the second class, what it is worth to answer it in the place
// of the first one, by these weights; and what the first one is worth where it is always answered.
func (s *System) gains(o Prior, weights []float64) (gain []float64, first float64) {
	gain = make([]float64, s.space.Histograms())
	for h, w := range weights {
		votes := s.space.Histogram(h)
		gain[votes[1]] = w * (o.Worth(votes, 1) - o.Worth(votes, 0))
		first += float64(w * o.Worth(votes, 0))
	}
	return gain, first
}

// Gains is gains for the nearest weights: what Problem.Anchored takes. It is nil unless the System is one of
// two classes that are told apart.
func (s *System) Gains(o Prior, w plurality.Weights) []float64 {
	if s == nil || s.space == nil || !s.problem.Named || s.problem.Classes != 2 || len(w.Low) != s.space.Histograms() {
		return nil
	}
	gain, _ := s.gains(o, w.Low)
	return gain
}

// ByClass says how a table treats the classes, under its prior.
type ByClass struct {
	// Leads is how often each class has the most votes, alone or with others, and Recall how often it is
	// answered there: 0 of a class that never leads.
	Leads, Recall []float64
	Balanced      float64 // the mean of Recall over the classes that lead
	// Constant is the class that is worth most where it is always answered, and ConstantValue what it is
	// worth: by a table that is worth no more, labels tell nothing.
	Constant      int
	ConstantValue float64
	// Perfect is what the plurality itself is worth: 1, or 0 with costs.
	Perfect float64
}

// Balanced is the mean of recall over the classes that lead: 0 if none does.
func Balanced(leads, recall []float64) float64 {
	sum, n := 0.0, 0
	for c, l := range leads {
		if l > 0 {
			sum += recall[c]
			n++
		}
	}
	return sum / float64(max(1, n))
}

// worthless is the part of what the plurality without noise would gain over the constant answer that a table may
// gain and still tell nothing. A table always gains a little by its δ: a class of which labels are answered
// once in thousands of times tells nothing.
const worthless = 1e-3

// Tells reports whether the table, of this value, is worth more than always the same answer: by more than a
// thousandth of what the plurality itself is.
func (b ByClass) Tells(value float64) bool {
	return value-b.ConstantValue > worthless*(b.Perfect-b.ConstantValue)
}

// ByClass returns how the table treats the classes. It is the zero value unless the classes are told apart. The
// error is ctx.Err(). Cost: that of Prior.Weights.
func (t *Table) ByClass(ctx context.Context) (ByClass, error) {
	if t == nil || t.Certified == nil || !t.Problem().Named {
		return ByClass{}, nil
	}
	if t.Problem().Labels > 0 {
		return t.byLabel(ctx)
	}
	s := t.system
	w, err := t.Prior.Weights(ctx, s)
	if err != nil {
		return ByClass{}, err
	}
	n := t.Problem().Classes
	out := ByClass{Leads: make([]float64, n), Recall: make([]float64, n)}
	values := make([]float64, n)
	for h, weight := range w.Low {
		votes := s.space.Histogram(h)
		first, _ := s.space.Range(h)
		top := slices.Max(votes)
		for c, v := range votes {
			values[c] += float64(weight * t.Prior.Worth(votes, c))
			if v == top {
				out.Leads[c] += weight
				out.Recall[c] += float64(weight * float64(t.masses[first+c]) / float64(plurality.One))
			}
		}
	}
	for c, leads := range out.Leads {
		if leads > 0 {
			out.Recall[c] /= leads
		}
	}
	out.Balanced = Balanced(out.Leads, out.Recall)
	out.Constant = slices.Index(values, slices.Max(values))
	out.ConstantValue = values[out.Constant]
	out.Perfect = t.Prior.perfect()
	return out, nil
}

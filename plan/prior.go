package plan

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/plurality"
)

// exactHistograms limits the sorted histograms of an exact prior, so that a plan goes through them
// within a second.
const exactHistograms = 10_000

// Prior returns the law of votes of teachers who vote for the likelier class independently
// with probability mean, and else for any other class alike; each class may be the likelier.
// It is gamma.TwoSidedCounts of two classes and plurality.Objective's law of that Accuracy of
// more, exactly up to 10,000 sorted histograms and else as a seeded sample of 5,000 queries.
// It takes a mean in (0.5, 1) for two classes, else in (1/classes, 1).
// Cost: O(K) or that of plurality.Objective.Weights, or 5,000·K draws.
func Prior(k, classes int, mean float64) (*Law, error) {
	l, err := newLaw(k, classes)
	if err != nil {
		return nil, err
	}
	l.mean = mean
	if classes == 2 {
		counts, err := gamma.TwoSidedCounts(k, mean)
		if err != nil {
			return nil, err
		}
		for ones, weight := range counts {
			l.add([]int{k - ones, ones}, weight)
		}
		return l, nil
	}
	if err := check.Open("prior mean", mean, 1/float64(classes), 1); err != nil {
		return nil, err
	}
	return l.fill(plurality.Objective{Accuracy: mean}, oneRight(classes, mean))
}

// DefaultLaw returns the law where none is stated: [Prior] of gamma.DefaultPriorMean for two
// classes, and [Uneven] of plurality.DefaultConcentration for more.
func DefaultLaw(k, classes int) (*Law, error) {
	if classes > 2 {
		return Uneven(k, classes, plurality.DefaultConcentration)
	}
	return Prior(k, classes, gamma.DefaultPriorMean)
}

// Uneven returns the law of votes where classes have uneven shares of a query's votes, as
// plurality.Objective has them of this Concentration A in (0, 10⁶]. Each vote is for a class with
// probability (A/C + its votes so far)/(A + all so far). It is exact where Prior is. Cost: as
// Prior.
func Uneven(k, classes int, concentration float64) (*Law, error) {
	l, err := newLaw(k, classes)
	if err != nil {
		return nil, err
	}
	if err := plurality.CheckConcentration(concentration); err != nil {
		return nil, err
	}
	l.concentration = concentration
	return l.fill(plurality.Objective{Concentration: concentration}, polyaUrn(classes, concentration))
}

// Counted returns the law of public votes, as often as each histogram occurs among them: every query has
// K votes, or fewer where some are missing. Which class has how many votes does not matter. It is a prior
// and not [NewSample]: what follows from it is as public as the counts. The error names the count that
// breaks its rule.
func Counted(k, classes int, counts []plurality.HistogramCount) (*Law, error) {
	l, err := newLaw(k, classes)
	if err != nil {
		return nil, err
	}
	for i, c := range counts {
		if check.Votes(c.Votes, 0, k, classes, true) != nil || !(c.Count >= 0) || math.IsInf(c.Count, 1) {
			return nil, check.Wantf(fmt.Sprintf("prior count %d", i), c,
				"at most K = %d votes over %d classes, a finite number of times", k, classes)
		}
		if c.Count > 0 {
			l.add(slices.Clone(c.Votes), c.Count)
		}
	}
	if l.total == 0 {
		return nil, check.Want("prior counts", "none", "at least one query")
	}
	return l, nil
}

// CountedOnes is Counted of two classes, from how often each number of votes for the second class occurs,
// 0 to K: gamma.Objective.Counts.
func CountedOnes(counts []float64) (*Law, error) {
	return Counted(len(counts)-1, 2, histogramsOf(counts))
}

// NamedOnes is CountedOnes of two classes that are told apart.
func NamedOnes(counts []float64) (*Law, error) {
	return NamedPrior(len(counts)-1, 2, plurality.Objective{Counts: histogramsOf(counts)}, nil)
}

func histogramsOf(ones []float64) []plurality.HistogramCount {
	k := len(ones) - 1
	out := make([]plurality.HistogramCount, 0, len(ones))
	for l, n := range ones {
		out = append(out, plurality.HistogramCount{Votes: []int{k - l, l}, Count: n})
	}
	return out
}

// Histograms yields the law's histograms, ascending, each with its share of the queries.
func (l *Law) Histograms() iter.Seq2[[]int, float64] {
	l = handle.Made(l)
	return func(yield func([]int, float64) bool) {
		for _, c := range l.cells {
			if !yield(slices.Clone(c.counts), c.weight/l.total) {
				return
			}
		}
	}
}

// voter returns the class that a teacher votes for, from a uniform u in [0,1) and the n votes
// before.
type voter func(u float64, counts []int, n int) int

// oneRight is the voter of Prior. The mechanisms treat all classes alike, so class 0 is as good as
// any to be the right one.
func oneRight(classes int, mean float64) voter {
	return func(u float64, _ []int, _ int) int {
		if u < mean {
			return 0
		}
		return 1 + min(int((u-mean)/(1-mean)*float64(classes-1)), classes-2)
	}
}

// polyaUrn is the voter of Uneven.
func polyaUrn(classes int, concentration float64) voter {
	return func(u float64, counts []int, n int) int {
		x := u * (concentration + float64(n))
		class := 0
		for ; class < classes-1; class++ {
			if x -= concentration/float64(classes) + float64(counts[class]); x < 0 {
				break
			}
		}
		return class
	}
}

// fill adds all histograms of a prior, or queries of its voters, and returns l.
func (l *Law) fill(prior plurality.Objective, vote voter) (*Law, error) {
	if plurality.Histograms(l.k, l.classes) <= exactHistograms {
		// Only the votes matter here, not what is promised.
		s, err := plurality.NewSystem(plurality.Problem{K: l.k, Classes: l.classes, Epsilon: 1,
			Affected: 1})
		if err != nil {
			return nil, err
		}
		w, err := prior.Weights(context.Background(), s.Space)
		if err != nil {
			return nil, err
		}
		for h, weight := range w.Low {
			l.add(s.Histogram(h), weight)
		}
		return l, nil
	}
	l.draw(vote)
	return l, nil
}

// draw adds the sample of queries.
func (l *Law) draw(vote voter) {
	l.sampled = true
	src := randsrc.NewSeeded(simulationSeed)
	for range simulations {
		counts := make([]int, l.classes)
		for n := range l.k {
			u, _ := src.Uint53() // a seeded source has no error
			counts[vote(float64(u)/(1<<53), counts, n)]++
		}
		l.add(counts, 1)
	}
}

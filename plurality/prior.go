package plurality

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// Objective is the quantity that a mechanism shall maximise: the probability that the answer is a
// plurality class of the votes, whose sorted histograms come from a law. There is no best mechanism
// for all laws. The law decides what is useful and never what is private, as long as it does not
// depend on private data. Exactly one of Accuracy, Concentration and Counts gives it. See Weights
// for the formulas.
type Objective struct {
	// Accuracy μ in (1/C, 1): each teacher is right with probability μ, and otherwise
	// votes for each other class with the same probability.
	Accuracy float64
	// Concentration A in (0, 10⁶]: classes have uneven shares of a query's votes, as real
	// teachers' votes do: wrong ones gather in few classes, and some queries are clearer than
	// others. The shares are Dirichlet-distributed with parameters A/C, and the votes are drawn by
	// them. One class has nearly all votes where A is small, all have similar ones where it is large.
	Concentration float64
	// Counts of sorted histograms, from public data.
	Counts []HistogramCount
	// AbstainValue in [0,1] is what abstaining counts, where a plurality class counts 1
	// and another class 0. It is 0 where abstaining is no answer.
	AbstainValue float64
}

// HistogramCount is a histogram and the number of its occurrences.
type HistogramCount struct {
	Votes []int   `json:"votes"` // of each class, in any order
	Count float64 `json:"count"` // finite and ≥ 0
}

// DefaultConcentration is the A that is presumed where none is stated.
const DefaultConcentration = 1

// DefaultObjective returns the objective that is presumed where none is stated: uneven shares, for
// which the optimum was nearly always better than permute-and-flip on real votes
// (docs/many-answers.md), and for two classes teachers who are right with probability ¾, as for the
// private majority.
func DefaultObjective(classes int) Objective {
	if classes == 2 {
		return Objective{Accuracy: 0.75}
	}
	return Objective{Concentration: DefaultConcentration}
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
	slices.SortStableFunc(out, func(a, b HistogramCount) int {
		return slices.Compare(a.Votes, b.Votes)
	})
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

// Validate returns an error naming the first field that breaks its rule.
func (o Objective) Validate(p Problem) error {
	given := 0
	for _, is := range []bool{o.Accuracy != 0, o.Concentration != 0, o.Counts != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return check.Want("prior",
			fmt.Sprintf("accuracy %v, concentration %v and %d counts", o.Accuracy, o.Concentration, len(o.Counts)),
			"one of accuracy, concentration and counts")
	}
	if o.Accuracy != 0 {
		if err := CheckAccuracy(o.Accuracy, p.Classes); err != nil {
			return err
		}
	}
	if o.Concentration != 0 {
		if err := CheckConcentration(o.Concentration); err != nil {
			return err
		}
	}
	if err := CheckAbstainValue(o.AbstainValue); err != nil {
		return err
	}
	if !p.Abstain && o.AbstainValue != 0 {
		return check.Want("value of abstaining", o.AbstainValue, "0 where abstaining is no answer")
	}
	return nil
}

// CheckAccuracy returns a *constraints.ParameterError where no Accuracy of that number of classes is like
// this, or nil.
func CheckAccuracy(accuracy float64, classes int) error {
	return check.Open("accuracy", accuracy, 1/float64(classes), 1)
}

// CheckConcentration returns a *constraints.ParameterError where no Concentration is like this, or
// nil.
func CheckConcentration(concentration float64) error {
	return check.UpTo("concentration", concentration, 1e6)
}

// CheckAbstainValue returns a *constraints.ParameterError where no AbstainValue is like this, or
// nil.
func CheckAbstainValue(value float64) error {
	return check.Probability("value of abstaining", value)
}

// Equal reports whether o and p are the same objective.
func (o Objective) Equal(p Objective) bool {
	return o.Accuracy == p.Accuracy && o.Concentration == p.Concentration &&
		o.AbstainValue == p.AbstainValue && (o.Counts == nil) == (p.Counts == nil) &&
		slices.EqualFunc(o.Counts, p.Counts, func(a, b HistogramCount) bool {
			return a.Count == b.Count && slices.Equal(a.Votes, b.Votes)
		})
}

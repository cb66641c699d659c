package selection

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
)

// Kind names the quantity that a score counts.
type Kind string

// The kinds.
const (
	// Accuracy counts the records whose class the model predicts.
	Accuracy Kind = "accuracy"
	// Pairs counts pairs of a record of class 1 and one of another class where the first has the
	// higher score, ties a half: the AUC's numerator. The AUC itself is unsuitable. Where one class
	// may have a single record, replacing it moves the AUC from 0 to 1. Otherwise the AUC moves by
	// 1/min(n₊, n₋), which is a secret. All candidates have the same denominator, so that the
	// numerator chooses alike, and a record is in at most n-1 pairs.
	Pairs Kind = "pairs"
	// MeanLoss adds up what the loss on each record leaves of Bound.
	MeanLoss Kind = "loss"
)

// Kinds returns the kinds.
func Kinds() []Kind { return []Kind{Accuracy, Pairs, MeanLoss} }

// Score defines the figure by which candidates are compared; more is better.
type Score struct {
	Kind Kind
	Loss loss.Loss // of Accuracy, which takes predictions from its link, and of MeanLoss
	// Bound is a public bound that losses are cut to, of MeanLoss.
	Bound float64
	// Classes is the number of classes of a model of several, of Accuracy: its weights are those of
	// each class, one after the other, and it predicts that of the highest score. 0 is a model of two.
	Classes int
}

// Right returns how many records' class a model predicts, not private.
func (s Score) Right(w []float64, r *data.Records) int { return int(s.of(w, r) / unit) }

// unit is the most that a score changes, in whole units, where a record is replaced, added or
// removed:
//
//   - Accuracy and MeanLoss are sums over the records of whole numbers between 0 and unit;
//   - Pairs, of 2(n-1) half pairs at most that a record is in, is unit/(2(n-1)) times their number,
//     rounded down. Replaced, a record takes at most 2(n-1) away and brings at most as many.
//     Numbers that differ by at most a whole number do so rounded down.
const unit = 256

// check refuses a score that is not one, or not for n records and a relation.
func (s *Score) check(n int, relation accountant.Relation) error {
	switch s.Kind {
	case Accuracy:
		if s.Loss == nil || !model.LinkOf(s.Loss).Classes() {
			return check.Want("score", s.Kind, "loss or pairs for a task that predicts no classes")
		}
	case MeanLoss:
		if s.Loss == nil {
			return check.Want("score", s.Kind, "pairs or accuracy: the task has no loss of one record")
		}
		if !(s.Bound > 0 && s.Bound <= data.MaxMagnitude) {
			return check.Want("score bound", s.Bound,
				"above 0: a public bound that the losses of records are cut to")
		}
	case Pairs:
		if relation == accountant.AddOrRemoveOne {
			return check.Want("score", s.Kind,
				"accuracy or loss where records are added or removed: one is in as many pairs as there "+
					"are records, which is secret")
		}
	default:
		return check.Want("score", s.Kind, "accuracy, pairs or loss")
	}
	if s.Kind != MeanLoss && s.Bound != 0 {
		return check.Want("score bound", s.Bound, "left out, unless the score is loss")
	}
	softmax, joint := s.Loss.(loss.Softmax)
	if joint && s.Kind == Accuracy && s.Classes != softmax.Classes() {
		return check.Wantf("classes of the score", s.Classes, "the %d of %s", softmax.Classes(), softmax.Name())
	}
	// The loss of a softmax is that of all classes. No other score of one class is compared.
	if s.Classes != 0 && (s.Kind != Accuracy || s.Classes < 3) || joint && s.Kind == Pairs {
		return check.Want("score", s.Kind, "accuracy for a model of several classes")
	}
	if n < 2 || n > math.MaxInt32 {
		return check.Want("number of records", n, "between 2 and 2³¹ to compare candidates on")
	}
	return nil
}

// spread returns by how much two candidates' scores can move apart, in units: twice unit where a
// record is replaced, which may be good news for one and bad for the other. Added or removed it
// moves all scores the same way.
func (Score) spread(relation accountant.Relation) int {
	if relation == accountant.AddOrRemoveOne {
		return unit
	}
	return 2 * unit
}

// of returns the score of a model, not private. It is in [0, unit·n].
func (s Score) of(w []float64, r *data.Records) int64 {
	n := r.Len()
	sum := int64(0)
	switch s.Kind {
	case Accuracy:
		link := model.LinkOf(s.Loss)
		if s.Classes > 0 {
			return unit * s.several(w, r)
		}
		for i := range n {
			if link.Predict(floats.Dot(w, r.Row(i))) == r.Response(i) {
				sum += unit
			}
		}
	case MeanLoss:
		for i := range n {
			if left := 1 - s.Loss.Loss(w, r.Row(i), r.Response(i))/s.Bound; left > 0 { // not NaN
				sum += int64(math.Round(unit * min(left, 1)))
			}
		}
	case Pairs:
		scores, positive := make([]float64, n), make([]bool, n)
		for i := range n {
			// What is not a number, from overflow, ranks as the least.
			if scores[i], positive[i] = floats.Dot(w, r.Row(i)), r.Response(i) > 0; math.IsNaN(scores[i]) {
				scores[i] = math.Inf(-1)
			}
		}
		return pairUnits(model.Concordant(scores, positive), n)
	}
	return sum
}

// several returns how many records' class has the highest score.
func (s Score) several(w []float64, r *data.Records) (right int64) {
	scores := make([]float64, s.Classes)
	for i := range r.Len() {
		for k := range scores {
			scores[k] = floats.Dot(w[k*r.Dim():(k+1)*r.Dim()], r.Row(i))
		}
		if float64(model.Highest(scores)) == r.Response(i) {
			right++
		}
	}
	return right
}

// pairUnits returns unit/(2(n-1)) times a number of half pairs, rounded down. Whole records' worth
// come first: the product overflows from 2²⁸ records on, and then a score changes by anything.
func pairUnits(twice, n int) int64 {
	most := 2 * (n - 1)
	return int64(twice/most*unit + twice%most*unit/most)
}

// shown returns a score in what people read: the share of records or of n(n-1) pairs, or the mean
// loss; and the deviation of noise in the same.
func (s Score) shown(score, sigma float64, n int) (value, deviation float64) {
	scale := 1 / (unit * float64(n))
	if s.Kind == MeanLoss {
		return s.Bound * (1 - score*scale), s.Bound * sigma * scale
	}
	return score * scale, sigma * scale
}

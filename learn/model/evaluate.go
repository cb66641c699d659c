package model

import (
	"errors"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/data"
)

// Evaluation measures a model's predictions on records. It has no noise, so it is not private.
type Evaluation struct {
	Records int `json:"records"`
	// mean of the task's loss; nil for rankings, whose loss is of pairs of records
	Loss *float64 `json:"loss,omitempty"`

	Accuracy *float64 `json:"accuracy,omitempty"` // share of right classes; nil without classes
	// BaseRate is the accuracy of always predicting the class that most records have; nil without classes.
	BaseRate *float64 `json:"base_rate,omitempty"`
	// Constant is true where the accuracy is no better than BaseRate: the 95 % interval of their
	// difference, for other records of the same kind, reaches 0.
	Constant bool `json:"no_better_than_constant,omitempty"`
	// AUC is the probability that a random record of class 1 has a higher score than one of
	// class 0, ties counting a half. It is nil where one class is missing.
	AUC *float64 `json:"auc,omitempty"`
	// AUCInterval is its 95 % interval, for other records of the same kind (Interval).
	AUCInterval *Interval `json:"auc_interval,omitempty"`

	// Nearest is the share of records whose nearest other record, by the distance of a LinkMetric
	// model, has their class, and NearestEuclid that by Euclid's distance; nil for other models.
	Nearest       *float64 `json:"nearest_same_class,omitempty"`
	NearestEuclid *float64 `json:"nearest_same_class_euclid,omitempty"`

	// RMSE is the root of the mean squared error, in the units of the response's column; nil with
	// classes.
	RMSE *float64 `json:"rmse,omitempty"`
	// R2 is 1 - Σ(y-ŷ)²/Σ(y-ȳ)², nil with classes and where all responses are equal.
	R2 *float64 `json:"r2,omitempty"`
}

// Evaluate measures the model on records with responses. The error names the record or column that
// the model cannot take. Cost: O(n·d + n log n), of LinkMetric O(n²·d + d³).
func (m *Model) Evaluate(r *data.Records) (Evaluation, error) {
	m = handle.Made(m)
	if err := m.Fits(r); err != nil {
		return Evaluation{}, err
	}
	if !r.HasResponses() {
		return Evaluation{}, errors.New("the records have no responses")
	}
	n := r.Len()
	e := Evaluation{Records: n}
	if m.Link == LinkMetric {
		err := m.nearest(r, &e)
		return e, err
	}
	if err := r.Check(m.check); err != nil {
		return Evaluation{}, err
	}
	if m.Parts != nil {
		right := make([]bool, n)
		for i := range n {
			class, err := m.Class(r.Row(i))
			if err != nil {
				return Evaluation{}, err
			}
			right[i] = float64(class) == r.Response(i)
		}
		e.classes(r, right)
		return e, nil
	}
	scores, positive, right := make([]float64, n), make([]bool, n), make([]bool, n)
	total, squares, mean := 0.0, 0.0, 0.0
	lossOf := m.recordLoss()
	for i := range n {
		y := r.Response(i)
		if m.Task != nil {
			total += lossOf(r.Row(i), y)
		}
		scores[i], positive[i] = m.score(r.Row(i)), y > 0
		predicted := m.Link.Predict(scores[i])
		right[i] = predicted == y
		squares += (y - predicted) * (y - predicted)
		mean += y / float64(n)
	}
	if m.Task != nil {
		total /= float64(n)
		e.Loss = &total
	}
	if m.Link.Classes() {
		e.classes(r, right)
	}
	if m.Link.Ranks() {
		if o, ok := order(scores, positive); ok {
			auc, interval := o.auc(), o.interval()
			e.AUC, e.AUCInterval = &auc, &interval
		}
		return e, nil
	}
	rmse := math.Sqrt(squares/float64(n)) * m.response().Unit()
	e.RMSE = &rmse
	spread := 0.0
	for i := range n {
		spread += (r.Response(i) - mean) * (r.Response(i) - mean)
	}
	if spread > 0 {
		r2 := 1 - squares/spread
		e.R2 = &r2
	}
	return e, nil
}

// classes sets the figures of classes, of which right says whose was predicted. The interval is that of a
// mean of paired differences, by the normal law.
func (e *Evaluation) classes(r *data.Records, right []bool) {
	n, counts, most := float64(r.Len()), map[float64]int{}, 0.0
	for i := range right {
		y := r.Response(i)
		counts[y]++
		if c := counts[y]; c > counts[most] || c == counts[most] && y < most {
			most = y
		}
	}
	accuracy, better, worse := 0.0, 0.0, 0.0
	for i, ok := range right {
		constant := r.Response(i) == most
		switch {
		case ok && !constant:
			better++
		case !ok && constant:
			worse++
		}
		if ok {
			accuracy++
		}
	}
	accuracy /= n
	base, gain := float64(counts[most])/n, (better-worse)/n
	e.Accuracy, e.BaseRate = &accuracy, &base
	deviation := math.Sqrt(max(0, (better+worse)/n-gain*gain) / n)
	e.Constant = gain-1.96*deviation <= 0
}

// check refuses a record that the model's loss cannot use.
func (m *Model) check(x []float64, y float64) error {
	if m.Parts != nil {
		return check.Class(y, len(m.Classes))
	}
	if m.Task != nil {
		return m.Task.Check(x, y)
	}
	return m.Pair.Check(y)
}

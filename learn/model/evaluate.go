package model

import (
	"errors"
	"math"

	"github.com/darrm/darrm/learn/data"
)

// Evaluation measures a model's predictions on records. It has no noise, so it is not private.
type Evaluation struct {
	Records int `json:"records"`
	// mean of the task's loss; nil for rankings, whose loss is of pairs of records
	Loss *float64 `json:"loss,omitempty"`

	Accuracy *float64 `json:"accuracy,omitempty"` // share of right classes; nil without classes
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
		right := 0
		for i := range n {
			if class, err := m.Class(r.Row(i)); err != nil {
				return Evaluation{}, err
			} else if float64(class) == r.Response(i) {
				right++
			}
		}
		accuracy := float64(right) / float64(n)
		e.Accuracy = &accuracy
		return e, nil
	}
	scores, positive := make([]float64, n), make([]bool, n)
	total, right, squares, mean := 0.0, 0, 0.0, 0.0
	lossOf := m.recordLoss()
	for i := range n {
		y := r.Response(i)
		if m.Task != nil {
			total += lossOf(r.Row(i), y)
		}
		scores[i], positive[i] = m.score(r.Row(i)), y > 0
		predicted := m.Link.Predict(scores[i])
		if predicted == y {
			right++
		}
		squares += (y - predicted) * (y - predicted)
		mean += y / float64(n)
	}
	if m.Task != nil {
		total /= float64(n)
		e.Loss = &total
	}
	if m.Link.Classes() {
		accuracy := float64(right) / float64(n)
		e.Accuracy = &accuracy
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

// check refuses a record that the model's loss cannot use.
func (m *Model) check(x []float64, y float64) error {
	if m.Parts != nil {
		return m.checkClass(y)
	}
	if m.Task != nil {
		return m.Task.Check(x, y)
	}
	return m.Pair.Check(y)
}

package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/learn/data"
)

// Evaluation says how well a model does on records. It is exact, so it is not private.
type Evaluation struct {
	Records int     `json:"records"`
	Loss    float64 `json:"loss"` // mean of the task's loss

	Accuracy *float64 `json:"accuracy,omitempty"` // share of right classes; nil without classes
	// AUC is the probability that a random record of class 1 has a higher score than one of
	// class 0, ties counting a half. It is nil where one class is missing.
	AUC *float64 `json:"auc,omitempty"`

	RMSE *float64 `json:"rmse,omitempty"` // root of the mean squared error; nil with classes
	// R2 is 1 - Σ(y-ŷ)²/Σ(y-ȳ)², nil with classes and where all responses are equal.
	R2 *float64 `json:"r2,omitempty"`
}

// Evaluate works out an Evaluation. Cost: O(n·d + n log n).
func (m *Model) Evaluate(r *data.Records) (Evaluation, error) {
	if err := m.Fits(r); err != nil {
		return Evaluation{}, err
	}
	if !r.HasResponses() {
		return Evaluation{}, errors.New("the records have no responses")
	}
	n := r.Len()
	e := Evaluation{Records: n}
	scores, positive := make([]float64, n), make([]bool, n)
	right, squares, mean := 0, 0.0, 0.0
	x := append(slices.Clone(m.Weights), m.Intercept)
	a := make([]float64, len(x))
	a[len(a)-1] = 1
	for i := range n {
		y := r.Response(i)
		if err := m.Task.Check(r.Row(i), y); err != nil {
			return Evaluation{}, fmt.Errorf("record %d: %w", i+1, err)
		}
		copy(a, r.Row(i))
		e.Loss += m.Task.Loss(x, a, y)
		scores[i], positive[i] = m.Score(r.Row(i)), y > 0
		predicted := m.Link.Predict(scores[i])
		if predicted == y {
			right++
		}
		squares += (y - predicted) * (y - predicted)
		mean += y / float64(n)
	}
	e.Loss /= float64(n)
	if m.Link.Classes() {
		accuracy := float64(right) / float64(n)
		e.Accuracy, e.AUC = &accuracy, AUC(scores, positive)
		return e, nil
	}
	rmse := math.Sqrt(squares / float64(n))
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

// AUC returns the share of pairs of a positive and another record whose positive one has the
// higher score, ties counting a half: the statistic of Mann and Whitney over the number of
// pairs. It is nil without such pairs. Scores must not be NaN. Cost: O(n log n).
func AUC(scores []float64, positive []bool) *float64 {
	twice, negatives := Concordant(scores, positive), 0
	for _, p := range positive {
		if !p {
			negatives++
		}
	}
	positives := len(positive) - negatives
	if negatives == 0 || positives == 0 {
		return nil
	}
	auc := float64(twice) / 2 / float64(negatives) / float64(positives)
	return &auc
}

// Concordant counts the pairs of a positive and another record whose positive one has the higher
// score, twice, and those that tie, once. Scores must not be NaN. Cost: O(n log n).
func Concordant(scores []float64, positive []bool) (twice int) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	below := 0 // negatives so far
	for i := 0; i < len(order); {
		tied := [2]int{}
		z := scores[order[i]]
		for ; i < len(order) && scores[order[i]] == z; i++ {
			if positive[order[i]] {
				tied[1]++
			} else {
				tied[0]++
			}
		}
		twice += tied[1] * (2*below + tied[0])
		below += tied[0]
	}
	return twice
}

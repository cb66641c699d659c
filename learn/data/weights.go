package data

import (
	"errors"
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// ErrWeighted is the error of a method that takes every record alike, for records with weights.
var ErrWeighted = errors.New("records have weights, which this method does not take: weights are for gradient descent " +
	"(dp-sgd), which shortens each weighted gradient by itself; the noise of other methods is for the weight 1")

// Weighted returns the records with a weight each, a number from 0 on. A weight is private, as all of its record is.
// The slice is kept.
func (r *Records) Weighted(weights []float64) (*Records, error) {
	r = handle.Made(r)
	if len(weights) != r.n {
		return nil, check.Wantf("number of weights", len(weights), "one for each of the %d records", r.n)
	}
	for i, v := range weights {
		if err := CheckWeight(v); err != nil {
			return nil, &SampleError{File: r.file, Record: i + 1, Line: lineOf(r.lines, i), Err: err}
		}
	}
	weighted := *r
	weighted.w = weights
	return &weighted, nil
}

// CheckWeight refuses what is no weight.
func CheckWeight(w float64) error {
	if !(w >= 0 && w <= MaxMagnitude) {
		return check.Want("sample weight", w, fmt.Sprintf("between 0 and %g", MaxMagnitude))
	}
	return nil
}

// Unweighted returns the records without weights.
func (r *Records) Unweighted() *Records {
	r = handle.Made(r)
	plain := *r
	plain.w = nil
	return &plain
}

// Weights returns a copy of the weights, nil where each is 1.
func (r *Records) Weights() []float64 { return slices.Clone(handle.Made(r).w) }

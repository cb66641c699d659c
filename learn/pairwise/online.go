package pairwise

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// Online is Algorithm 2, not private: gradient descent on a stream, each example paired with the
// one before it. It keeps one example and a few vectors of length d, whatever the stream's
// length. Make it with NewOnline. It is not safe for concurrent use.
type Online struct {
	e        *iterates
	schedule Schedule
	seen     int
	x        []float64 // the example before
	y        float64
	now      []float64 // scratch
}

// NewOnline returns the method for examples of dimension d, before the first. The setting's
// Target plays no part.
func NewOnline(s Setting, d int, schedule Schedule, output Output) (*Online, error) {
	t, err := s.basic(2, d)
	if err == nil {
		err = schedule.check()
	}
	if err == nil {
		err = output.check()
	}
	if output == Suffix && err == nil {
		err = check.Want("output", fmt.Sprintf("%q", output),
			"not the suffix for a stream, whose half is not known")
	}
	if err != nil {
		return nil, err
	}
	return &Online{e: newIterates(&t, output), schedule: schedule, x: make([]float64, d),
		now: make([]float64, d)}, nil
}

var errNoOnline = errors.New("an online method must be made by NewOnline")

// Learn takes the next example of the stream: a step on it and the one before, or none for the
// first. An example that it refuses, by its length, class or size, is as if it had not been.
// Cost: O(d).
func (o *Online) Learn(x []float64, y float64) error {
	o = handle.Made(o)
	if o.e == nil {
		return errNoOnline
	}
	if len(x) != len(o.x) {
		return check.Wantf("dimension", len(x), "%d, as of the stream", len(o.x))
	}
	if err := o.e.t.Loss.Check(y); err != nil {
		return err
	}
	copy(o.now, x)
	if err := o.e.t.shorten(o.now); err != nil {
		return err
	}
	if o.seen > 0 {
		o.e.step(o.seen, o.schedule.At(o.seen), o.now, y, o.x, o.y)
	}
	o.seen++
	o.x, o.now, o.y = o.now, o.x, y
	return nil
}

// Seen returns the number of examples taken.
func (o *Online) Seen() int { return handle.Made(o).seen }

// Model returns the model after the examples so far, 0 before the second; train.ErrDiverged where
// it left the range of numbers.
func (o *Online) Model() ([]float64, error) {
	o = handle.Made(o)
	if o.e == nil {
		return nil, errNoOnline
	}
	m := slices.Clone(o.e.model())
	for _, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, train.ErrDiverged
		}
	}
	return m, nil
}

// shorten checks the size of an example's features and shortens it to the radius.
func (t *task) shorten(x []float64) error {
	for j, v := range x {
		if !(math.Abs(v) <= data.MaxMagnitude) {
			return fmt.Errorf("feature %d = %v, but it must be at most %g in size", j+1, v,
				data.MaxMagnitude)
		}
	}
	if t.Radius > 0 {
		vec.Clip(x, t.Radius)
	}
	return nil
}

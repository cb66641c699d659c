package model

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
)

// maxMetric bounds d, since the factor of a file's d×d matrix takes O(d³).
const maxMetric = 1000

// Dim returns d, the number of features: of LinkMetric the root of the number of weights.
func (m *Model) Dim() int {
	m = handle.Made(m)
	if m.network != nil {
		return m.features
	}
	if m.Link == LinkMetric {
		return int(math.Round(math.Sqrt(float64(len(m.Weights)))))
	}
	if m.Parts != nil {
		return m.Parts[0].Dim()
	}
	return len(m.Weights)
}

// checkMetric refuses weights that are no square matrix.
func (m *Model) checkMetric() error {
	if d := m.Dim(); d*d != len(m.Weights) || d > maxMetric {
		return check.Wantf("number of weights", len(m.Weights),
			"the square of a number of features up to %d: a distance is a matrix", maxMetric)
	}
	return nil
}

// Coordinates returns Lx for every record x, d numbers each, row by row, where LᵀL is the matrix of
// LinkMetric: Euclid's distance of two rows is the learned one. The longest axis comes first, and
// an axis that does not count is 0. Cost: O(n·d² + d³).
func (m *Model) Coordinates(r *data.Records) ([]float64, error) {
	m = handle.Made(m)
	if m.Link != LinkMetric {
		return nil, errors.New("the model is no distance")
	}
	if err := errors.Join(m.checkMetric(), m.Fits(r)); err != nil {
		return nil, err
	}
	d := m.Dim()
	l, err := geometry.FactorPSD(m.Weights, d, d)
	if err != nil {
		return nil, err
	}
	out := make([]float64, r.Len()*d)
	for i := range r.Len() {
		row := m.shortened(r.Row(i))
		for k := range d {
			out[i*d+k] = floats.Dot(l[k*d:(k+1)*d], row)
		}
	}
	return out, nil
}

// nearest sets the shares of records whose nearest other record has their class.
func (m *Model) nearest(r *data.Records, e *Evaluation) error {
	if r.Len() < 2 {
		return check.Want("number of records", r.Len(), "at least 2, to have neighbours")
	}
	z, err := m.Coordinates(r)
	if err != nil {
		return err
	}
	d := m.Dim()
	learned := sameNearest(r, func(i int) []float64 { return z[i*d : (i+1)*d] })
	euclid := sameNearest(r, r.Row)
	e.Nearest, e.NearestEuclid = &learned, &euclid
	return nil
}

// sameNearest is the share for rows in some coordinates; of records equally near the first counts.
func sameNearest(r *data.Records, row func(i int) []float64) float64 {
	same := 0
	for i := range r.Len() {
		best, of, x := math.Inf(1), -1, row(i)
		for j := range r.Len() {
			s := 0.0
			for k, v := range row(j) {
				if s += (v - x[k]) * (v - x[k]); s >= best {
					break
				}
			}
			if j != i && (s < best || of < 0) {
				best, of = s, j
			}
		}
		if r.Response(of) == r.Response(i) {
			same++
		}
	}
	return float64(same) / float64(r.Len())
}

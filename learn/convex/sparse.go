package convex

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// denseToSparse takes the zeros out of records, which have responses.
func (t *task) denseToSparse(r *data.Records) (*data.Sparse, error) {
	if err := train.CheckSize(cmp.Or(r, new(data.Records)), t.n, t.d); err != nil {
		return nil, err
	}
	if !r.HasResponses() { // which sparse records have
		if err := r.Check(t.Loss.Check); err != nil {
			return nil, err
		}
	}
	return data.SparseOf(r), nil
}

// takeSparse checks the records and shortens those whose features are longer than the radius
// in ‖·‖_q, each by itself.
func (t *task) takeSparse(r *data.Sparse, q float64) (*data.Sparse, error) {
	if err := train.CheckSize(cmp.Or(r, new(data.Sparse)), t.n, t.d); err != nil {
		return nil, err
	}
	if err := r.Check(t.Loss.Check); err != nil {
		return nil, err
	}
	return r.Scaled(func(values []float64) float64 {
		return geometry.Shortening(values, t.Radius, q)
	}), nil
}

// checkSet checks the set against the dimension.
func checkSet(s geometry.Set, d int) error {
	if s == nil {
		return &check.Error{Name: "set", Value: "none", Rule: "stated: the models are its points"}
	}
	if s.Dim() != d {
		return &check.Error{Name: "dimension of the set", Value: s.Dim(),
			Rule: fmt.Sprintf("that of the records, %d", d)}
	}
	if s.Diameter() == 0 {
		return &check.Error{Name: "diameter of the set", Value: s.Diameter(),
			Rule: "above 0: one point needs no training"}
	}
	if !train.InScale(s.Diameter()) {
		return &check.Error{Name: "diameter of the set", Value: s.Diameter(), Rule: train.ScaleRule}
	}
	return nil
}

// clampSlope returns a slope within ±bound, and 0 for NaN. Sensitivities rest on this, and on no
// property that a loss states.
func clampSlope(s, bound float64) float64 {
	if math.IsNaN(s) {
		return 0
	}
	return max(-bound, min(bound, s))
}

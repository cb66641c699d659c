package pairwise

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// intersect replaces w by the point next to it of the ball of a radius around 0 and that of r
// around centre, which is in the first.
//
// Where neither ball's own projection is in the other, the point is on both spheres: they meet
// in the plane ⟨v, centre⟩ = h‖centre‖, in a sphere around its point h·centre/‖centre‖.
func intersect(w []float64, radius float64, centre []float64, r float64) {
	const rounding = 1 + 1e-12
	outside := func(v []float64) (far, off bool) {
		return floats.Norm(v, 2) > radius*rounding, floats.Distance(v, centre, 2) > r*rounding
	}
	far, off := outside(w)
	if !far && !off {
		return
	}
	d := len(w)
	v := make([]float64, d)
	if far {
		floats.ScaleTo(v, radius/floats.Norm(w, 2), w)
		if _, off := outside(v); !off {
			copy(w, v)
			return
		}
	}
	if off {
		floats.SubTo(v, w, centre)
		floats.Scale(r/floats.Norm(v, 2), v)
		floats.Add(v, centre)
		if far, _ := outside(v); !far {
			copy(w, v)
			return
		}
	}
	length := floats.Norm(centre, 2)
	if length == 0 { // the smaller of two balls around 0
		floats.Scale(min(radius, r)/floats.Norm(w, 2), w)
		return
	}
	h := (length*length + radius*radius - r*r) / (2 * length)
	around := math.Sqrt(max(0, radius*radius-h*h))
	along := floats.Dot(w, centre) / length
	floats.AddScaledTo(v, w, -along/length, centre) // across
	across := floats.Norm(v, 2)
	floats.ScaleTo(w, h/length, centre)
	if across > 0 {
		floats.AddScaled(w, around/across, v)
	}
}

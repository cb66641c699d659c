// Package vec has the norms and the clipping of private learning: the rounding error of a norm is
// bounded, and a clipped vector is never longer than the limit. It has exponentials and products of
// short rows too, whose bits are the same on every processor. For other sums and products see
// gonum/floats.
package vec

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Slack bounds the relative rounding error of a norm of d numbers, twice over.
func Slack(d int) float64 { return float64(float64(d+8) * 0x1p-52) }

// Norm returns ‖v‖.
func Norm(v []float64) float64 { return math.Sqrt(floats.Dot(v, v)) }

// Clip scales g to norm at most limit,
//
//	g·min(1, limit/‖g‖),
//
// rounded so that the exact norm of the result is never above limit. A gradient that is not
// finite becomes 0, whose norm is also within the limit, and finite is false. A limit of
// +Inf clips nothing.
func Clip(g []float64, limit float64) (finite bool) {
	factor, finite := ClipFactor(g, limit)
	if factor != 1 {
		for j := range g {
			if factor == 0 {
				g[j] = 0 // also where it was NaN
			} else {
				g[j] *= factor
			}
		}
	}
	return finite
}

// ClipFactor returns what Clip multiplies by, 0 for a gradient that is not finite. One that
// is too long for its square to be a number it makes shorter first.
func ClipFactor(g []float64, limit float64) (factor float64, finite bool) {
	square := floats.Dot(g, g)
	if math.IsInf(square, 1) || square < 1e-290 { // out of the range of squares
		top := 0.0
		for _, v := range g {
			top = max(top, math.Abs(v))
		}
		if math.IsInf(top, 1) || math.IsNaN(top) {
			return 0, false
		}
		if top == 0 {
			return 1, true
		}
		s := 0.0
		for _, v := range g {
			s += float64((v / top) * (v / top))
		}
		if top*math.Sqrt(s)*(1+Slack(len(g))) <= limit {
			return 1, true
		}
		for j := range g {
			g[j] /= top
		}
		return shrinkTo(math.Sqrt(s)*(1+Slack(len(g))), limit), true
	}
	if math.IsNaN(square) {
		return 0, false
	}
	return clipTo(math.Sqrt(square), len(g), limit), true
}

func clipTo(length float64, d int, limit float64) float64 {
	length *= 1 + Slack(d) // at least the exact norm
	if length <= limit {
		return 1
	}
	return shrinkTo(length, limit)
}

func shrinkTo(length, limit float64) float64 {
	return limit / length * (1 - 0x1p-50) // and the two roundings of the product
}

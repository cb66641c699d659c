package geometry

import (
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
)

// Dual returns q with 1/p + 1/q = 1, +Inf for p = 1 and 1 for p = +Inf.
func Dual(p float64) float64 {
	switch {
	case p == 1:
		return math.Inf(1)
	case math.IsInf(p, 1):
		return 1
	}
	return p / (p - 1)
}

// WithIntercept returns a bound on ‖(a, 1)‖_q for every a with ‖a‖_q ≤ radius, q in [1, +Inf]:
// (radius^q + 1)^{1/q}, rounded up.
func WithIntercept(radius, q float64) float64 {
	if math.IsInf(q, 1) {
		return max(radius, 1)
	}
	return Norm([]float64{radius, 1}, q) * (1 + normSlack(2) + 0x1p-45)
}

// Norm returns ‖v‖_p for p in [1, +Inf], without overflow, to vec.Slack where p is 1, 2 or
// +Inf and to 2⁻⁴⁴ more otherwise.
func Norm(v []float64, p float64) float64 {
	top := 0.0
	for _, x := range v {
		top = max(top, math.Abs(x)) // NaN stays
	}
	if top == 0 || math.IsInf(top, 1) || math.IsNaN(top) || math.IsInf(p, 1) {
		return top
	}
	s := 0.0
	switch p {
	case 1:
		for _, x := range v {
			s += math.Abs(x)
		}
		return s
	case 2:
		for _, x := range v {
			s += (x / top) * (x / top)
		}
		return top * math.Sqrt(s)
	}
	for _, x := range v {
		if x != 0 {
			s += math.Pow(math.Abs(x)/top, p)
		}
	}
	return top * math.Pow(s, 1/p)
}

// normSlack bounds the relative rounding error of a Norm of d numbers, with room to spare:
// powers are off by some units in the last place, sums by d of them.
func normSlack(d int) float64 { return vec.Slack(d) + 0x1p-44 }

// checkNorm checks the p of a set's norm.
func checkNorm(p float64) error {
	if !(p >= 1 && p <= 2) {
		return &check.Error{Name: "norm p", Value: p, Rule: "between 1 and 2"}
	}
	return nil
}

// Shortening returns the factor that brings v to a norm ‖v‖_q of at most radius, q in [1, +Inf]: 1
// where it is within, and otherwise rounded so that the exact norm is never above the radius.
func Shortening(v []float64, radius, q float64) float64 {
	norm := Norm(v, q) * (1 + normSlack(len(v))) // at least the exact norm
	if norm <= radius {
		return 1
	}
	return radius / norm * (1 - 0x1p-50)
}

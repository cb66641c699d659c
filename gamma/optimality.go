package gamma

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/constraints"
)

// Shape is the set of noise functions among which the optimum is sought.
type Shape string

const (
	// Any: all symmetric γ in [-1,1]. Averaging a mechanism over the orders of the teachers and
	// over both labels keeps its promise and its agreement, and such an average has a symmetric γ:
	// what is optimal here is optimal among all mechanisms whose answer depends on the votes.
	// Proved by machine: every_mechanism and error_is_loss in proofs/Votes.v.
	Any      Shape = "any"
	Free     Shape = "free"     // all symmetric γ ≥ 0: the source's linear program
	Monotone Shape = "monotone" // γ ≥ 0 that do not increase towards the middle
	// ByName: all γ in [-1,1], each number of votes by itself, for an objective that tells the labels
	// apart: every mechanism whose answer depends on the votes, averaged over the orders of teachers alone.
	ByName Shape = "by-name"
)

// Shapes returns all shapes.
func Shapes() []Shape { return []Shape{Any, Free, Monotone, ByName} }

// Free returns how many values of γ, from γ(0) on, the shape leaves free for k teachers.
func (s Shape) Free(k int) int {
	if s == ByName {
		return k + 1
	}
	return (k + 1) / 2
}

// Least returns the least value that the shape's functions may have.
func (s Shape) Least() float64 {
	if s == Any || s == ByName {
		return -1
	}
	return 0
}

// check returns nil if f is one of the shape's functions, or an error that says why not.
func (s Shape) check(f Func) error {
	switch {
	case s != ByName && !f.Symmetric():
		return fmt.Errorf("gamma treats the labels by their names, but its shape is %q, not %q", s, ByName)
	case s.Least() == 0 && !f.Truthful():
		return fmt.Errorf("gamma is below 0 somewhere, but its shape is %q, not %q", s, Any)
	case s == Monotone && !f.Monotone():
		return fmt.Errorf("gamma increases towards the middle, but its shape must be %q", Monotone)
	}
	return nil
}

// Multiplier is one term of a proof of optimality: a constraint of the problem
// and its weight, a dual variable of the linear program.
type Multiplier struct {
	Multiset constraints.Multiset
	Zero     bool    // it is the constraint of label 0, of shape ByName alone
	Value    float64 // ≥ 0
}

// Row returns the scaled constraint of a multiset, of label 0 where zero is set, as a row over the free
// values of γ; dst serves where it is long enough.
func (s Shape) Row(of *constraints.System, m constraints.Multiset, zero bool, dst []float64) []float64 {
	if s == ByName {
		return of.RowByName(m, zero, dst)
	}
	return of.Row(m, dst)
}

// lowerBound returns a number that no private noise function of the given shape
// can beat: a lower bound on ExpectedError over all γ that satisfy the constraints.
// Any non-negative multipliers y give a valid one, by weak duality,
//
//	ℰ(γ) ≥ Σ_l weight(l) - Σ_i y_i·r + min_γ Σ_l d(l)·γ(l),
//	d(l) = -weight(l) + Σ_i y_i·row_i(l)
//
// where the minimum is over γ in [-1,1]^n (any, by name: minus the sum of |d|), over γ in [0,1]^n (free: the
// sum of the negative d) or over those of them that do not increase towards the middle (monotone:
// the least sum over a prefix of d, since such γ are mixtures of steps). So the multipliers may
// come from anyone. Rounding errors are subtracted, and so is off, which Σ|weight - exact| may be,
// times the largest 1-γ of the shape, the factor of weights in the bound: 1, or 2 where γ may be -1. The
// error names a multiplier that is not finite and ≥ 0 or whose multiset is not one of the
// problem's.
//
// The bound is a figure that a table's file states and that is worked out again: float64() around
// each product keeps processors from fusing it with a sum, so that all of them find the same one.
//
// Proved by machine for exact numbers: lower_bound in proofs/Optimal.v, and for shape ByName
// named_lower_bound in proofs/ByName.v.
func lowerBound(s *constraints.System, weights []float64, off float64, shape Shape,
	proof []Multiplier) (float64, error) {
	p := s.Problem()
	if len(weights) != shape.Free(p.K) {
		return 0, fmt.Errorf("%d weights for K = %d", len(weights), p.K)
	}
	d := make([]float64, len(weights))
	worth := 0.0
	for l, w := range weights {
		d[l] = -w
		worth += w
	}
	price, total := 0.0, 0.0
	row := make([]float64, 0, p.K+1)
	for i, m := range proof {
		if !(m.Value >= 0) || math.IsInf(m.Value, 1) {
			return 0, fmt.Errorf("multiplier %d = %v, but it must be finite and ≥ 0", i, m.Value)
		}
		if !s.Holds(m.Multiset) {
			return 0, fmt.Errorf(
				"multiplier %d belongs to %v, which is no constraint of K = %d, affected = %d, teacher "+
					"delta = %g", i, m.Multiset, p.K, p.Affected, p.TeacherDelta)
		}
		if m.Zero && shape != ByName {
			return 0, fmt.Errorf("multiplier %d is of label 0, which shape %q does not tell apart", i, shape)
		}
		row = shape.Row(s, m.Multiset, m.Zero, row)
		for l, x := range row {
			d[l] += float64(m.Value * x)
		}
		price += float64(m.Value * s.RHS())
		total += m.Value
	}
	least := 0.0
	switch shape {
	case Any, ByName:
		for _, x := range d {
			least -= math.Abs(x)
		}
	case Free:
		for _, x := range d {
			least += min(0, x)
		}
	case Monotone:
		sum := 0.0
		for _, x := range d {
			sum += x
			least = min(least, sum)
		}
	default:
		return 0, fmt.Errorf("shape %q is unknown", shape)
	}
	// Rounding. The rows are off by Σy·RowError, summed over l. Forming d takes a
	// product and a sum for each multiplier, of numbers whose absolute values sum to
	// at most worth + Σy over l (Σ_l |row(l)| ≤ 1); the sums that follow have
	// n + len(proof) terms of the same total size. RHS is below r < 1 by less than u·Σy: one
	// of the 16 terms to spare. u = 2⁻⁵³, doubled at the end.
	terms := float64(len(weights) + 3*len(proof) + 16)
	errors := float64(total*s.RowError()) + float64((worth+total)*terms*0x1p-53)
	bound := worth - price + least - float64(2*errors) - float64((1-shape.Least())*off)
	if !(bound > 0) { // NaN too, after multipliers whose sums overflow
		return 0, nil // no error is negative: always a bound
	}
	return bound, nil
}

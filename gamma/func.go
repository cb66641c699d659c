package gamma

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// One is the numerator of γ(l) = 1: values are integers over 2⁵³.
const One = int64(1) << 53

// Func is a noise function γ: {0 … K} → [-1,1], each value an integer
// over 2⁵³. Below 0 the label is the minority with probability -γ(l), otherwise a
// fair coin. It is symmetric, γ(K-l) = γ(l), unless it treats the labels by their names (NewByName): then
// a tie counts as label 1's, which it names with probability γ(K/2). A Func is immutable and claims nothing about privacy: see Certified.
// The zero value is no function; make one with New or FromFree.
type Func struct{ numerators []int64 }

// New returns the noise function with the given K+1 values, each rounded towards 0 to
// a multiple of 2⁻⁵³. It returns an error naming index, value and rule if a value
// is NaN or outside [-1,1], if the values are not symmetric, if K is out of range,
// or if K is even and the middle value, which a tie does not use, is not 0.
func New(values []float64) (Func, error) {
	k := len(values) - 1
	if err := check.Teachers(k); err != nil {
		return Func{}, fmt.Errorf("gamma has %d values: %w", len(values), err)
	}
	for l, v := range values {
		switch {
		case !(v >= -1 && v <= 1):
			return Func{}, outside(l, v)
		case v != values[k-l]:
			return Func{}, fmt.Errorf("gamma(%d) = %v and gamma(%d) = %v, but gamma must be symmetric", l, v,
				k-l, values[k-l])
		case 2*l == k && v != 0:
			return Func{}, fmt.Errorf("gamma(%d) = %v, but a tie releases a fair coin, so it must be 0", l,
				v)
		}
	}
	return FromFree(k, values[:(k+1)/2])
}

// FromFree returns the noise function of k teachers with the given values left
// of the middle, l = 0 … ⌈k/2⌉-1, each rounded towards 0 to a multiple of 2⁻⁵³; the
// others follow by symmetry. Errors are New's.
func FromFree(k int, free []float64) (Func, error) {
	if err := check.Teachers(k); err != nil {
		return Func{}, err
	}
	if len(free) != (k+1)/2 {
		return Func{}, fmt.Errorf("%d free values of gamma for K = %d, want %d", len(free), k, (k+1)/2)
	}
	f := Func{make([]int64, k+1)}
	for l, v := range free {
		if !(v >= -1 && v <= 1) {
			return Func{}, outside(l, v)
		}
		f.set(l, int64(v*float64(One))) // exact scaling, then towards zero
	}
	return f, nil
}

// NewByName is New for a noise function that may treat the labels by their names: γ(K-l) may differ from
// γ(l), and γ(K/2) from 0.
func NewByName(values []float64) (Func, error) {
	k := len(values) - 1
	if err := check.Teachers(k); err != nil {
		return Func{}, fmt.Errorf("gamma has %d values: %w", len(values), err)
	}
	f := Func{make([]int64, k+1)}
	for l, v := range values {
		if !(v >= -1 && v <= 1) {
			return Func{}, outside(l, v)
		}
		f.numerators[l] = int64(v * float64(One)) // exact scaling, then towards zero
	}
	return f, nil
}

// Symmetric reports whether both labels are treated alike: γ(K-l) = γ(l), and 0 at a tie.
func (f Func) Symmetric() bool {
	k := f.K()
	for l, n := range f.numerators {
		if n != f.numerators[k-l] || 2*l == k && n != 0 {
			return false
		}
	}
	return true
}

func outside(l int, v float64) error {
	return fmt.Errorf("gamma(%d) = %v, but it must be in [-1,1]", l, v)
}

func (f Func) set(l int, n int64) { f.numerators[l], f.numerators[f.K()-l] = n, n }

// Constant returns γ(l) = c, c in [-1,1] rounded towards 0: randomised response.
func Constant(k int, c float64) (Func, error) {
	free := make([]float64, max(0, (k+1)/2))
	for l := range free {
		free[l] = c
	}
	return FromFree(k, free)
}

// K returns the number of teachers.
func (f Func) K() int { return len(f.numerators) - 1 }

// At returns γ(l) exactly.
func (f Func) At(l int) float64 { return float64(float64(f.Numerator(l)) / float64(One)) }

// Numerator returns γ(l)·2⁵³, 0 of the zero Func.
func (f Func) Numerator(l int) int64 {
	if f.numerators == nil {
		return 0
	}
	return f.numerators[l]
}

// Values returns γ(0) … γ(K).
func (f Func) Values() []float64 {
	v := make([]float64, len(f.numerators))
	for l := range v {
		v[l] = f.At(l)
	}
	return v
}

// Phi returns φ(l) = sign(l-K/2)·γ(l) for l = 0 … K, exactly, with the sign of label 1 at a tie: label 1
// has probability (1+φ(l))/2.
func (f Func) Phi() []float64 {
	phi := f.Values()
	for l := 0; 2*l < f.K(); l++ {
		phi[l] = -phi[l]
	}
	return phi
}

// Truthful reports whether γ is nowhere below 0: no votes make the minority the likelier label.
func (f Func) Truthful() bool {
	return !slices.ContainsFunc(f.numerators, func(n int64) bool { return n < 0 })
}

// Dips reports whether the values of a noise function rise somewhere towards the tie, by what can be seen in a picture.
func Dips(values []float64) bool {
	const seen = 1e-3
	for l := 1; l < len(values); l++ {
		if 2*l < len(values)-1 && values[l] > values[l-1]+seen || 2*l > len(values)+1 && values[l-1] > values[l]+seen {
			return true
		}
	}
	return false
}

// WhyItDips is the sentence below a drawn γ that does; docs/concepts.md says more.
const WhyItDips = "γ dips where a coin hides most for the error that it makes: what must be small for privacy are sums of γ over " +
	"all numbers of votes, not each value."

// Monotone reports whether γ is symmetric, does not increase towards the middle and is nowhere below 0.
func (f Func) Monotone() bool {
	if !f.Truthful() || !f.Symmetric() {
		return false
	}
	for l := 1; 2*l < f.K(); l++ {
		if f.numerators[l] > f.numerators[l-1] {
			return false
		}
	}
	return true
}

// Shrink returns γ·factor, factor in [0,1], each value rounded towards 0. The privacy
// constraints are linear in γ and hold at γ = 0, so shrinking is the way to
// repair a function that breaks them.
func (f Func) Shrink(factor float64) Func {
	if !(factor >= 0 && factor <= 1) {
		panic(fmt.Sprintf("gamma: shrink by %v", factor))
	}
	g := Func{make([]int64, len(f.numerators))}
	for l, n := range f.numerators {
		// float64(n)·factor may be rounded up by half a unit at most; taking one
		// unit off keeps the result no further from 0 than the exact product.
		x := int64(float64(n) * factor)
		switch {
		case factor == 1 || x == 0:
		case x > 0:
			x--
		default:
			x++
		}
		g.numerators[l] = x
	}
	return g
}

// Equal reports whether f and g are the same function.
func (f Func) Equal(g Func) bool {
	if len(f.numerators) != len(g.numerators) {
		return false
	}
	for l, n := range f.numerators {
		if g.numerators[l] != n {
			return false
		}
	}
	return true
}

// String lists γ(0) … γ(⌈K/2⌉-1) with six digits, or all values where it is not symmetric.
func (f Func) String() string {
	var b strings.Builder
	last := (f.K() - 1) / 2
	if !f.Symmetric() {
		last = f.K()
	}
	for l := 0; l <= last; l++ {
		if l > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.6g", f.At(l))
	}
	return b.String()
}

// fromMultiples is New, or NewByName for that shape, for values that claim to be multiples of 2⁻⁵³ already.
func fromMultiples(values []float64, shape Shape) (Func, error) {
	make := New
	if shape == ByName {
		make = NewByName
	}
	f, err := make(values)
	if err != nil {
		return Func{}, err
	}
	for l, v := range values {
		if f.At(l) != v {
			return Func{}, fmt.Errorf("gamma(%d) = %s, but it must be a multiple of 2^-53", l, shortest(v))
		}
	}
	return f, nil
}

func shortest(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%g", v)
	}
	return fmt.Sprintf("%.17g", v)
}

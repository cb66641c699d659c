package gamma

import (
	"math/big"
	"os"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/num"
)

// oracle decides from the definitions whether a noise function is private, and
// shares no code with package constraints: it lists all multisets of corners by
// plain recursion, convolves their laws in outward-rounded intervals of 320 bits,
// and compares Φ(p) - E·Φ(p') with E-1+2δ. Its answer is a proof.
type oracle struct {
	k, affected int
	pairs       [][2]num.Interval // corners of F with p ≠ p'
	e, rhs      num.Interval
	one         num.Interval
}

func newOracle(p constraints.Problem) *oracle {
	zero, one, two := num.FromInt(0), num.FromInt(1), num.FromInt(2)
	eps := num.Decimal(p.Epsilon)
	x := num.Exp(eps)
	d := num.FromRat(num.Decimal(p.TeacherDelta))
	a, b := x.Add(d).Quo(x.Add(one)), one.Sub(d).Quo(x.Add(one))
	o := &oracle{
		k: p.K, affected: p.Affected, one: one,
		pairs: [][2]num.Interval{{a, b}, {b, a}},
		e:     num.Exp(new(big.Rat).Mul(num.Decimal(p.M), eps)),
	}
	if p.TeacherDelta > 0 {
		far := one.Sub(d)
		o.pairs = append(o.pairs, [][2]num.Interval{{d, zero}, {zero, d}, {one, far}, {far, one}}...)
	}
	o.rhs = o.e.Sub(one).Add(two.Mul(num.FromRat(num.Decimal(p.Delta))))
	return o
}

// visit calls fn with the left-hand side of every multiset, until fn returns
// false.
func (o *oracle) visit(f Func, fn func(value num.Interval) bool) {
	phi := make([]num.Interval, o.k+1)
	for l := range phi {
		phi[l] = exactly1(f.At(l))
		if 2*l < o.k {
			phi[l] = num.FromInt(0).Sub(phi[l])
		}
	}
	unit := []num.Interval{o.one}
	o.descend(0, 0, [2][]num.Interval{unit, unit}, phi, fn)
}

// descend has n teachers placed at pairs[:corner], with the given laws on the two
// datasets, and places the others.
func (o *oracle) descend(corner, n int, laws [2][]num.Interval, phi []num.Interval,
	fn func(num.Interval) bool) bool {
	if corner == len(o.pairs) {
		// The rest is unaffected: ones of them at (1,1), the others at (0,0).
		for ones := 0; ones <= o.k-n; ones++ {
			var mean [2]num.Interval
			for side, law := range laws {
				sum := num.FromInt(0)
				for l, pr := range law {
					sum = sum.Add(pr.Mul(phi[l+ones]))
				}
				mean[side] = sum
			}
			if !fn(mean[0].Sub(o.e.Mul(mean[1]))) {
				return false
			}
		}
		return true
	}
	for {
		if !o.descend(corner+1, n, laws, phi, fn) {
			return false
		}
		if n == o.affected {
			return true
		}
		for side, p := range o.pairs[corner] {
			laws[side] = o.convolve(laws[side], p)
		}
		n++
	}
}

func (o *oracle) convolve(law []num.Interval, p num.Interval) []num.Interval {
	q := o.one.Sub(p)
	out := make([]num.Interval, len(law)+1)
	for l := range out {
		sum := num.FromInt(0)
		if l < len(law) {
			sum = q.Mul(law[l])
		}
		if l > 0 {
			sum = sum.Add(p.Mul(law[l-1]))
		}
		out[l] = sum
	}
	return out
}

// violations counts the constraints that f does not provably keep.
func (o *oracle) violations(f Func) int {
	n := 0
	o.visit(f, func(v num.Interval) bool {
		if v.Cmp(o.rhs) >= 0 {
			n++
		}
		return true
	})
	return n
}

// private reports whether f provably keeps every constraint.
func (o *oracle) private(f Func) bool {
	ok := true
	o.visit(f, func(v num.Interval) bool {
		ok = v.Cmp(o.rhs) < 0
		return ok
	})
	return ok
}

// max returns the largest f over all multisets (by its upper end), and how many
// there are.
func (o *oracle) max(f Func) (best num.Interval, n int) {
	o.visit(f, func(v num.Interval) bool {
		if n++; n == 1 || v.Cmp(best) > 0 {
			best = v
		}
		return true
	})
	return best, n
}

// long reports whether tests that take minutes shall run: DARRM_LONG=1.
func long() bool { return os.Getenv("DARRM_LONG") == "1" }

// The oracle itself, against counts from the binomial formula and values worked
// out by hand.
func TestOracle(t *testing.T) {
	for _, c := range []struct {
		p    constraints.Problem
		want int // C(14,7); C(12,3); K+1 with nobody affected and 6K with one
	}{
		{problem(t, 7, 2, 0.1, 1e-5), 3432},
		{problem(t, 9, 2, 0.1, 0), 220},
		{constraints.Problem{K: 5, M: 1, Epsilon: 0.1, TeacherDelta: 1e-5, Delta: 1e-5, Affected: 1},
			6 + 6*5},
	} {
		f, err := Constant(c.p.K, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, n := newOracle(c.p).max(f); n != c.want {
			t.Errorf("%+v: %d multisets, want %d", c.p, n, c.want)
		}
	}
	// K = 1, m = 1, γ = 1: φ = (-1,1), Φ = 2p-1. At (a,b) of a pure ε-DP teacher,
	// f = (2a-1) - e^ε(2b-1) = e^ε-1 + 2(a - e^ε·b) = e^ε - 1: exactly tight, so
	// not provable in intervals; one unit of 2⁻⁵³ less is.
	o := newOracle(problem(t, 1, 1, 0.5, 0))
	tight := mustFree(t, 1, 1)
	if best, _ := o.max(tight); best.Cmp(o.rhs) != 0 {
		t.Errorf("f reaches %v, want e^½-1 = %v", best.Nearest(), o.rhs.Nearest())
	}
	if o.private(tight) {
		t.Error("the oracle proves what intervals cannot")
	}
	if below := (Func{[]int64{One - 1, One - 1}}); !o.private(below) {
		t.Error("γ = 1-2⁻⁵³ is not recognised as private")
	}
	// The same teacher under half the promise.
	if newOracle(problem(t, 1, 0.5, 0.5, 0)).private(tight) {
		t.Error("γ = 1 passes for m = ½")
	}
}

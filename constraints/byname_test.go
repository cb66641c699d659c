package constraints

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawPhiByName draws a φ whose labels are not alike, which rises or not.
func drawPhiByName(t *rapid.T, k int) []float64 {
	phi := rapid.SliceOfN(rapid.Float64Range(-1, 1), k+1, k+1).Draw(t, "φ")
	if rapid.Bool().Draw(t, "rises") {
		slices.Sort(phi)
	}
	return phi
}

// Of a φ that treats the labels by their names, the constraints of both labels are searched: against the
// complete list of both, in interval arithmetic.
func TestBothLabelsAgainstBruteForce(t *testing.T) {
	zeros := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 4)
		s, _ := NewSystem(p)
		phi := drawPhiByName(t, p.K)
		got, err := s.UpperBound(context.Background(), phi)
		if err != nil {
			t.Fatal(err)
		}
		o := newBruteForce(p)
		negative := make([]float64, len(phi))
		for l, x := range phi {
			negative[l] = -x
		}
		upper := exact(got.Upper).Mul(o.e.Add(exact(1)))
		best := math.Inf(-1)
		for _, m := range allMultisets(p) {
			for _, phi := range [][]float64{phi, negative} {
				v := o.value(m, phi)
				if v.Cmp(upper) > 0 {
					t.Fatalf("%v reaches %g, above the bound %g", m, v.Nearest(), upper.Nearest())
				}
				best = max(best, v.Nearest())
			}
		}
		scale := 1 + s.e.Nearest()
		if gap := got.Upper - best/scale; gap > 4*s.evalError+max(0, s.rhs-best/scale)/1000 {
			t.Fatalf("bound %g is %g above the maximum, error bound %g", got.Upper, gap, s.evalError)
		}
		of := phi
		if got.Zero {
			of, zeros = negative, zeros+1
		}
		if at := o.value(got.At, of).Nearest() / scale; !s.Holds(got.At) || math.Abs(at-got.Computed) > 3*s.evalError &&
			s.rhs-best/scale < 0 {
			t.Fatalf("%v attains %g, not %g", got.At, at, got.Computed)
		}
	})
	if zeros < 5 {
		t.Errorf("label 0 had the worst constraint %d times", zeros)
	}
}

// Violations of both labels are found, with the rows that say so.
func TestSeparateBothLabels(t *testing.T) {
	zeros := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 8)
		s, _ := NewSystem(p)
		phi := drawPhiByName(t, p.K)
		gamma := slices.Clone(phi)
		for l := 0; 2*l < p.K; l++ {
			gamma[l] = -gamma[l]
		}
		got, err := s.Separate(context.Background(), phi, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range got {
			value := 0.0
			for l, x := range s.RowByName(v.Multiset, v.Zero, nil) {
				value += x * gamma[l]
			}
			if v.Zero {
				zeros++
			}
			if v.Value <= s.RHS()+1e-12 || math.Abs(v.Value-value) > 1e-13 || !s.Holds(v.Multiset) {
				t.Fatalf("%v: value %g, row says %g", v.Multiset, v.Value, value)
			}
		}
		worst := 0.0
		for _, m := range allMultisets(p) {
			for _, zero := range []bool{false, true} {
				value := 0.0
				for l, x := range s.RowByName(m, zero, nil) {
					value += x * gamma[l]
				}
				worst = max(worst, value-s.RHS())
			}
			if p.K > 4 { // the list is long
				break
			}
		}
		if len(got) == 0 && worst > 2e-12 {
			t.Fatalf("missed a violation of %g", worst)
		}
	})
	if zeros < 5 {
		t.Errorf("%d violations of label 0", zeros)
	}
}

// Where both labels are alike, the row by names is the folded one.
func TestRowByNameFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 4)
		s, _ := NewSystem(p)
		for _, m := range allMultisets(p) {
			row, all := s.Row(m, nil), s.RowByName(m, false, nil)
			other := s.RowByName(m.mirrored(), true, nil)
			for l, x := range row {
				if math.Abs(x-all[l]-all[p.K-l]) > 1e-15 {
					t.Fatalf("%v: row %v, by names %v", m, row, all)
				}
			}
			for l, x := range all {
				if 2*l != p.K && math.Abs(x-other[p.K-l]) > 1e-15 {
					t.Fatalf("%v: %v, of the other label %v", m, all, other)
				}
			}
		}
	})
}

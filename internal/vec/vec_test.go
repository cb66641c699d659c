package vec

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// square returns ‖v‖², exactly.
func square(v []float64) *big.Rat {
	s := new(big.Rat)
	for _, x := range v {
		r := new(big.Rat).SetFloat64(x)
		s.Add(s, r.Mul(r, r))
	}
	return s
}

// A clipped vector is never longer than the limit, also where squares underflow or overflow, and
// a vector within it stays as it is.
func TestClipNeverExceedsTheLimit(t *testing.T) {
	for _, scale := range []float64{1e-250, 1e-200, 1e-170, 1e-162, 1e-155, 1e-145, 1, 1e100, 1e200} {
		for _, limit := range []float64{1e-30, 1e-3, 0.5, 1, 5, 1e3} {
			v := []float64{3 * scale, -4 * scale, scale / 7, 0}
			clipped := slices.Clone(v)
			if !Clip(clipped, limit*scale) {
				t.Fatalf("scale %g: not finite", scale)
			}
			most := new(big.Rat).SetFloat64(limit * scale)
			most.Mul(most, most)
			if square(clipped).Cmp(most) > 0 {
				t.Errorf("scale %g, limit %g: longer than the limit", scale, limit)
			}
			if limit > 5.1 && !slices.Equal(v, clipped) {
				t.Errorf("scale %g: a vector within the limit changed", scale)
			}
			if limit < 5 && !(math.Abs(clipped[0]) > 0.55*limit*scale) {
				t.Errorf("scale %g, limit %g: clipped to %g", scale, limit, clipped[0])
			}
		}
	}
	if zero := []float64{0, 0}; !Clip(zero, 1) || zero[0] != 0 {
		t.Error("the zero vector changed")
	}
}

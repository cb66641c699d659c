package num

import "math/big"

// Sqrt returns an interval around √x for x ≥ 0. It panics where x may be < 0.
func Sqrt(x Interval) Interval {
	if x.lo.Sign() < 0 {
		panic("num: Sqrt of an interval that is not ≥ 0")
	}
	return Interval{sqrtEnd(x.lo, down(), -1), sqrtEnd(x.hi, up(), +1)}
}

// sqrtEnd sets r to a bound of √x on the given side. big.Float.Sqrt states no accuracy,
// so the bound is checked by its exact square and moved outward until it holds.
func sqrtEnd(x, r *big.Float, side int) *big.Float {
	r.Sqrt(x)
	for {
		square := new(big.Float).SetPrec(2*precision).Mul(r, r) // exact at this width
		if square.Cmp(x)*side >= 0 {
			return r
		}
		// One unit of the last place, or a little more.
		unit := new(big.Float).SetMantExp(big.NewFloat(1), r.MantExp(nil)-precision)
		if side < 0 {
			r.Sub(r, unit)
		} else {
			r.Add(r, unit)
		}
	}
}

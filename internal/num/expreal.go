package num

import (
	"fmt"
	"math"
	"math/big"
)

// MaxExpReal bounds the size of the argument of ExpReal. e^(2³⁰) is still a big.Float.
const MaxExpReal = 1 << 30

// ExpReal returns an interval around e^x for |x| ≤ 2³⁰; it panics outside.
//
// With n = ⌊x/ln 2⌋ - 1 and r = x - n·ln 2, which lies within (0, 3),
//
//	e^x = 2ⁿ·e^r
func ExpReal(x Interval) Interval {
	lo, hi := monotone(x, expNarrow)
	return Interval{lo.lo, hi.hi}
}

func expNarrow(x Interval) Interval {
	f, _ := x.lo.Float64()
	if math.Abs(f) > MaxExpReal {
		panic(fmt.Sprintf("num: ExpReal of %g, want |x| ≤ 2^30", f))
	}
	if x.lo.Sign() >= 0 && x.hi.Cmp(big.NewFloat(quick)) <= 0 {
		return FromInt(1).Add(expm1Small(x)) // never below 1
	}
	n := int64(math.Floor(f/math.Ln2)) - 1 // the float64 may be one off; r stays positive
	r := x.Sub(ln2().Mul(FromInt(n)))
	const halvings = 10 // 3/2^10 < 2⁻⁸
	e := FromInt(1).Add(expm1Small(r.scale(-halvings)))
	for range halvings {
		e = e.Mul(e)
	}
	return e.scale(int(n))
}

// scale returns 2ⁿ·x, exactly.
func (x Interval) scale(n int) Interval {
	return Interval{down().SetMantExp(x.lo, n), up().SetMantExp(x.hi, n)}
}

// Expm1 returns an interval around e^x - 1 for 0 ≤ x ≤ 8192, relatively accurate
// however small x is; it panics outside.
func Expm1(x Interval) Interval {
	if x.lo.Sign() < 0 {
		panic("num: Expm1 of an interval that is not ≥ 0")
	}
	if x.hi.Cmp(big.NewFloat(2*maxExp)) > 0 {
		panic("num: Expm1 beyond 8192") // aligning e^x with 1 takes as many bits as e^x has
	}
	if x.hi.Cmp(big.NewFloat(quick)) <= 0 {
		return expm1Small(x)
	}
	return ExpReal(x).Sub(FromInt(1))
}

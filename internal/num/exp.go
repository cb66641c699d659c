package num

import (
	"fmt"
	"math/big"
)

// maxExp bounds the argument of Exp; e^4096 is far beyond a float64.
const maxExp = 4096

// Exp returns an interval around e^x for 0 ≤ x ≤ 4096; it panics outside.
//
// With y = x/2^s ≤ 2⁻⁸ the Taylor series Σ y^i/i! is summed with outward
// rounding until a term falls below 2^-precision; the terms left out sum to less
// than twice the first of them, since each is less than half of the one before.
// Squaring s times then gives e^x; each squaring doubles the relative width.
func Exp(x *big.Rat) Interval {
	if x.Sign() < 0 || x.Cmp(big.NewRat(maxExp, 1)) > 0 {
		panic(fmt.Sprintf("num: Exp of %s, want 0 ≤ x ≤ %d", x.FloatString(6), maxExp))
	}
	y := new(big.Rat).Set(x)
	half := big.NewRat(1, 2)
	small := big.NewRat(1, 256)
	squarings := 0
	for y.Cmp(small) > 0 {
		y.Mul(y, half)
		squarings++
	}
	step := FromRat(y)
	sum, term := FromInt(1), FromInt(1)
	for i := int64(1); ; i++ {
		term = term.Mul(step).Quo(FromInt(i))
		sum = sum.Add(term)
		if term.hi.Sign() == 0 || term.hi.MantExp(nil) < -precision {
			sum.hi.Add(sum.hi, term.hi) // the tail: at most the last term again
			break
		}
	}
	for range squarings {
		sum = sum.Mul(sum)
	}
	return sum
}

// Pow returns an interval around x^y = e^(y·ln x) for 0 < x ≤ 1 rational and
// y > 0 rational; it panics outside.
func Pow(x, y *big.Rat) Interval {
	if x.Sign() <= 0 || x.Cmp(big.NewRat(1, 1)) > 0 || y.Sign() <= 0 {
		panic("num: Pow wants 0 < x ≤ 1 and y > 0")
	}
	// -ln x lies in the interval l; e^(-y·l) is then bounded by the reciprocals
	// of e^(y·l) at its two ends.
	l := negLog(x)
	yi := FromRat(y)
	z := yi.Mul(l)
	lo, _ := z.lo.Rat(nil)
	hi, _ := z.hi.Rat(nil)
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	limit := big.NewRat(maxExp, 1)
	one := FromInt(1)
	upper := one.Quo(Exp(minRat(lo, limit)))
	if hi.Cmp(limit) > 0 { // the power is below e^-4096: zero is a lower bound
		return Interval{down(), upper.hi}
	}
	return Interval{one.Quo(Exp(hi)).lo, upper.hi}
}

func minRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// negLog returns an interval around -ln x, 0 < x ≤ 1. With x = 2^-s·w,
// 1/2 < w ≤ 1, it is s·ln 2 - ln w, and both logarithms come from
//
//	-ln w = 2 Σ z^(2i+1)/(2i+1),  z = (1-w)/(1+w) ≤ 1/3,
//
// whose tail is below 9/8 of the first term left out.
func negLog(x *big.Rat) Interval {
	w := new(big.Rat).Set(x)
	two := big.NewRat(2, 1)
	half := big.NewRat(1, 2)
	s := int64(0)
	for w.Cmp(half) <= 0 {
		w.Mul(w, two)
		s++
	}
	l := negLogReduced(w)
	if s > 0 {
		l = l.Add(negLogReduced(half).Mul(FromInt(s)))
	}
	return l
}

func negLogReduced(w *big.Rat) Interval {
	one := big.NewRat(1, 1)
	z := new(big.Rat).Quo(new(big.Rat).Sub(one, w), new(big.Rat).Add(one, w))
	zi := FromRat(z)
	zz := zi.Mul(zi)
	sum, power := FromInt(0), zi
	for i := int64(1); ; i += 2 {
		sum = sum.Add(power.Quo(FromInt(i)))
		power = power.Mul(zz)
		if power.hi.Sign() == 0 || power.hi.MantExp(nil) < -precision {
			// Tail: Σ_{j≥0} power·z^(2j)/(…) ≤ power·9/8; twice is safe.
			sum.hi.Add(sum.hi, power.hi)
			sum.hi.Add(sum.hi, power.hi)
			break
		}
	}
	return sum.Add(sum)
}

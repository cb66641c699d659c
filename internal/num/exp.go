package num

import (
	"fmt"
	"math/big"
)

// maxExp bounds the argument of Exp; e^4096 is far beyond a float64.
const maxExp = 4096

// Exp returns an interval around e^x for 0 ≤ x ≤ 4096; it panics outside.
func Exp(x *big.Rat) Interval {
	if x.Sign() < 0 || x.Cmp(big.NewRat(maxExp, 1)) > 0 {
		panic(fmt.Sprintf("num: Exp of %s, want 0 ≤ x ≤ %d", x.FloatString(6), maxExp))
	}
	return ExpReal(FromRat(x))
}

// quick bounds the y for which the Taylor series of e^y converges fast.
const quick = 0x1p-8

// expm1Small returns an interval around e^y - 1 = Σ_{i≥1} y^i/i! for 0 ≤ y ≤ 2⁻⁸,
// relatively accurate however small y is. The terms left out sum to less than the last one
// added, since each is less than half of the one before.
func expm1Small(y Interval) Interval {
	if y.hi.Sign() == 0 {
		return y
	}
	s := newSeries(y, y)
	for i := int64(2); !s.small(); i++ {
		s.next(i)
		s.add(&s.term)
	}
	return s.end()
}

// exactBits bounds the size of integer powers that are worked out as fractions.
const exactBits = 8192

// OneMinusPow returns an interval around 1-(1-d)^y for 0 < d < 1 and y > 0, both
// rational, relatively accurate however small d·y is; it panics outside.
//
//	1-(1-d)^y = 1-e^{-z} = (e^z-1)/e^z,   z = -y·ln(1-d)
func OneMinusPow(d, y *big.Rat) Interval {
	one := big.NewRat(1, 1)
	if d.Sign() <= 0 || d.Cmp(one) >= 0 || y.Sign() <= 0 {
		panic("num: OneMinusPow wants 0 < d < 1 and y > 0")
	}
	if y.IsInt() && y.Num().Cmp(big.NewInt(exactBits/int64(min(exactBits, d.Denom().BitLen())))) <= 0 {
		// Exact, so that a result that is a short decimal stays one.
		q := new(big.Rat).Sub(one, d)
		n := y.Num()
		power := new(big.Rat).SetFrac(new(big.Int).Exp(q.Num(), n, nil),
			new(big.Int).Exp(q.Denom(), n, nil))
		return FromRat(power.Sub(one, power))
	}
	z := FromRat(y).Mul(negLog(new(big.Rat).Sub(one, d)))
	lo, hi := oneMinusExp(z.lo), oneMinusExp(z.hi) // increasing in z
	return Interval{lo.lo, hi.hi}
}

// oneMinusExp returns an interval around 1-e^{-z} for z ≥ 0.
func oneMinusExp(z *big.Float) Interval {
	one := FromInt(1)
	if z.Sign() <= 0 {
		return FromInt(0)
	}
	if z.Cmp(big.NewFloat(maxExp)) > 0 {
		return Interval{one.Sub(one.Quo(Exp(big.NewRat(maxExp, 1)))).lo, one.hi}
	}
	at := Interval{z, z}
	if z.Cmp(big.NewFloat(quick)) > 0 {
		return one.Sub(one.Quo(ExpReal(at)))
	}
	m := expm1Small(at)
	return m.Quo(one.Add(m))
}

// negLog returns an interval around -ln x, 0 < x ≤ 1. With x = 2^-s·w, 1/2 < w ≤ 1, it is
//
//	s·ln 2 - ln w,   -ln w = 2·atanh z,   z = (1-w)/(1+w) ≤ 1/3
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
		l = l.Add(ln2().Mul(FromInt(s)))
	}
	return l
}

func negLogReduced(w *big.Rat) Interval {
	one := big.NewRat(1, 1)
	return twiceAtanh(FromRat(new(big.Rat).Quo(new(big.Rat).Sub(one, w), new(big.Rat).Add(one, w))))
}

// twiceAtanh returns an interval around 2 Σ z^(2i+1)/(2i+1) for 0 ≤ z ≤ 1/3, relatively accurate
// however small z is. The terms left out sum to less than 9/8 of the first of them, which is below a
// ninth of the last power.
func twiceAtanh(z Interval) Interval {
	if z.hi.Sign() == 0 {
		return z
	}
	s := newSeries(z, z.Mul(z))
	for i := int64(3); !s.small(); i += 2 {
		s.next(1)
		s.over(i)
	}
	return s.end().scale(1)
}

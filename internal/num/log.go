package num

import (
	"math/big"
	"sync"
)

// Log returns an interval around ln x for x > 0, relatively accurate near x = 1 too. It
// panics where x may be ≤ 0.
//
// For y = x or 1/x, whichever is ≤ 1, and y = 2^-s·w with 1/2 < w ≤ 1,
//
//	-ln y = s·ln 2 - ln w
func Log(x Interval) Interval {
	if x.lo.Sign() <= 0 {
		panic("num: Log of an interval that is not positive")
	}
	lo := logOf(x.lo)
	if x.lo.Cmp(x.hi) == 0 {
		return lo
	}
	return Interval{lo.lo, logOf(x.hi).hi} // increasing in x
}

func logOf(f *big.Float) Interval {
	x, _ := f.Rat(nil)
	one := big.NewRat(1, 1)
	if x.Cmp(one) >= 0 {
		return scaledNegLog(x.Inv(x))
	}
	return FromInt(0).Sub(scaledNegLog(x))
}

// scaledNegLog is negLog with the power of two found from the bit lengths, so that
// 1e-300 takes no thousand halvings.
func scaledNegLog(y *big.Rat) Interval {
	half := big.NewRat(1, 2)
	s := max(0, y.Denom().BitLen()-y.Num().BitLen()-1)
	w := new(big.Rat).Mul(y, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(s))))
	for w.Cmp(half) <= 0 {
		w.Add(w, w)
		s++
	}
	l := negLogReduced(w)
	if s > 0 {
		l = l.Add(ln2().Mul(FromInt(int64(s))))
	}
	return l
}

var ln2 = sync.OnceValue(func() Interval { return negLogReduced(big.NewRat(1, 2)) })

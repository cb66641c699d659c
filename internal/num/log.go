package num

import (
	"math/big"
	"sync"
)

// Log returns an interval around ln x for x > 0, relatively accurate near x = 1 too. It
// panics where x may be ≤ 0.
//
// For x = 2^s·m with 3/4 ≤ m < 3/2,
//
//	ln x = s·ln 2 + ln m,   ln m = 2·atanh z,   z = (m-1)/(m+1),   |z| ≤ 1/5
func Log(x Interval) Interval {
	if x.lo.Sign() <= 0 {
		panic("num: Log of an interval that is not positive")
	}
	lo, hi := monotone(x, logNarrow)
	return Interval{lo.lo, hi.hi}
}

func logNarrow(x Interval) Interval {
	s, one := x.lo.MantExp(nil), FromInt(1)
	m := x.scale(-s)
	if m.lo.Cmp(big.NewFloat(0.75)) < 0 {
		s--
		m = m.scale(1)
	}
	if m.lo.Cmp(one.lo) < 0 && m.hi.Cmp(one.hi) > 0 {
		return Interval{logNarrow(Interval{x.lo, x.lo}).lo, logNarrow(Interval{x.hi, x.hi}).hi}
	}
	var l Interval
	if m.lo.Cmp(one.lo) >= 0 {
		l = twiceAtanh(m.Sub(one).Quo(m.Add(one)))
	} else {
		l = FromInt(0).Sub(twiceAtanh(one.Sub(m).Quo(m.Add(one))))
	}
	if s != 0 {
		l = l.Add(ln2().Mul(FromInt(int64(s))))
	}
	return l
}

var ln2 = sync.OnceValue(func() Interval { return twiceAtanh(FromInt(1).Quo(FromInt(3))) })

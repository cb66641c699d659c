// Package num is outward-rounded arithmetic: numbers known only as an interval
// that certainly holds them, and their conversion to float64 on a stated side.
//
// Privacy constants such as e^ε are irrational, and math.Exp promises nothing
// about its last digits. Here every operation rounds its lower end down and its
// upper end up, so that a claim proved for the interval holds for the number.
//
//	x ∈ [lo, hi]   Interval
//	decimal of x   Decimal
package num

import (
	"math"
	"math/big"
)

// precision of the interval ends in bits. e^700 computed at this width still has
// more than 200 correct bits, far beyond the 53 that callers keep.
const precision = 320

// Interval is a closed interval [lo, hi] that holds some exact real number.
// Its operations return an interval that holds the exact result. The zero value
// is not usable; make one with FromRat, FromInt or Exp.
type Interval struct{ lo, hi *big.Float }

func newEnd(mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(precision).SetMode(mode)
}

func down() *big.Float { return newEnd(big.ToNegativeInf) }
func up() *big.Float   { return newEnd(big.ToPositiveInf) }

// FromRat returns the tightest interval around x.
func FromRat(x *big.Rat) Interval {
	return Interval{down().SetRat(x), up().SetRat(x)}
}

// FromInt returns the interval [n, n].
func FromInt(n int64) Interval {
	return Interval{down().SetInt64(n), up().SetInt64(n)}
}

// Add returns an interval around x + y.
func (x Interval) Add(y Interval) Interval {
	return Interval{down().Add(x.lo, y.lo), up().Add(x.hi, y.hi)}
}

// Sub returns an interval around x - y.
func (x Interval) Sub(y Interval) Interval {
	return Interval{down().Sub(x.lo, y.hi), up().Sub(x.hi, y.lo)}
}

// Mul returns an interval around x·y.
func (x Interval) Mul(y Interval) Interval {
	if x.lo.Sign() >= 0 && y.lo.Sign() >= 0 {
		// The common case: a product of numbers ≥ 0 grows with both, and rounding keeps
		// the order, so the ends are known without the other two products.
		return Interval{down().Mul(x.lo, y.lo), up().Mul(x.hi, y.hi)}
	}
	return x.mulAny(y)
}

// mulAny is Mul whatever the signs: the ends are among the products of ends.
func (x Interval) mulAny(y Interval) Interval {
	r := Interval{down().Mul(x.lo, y.lo), up().Mul(x.lo, y.lo)}
	for _, ends := range [][2]*big.Float{{x.lo, y.hi}, {x.hi, y.lo}, {x.hi, y.hi}} {
		if l := down().Mul(ends[0], ends[1]); l.Cmp(r.lo) < 0 {
			r.lo = l
		}
		if h := up().Mul(ends[0], ends[1]); h.Cmp(r.hi) > 0 {
			r.hi = h
		}
	}
	return r
}

// Quo returns an interval around x/y for y > 0. It panics where y may be ≤ 0.
func (x Interval) Quo(y Interval) Interval {
	if y.lo.Sign() <= 0 {
		panic("num: division by an interval that is not positive")
	}
	// A quotient is monotone in both ends; which end of y is the worse one
	// depends on the sign of the numerator.
	lo, hi := y.hi, y.lo
	if x.lo.Sign() < 0 {
		lo = y.lo
	}
	if x.hi.Sign() < 0 {
		hi = y.hi
	}
	return Interval{down().Quo(x.lo, lo), up().Quo(x.hi, hi)}
}

// narrow reports whether the ends of x agree in all but their last bits.
func (x Interval) narrow() bool {
	if x.lo.Cmp(x.hi) == 0 {
		return true
	}
	// Ends of other sizes are not subtracted: that may take as many bits as they are apart.
	apart := x.hi.MantExp(nil) - x.lo.MantExp(nil)
	return x.lo.Sign()*x.hi.Sign() > 0 && apart >= -1 && apart <= 1 &&
		up().Sub(x.hi, x.lo).MantExp(nil) < x.hi.MantExp(nil)-precision+40
}

// monotone returns f at both ends of x: f takes a narrow interval whole, which then has one value.
func monotone(x Interval, f func(Interval) Interval) (lo, hi Interval) {
	if x.narrow() {
		y := f(x)
		return y, y
	}
	return f(Interval{x.lo, x.lo}), f(Interval{x.hi, x.hi})
}

// Lower returns the largest float64 that is certainly ≤ the exact number.
func (x Interval) Lower() float64 {
	f, acc := x.lo.Float64()
	if acc == big.Above {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// Upper returns the smallest float64 that is certainly ≥ the exact number.
func (x Interval) Upper() float64 {
	f, acc := x.hi.Float64()
	if acc == big.Below {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// Nearest returns the float64 nearest to the exact number, correctly rounded
// unless the number lies within the interval's width (below 2⁻²⁰⁰ relative) of
// a midpoint between two float64s.
func (x Interval) Nearest() float64 {
	f, _ := x.lo.Float64()
	return f
}

// Cmp compares x with y: -1 if certainly x < y, +1 if certainly x > y, and 0
// where the intervals overlap.
func (x Interval) Cmp(y Interval) int {
	switch {
	case x.hi.Cmp(y.lo) < 0:
		return -1
	case x.lo.Cmp(y.hi) > 0:
		return 1
	}
	return 0
}

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
	"fmt"
	"math"
	"math/big"
	"strconv"
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

// Powers returns x⁰ … xⁿ.
func Powers(x Interval, n int) []Interval {
	p := []Interval{FromInt(1)}
	for range n {
		p = append(p, p[len(p)-1].Mul(x))
	}
	return p
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

// Lo returns a copy of the lower end.
func (x Interval) Lo() *big.Float { return new(big.Float).Copy(x.lo) }

// Hi returns a copy of the upper end.
func (x Interval) Hi() *big.Float { return new(big.Float).Copy(x.hi) }

// Hull returns the smallest interval around both x and y: what is known of a number that
// may lie anywhere between them.
func (x Interval) Hull(y Interval) Interval {
	r := x
	if y.lo.Cmp(r.lo) < 0 {
		r.lo = y.lo
	}
	if y.hi.Cmp(r.hi) > 0 {
		r.hi = y.hi
	}
	return r
}

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

// Decimal returns the exact rational value of the shortest decimal that
// identifies x, the number that people read and JSON stores: Decimal(0.1) is
// 1/10, not the binary fraction nearest to it. x must be finite.
func Decimal(x float64) *big.Rat {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		panic(fmt.Sprintf("num: Decimal of %v", x))
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("num: no decimal for %v", x))
	}
	return r
}

// DecimalUp returns a float64 whose Decimal is at least the exact number, the
// smallest such up to the width of the interval: DecimalUp of 3/10 is 0.3.
func (x Interval) DecimalUp() float64 {
	fits := func(f float64) bool {
		return math.IsInf(f, 1) || !math.IsInf(f, -1) && up().SetRat(Decimal(f)).Cmp(x.hi) >= 0
	}
	f := x.Upper()
	if below := math.Nextafter(f, math.Inf(-1)); fits(below) {
		return below // the decimal of the float64 below rounds up across x
	}
	for !fits(f) {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// DecimalDown returns a float64 whose Decimal is at most the exact number, the
// largest such up to the width of the interval.
func (x Interval) DecimalDown() float64 {
	fits := func(f float64) bool {
		return math.IsInf(f, -1) || !math.IsInf(f, 1) && down().SetRat(Decimal(f)).Cmp(x.lo) <= 0
	}
	f := x.Lower()
	if above := math.Nextafter(f, math.Inf(1)); fits(above) {
		return above
	}
	for !fits(f) {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

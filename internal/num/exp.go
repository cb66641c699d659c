package num

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"sync"
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

// series sums terms ≥ 0, each the one before times a factor. Terms are whole numbers of the unit
// 2^-scale, which is relative to the first term: the sum is as accurate where that is tiny. The lower
// ends are rounded down and the upper ends up, in integers whose memory is used again: a term takes a
// tenth of the time that it takes in Interval.
type series struct {
	scale        int
	sum, term    fixed
	factor, part fixed // part is of a term, for a while
	divisor      big.Int
}

// fixed is a pair of ends, in units.
type fixed struct{ lo, hi big.Int }

// guard is the number of bits that the first term has beyond those of an Interval: for the units that
// hundreds of terms lose.
const guard = 32

// newSeries starts with the sum and the term first > 0, to be multiplied by factor.
func newSeries(first, factor Interval) *series {
	s := &series{scale: precision + guard - first.hi.MantExp(nil)}
	s.put(&s.term, first)
	s.put(&s.sum, first)
	s.put(&s.factor, factor)
	return s
}

func (s *series) put(z *fixed, x Interval) {
	var scaled big.Float
	scaled.SetMantExp(x.lo, s.scale).Int(&z.lo)
	if _, accuracy := scaled.SetMantExp(x.hi, s.scale).Int(&z.hi); accuracy == big.Below {
		z.hi.Add(&z.hi, unit)
	}
}

var unit = big.NewInt(1)

// next multiplies the term by the factor and divides it by n > 0.
func (s *series) next(n int64) {
	t := &s.term
	t.lo.Rsh(s.part.lo.Mul(&t.lo, &s.factor.lo), uint(s.scale))
	t.hi.Rsh(s.part.hi.Mul(&t.hi, &s.factor.hi), uint(s.scale))
	s.divide(t, t, n) // the unit that it adds is enough: ⌊⌊x⌋/n⌋ = ⌊x/n⌋
}

func (s *series) divide(z, x *fixed, n int64) {
	s.divisor.SetInt64(n)
	z.lo.Quo(&x.lo, &s.divisor)
	z.hi.Quo(&x.hi, &s.divisor)
	z.hi.Add(&z.hi, unit)
}

func (s *series) add(x *fixed) {
	s.sum.lo.Add(&s.sum.lo, &x.lo)
	s.sum.hi.Add(&s.sum.hi, &x.hi)
}

// over adds the term divided by n > 0.
func (s *series) over(n int64) {
	s.divide(&s.part, &s.term, n)
	s.add(&s.part)
}

// small reports whether the term is within a few units of 0: less cannot be told.
func (s *series) small() bool { return s.term.hi.BitLen() <= 4 }

// end returns the sum, where the terms left out sum to at most the last one.
func (s *series) end() Interval {
	s.sum.hi.Add(&s.sum.hi, &s.term.hi)
	lo, hi := down().SetInt(&s.sum.lo), up().SetInt(&s.sum.hi)
	return Interval{lo.SetMantExp(lo, -s.scale), hi.SetMantExp(hi, -s.scale)}
}

// Shortest writes x as the shortest decimal that stands for it, with exponents as people write them: 1e-6.
func Shortest(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(s)
}

// Outward writes x ≥ 0 with the given number of digits, rounded up or down.
func Outward(x float64, digits int, up bool) string {
	s := strconv.FormatFloat(x, 'g', digits, 64)
	shown, err := strconv.ParseFloat(s, 64)
	if err != nil || shown == x || (shown > x) == up {
		return s
	}
	// Rounded the wrong way: one unit of the last digit the other way.
	unit := math.Pow10(int(math.Floor(math.Log10(x))) - digits + 1)
	if !up {
		unit = -unit
	}
	return strconv.FormatFloat(x+unit, 'g', digits, 64)
}

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

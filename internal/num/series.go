package num

import "math/big"

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

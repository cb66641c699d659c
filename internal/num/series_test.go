package num

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The ends of every sum lie on both sides of the exact sum of as many terms, within the units that
// the terms lost, however small the first term or the factor is. Both are fractions of a power of two,
// which no rounding changes, so that one unit on the wrong side shows in most draws.
func TestSeriesHoldsItsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fraction := func(name string, shifts ...uint) *big.Rat {
			shift := rapid.SampledFrom(shifts).Draw(t, name+" shift")
			return new(big.Rat).SetFrac(big.NewInt(rapid.Int64Range(1<<40, 1<<41).Draw(t, name)),
				new(big.Int).Lsh(big.NewInt(1), 41+shift))
		}
		first, factor := fraction("first", 0, 1, 700), fraction("factor", 0, 3, 315, 900)
		s := newSeries(FromRat(first), FromRat(factor))
		sum, term := new(big.Rat).Set(first), new(big.Rat).Set(first)
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(s.scale)))
		in := func(x *big.Int) *big.Rat { return new(big.Rat).Mul(new(big.Rat).SetInt(x), unit) }
		parts := rapid.Bool().Draw(t, "parts")
		for n := int64(2); n < 8; n++ {
			term.Mul(term, factor)
			if parts {
				s.next(1)
				s.over(n)
				sum.Add(sum, new(big.Rat).Quo(term, big.NewRat(n, 1)))
			} else {
				s.next(n)
				s.add(&s.term)
				sum.Add(sum, term.Quo(term, big.NewRat(n, 1)))
			}
			if in(&s.sum.lo).Cmp(sum) > 0 || in(&s.sum.hi).Cmp(sum) < 0 {
				t.Fatalf("%d terms from %v by %v: the sum is outside", n, first, factor)
			}
		}
		if lost := new(big.Int).Sub(&s.sum.hi, &s.sum.lo); lost.BitLen() > 8 {
			t.Fatalf("terms from %v by %v lost %v units", first, factor, lost)
		}
		end := s.end()
		lo, _ := end.lo.Rat(nil)
		hi, _ := end.hi.Rat(nil)
		if lo.Cmp(sum) > 0 || hi.Cmp(sum.Add(sum, term)) < 0 {
			t.Fatalf("terms from %v by %v: the rest is left out", first, factor)
		}
	})
}

package noise

import (
	"math/big"

	"github.com/darrm/darrm/internal/check"
)

func ratio(num, den uint64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den))
}

// grid is the set of fractions that a parameter may be: those of integers with at most so many
// bits, and dyadic ones with denominators up to 2^shift.
type grid struct{ bits, shift int }

var (
	laplaceGrid = grid{31, 31}
	rateGrid    = grid{31, 52}
)

// RateDown returns x > 0 as a fraction where numerator and denominator are below 2³¹,
// otherwise x rounded down to 30 significant bits with a denominator of at most 2⁵².
// Where x is the rate of permute-and-flip, a smaller one is the private side.
func RateDown(x *big.Rat) (num, den uint64, err error) { return rateGrid.round(x, false) }

// round returns x > 0 itself where it is on the grid, otherwise x rounded up or down.
func (g grid) round(x *big.Rat, up bool) (num, den uint64, err error) {
	if x.Sign() > 0 && x.Num().BitLen() <= g.bits && x.Denom().BitLen() <= g.bits {
		return x.Num().Uint64(), x.Denom().Uint64(), nil
	}
	// 2^shift·x is below 2^bits, and not below 2^(bits-2) unless shift is at its bound.
	shift := min(g.shift, g.bits-1-(x.Num().BitLen()-x.Denom().BitLen()))
	if x.Sign() > 0 && shift >= -20 {
		n, d := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
		n.Lsh(n, uint(max(0, shift)))
		d.Lsh(d, uint(max(0, -shift)))
		n, rest := n.QuoRem(n, d, new(big.Int))
		if up && rest.Sign() != 0 {
			n.Add(n, big.NewInt(1))
		}
		if n.Sign() > 0 {
			r := new(big.Rat).SetFrac(n.Lsh(n, uint(max(0, -shift))),
				new(big.Int).Lsh(big.NewInt(1), uint(max(0, shift))))
			return r.Num().Uint64(), r.Denom().Uint64(), nil
		}
	}
	return 0, 0, &check.Error{Name: "value", Value: x.RatString(),
		Rule: "positive and of a size that samplers take"}
}

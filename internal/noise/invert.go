package noise

import (
	"math/big"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
)

// invertWords bounds the words of 53 bits that Invert draws: what is still undecided then, with
// probability below 2⁻²⁰⁰, ends it with an error.
const invertWords = 5

// Invert draws an integer k ≥ 0 of the law whose masses the calls of next return in order, as
// intervals that certainly hold them: the least k with U < Pr[0] + … + Pr[k]. U is uniform on [0,1)
// and drawn a word at a time, until it is certain on which side of a sum it lies. Cost: some
// microseconds for each number up to k.
//
// The intervals' widths add up, so that k must stay below 2⁶⁰ times what their 320 bits leave:
// beyond all use.
func Invert(src randsrc.Source, next func() num.Interval) (int, error) {
	u, width, words := new(big.Rat), big.NewRat(1, 1), 0
	at := num.FromRat(u).Hull(num.FromInt(1)) // U is in it
	sum := num.FromInt(0)
	for k := 0; ; k++ {
		sum = sum.Add(next())
		for at.Cmp(sum) == 0 {
			if words++; words > invertWords {
				return 0, errSource
			}
			w, err := src.Uint53()
			if err != nil {
				return 0, err
			}
			width.Quo(width, big.NewRat(1<<53, 1))
			u.Add(u, new(big.Rat).Mul(width, new(big.Rat).SetInt64(int64(w))))
			at = num.FromRat(u).Hull(num.FromRat(new(big.Rat).Add(u, width)))
		}
		if at.Cmp(sum) < 0 {
			return k, nil
		}
	}
}

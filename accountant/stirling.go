package accountant

import (
	"math/big"

	"github.com/darrm/darrm/internal/num"
)

// minStirling is the smallest n of logFactorial, whose two sides are then less than 1e-40
// apart.
const minStirling = 1024

// logFactorial returns an interval around a number that is above ln n!, or below it, for
// n ≥ minStirling. The partial sums of Stirling's series
//
//	ln n! = n·ln n - n + ln(2πn)/2 + Σ_{i≥1} B_2i/(2i(2i-1)·n^{2i-1})
//
// lie on alternate sides, above after an odd number of terms (Abramowitz and Stegun,
// 6.1.41 and 6.1.42).
func logFactorial(n int, above bool) num.Interval {
	terms, constant := stirling, logRoot2PiUp
	if !above {
		terms, constant = stirling[:len(stirling)-1], logRoot2PiDown
	}
	inverse := big.NewRat(1, int64(n))
	square := new(big.Rat).Mul(inverse, inverse)
	series, power := new(big.Rat), inverse
	for _, c := range terms {
		series.Add(series, new(big.Rat).Mul(power, c))
		power = new(big.Rat).Mul(power, square)
	}
	x := num.FromInt(int64(n))
	log := num.Log(x)
	return x.Mul(log).Sub(x).Add(log.Mul(num.FromRat(big.NewRat(1, 2)))).Add(
		num.FromRat(constant)).Add(num.FromRat(series))
}

var (
	stirling = []*big.Rat{
		big.NewRat(1, 12), big.NewRat(-1, 360), big.NewRat(1, 1260), big.NewRat(-1, 1680),
		big.NewRat(1, 1188), big.NewRat(-691, 360360), big.NewRat(1, 156),
	}
	// ln(2π)/2 to 60 digits, from below and above.
	logRoot2PiDown = rational("0.918938533204672741780329736405617639861397473637783412817151")
	logRoot2PiUp   = rational("0.918938533204672741780329736405617639861397473637783412817152")
)

func rational(digits string) *big.Rat {
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		panic("accountant: not a number: " + digits)
	}
	return r
}

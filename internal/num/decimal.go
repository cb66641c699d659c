package num

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

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

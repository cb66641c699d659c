package plan

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/darrm/darrm/internal/num"
)

// The grid has the decimals of four digits, from 1.000e-30 up, by index. A search tries these
// alone, so that a command line can state exactly the value that was checked.
const gridOrigin = 30

// gridValue returns decimal number i ≥ 0 of the grid.
func gridValue(i int) float64 {
	// A decimal of four digits always parses.
	x, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", 1000+i%9000, i/9000-gridOrigin-3), 64)
	return x
}

// gridBelow returns the index of the largest decimal of the grid that is at most x, -1 if
// there is none.
func gridBelow(x *big.Rat) int {
	lo, hi := -1, 9000*2*gridOrigin
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; num.Decimal(gridValue(mid)).Cmp(x) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// gridFloor rounds x > 0 down to the grid, to 0 below it.
func gridFloor(x *big.Rat) float64 {
	if i := gridBelow(x); i >= 0 {
		return gridValue(i)
	}
	return 0
}

// gridCeil rounds x > 0 up to the grid.
func gridCeil(x float64) float64 {
	r := num.Decimal(x)
	i := gridBelow(r)
	if i >= 0 && num.Decimal(gridValue(i)).Cmp(r) == 0 {
		return gridValue(i)
	}
	return gridValue(i + 1)
}

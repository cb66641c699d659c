package num

import (
	"math"
	"strconv"
)

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

package num

import "strconv"

// TenDigits returns the float64 of the decimal of ten digits that is nearest to x: searches that
// step through such decimals end at a number that people can read.
func TenDigits(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 10, 64), 64) // of ten digits: in range
	return y
}

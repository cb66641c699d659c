package num

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// TenDigits returns the float64 of the decimal of ten digits that is nearest to x: searches that
// step through such decimals end at a number that people can read.
func TenDigits(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 10, 64), 64) // of ten digits: in range
	return y
}

// LeastTenDigits returns the smallest decimal of ten digits in (low, high] that fits, found by bisection, where high fits
// and whatever is above a fitting number fits. It looks at none below least.
func LeastTenDigits(low, high, least float64, fits func(x float64) (bool, error)) (float64, error) {
	for {
		middle := TenDigits((low + high) / 2)
		if !(middle > low && middle < high) || middle < least {
			return high, nil
		}
		ok, err := fits(middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = middle
		default:
			low = middle
		}
	}
}

// Percent writes a share as a percentage.
func Percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

// PercentUp is Percent of an upper bound in [0, 1]: what it shows is not below x.
func PercentUp(x float64) string {
	exact, hundredth := new(big.Rat), big.NewRat(1, 10_000)
	if exact.SetFloat64(x) == nil {
		return Percent(x)
	}
	shown, _ := new(big.Rat).SetString(fmt.Sprintf("%.4f", x))
	if shown.Cmp(exact) < 0 {
		shown.Add(shown, hundredth)
	}
	return shown.Mul(shown, big.NewRat(100, 1)).FloatString(2) + " %"
}

// Count writes how many things there are: "1 label", "12 labels".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %s", n, plural(thing))
}

// All writes that all of n ≥ 1 things are meant: "the one label", "all 2,000 labels".
func All(n int, thing string) string {
	if n == 1 {
		return "the one " + thing
	}
	return "all " + Thousands(big.NewInt(int64(n))) + " " + plural(thing)
}

func plural(thing string) string {
	if stem, y := strings.CutSuffix(thing, "y"); y {
		return stem + "ies"
	}
	return thing + "s"
}

// Thousands writes a whole number ≥ 0 with a comma before every third digit from the end.
func Thousands(n *big.Int) string {
	s := n.String()
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

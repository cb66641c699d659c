// Package logaxis finds the range and the marks of a logarithmic axis. Both are total: no
// two numbers make them endless.
package logaxis

import "math"

// Fit returns a range that a logarithmic axis can have, positive, finite and of some length:
// lo to hi, if that is one, widened to both sides if lo = hi, and 1 to 10 where no positive
// number lies between them.
func Fit(lo, hi float64) (float64, float64) {
	lo, hi = max(lo, math.SmallestNonzeroFloat64), min(hi, math.MaxFloat64)
	switch {
	case !(lo <= hi): // no numbers at all, or one of them NaN
		return 1, 10
	case lo == hi:
		return max(lo/2, math.SmallestNonzeroFloat64), min(hi*2, math.MaxFloat64)
	}
	return lo, hi
}

// Mark is a number of one digit times a power of ten.
type Mark struct {
	Value float64
	Digit int // 1 to 9
}

// Marks returns the marks from lo to hi in growing order, at most 9 for each of the 632
// powers of ten; none unless 0 < lo ≤ hi < ∞.
func Marks(lo, hi float64) []Mark {
	if !(lo > 0 && lo <= hi && hi <= math.MaxFloat64) {
		return nil
	}
	var out []Mark
	for e := exponent(lo); e <= exponent(hi); e++ {
		for digit := 1; digit <= 9; digit++ {
			// A little more, for ends that are marks but for their rounding.
			if v := float64(digit) * math.Pow10(e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) && !math.IsInf(v, 0) {
				out = append(out, Mark{v, digit})
			}
		}
	}
	return out
}

func exponent(x float64) int { return int(math.Floor(math.Log10(x))) }

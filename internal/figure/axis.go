package figure

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

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

// mark is a number of one digit times a power of ten.
type mark struct {
	value float64
	digit int // 1 to 9
}

// marks returns the marks from lo to hi in growing order, at most 9 for each of the 632
// powers of ten; none unless 0 < lo ≤ hi < ∞.
func marks(lo, hi float64) []mark {
	if !(lo > 0 && lo <= hi && hi <= math.MaxFloat64) {
		return nil
	}
	var out []mark
	for e := exponent(lo); e <= exponent(hi); e++ {
		for digit := 1; digit <= 9; digit++ {
			// A little more, for ends that are marks but for their rounding.
			if v := float64(digit) * math.Pow10(e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) &&
				!math.IsInf(v, 0) {
				out = append(out, mark{v, digit})
			}
		}
	}
	return out
}

func exponent(x float64) int { return int(math.Floor(math.Log10(x))) }

// FewTicks marks two to eight round values and nothing in between.
func FewTicks(lo, hi float64) []plot.Tick { return ticks(lo, hi, 7) }

// coarseTicks marks two to five round values of a range from 0, for an axis with little room.
func coarseTicks(lo, hi float64) []plot.Tick { return ticks(lo, hi, 4) }

// ticks marks round values that cut the range into at most that many steps.
func ticks(lo, hi float64, most int) []plot.Tick {
	step := math.Pow10(int(math.Floor(math.Log10((hi - lo) / float64(most)))))
	for _, f := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*f) <= float64(most) {
			step *= f
			break
		}
	}
	var out []plot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for i := range 9 { // not up to hi: in a narrow range far from 0 no step leads there
		v := (first + float64(i)) * step
		if !(v <= hi+1e-9*step) {
			break
		}
		if math.Abs(v) < step/2 {
			v = 0
		}
		out = append(out, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 4, 64)})
	}
	return out
}

// WholeTicks returns the ticks of FewTicks that are whole numbers.
func WholeTicks(lo, hi float64) []plot.Tick {
	return slices.DeleteFunc(FewTicks(lo, hi), func(t plot.Tick) bool {
		return t.Value != math.Trunc(t.Value)
	})
}

// LogTicks marks the powers of ten with their value, in a range below two of them 2 and 5 times
// these too, and the other digits without. A range of many powers has values at some of them,
// one so narrow that a single value would be left those of FewTicks.
func LogTicks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	labels := 0
	span := math.Log10(hi) - math.Log10(lo)
	every := max(1, int(math.Ceil(span/8)))
	for _, m := range marks(lo, hi) {
		label := ""
		if m.digit == 1 && exponent(m.value*(1+1e-9))%every == 0 || span <= 2 &&
			(m.digit == 2 || m.digit == 5) {
			label = strconv.FormatFloat(m.value, 'g', -1, 64)
			labels++
		}
		out = append(out, plot.Tick{Value: m.value, Label: label})
	}
	if labels < 2 && span > 0 && span < 1 {
		return FewTicks(lo, hi)
	}
	return out
}

// SharedRange gives the axes one range that holds all of theirs, of length 1 where none has any.
func SharedRange(axes []*plot.Axis) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, a := range axes {
		lo, hi = min(lo, a.Min), max(hi, a.Max)
	}
	if lo == hi {
		hi = lo + 1
	}
	for _, a := range axes {
		a.Min, a.Max = lo, hi
	}
}

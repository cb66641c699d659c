package num

import "math"

// Margins of float64 formulas, by which a result is moved to the side that promises less.
const (
	// relative, for a handful of operations, each correct to a few units in the last place
	Margin = 1e-14
	// relative, for sums of up to 2¹⁶ positive terms, each off by a few units in the last place
	SumMargin = 1e-9
	// absolute, where a part may underflow: what is not 0 is not reported as 0
	Tiny = 4 * math.SmallestNonzeroFloat64
)

// LogExpm1 returns ln(e^x - 1) for x > 0, to a few units in the last place.
func LogExpm1(x float64) float64 {
	if x > 30 {
		return x + math.Log1p(-math.Exp(-x))
	}
	return math.Log(math.Expm1(x))
}

// LogOnePlus returns ln(1 + e^l), to a few units in the last place.
func LogOnePlus(l float64) float64 {
	if l > 0 {
		return l + math.Log1p(math.Exp(-l))
	}
	return math.Log1p(math.Exp(l))
}

// BestOrder minimises f over orders α in (1, high] by a geometric grid over α-1 and
// golden sections around its best point. f may be +Inf. Every order gives a valid
// bound, so the search need not be exact. f is asked at no order above high: there it may
// not be known.
func BestOrder(high float64, f func(alpha float64) float64) (alpha, value float64) {
	const low = 1e-6
	steps := max(1, int(12*math.Log10((high-1)/low)))
	at := func(i float64) float64 { return min(high, 1+low*math.Pow((high-1)/low, i/float64(steps))) }
	best, value := 0.0, math.Inf(1)
	for i := range steps + 1 {
		if v := f(at(float64(i))); v < value {
			best, value = float64(i), v
		}
	}
	if math.IsInf(value, 1) {
		return math.NaN(), value
	}
	alpha = at(best)
	golden := (math.Sqrt(5) - 1) / 2
	a, b := max(0, best-1), min(float64(steps), best+1)
	for b-a > 1e-6 {
		c, d := b-golden*(b-a), a+golden*(b-a)
		fc, fd := f(at(c)), f(at(d))
		if fc < value {
			alpha, value = at(c), fc
		}
		if fd < value {
			alpha, value = at(d), fd
		}
		if fc < fd {
			b = d
		} else {
			a = c
		}
	}
	return alpha, value
}

// Power returns x^n, n ≥ 0, by squaring, with the same digits on every processor.
func Power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

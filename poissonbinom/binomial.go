package poissonbinom

import "fmt"

// Binomial returns the probability mass function of the binomial law, of
// length n+1.
//
//	Binomial(n, p)(k) = C(n,k)·p^k·(1-p)^(n-k),   k = 0 … n
//
// p is taken as the exact value of the float64. The relative error of each value
// at least 2⁻¹⁰²² is at most 2⁻⁵³·(1+2⁻³⁰), so practically correctly rounded, in the
// centre and in the far tails alike (n ≤ 10⁶). Smaller values are within
// 2⁻¹⁰⁷⁴ of the exact ones, and may be 0.
//
// Method: the recurrence of neighbouring terms, outward from the mode, in double-word
// arithmetic (about 106 bits), then divided by the sum. Formulas with log-gamma lose
// about log2(n·log n) bits, as Loader, Fast and accurate computation of
// binomial probabilities (2000), shows; his saddle-point form keeps nearly all
// bits but needs an exponential for each value, the recurrence a few
// multiplications.
//
// Cost O(n). It panics if n is negative or p is NaN or outside [0,1].
func Binomial(n int, p float64) []float64 {
	if n < 0 {
		panic(fmt.Sprintf("poissonbinom: binomial of n = %d, must be at least 0", n))
	}
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("poissonbinom: binomial of p = %g, must be in [0,1]", p))
	}
	pmf := make([]float64, n+1)
	binomialInto(pmf, p, twoSum(1, -p))
	return pmf
}

// binomialInto stores the pmf of the binomial law with odds p : q in dst, n =
// len(dst)-1. p and q need not sum to 1 exactly: the result is normalised.
func binomialInto(dst []float64, p float64, q twofold) {
	n := len(dst) - 1
	switch {
	case p == 0:
		clear(dst)
		dst[0] = 1
		return
	case q.hi == 0:
		clear(dst)
		dst[n] = 1
		return
	}
	mode := min(int(float64(n+1)*p), n)
	// The mode's weight is large, so that the low words of all terms
	// that will not underflow after the division are normal numbers.
	const modeWeight = 0x1p900
	top := twofold{hi: modeWeight}
	// Two passes, since the sum is needed before the first division: the first
	// pass sums, the second repeats the recurrence. That costs less memory than
	// keeping the double words.
	up := func(w twofold, k int) twofold { // w(k) → w(k+1)
		return w.scale(float64(n - k)).scale(p).div(q.scale(float64(k + 1)))
	}
	down := func(w twofold, k int) twofold { // w(k) → w(k-1)
		return w.scale(float64(k)).mul(q).div(twoProduct(p, float64(n-k+1)))
	}
	sum := top
	for w, k := top, mode; k < n && w.hi > 0; k++ {
		w = up(w, k)
		sum = sum.add(w)
	}
	for w, k := top, mode; k > 0 && w.hi > 0; k-- {
		w = down(w, k)
		sum = sum.add(w)
	}
	// Divide by sum·2⁻⁹⁰⁰ and scale afterwards, so that the quotient is rounded
	// while it is far from the subnormal numbers.
	unscaled := twofold{sum.hi / modeWeight, sum.lo / modeWeight}
	term := func(w twofold) float64 { return w.div(unscaled).float64() / modeWeight }
	dst[mode] = term(top)
	for w, k := top, mode; k < n; k++ {
		w = up(w, k)
		dst[k+1] = term(w)
	}
	for w, k := top, mode; k > 0; k-- {
		w = down(w, k)
		dst[k-1] = term(w)
	}
}

package poissonbinom

import (
	"fmt"
	"math/big"

	"github.com/darrm/darrm/internal/num"
)

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
	binomialInto(pmf, p, num.TwoSum(1, -p))
	return pmf
}

// binomialInto stores the pmf of the binomial law with odds p : q in dst, n =
// len(dst)-1. p and q need not sum to 1 exactly: the result is normalised.
func binomialInto(dst []float64, p float64, q num.Twofold) {
	n := len(dst) - 1
	switch {
	case p == 0:
		clear(dst)
		dst[0] = 1
		return
	case q.Hi == 0:
		clear(dst)
		dst[n] = 1
		return
	}
	mode := min(int(float64(n+1)*p), n)
	// The mode's weight is large, so that the low words of all terms
	// that will not underflow after the division are normal numbers.
	const modeWeight = 0x1p900
	top := num.Twofold{Hi: modeWeight}
	// Two passes, since the sum is needed before the first division: the first
	// pass sums, the second repeats the recurrence. That costs less memory than
	// keeping the double words.
	up := func(w num.Twofold, k int) num.Twofold { // w(k) → w(k+1)
		return w.Scale(float64(n - k)).Scale(p).Div(q.Scale(float64(k + 1)))
	}
	down := func(w num.Twofold, k int) num.Twofold { // w(k) → w(k-1)
		return w.Scale(float64(k)).Mul(q).Div(num.TwoProduct(p, float64(n-k+1)))
	}
	sum := top
	for w, k := top, mode; k < n && w.Hi > 0; k++ {
		w = up(w, k)
		sum = sum.Add(w)
	}
	for w, k := top, mode; k > 0 && w.Hi > 0; k-- {
		w = down(w, k)
		sum = sum.Add(w)
	}
	// Divide by sum·2⁻⁹⁰⁰ and scale afterwards, so that the quotient is rounded
	// while it is far from the subnormal numbers.
	unscaled := num.Twofold{Hi: sum.Hi / modeWeight, Lo: sum.Lo / modeWeight}
	term := func(w num.Twofold) float64 { return w.Div(unscaled).Float64() / modeWeight }
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

// Hypergeometric returns the law of the number of ones in a sample of m drawn
// without replacement from K items of which l are ones, of length m+1.
//
//	Hypergeometric(K, l, m)[j] = C(l,j)·C(K-l,m-j) / C(K,m),   j = 0 … m
//
// Each element is the exact rational number correctly rounded to float64, to
// nearest, ties to even, subnormal values included.
//
// Method: the numerators by their recurrence in big integers, then one integer division
// each. Cost O(m) operations on integers of up to K bits: K = 2000, l = m = 1000
// takes about a millisecond.
//
// It panics unless K ≥ 0, 0 ≤ l ≤ K and 0 ≤ m ≤ K.
func Hypergeometric(K, l, m int) []float64 {
	if K < 0 || l < 0 || l > K || m < 0 || m > K {
		panic(fmt.Sprintf("poissonbinom: hypergeometric of K = %d, l = %d, m = %d, must have 0 <= "+
			"l, m <= K", K, l, m))
	}
	pmf := make([]float64, m+1)
	first, last := max(0, m-(K-l)), min(l, m)
	total := new(big.Int).Binomial(int64(K), int64(m))
	num := new(big.Int).Binomial(int64(l), int64(first))
	num.Mul(num, new(big.Int).Binomial(int64(K-l), int64(m-first)))
	var factor big.Int
	for j := first; ; j++ {
		pmf[j] = roundRatio(num, total)
		if j == last {
			return pmf
		}
		// num(j+1) = num(j)·(l-j)(m-j) / ((j+1)(K-l-m+j+1)), without remainder.
		num.Mul(num, factor.SetInt64(int64(l-j)*int64(m-j)))
		num.Quo(num, factor.SetInt64(int64(j+1)*int64(K-l-m+j+1)))
	}
}

// roundRatio returns num/den correctly rounded, for num, den > 0.
func roundRatio(num, den *big.Int) float64 {
	// Scale the quotient to 64 bits or more, round the remainder to a sticky last bit,
	// which decides ties as the exact value would, and round once.
	shift := max(0, den.BitLen()-num.BitLen()+64)
	var quo, rem big.Int
	quo.QuoRem(quo.Lsh(num, uint(shift)), den, &rem)
	quo.Lsh(&quo, 1)
	if rem.Sign() != 0 {
		quo.SetBit(&quo, 0, 1)
	}
	// SetInt takes as much precision as quo needs: exact.
	f := new(big.Float).SetInt(&quo)
	f.SetMantExp(f, -shift-1)
	x, _ := f.Float64()
	return x
}

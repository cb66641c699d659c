package poissonbinom

import (
	"fmt"
	"math/big"
)

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

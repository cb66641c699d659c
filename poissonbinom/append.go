package poissonbinom

import "fmt"

// Append returns in dst the probability mass function of L + X, where pmf is
// that of L and X an independent Bernoulli variable with probability p of a one
// and q of a zero:
//
//	dst(l) = q·pmf(l) + p·pmf(l-1),   l = 0 … len(pmf)
//
// dst must have room for len(pmf)+1 elements and be pmf's own memory or share
// none with it; Append panics otherwise. Of an empty pmf it is empty. It is one
// step of the dynamic programme behind PMF, for callers that walk over many
// related laws and share prefixes.
func Append(dst, pmf []float64, q, p float64) []float64 {
	if len(pmf) == 0 {
		return dst[:0] // the law of no variable has no step
	}
	if cap(dst) < len(pmf)+1 {
		panic(fmt.Sprintf("poissonbinom: append into %d elements, need %d", cap(dst), len(pmf)+1))
	}
	dst = dst[:len(pmf)+1]
	copy(dst, pmf)
	multiplyStep(dst, q, p)
	return dst
}

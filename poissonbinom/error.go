package poissonbinom

import (
	"fmt"
	"math"
)

// unit is the unit roundoff u of float64, half the spacing just above 1.
const unit = 0x1p-53

// maxSteps is the longest chain or the largest n that the error bounds below
// were proved for. Beyond it they return +Inf, which is still a bound.
const maxSteps = 1 << 40

// AverageError returns an upper bound on |computed - exact| for every element
// after at most steps averaging operators (see Average), starting from a vector
// of exact float64 values in [-1,1], where for each operator
//
//   - the exact q and p satisfy q, p ≥ 0 and q + p = 1, and
//   - the q and p passed differ from them by at most 2⁻⁵⁴ each. Correctly
//     rounded values of numbers in [0,1] do, and so does the q of Prob.
//
// The bound is, with u = 2⁻⁵³ and n = 3·steps,
//
//	(1+u)ⁿ - 1 ≤ nu·(1+nu),   about 3·steps·2⁻⁵³
//
// rounded up. Operators that merely drop an element (T_0, T_1) are exact and
// need not be counted. steps = 0 gives 0; steps > 2⁴⁰ gives +Inf. It panics if
// steps is negative.
//
// # Proof
//
// Let ψ_k be the exact vector after k operators and ψ̂_k the computed one,
// e_k = max |ψ̂_k - ψ_k| and η = 2⁻¹⁰⁷³. |ψ_k| ≤ 1, being averages, so
// |ψ̂_k| ≤ 1+e_k. One element is computed from x̂ = ψ̂_k(l), ŷ = ψ̂_k(l+1) as
//
//	((q̂x̂(1+δ₁) + η₁) + (p̂ŷ(1+δ₂) + η₂))·(1+δ₃),   |δ_i| ≤ u, |η_i| ≤ 2⁻¹⁰⁷⁵
//
// where η_i is the error of a product that underflows to a subnormal number or
// to zero (a sum of two float64 numbers that is subnormal is exact). The exact
// value is qx + py. The difference has three parts.
//
//	inputs        |q(x̂-x) + p(ŷ-y)|             ≤ e_k
//	coefficients  |(q̂-q)x̂ + (p̂-p)ŷ|             ≤ 2·2⁻⁵⁴·(1+e_k) = u(1+e_k)
//	rounding      (|q̂x̂| + |p̂ŷ|)·((1+u)²-1) + η  ≤ (1+u)(1+e_k)(2u+u²) + η
//
// the last because |q̂|+|p̂| ≤ 1+u and (1+u)·2·2⁻¹⁰⁷⁵ ≤ η. As
// u + (1+u)(2u+u²) = (1+u)³-1, the sum reads
//
//	1 + e_{k+1} ≤ (1+e_k)(1+u)³ + η,   so   1 + e_k ≤ (1+u)^{3k}·(1+kη)
//
// since e_0 = 0. For N = nu ≤ 1, (1+u)ⁿ ≤ exp(N) ≤ 1+N+N²·(e-2), and e-2 < 3/4, so
// N+N² leaves N²/4 ≥ 2⁻¹⁰⁶ of room, against (1+u)ⁿ·kη < 2⁻¹⁰³¹ for k ≤ 2⁴⁰.
//
// With fused multiply-add one product is not rounded (its δ is zero) and the
// sum is rounded once, relative error u or, if subnormal, absolute error
// 2⁻¹⁰⁷⁵: at most two η_i remain and the bound holds as it stands. Average does
// not fuse; other code that applies the same formula may.
//
// The model of arithmetic is that of Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd edition (2002), sections 2.2 and 2.8.
func AverageError(steps int) float64 {
	if steps < 0 {
		panic(fmt.Sprintf("poissonbinom: average error of %d steps, must be at least 0", steps))
	}
	return powerError(3, steps)
}

// powerError returns nu·(1+nu) rounded up, n replaced by c·n, for 1 ≤ c ≤ 64. It
// bounds (1+u)^{cn} - 1 from above with room for underflow, see AverageError.
func powerError(c, n int) float64 {
	if n == 0 {
		return 0
	}
	if n > maxSteps {
		return math.Inf(1)
	}
	nu := float64(float64(c) * float64(n) * unit) // exact: an integer below 2⁴⁶ times a power of two
	// Two roundings in nu·(1+nu) and one in the last product lose less than
	// a factor (1-u)³, and 1+8u gives more back: the result is rounded up.
	return nu * (1 + nu) * (1 + 0x1p-50)
}

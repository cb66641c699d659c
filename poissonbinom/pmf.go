package poissonbinom

import (
	"fmt"
	"math"
)

// PMF returns the probability mass function of L = ΣX_i, X_i ~ Bernoulli(p[i])
// independent, as a slice of length len(p)+1.
//
//	PMF(p)[l] = Pr[L = l],   l = 0 … len(p)
//
// It returns an error naming the index if some p[i] is NaN or outside [0,1]. An
// empty p gives [1]: L is the constant 0.
//
// Accuracy: with n = len(p), each element has relative error below about
// 3n·2⁻⁵³, far tails included, plus an absolute error below n·2⁻¹⁰²¹; see
// PMFError. Elements far below 1e-300 may be 0. The elements sum to 1 up to the
// same relative error, not exactly.
//
// Method: direct convolution with one factor (1-p_i) + p_i·z after the other
// (the "direct convolution" of Biscarri, Zhao and Brunner, 2018), O(n²), leaving out
// elements that underflow. On a 2-core Xeon it takes 0.1 µs for n = 10, 2.5 µs for
// 100, 0.2 ms for 1,000 and 8 to 12 ms for 10,000. Two others were measured. A tree of products by
// fast Fourier transform (Hong, 2013, has the one-transform variant) is no faster
// up to n = 1,000 and twice as fast at 10,000, but its error is absolute, about
// 1e-16, so every tail below that is noise. A tree of
// direct products saves a quarter at n = 1,000 and is three times slower at 10,000,
// where most of its products are subnormal. So there is one path.
func PMF(p []float64) ([]float64, error) {
	if err := checkProbabilities(p); err != nil {
		return nil, err
	}
	pmf := make([]float64, len(p)+1)
	ones := 0
	for _, x := range p {
		if x == 1 {
			ones++
		}
	}
	// A certain one is a shift and a certain zero is nothing.
	w := newWindow(pmf[ones:])
	for _, x := range p {
		if x != 0 && x != 1 {
			w.step(1-x, x)
		}
	}
	return pmf, nil
}

// checkProbabilities returns an error for the first element of p that is not a
// probability.
func checkProbabilities(p []float64) error {
	for i, x := range p {
		if !(x >= 0 && x <= 1) { // so written to catch NaN
			return fmt.Errorf("probability p[%d] = %g, must be in [0,1]", i, x)
		}
	}
	return nil
}

// PMFError returns rel and abs such that every element of the pmf of n
// variables computed by PMF satisfies
//
//	|computed - exact| ≤ rel·exact + abs
//
// with rel = (1+u)^{3n}-1 ≈ 3n·2⁻⁵³, rounded up, u = 2⁻⁵³, and abs = n·2⁻¹⁰²¹. The
// same holds for GroupedPMF when each P and Q has relative error at most u.
// n > 2⁴⁰ gives +Inf. It panics if n is negative.
//
// Proof: 1-p is computed with one rounding, each product with one and each sum with
// one. So each factor multiplies the terms, which are all non-negative, by at most
// three factors in [1-u, 1+u], and since nothing is subtracted the sum inherits
// them: (1-u)^{3n}·exact ≤ computed ≤ (1+u)^{3n}·exact but for underflow. Each
// factor adds at most 2⁻¹⁰²² where an element is set to zero, and 2·2⁻¹⁰⁷⁵ where
// products are subnormal, to the absolute error of one element; later
// factors average it, with weights that sum to at most (1+u)³. Thus
// abs ≤ n·(2⁻¹⁰²²+2⁻¹⁰⁷⁴)·(1+u)^{3n} ≤ n·2⁻¹⁰²¹ for n ≤ 2⁴⁰.
func PMFError(n int) (rel, abs float64) {
	if n < 0 {
		panic(fmt.Sprintf("poissonbinom: pmf error of n = %d, must be at least 0", n))
	}
	rel = powerError(3, n)
	if math.IsInf(rel, 1) {
		return rel, rel
	}
	return rel, float64(n) * 0x1p-1021
}

// smallestNormal is the smallest positive normal float64.
const smallestNormal = 0x1p-1022

// window is a pmf under construction: a[lo..hi] are its non-zero elements, all
// others are zero.
//
// The pmf of a Poisson binomial law is log-concave, so its small elements lie at
// the two ends. Subnormal ones there are set to zero and left out of
// further work: arithmetic on subnormal numbers takes a hundred cycles each, and
// with n = 10,000 most elements underflow anyway.
type window struct {
	a      []float64
	lo, hi int
}

// newWindow makes the law of the constant 0 in a, which has length ≥ 1.
func newWindow(a []float64) window {
	clear(a)
	a[0] = 1
	return window{a: a}
}

// step adds one Bernoulli(p) variable, q = 1-p.
func (w *window) step(q, p float64) {
	w.hi++
	multiplyStep(w.a[w.lo:w.hi+1], q, p)
	w.trim()
}

// trim moves lo and hi inwards past elements that are zero or subnormal.
func (w *window) trim() {
	for w.lo < w.hi && w.a[w.lo] < smallestNormal {
		w.a[w.lo] = 0
		w.lo++
	}
	for w.lo < w.hi && w.a[w.hi] < smallestNormal {
		w.a[w.hi] = 0
		w.hi--
	}
}

// multiplyStep multiplies the polynomial with coefficients a[:len(a)-1] by
// q + p·z, in place; the last element of a, whatever it was, becomes the new
// leading coefficient. len(a) must be at least 1.
func multiplyStep(a []float64, q, p float64) {
	prev := 0.0
	in := a[:len(a)-1]
	k := 0
	for ; k < len(in)-3; k += 4 {
		x := in[k : k+4 : k+4]
		x1, x2, x3, x4 := x[0], x[1], x[2], x[3]
		// float64() around each product forbids fusing: the same bits everywhere.
		x[0] = float64(q*x1) + float64(p*prev)
		x[1] = float64(q*x2) + float64(p*x1)
		x[2] = float64(q*x3) + float64(p*x2)
		x[3] = float64(q*x4) + float64(p*x3)
		prev = x4
	}
	for ; k < len(in); k++ {
		x := in[k]
		in[k] = float64(q*x) + float64(p*prev)
		prev = x
	}
	a[len(a)-1] = p * prev
}

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

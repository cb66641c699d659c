package accountant

import (
	"math"
	"math/bits"
)

// fftError bounds the rounding error of fft per level: every output is
//
//	Σ_j x_j·ω^{jk}·Π(1+η),  |η| ≤ fftError for each of the log2 n levels,
//
// so it is off by at most about log2(n)·fftError·Σ|x_j|. A level multiplies by a
// computed root of unity (2.3u for the product, 3u for the root) and adds (u), u =
// 2⁻⁵³; see Higham, Accuracy and Stability of Numerical Algorithms, Section 24.1.
const fftError = 10 * 0x1p-53

// fft replaces x, whose length is a power of two, by its discrete Fourier transform Σ_j
// x_j·e^{-2πijk/n}, or the conjugate sums, not divided by n, if inverse.
func fft(x []complex128, roots []complex128, inverse bool) {
	n := len(x)
	if n < 2 {
		return
	}
	shift := 64 - uint(bits.TrailingZeros(uint(n)))
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); j > i {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		half, stride := size/2, n/size
		for start := 0; start < n; start += size {
			for k := range half {
				w := roots[k*stride]
				if inverse {
					w = complex(real(w), -imag(w))
				}
				a, b := x[start+k], x[start+k+half]
				t := complex(real(w)*real(b)-imag(w)*imag(b), real(w)*imag(b)+imag(w)*real(b))
				x[start+k], x[start+k+half] = a+t, a-t
			}
		}
	}
}

// fftRoots returns e^{-2πik/n} for k < n/2. Angles are reduced to π/4 exactly, in
// integers, before they are rounded.
func fftRoots(n int) []complex128 {
	roots := make([]complex128, max(1, n/2))
	at := func(k int) (sin, cos float64) { return math.Sincos(2 * math.Pi * float64(k) / float64(n)) }
	for k := range roots {
		switch {
		case 8*k <= n:
			s, c := at(k)
			roots[k] = complex(c, -s)
		case 8*k <= 3*n:
			// Around π/2; 4k-n is odd only where n < 4.
			s, c := math.Sincos(2 * math.Pi * float64(4*k-n) / float64(4*n))
			roots[k] = complex(-s, -c)
		default:
			s, c := at(n/2 - k)
			roots[k] = complex(-c, -s)
		}
	}
	return roots
}

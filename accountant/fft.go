package accountant

import (
	"math"
	"math/bits"
)

// fftError bounds the rounding error of realFFT and inverseRealFFT per level: every output is
//
//	Σ_j x_j·ω^{jk}·Π(1+η),  |η| ≤ fftError for each of the log2 n levels,
//
// so it is off by at most about log2(n)·fftError·Σ|x_j|, where the sum is over all n elements, and
// of a spectrum over the conjugates that are not stored too. A level multiplies by a computed root
// of unity (2.3u for the product, 3u for the root) and adds (u), u = 2⁻⁵³; see Higham, Accuracy and
// Stability of Numerical Algorithms, Section 24.1.
const fftError = 10 * 0x1p-53

// realFFT replaces x, whose length n is a power of two, by the half of its discrete Fourier
// transform X_k = Σ_j x_j·e^{-2πijk/n} that determines the other, X_{n-k} = conj X_k: x[k] = Re X_k
// for k ≤ n/2, and x[n-k] = Im X_k for 0 < k < n/2. Each level computes the half of a complex
// transform's outputs, by the same operations.
func realFFT(x []float64, roots []complex128) {
	reverseBits(x)
	n := len(x)
	for size := 2; size <= n; size *= 2 {
		half, quarter, stride := size/2, size/4, n/size
		for start := 0; start < n; start += size {
			y := x[start : start+size]
			y[0], y[half] = y[0]+y[half], y[0]-y[half]
			for k := 1; k < quarter; k++ {
				w := roots[k*stride]
				re, im := y[half+k], y[size-k]
				tr, ti := real(w)*re-imag(w)*im, real(w)*im+imag(w)*re
				re, im = y[k], y[half-k]
				y[k], y[size-k] = re+tr, im+ti
				y[half-k], y[half+k] = re-tr, ti-im
			}
			if quarter > 0 {
				y[half+quarter] = -y[half+quarter] // the root is -i
			}
		}
	}
}

// inverseRealFFT replaces the spectrum x of realFFT by the sums Σ_k X_k·e^{2πijk/n}, which are not
// divided by n. It goes through the levels of realFFT backwards.
func inverseRealFFT(x []float64, roots []complex128) {
	n := len(x)
	for size := n; size >= 2; size /= 2 {
		half, quarter, stride := size/2, size/4, n/size
		for start := 0; start < n; start += size {
			y := x[start : start+size]
			y[0], y[half] = y[0]+y[half], y[0]-y[half]
			for k := 1; k < quarter; k++ {
				w := roots[k*stride]
				ar, ai, br, bi := y[k], y[size-k], y[half-k], -y[half+k]
				y[k], y[half-k] = ar+br, ai+bi
				re, im := ar-br, ai-bi
				y[half+k], y[size-k] = real(w)*re+imag(w)*im, real(w)*im-imag(w)*re
			}
			if quarter > 0 {
				y[quarter], y[half+quarter] = 2*y[quarter], -2*y[half+quarter]
			}
		}
	}
	reverseBits(x)
}

// reverseBits moves each element of x to the place whose binary digits are its own, backwards.
func reverseBits(x []float64) {
	shift := bits.LeadingZeros64(uint64(len(x))) + 1
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); j > i {
			x[i], x[j] = x[j], x[i]
		}
	}
}

// fftRoots returns e^{-2πik/n} for k < n/4. Angles are reduced to π/4 exactly, in integers, before
// they are rounded.
func fftRoots(n int) []complex128 {
	roots := make([]complex128, n/4)
	for k := range roots {
		if 8*k <= n {
			s, c := math.Sincos(2 * math.Pi * float64(k) / float64(n))
			roots[k] = complex(c, -s)
		} else {
			s, c := math.Sincos(2 * math.Pi * float64(n-4*k) / float64(4*n))
			roots[k] = complex(s, -c)
		}
	}
	return roots
}

package accountant

import (
	"math"
	"math/bits"
	"sync"
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
func realFFT(x []float64, roots fftRoots) {
	reverseBits(x)
	for start := 0; start < len(x); start += cacheSize {
		block := x[start:min(start+cacheSize, len(x))]
		for size := 2; size <= len(block); size *= 2 {
			forwardLevel(block, size, roots)
		}
	}
	for size := 2 * cacheSize; size <= len(x); size *= 2 {
		forwardLevel(x, size, roots)
	}
}

// cacheSize is the number of elements that go through all levels of their own at once, in the
// processor's cache.
const cacheSize = 1 << 12

func forwardLevel(x []float64, size int, roots fftRoots) {
	half, quarter := size/2, size/4
	w := roots.level(size)
	for start := 0; start < len(x); start += size {
		y := x[start : start+size]
		y[0], y[half] = y[0]+y[half], y[0]-y[half]
		for k := 1; k < quarter; k++ {
			re, im := y[half+k], y[size-k]
			tr, ti := real(w[k])*re-imag(w[k])*im, real(w[k])*im+imag(w[k])*re
			re, im = y[k], y[half-k]
			y[k], y[size-k] = re+tr, im+ti
			y[half-k], y[half+k] = re-tr, ti-im
		}
		if quarter > 0 {
			y[half+quarter] = -y[half+quarter] // the root is -i
		}
	}
}

// inverseRealFFT replaces the spectrum x of realFFT by the sums Σ_k X_k·e^{2πijk/n}, which are not
// divided by n. It goes through the levels of realFFT backwards.
func inverseRealFFT(x []float64, roots fftRoots) {
	for size := len(x); size > cacheSize; size /= 2 {
		inverseLevel(x, size, roots)
	}
	for start := 0; start < len(x); start += cacheSize {
		block := x[start:min(start+cacheSize, len(x))]
		for size := len(block); size >= 2; size /= 2 {
			inverseLevel(block, size, roots)
		}
	}
	reverseBits(x)
}

func inverseLevel(x []float64, size int, roots fftRoots) {
	half, quarter := size/2, size/4
	w := roots.level(size)
	for start := 0; start < len(x); start += size {
		y := x[start : start+size]
		y[0], y[half] = y[0]+y[half], y[0]-y[half]
		for k := 1; k < quarter; k++ {
			ar, ai, br, bi := y[k], y[size-k], y[half-k], -y[half+k]
			y[k], y[half-k] = ar+br, ai+bi
			re, im := ar-br, ai-bi
			y[half+k], y[size-k] = real(w[k])*re+imag(w[k])*im, real(w[k])*im-imag(w[k])*re
		}
		if quarter > 0 {
			y[quarter], y[half+quarter] = 2*y[quarter], -2*y[half+quarter]
		}
	}
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

// fftRoots holds e^{-2πik/n} for k < n/4, for each n = 2, 4, 8, … up to a largest: roots[i] are of
// n = 2^(i+1).
type fftRoots [][]complex128

func (r fftRoots) level(n int) []complex128 { return r[bits.TrailingZeros(uint(n))-1] }

// rootsFor returns the roots up to 2^i, which are computed once.
var rootsFor = func() (of [fineGridBits + 1]func() fftRoots) {
	for i := range of {
		of[i] = sync.OnceValue(func() fftRoots { return rootsOf(1 << i) })
	}
	return of
}()

// rootsOf returns the roots up to n. Angles are reduced to π/4 exactly, in integers, before they are
// rounded.
func rootsOf(n int) fftRoots {
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
	levels := make(fftRoots, bits.TrailingZeros(uint(n)))
	for i := len(levels) - 1; i >= 0; i-- {
		levels[i] = roots
		next := make([]complex128, len(roots)/2)
		for k := range next {
			next[k] = roots[2*k]
		}
		roots = next
	}
	return levels
}

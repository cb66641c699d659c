// Package fwht is the fast Walsh-Hadamard transform, in place.
//
// The order is Sylvester's (natural): H[a][b] = (-1)^popcount(a AND b), H·H = d·I, no
// scaling and no permutation. Code that reads H by XOR of indices depends on this order;
// a sequency-ordered transform would break it.
package fwht

import "math/bits"

// block is the number of coordinates that are transformed before the next ones are touched:
// 32 KiB, what a first-level cache holds.
const block = 1 << 12

// Transform replaces a by H·a. The length d must be a power of two. It takes d·log₂ d
// additions and no memory. The result is bit for bit that of the textbook's loop over
// h = 1, 2, 4, …: steps are joined and blocked, but none is moved before a smaller one.
func Transform(a []float64) {
	d := len(a)
	if d&(d-1) != 0 {
		panic("fwht: the length is not a power of two")
	}
	if d <= block {
		small(a)
		return
	}
	for i := 0; i < d; i += block {
		small(a[i : i+block])
	}
	steps(a, block)
}

// small does all steps of up to block coordinates.
func small(a []float64) {
	switch len(a) {
	case 0, 1:
		return
	case 2:
		a[0], a[1] = a[0]+a[1], a[0]-a[1]
		return
	case 4:
		a[0], a[1], a[2], a[3] = four(a[0], a[1], a[2], a[3])
		return
	}
	for i := 0; i+8 <= len(a); i += 8 {
		first8((*[8]float64)(a[i:]))
	}
	steps(a, 8)
}

// steps does the steps h, 2h, 4h, … of a, three at a time. One or two that are left over are
// done first.
func steps(a []float64, h int) {
	d := len(a)
	switch bits.TrailingZeros(uint(d/h)) % 3 {
	case 1:
		for i := 0; i < d; i += 2 * h {
			two(a[i:i+h], a[i+h:i+2*h])
		}
		h *= 2
	case 2:
		for i := 0; i < d; i += 4 * h {
			radix4(a[i:i+h], a[i+h:i+2*h], a[i+2*h:i+3*h], a[i+3*h:i+4*h])
		}
		h *= 4
	}
	for ; h < d; h *= 8 {
		for i := 0; i < d; i += 8 * h {
			radix8(a[i:i+8*h], h)
		}
	}
}

func two(x, y []float64) {
	y = y[:len(x)]
	for j, v := range x {
		w := y[j]
		x[j], y[j] = v+w, v-w
	}
}

func radix4(x, y, z, w []float64) {
	n := len(x)
	y, z, w = y[:n], z[:n], w[:n]
	for j := range x {
		x[j], y[j], z[j], w[j] = four(x[j], y[j], z[j], w[j])
	}
}

// radix8 is written out: as calls, its variables do not stay in registers.
func radix8(a []float64, h int) {
	v0, v1, v2, v3 := a[:h], a[h:][:h], a[2*h:][:h], a[3*h:][:h]
	v4, v5, v6, v7 := a[4*h:][:h], a[5*h:][:h], a[6*h:][:h], a[7*h:][:h]
	for j := range v0 {
		a0, a1, a2, a3 := v0[j]+v1[j], v0[j]-v1[j], v2[j]+v3[j], v2[j]-v3[j]
		a4, a5, a6, a7 := v4[j]+v5[j], v4[j]-v5[j], v6[j]+v7[j], v6[j]-v7[j]
		b0, b1, b2, b3 := a0+a2, a1+a3, a0-a2, a1-a3
		b4, b5, b6, b7 := a4+a6, a5+a7, a4-a6, a5-a7
		v0[j], v1[j], v2[j], v3[j] = b0+b4, b1+b5, b2+b6, b3+b7
		v4[j], v5[j], v6[j], v7[j] = b0-b4, b1-b5, b2-b6, b3-b7
	}
}

// first8 does the steps 1, 2 and 4 of eight neighbours.
func first8(v *[8]float64) {
	a0, a1, a2, a3 := v[0]+v[1], v[0]-v[1], v[2]+v[3], v[2]-v[3]
	a4, a5, a6, a7 := v[4]+v[5], v[4]-v[5], v[6]+v[7], v[6]-v[7]
	b0, b1, b2, b3 := a0+a2, a1+a3, a0-a2, a1-a3
	b4, b5, b6, b7 := a4+a6, a5+a7, a4-a6, a5-a7
	v[0], v[1], v[2], v[3] = b0+b4, b1+b5, b2+b6, b3+b7
	v[4], v[5], v[6], v[7] = b0-b4, b1-b5, b2-b6, b3-b7
}

func four(a, b, c, d float64) (float64, float64, float64, float64) {
	a, b = a+b, a-b
	c, d = c+d, c-d
	return a + c, b + d, a - c, b - d
}

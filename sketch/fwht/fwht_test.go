package fwht

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// textbook is the definition's loop.
func textbook(a []float64) {
	for h := 1; h < len(a); h *= 2 {
		for i := 0; i < len(a); i += 2 * h {
			for j := i; j < i+h; j++ {
				a[j], a[j+h] = a[j]+a[j+h], a[j]-a[j+h]
			}
		}
	}
}

// Acceptance A1.
func TestA1Vectors(t *testing.T) {
	for _, c := range [][2][]float64{
		{{1, 2, 3, 4, 5, 6, 7, 8}, {36, -4, -8, 0, -16, 0, 0, 0}},
		{{1, 0, 1, 0, 0, 1, 1, 0}, {4, 2, 0, -2, 0, 2, 0, 2}},
	} {
		a := slices.Clone(c[0])
		Transform(a)
		if !slices.Equal(a, c[1]) {
			t.Errorf("Transform(%v) = %v, want %v", c[0], a, c[1])
		}
		Transform(a)
		for j := range a {
			if a[j] != 8*c[0][j] {
				t.Errorf("twice: %v, want 8 × %v", a, c[0])
				break
			}
		}
	}
}

// Every length up to 2¹⁸ bit by bit against the textbook; the definition of H by popcount
// at one column each, which a sequency order fails.
func TestEveryLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	Transform(nil)
	for d := 1; d <= 1<<18; d *= 2 {
		a := make([]float64, d)
		for j := range a {
			a[j] = r.NormFloat64()
		}
		b := slices.Clone(a)
		Transform(a)
		textbook(b)
		if !slices.Equal(a, b) {
			t.Errorf("d = %d differs from the textbook", d)
		}
		col := r.IntN(d)
		clear(a)
		a[col] = 1
		Transform(a)
		for row, v := range a {
			if want := float64(1 - 2*(bits.OnesCount(uint(row&col))&1)); v != want {
				t.Fatalf("d = %d: H[%d][%d] = %g, want %g", d, row, col, v, want)
			}
		}
	}
}

func TestNoPowerOfTwo(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("length 3 did not panic")
		}
	}()
	Transform(make([]float64, 3))
}

// go test ./sketch/fwht -run '^$' -bench . shows the factor over the textbook's loop.
func BenchmarkTransform(b *testing.B) {
	for _, e := range []int{6, 10, 14, 17, 20} {
		a := make([]float64, 1<<e)
		for name, f := range map[string]func([]float64){"fast": Transform, "textbook": textbook} {
			b.Run(fmt.Sprintf("d=2^%d/%s", e, name), func(b *testing.B) {
				b.SetBytes(8 << e)
				for b.Loop() {
					f(a)
				}
			})
		}
	}
}

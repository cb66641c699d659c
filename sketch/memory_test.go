package sketch

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// allocated returns the memory that f allocates in all, in numbers of 8 bytes.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / 8
}

// A decode takes O(d + nk) memory, not O(nd): here n = 64 vectors of length d would be 64d
// numbers. Rand-k needs no more than the sum and the counts.
func TestDecodeMemory(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	const n, k, d = 64, 16, 1 << 16
	for _, v := range []struct {
		c    Config
		most float64 // in units of d
	}{
		{Config{Ensemble: SRHT, T: Transform{Rho: 0.5}}, 10},
		{Config{Ensemble: RowSelect}, 1.5},
		{Config{Ensemble: RowSelect, T: Transform{Avg: true}}, 2.5},
	} {
		v.c.N, v.c.K, v.c.D, v.c.Workers = n, k, d, 2
		c := codec(t, v.c)
		var m [n][]byte
		x := make([]float64, d)
		x[1] = 1
		for i := range m {
			var err error
			if m[i], err = c.Encode(0, uint64(i), x); err != nil {
				t.Fatal(err)
			}
		}
		if got := allocated(func() {
			dec := c.NewDecoder(0)
			for i := range m {
				if err := dec.Add(uint64(i), m[i]); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := dec.Mean(t.Context()); err != nil {
				t.Fatal(err)
			}
		}); got > v.most*d {
			t.Errorf("%v, rho = %g: %.3g·d numbers, want at most %g·d", v.c.Ensemble, v.c.T.Rho, got/d,
				v.most)
		}
	}
}

// Rand-k's decode beside clearing a vector of length d: it takes O(d + nk), whatever n is.
func BenchmarkRandK(b *testing.B) {
	const k, d = 100, 1 << 20
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			c := codec(b, Config{N: n, K: k, D: d, Ensemble: RowSelect, T: Transform{Avg: true}, Workers: 1})
			y := map[uint64][]float64{}
			for i := range uint64(n) {
				y[i] = make([]float64, k)
			}
			for b.Loop() {
				if _, err := c.decodeValues(b.Context(), 0, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

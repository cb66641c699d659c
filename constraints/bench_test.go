package constraints

import (
	"context"
	"fmt"
	"testing"
)

// ramp is a plausible γ for benchmarks: 1 far from the middle, falling towards
// it, with a ripple when it shall not be monotone.
func ramp(k int, ripple float64) []float64 {
	gamma := make([]float64, (k+1)/2)
	for l := range gamma {
		gamma[l] = min(1, 3*(1-2*float64(l)/float64(k)))
		if l%2 == 1 {
			gamma[l] *= 1 - ripple
		}
	}
	return antisymmetric(k, gamma)
}

func BenchmarkRows(b *testing.B) {
	for _, k := range []int{11, 15, 21} {
		b.Run(fmt.Sprintf("K=%d", k), func(b *testing.B) {
			s := system(b, problem(b, k, 3, 0.1, 1e-5))
			rows := 0
			for b.Loop() {
				for range s.Rows() {
					rows++
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkMax is the cost of one certificate.
func BenchmarkMax(b *testing.B) {
	for _, c := range []struct {
		k      int
		delta  float64
		ripple float64
	}{{11, 1e-5, 0.1}, {41, 1e-5, 0.1}, {101, 0, 0.1}, {101, 1e-5, 0.1}, {101, 1e-5, 0},
		{301, 1e-5, 0.1}, {301, 1e-5, 0}} {
		b.Run(fmt.Sprintf("K=%d/Δ=%g/ripple=%g", c.k, c.delta, c.ripple), func(b *testing.B) {
			s := system(b, problem(b, c.k, 3, 0.1, c.delta))
			phi := ramp(c.k, c.ripple)
			for b.Loop() {
				if _, err := s.max(context.Background(), phi); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

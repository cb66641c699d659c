package solve

import (
	"context"
	"fmt"
	"testing"

	"github.com/darrm/darrm/gamma"
)

// BenchmarkExhaustive is the source's own way: every row in the program.
func BenchmarkExhaustive(b *testing.B) {
	for _, c := range []struct {
		k     int
		delta float64
	}{{11, 0}, {11, 1e-5}} {
		b.Run(fmt.Sprintf("K=%d/Δ=%g", c.k, c.delta), func(b *testing.B) {
			benchmarkOptimal(b, c.k, 3, c.delta, Options{Method: Exhaustive})
		})
	}
}

// BenchmarkCuttingPlanes is the whole of Optimal: rounds, certificate, baselines
// and the proof of the gap.
func BenchmarkCuttingPlanes(b *testing.B) {
	for _, c := range []struct {
		k     int
		m     float64
		delta float64
		shape gamma.Shape
	}{
		{11, 3, 1e-5, gamma.Free}, {41, 5, 1e-5, gamma.Free}, {41, 5, 1e-5, gamma.Monotone},
		{101, 5, 0, gamma.Free}, {101, 5, 1e-5, gamma.Free}, {101, 5, 1e-5, gamma.Monotone},
	} {
		b.Run(fmt.Sprintf("K=%d/Δ=%g/%s", c.k, c.delta, c.shape), func(b *testing.B) {
			benchmarkOptimal(b, c.k, c.m, c.delta, Options{Shape: c.shape})
		})
	}
}

func benchmarkOptimal(b *testing.B, k int, m, delta float64, o Options) {
	p := problem(b, k, m, 0.1, delta)
	rounds := 0
	o.Progress = func(p Progress) { rounds = p.Round }
	for b.Loop() {
		if _, err := Optimal(context.Background(), p, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rounds), "rounds")
}

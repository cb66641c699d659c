package sketch

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/darrm/darrm/sketch/fwht"
)

// decodeBench times a decode of n vectors beside the transforms that its steps need, alone and
// on one processor, and prints their ratio.
func decodeBench(b *testing.B, n, k, d, workers int) {
	c := codec(b, Config{N: n, K: k, D: d, Ensemble: SRHT, T: Transform{Avg: true}, Root: 1,
		Workers: workers})
	x := make([]float64, d)
	for j := range x {
		x[j] = math.Sin(float64(j))
	}
	y := map[uint64][]float64{}
	for i := range uint64(n) {
		v, err := c.EncodeValues(0, i, x)
		if err != nil {
			b.Fatal(err)
		}
		y[i] = v
	}
	decode, transforms, steps := math.Inf(1), math.Inf(1), 0
	b.ReportAllocs()
	for b.Loop() {
		s := c.system(0, y)
		begin := time.Now()
		if _, err := s.mean(b.Context()); err != nil {
			b.Fatal(err)
		}
		decode = min(decode, time.Since(begin).Seconds())
		steps = s.steps
		begin = time.Now()
		for range n * (1 + 2*steps) {
			fwht.Transform(x)
			x[0]++ // no infinities
			if x[1] > 1e100 {
				for j := range x {
					x[j] = 1
				}
			}
		}
		transforms = min(transforms, time.Since(begin).Seconds())
	}
	b.ReportMetric(decode*1e3, "decode-ms")
	b.ReportMetric(transforms*1e3, "transforms-ms")
	b.ReportMetric(decode/transforms, "decode/transforms")
	b.ReportMetric(float64(steps), "steps")
	b.ReportMetric(0, "ns/op")
}

// The limit: go test ./sketch -run '^$' -bench BenchmarkDecode -benchtime 3x.
func BenchmarkDecode(b *testing.B) {
	for _, e := range []int{10, 14, 20} {
		b.Run(fmt.Sprintf("n=10,k=d÷10,d=2^%d", e), func(b *testing.B) {
			decodeBench(b, 10, 1<<e/10, 1<<e, 1)
		})
	}
}

// Growth with n, k and d, each by itself. The time grows with n·d·log d and with the steps, hardly
// with k.
func BenchmarkGrowth(b *testing.B) {
	for _, v := range [][3]int{
		{10, 20, 1024}, {20, 20, 1024}, {50, 20, 1024}, {200, 20, 1024},
		{10, 26, 4096}, {10, 102, 4096}, {10, 409, 4096},
		{10, 25, 256}, {10, 102, 1024}, {10, 6553, 1 << 16}, {10, 26214, 1 << 18},
	} {
		b.Run(fmt.Sprintf("n=%d,k=%d,d=%d", v[0], v[1], v[2]), func(b *testing.B) {
			decodeBench(b, v[0], v[1], v[2], 1)
		})
	}
}

// Workers beside one: go test ./sketch -run '^$' -bench BenchmarkWorkers.
func BenchmarkWorkers(b *testing.B) {
	for _, w := range []int{1, 2} {
		b.Run(fmt.Sprint(w), func(b *testing.B) { decodeBench(b, 32, 1024, 1<<16, w) })
	}
}

// Encoding beside its transform.
func BenchmarkEncode(b *testing.B) {
	for _, e := range []int{10, 14, 20} {
		b.Run(fmt.Sprintf("d=2^%d", e), func(b *testing.B) {
			c := codec(b, Config{N: 10, K: 1 << e / 10, D: 1 << e, Ensemble: SRHT, Root: 1})
			x := make([]float64, 1<<e)
			encode, transform := math.Inf(1), math.Inf(1)
			round := uint64(0)
			for b.Loop() {
				begin := time.Now()
				if _, err := c.Encode(round, 0, x); err != nil {
					b.Fatal(err)
				}
				encode = min(encode, time.Since(begin).Seconds())
				begin = time.Now()
				fwht.Transform(x)
				transform = min(transform, time.Since(begin).Seconds())
				round++
			}
			b.ReportMetric(encode/transform, "encode/transform")
			b.ReportMetric(encode*1e3, "encode-ms")
		})
	}
}

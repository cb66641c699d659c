package noise

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
)

func BenchmarkUniform(b *testing.B) {
	src := randsrc.NewSecure()
	for b.Loop() {
		if _, err := Uniform(src, 11); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExp(b *testing.B) {
	src := randsrc.NewSecure()
	for b.Loop() {
		if _, err := (fair{src}).exp(1, 3); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLaplace(b *testing.B) {
	src := randsrc.NewSecure()
	for _, scale := range []uint64{1, 20, 1000} {
		l, err := NewLaplace(scale, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("b=%d", scale), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Sample(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGaussian(b *testing.B) {
	src := randsrc.NewSecure()
	for _, sigma := range []int64{1, 21, 1000, 100_000} { // the last needs more than 64 bits
		g := mustGaussian(b, uint64(sigma*sigma), 1)
		b.Run(fmt.Sprintf("sigma=%d", sigma), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Sample(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPermuteAndFlip(b *testing.B) {
	src := randsrc.NewSecure()
	scores := []int{7, 4, 0, 0, 0, 0, 0, 0, 0, 0}
	for b.Loop() {
		if _, err := PermuteAndFlip(src, scores, 669, 5000); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVotesDelta(b *testing.B) {
	for _, sigma := range []int64{13, 200} {
		g := mustGaussian(b, uint64(sigma*sigma), 1)
		b.Run(fmt.Sprintf("sigma=%d", sigma), func(b *testing.B) {
			for b.Loop() {
				if _, err := g.VotesDelta(1, big.NewRat(2676, 10000)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTableArgMax(b *testing.B) {
	g := mustGaussian(b, 460, 1)
	for _, counts := range [][]int{{4, 7}, {3, 6, 1, 1, 0, 0, 0, 0, 0, 0}} {
		t := g.Table()
		b.Run(fmt.Sprintf("classes=%d", len(counts)), func(b *testing.B) {
			for b.Loop() {
				t.ArgMax(counts)
			}
		})
	}
}

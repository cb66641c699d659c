package poissonbinom

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/num"
)

var sizes = []int{10, 100, 1000, 10000}

func BenchmarkPMF(b *testing.B) {
	rng := rand.New(rand.NewPCG(19, 20))
	for _, n := range sizes {
		p := make([]float64, n)
		for i := range p {
			p[i] = rng.Float64()
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				_, _ = PMF(p)
			}
		})
	}
}

func BenchmarkGroupedPMF(b *testing.B) {
	for _, n := range sizes {
		groups := []Group{Prob(0.52).Times(n / 2), Prob(0.48).Times(n - n/2 - n/10),
			Prob(1e-5).Times(n / 10)}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var dst []float64
			for b.Loop() {
				dst = GroupedPMF(groups, dst)
			}
		})
	}
}

// BenchmarkGroupedStart compares the two ways to make the first group, to set
// binomialThreshold.
func BenchmarkGroupedStart(b *testing.B) {
	for _, n := range []int{200, 300, 400, 600, 1000} {
		a := make([]float64, n+1)
		b.Run(fmt.Sprintf("steps/N=%d", n), func(b *testing.B) {
			for b.Loop() {
				w := newWindow(a)
				for range n {
					w.step(0.7, 0.3)
				}
			}
		})
		b.Run(fmt.Sprintf("binomial/N=%d", n), func(b *testing.B) {
			for b.Loop() {
				binomialInto(a, 0.3, num.Twofold{Hi: 0.7})
			}
		})
	}
}

func BenchmarkAverage(b *testing.B) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, n := range []int{11, 101, 1001} {
		psi, dst := make([]float64, n), make([]float64, n)
		for i := range psi {
			psi[i] = rng.Float64()
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				Average(dst, psi, 0.3, 0.7)
			}
		})
	}
}

func BenchmarkBinomial(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				Binomial(n, 0.75)
			}
		})
	}
}

func BenchmarkHypergeometric(b *testing.B) {
	for _, K := range []int{11, 101, 2000} {
		b.Run(fmt.Sprintf("K=%d", K), func(b *testing.B) {
			for b.Loop() {
				Hypergeometric(K, K/2, K/2)
			}
		})
	}
}

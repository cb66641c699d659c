package convex

import (
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/learn/loss"
)

// A pass over 40,000 records of 101 features, and of 4,000 of 65 in ten classes.
func BenchmarkFullBatchPass(b *testing.B) {
	for name, c := range map[string]struct{ n, d, classes int }{"two": {40_000, 101, 2}, "ten": {4000, 65, 10}} {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			rows, y := make([][]float64, c.n), make([]float64, c.n)
			for i := range rows {
				rows[i], y[i] = unit(rng, c.d), float64(rng.IntN(c.classes))
			}
			r := records(b, rows, y)
			s := setting()
			s.Loss = loss.Logistic{}
			if c.classes > 2 {
				s.Loss = softmax(b, c.classes)
			}
			p := sampled(b, DPSGD{Setting: s, Rate: 1, GradientNorm: 0.1}, c.n, c.d)
			g := newGradients(&p.task, p.limit, r, c.n)
			w, into := make([]float64, p.size()), make([]float64, p.size())
			for j := range w {
				w[j] = rng.NormFloat64()
			}
			b.SetBytes(int64(8 * c.n * c.d))
			for b.Loop() {
				if err := g.sum(b.Context(), into, w, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/record")
		})
	}
}

package convex

import (
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
)

// A pass over 65,536 records of 50 features, by closed form and by bisection.
func BenchmarkPhasedPass(b *testing.B) {
	const n, d = 1 << 16, 50
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64() / 8
	}
	for i := range y {
		y[i] = float64(rng.IntN(2))
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []OracleKind{Fast, Bisection, PaperBisections} {
		b.Run(string(kind), func(b *testing.B) {
			s := setting()
			s.Loss = loss.GLM[loss.Hinge]{}
			a := traintest.Trained(b, phased(b, PhasedSGD{Setting: s, Ball: 1, Oracle: kind}, n,
				d).Plan(), r)
			b.SetBytes(8 * n * d)
			for b.Loop() {
				rounds(b, a.Start(stream.Seeded(1)), a.Rounds)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}

// A pass of nSFW over 8,192 dense records of 1,000 features.
func BenchmarkStochasticPass(b *testing.B) {
	const n, d = 8192, 1000
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64() / 40
	}
	for i := range y {
		y[i] = float64(rng.IntN(2))
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		b.Fatal(err)
	}
	s := setting()
	s.Loss = loss.Logistic{}
	m := NSFW{Setting: s, Set: lp(b, d, 1.5, 1), Batches: Batches{Rounds: 3, FullBudget: true}}
	plan, err := m.Plan(n, d)
	if err != nil {
		b.Fatal(err)
	}
	a := traintest.Trained(b, plan, r)
	b.SetBytes(8 * n * d)
	for b.Loop() {
		rounds(b, a.Start(stream.Seeded(1)), a.Rounds)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/d, "ns/feature")
}

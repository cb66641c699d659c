package federated

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
)

// noisyRecords are n records of p features with a response.
func noisyRecords(t testing.TB, n, p int) *data.Records {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	x, y := make([]float64, n*p), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = 0.3 + 0.2*x[i*p] + 0.05*rng.NormFloat64()
	}
	return must.Get(data.NewRecords(n, p, x, y))(t)
}

// networkPlan is MB-PSGM-FG on a network of 10 units with the specification's defaults.
func networkPlan(t testing.TB, n, rounds int, change func(*PSGM)) *Plan {
	network := must.Get(loss.NewNetwork(10))(t)
	c := PSGM{Setting: Setting{Loss: network, Silos: []int{n / 4, n / 4, n / 4, n - 3*(n/4)},
		Rounds: rounds, StepSize: 0.5, GradientClip: 0.3, DifferenceClip: 1, Target: target},
		Momentum: 0.1, Epsilon: 0.58, Account: Unshuffled}
	if change != nil {
		change(&c)
	}
	return must.Get(c.New(n, 8))(t)
}

// A round of 4096 records through reports, by normal noise in their place, and without noise.
func BenchmarkRound(b *testing.B) {
	const n = 4096
	records := noisyRecords(b, n, 8)
	p := networkPlan(b, n, 1_000_000, nil)
	rehearsal := must.Get(p.Rehearsal())(b)
	for _, c := range []struct {
		name string
		p    *Plan
	}{{"reports", p}, {"rehearsal", rehearsal}, {"noiseless", p.Noiseless()}} {
		b.Run(c.name, func(b *testing.B) {
			run := must.Get(c.p.Train(records))(b).Start(seeded(1))
			k := 0
			for b.Loop() {
				if err := run.Round(context.Background(), k); err != nil {
					b.Fatal(err)
				}
				k++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}

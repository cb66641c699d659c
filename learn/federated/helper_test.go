package federated

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
)

// quadratic is (a/2)(x-z)² in each coordinate, of a record (a, z) for every coordinate: the toys of
// the specification.
type quadratic struct {
	loss.MeanEstimation
	d int
}

func (q quadratic) ModelDim(int) int                     { return q.d }
func (quadratic) Start(x []float64, _ int, _ *rand.Rand) { clear(x) }
func (q quadratic) Loss(x, a []float64, _ float64) float64 {
	s := 0.0
	for j, v := range x {
		s += a[j] / 2 * (v - a[q.d+j]) * (v - a[q.d+j])
	}
	return s
}
func (q quadratic) Gradient(g, x, a []float64, _ float64) {
	for j, v := range x {
		g[j] = a[j] * (v - a[q.d+j])
	}
}

// wide is a clip that cuts nothing.
const wide = 1e12

var target = accountant.Cost{Epsilon: 1, Delta: 1e-5}

// trace returns the models and the directions after each round.
func trace(t testing.TB, p *Plan, records *data.Records, seed uint64) (x, v [][]float64) {
	t.Helper()
	run := must.Get(p.Train(records))(t).Start(stream.Seeded(seed))
	for k := range p.Rounds {
		if err := run.Round(context.Background(), k); err != nil {
			t.Fatal(err)
		}
		state := map[string][]float64{}
		for _, s := range run.State() {
			state[s.Name] = slices.Clone(s.Values)
		}
		x, v = append(x, state["x"]), append(v, state["v"])
	}
	return x, v
}

// linearised is xᵀAx/2 - bᵀx for a diagonal A.
type linearised struct{ quadratic }

func (q linearised) Gradient(g, x, a []float64, _ float64) {
	for j, v := range x {
		g[j] = a[j]*v - a[q.d+j]
	}
}

func seeded(seed uint64) stream.Coins { return stream.Seeded(seed) }

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

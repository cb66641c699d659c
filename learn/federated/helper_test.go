package federated

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/internal/randsrc/stream"
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

package federated

import (
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// The streams of a round, which share nothing: clipped gradients at x_r, and clipped differences of
// the gradients at x_r and x_{r-1}.
const (
	gradients   = randomiser.Gradients
	differences = randomiser.Differences
)

// contribution has what one record gives to each stream, in memory of its own.
type contribution struct {
	vectors [2][]float64
	before  []float64 // the gradient at x_{r-1}
}

func newContribution(d int) *contribution {
	return &contribution{[2][]float64{make([]float64, d), make([]float64, d)}, make([]float64, d)}
}

// of sets the vectors of record i for the streams whose norms are above 0, each clipped to its
// norm.
func (c *contribution) of(t *plan, r *data.Records, i int, b Broadcast, norms [2]float64) {
	a, y := r.Row(i), r.Response(i)
	g := c.vectors[gradients]
	t.Loss.Gradient(g, b.Model, a, y)
	if norms[differences] > 0 {
		t.Loss.Gradient(c.before, b.Previous, a, y)
		for j := range g {
			c.vectors[differences][j] = g[j] - c.before[j]
		}
		vec.Clip(c.vectors[differences], norms[differences])
		if t.lagged {
			copy(g, c.before)
		}
	}
	vec.Clip(g, norms[gradients])
}

package shuffled

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// A report names a clip only where one was applied.
func TestReportOfWhatWasNotClipped(t *testing.T) {
	private, public := scalars(t, 0, 1, 0.5, 1), scalars(t, 1, 0, 0, 1)
	for _, c := range []struct {
		name string
		c    Config
		want float64
	}{
		{"public only, no clip", Config{Method: PublicOnly, Clip: math.Inf(1)}, math.Inf(1)},
		{"public only, unclipped", Config{Method: PublicOnly, Clip: 3, UnclippedPublic: true},
			math.Inf(1)},
		{"public only, clipped", Config{Method: PublicOnly, Clip: 3}, 3},
		{"no noise, no clip", Config{Method: ShuffleG, Clip: math.Inf(1), Order: iteration.Reshuffled},
			math.Inf(1)},
		{"no noise, clipped", Config{Method: ShuffleG, Clip: 3, Order: iteration.Reshuffled}, 3},
		{"private steps, unclipped public ones", Config{Method: Interleaved, Fraction: 0.5, Clip: 3,
			UnclippedPublic: true, Noise: 2, Order: iteration.Reshuffled,
			Target: accountant.Cost{Delta: 1e-4}}, 3},
		{"DP-SGD", Config{Method: DPSGD, Clip: 3, Noise: 20, Target: accountant.Cost{Delta: 1e-4}}, 3},
	} {
		c.c.Task, c.c.Epochs, c.c.StepSize, c.c.SharedRecords = loss.MeanEstimation{}, 2, 0.1, true
		p, err := NewPlan(t.Context(), c.c, private, public)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := p.Report().Clip; got != c.want {
			t.Errorf("%s: clip = %v, want %v", c.name, got, c.want)
		}
	}
}

package shuffled

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

func reordered(t *testing.T, r *data.Records, seed uint64) *data.Records {
	t.Helper()
	return must.Get(r.Select(rand.New(rand.NewPCG(seed, 7)).Perm(r.Len())))(t)
}

// Private records under the name of public ones would be trained on without noise and
// without a cost: no plan is made with any of them, in whatever order, whatever is beside them,
// unless it is stated that they are equal by chance.
func TestPublicRecordsAreNotThePrivateOnes(t *testing.T) {
	private := gaussians(t, 1, 20, 3, func(int) float64 { return 0 }, 1, true)
	other := gaussians(t, 2, 20, 3, func(int) float64 { return 0 }, 1, true)
	joined := func(all ...*data.Records) *data.Records {
		var rows [][]float64
		var y []float64
		for _, r := range all {
			for i := range r.Len() {
				rows, y = append(rows, r.Row(i)), append(y, r.Response(i))
			}
		}
		return records(t, rows, y)
	}
	permuted := func(r *data.Records) *data.Records {
		rows, y := make([][]float64, r.Len()), make([]float64, r.Len())
		for i := range rows {
			rows[i], y[i] = []float64{r.Row(i)[2], r.Row(i)[0], r.Row(i)[1]}, r.Response(i)
		}
		return records(t, rows, y)
	}
	one := must.Get(private.Select([]int{19}))(t)
	relabelled := records(t, [][]float64{one.Row(0)}, []float64{1 - one.Response(0)})
	for _, method := range []Scheme{PublicOnly, PrivPub, PubPriv, Interleaved} {
		for _, c := range []struct {
			name   string
			public *data.Records
			shared int
		}{
			{"the same", private, 20},
			{"copied", joined(private, private), 40},
			{"reordered", reordered(t, private, 3), 20},
			{"reordered, after others", joined(other, reordered(t, private, 3)), 20},
			{"one of many", joined(other, one), 1},
			{"columns permuted", permuted(private), 20},
			{"one of many, its columns permuted", joined(other, permuted(one)), 1},
			{"others", other, 0},
			{"another response", joined(other, relabelled), 0},
		} {
			config := Config{
				Task: loss.Logistic{}, Method: method, Epochs: 4, Order: iteration.Reshuffled, StepSize: 0.1,
				Clip: 1, Radius: 1,
				Target: accountant.Cost{Epsilon: 1, Delta: 1e-4}, Mode: iteration.Paper,
			}
			if method.UsesFraction() {
				config.Fraction = 0.5
			}
			_, err := NewPlan(t.Context(), config, private, c.public)
			var shared *data.SharedError
			if c.shared > 0 && (!errors.As(err, &shared) ||
				*shared != data.SharedError{Shared: c.shared, Public: c.public.Len()}) || c.shared == 0 &&
				err != nil {
				t.Errorf("%s, %s: %v", method, c.name, err)
			}
			config.SharedRecords = true
			if _, err := NewPlan(t.Context(), config, private, c.public); err != nil {
				t.Errorf("%s, %s, by chance: %v", method, c.name, err)
			}
		}
	}
}

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

package shuffled

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

func reordered(t *testing.T, r *data.Records, seed uint64) *data.Records {
	t.Helper()
	return must.Get(r.Select(rand.New(rand.NewPCG(seed, 7)).Perm(r.Len())))(t)
}

// Private records under the name of public ones would be trained on without noise and
// without a cost: no plan is made with them, in whatever order, whatever follows them.
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
	first, err := private.Head(19)
	if err != nil {
		t.Fatal(err)
	}
	oneOff := joined(first, records(t, [][]float64{private.Row(19)}, []float64{1 - private.Response(19)}))
	for _, method := range []Method{PublicOnly, PrivPub, PubPriv, Interleaved} {
		for _, c := range []struct {
			name    string
			public  *data.Records
			refused bool
		}{
			{"the same", private, true},
			{"copied", joined(private, private), true},
			{"reordered", reordered(t, private, 3), true},
			{"reordered, and others", joined(reordered(t, private, 3), other), true},
			{"others", other, false},
			{"one response differs", oneOff, false},
		} {
			config := Config{
				Task: loss.Logistic{}, Method: method, Epochs: 4, Order: iteration.Reshuffled, StepSize: 0.1, Clip: 1, Radius: 1,
				Target: accountant.Cost{Epsilon: 1, Delta: 1e-4}, Mode: iteration.Paper,
			}
			if method.UsesFraction() {
				config.Fraction = 0.5
			}
			_, err := NewPlan(t.Context(), config, private, c.public)
			if errors.Is(err, ErrPublicIsPrivate) != c.refused || !c.refused && err != nil {
				t.Errorf("%s, %s: %v", method, c.name, err)
			}
		}
	}
}

package shuffleg

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

func reordered(t *testing.T, r *Records, seed uint64) *Records {
	t.Helper()
	s, err := r.Select(rand.New(rand.NewPCG(seed, 7)).Perm(r.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Private records under the name of public ones would be trained on without noise and
// without a cost: no plan is made with them, in whatever order, whatever follows them.
func TestPublicRecordsAreNotThePrivateOnes(t *testing.T) {
	private := gaussians(t, 1, 20, 3, func(int) float64 { return 0 }, 1, true)
	other := gaussians(t, 2, 20, 3, func(int) float64 { return 0 }, 1, true)
	joined := func(a, b *Records) *Records {
		r, err := NewRecords(a.n+b.n, a.d, slices.Concat(a.x, b.x), slices.Concat(a.y, b.y))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	oneOff := reordered(t, private, 4)
	oneOff.y[7] = 1 - oneOff.y[7]
	for _, method := range []Method{PublicOnly, PrivPub, PubPriv, Interleaved} {
		for _, c := range []struct {
			name    string
			public  *Records
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
				Task: Logistic{}, Method: method, Epochs: 4, Order: iteration.Reshuffled, StepSize: 0.1, Clip: 1, Radius: 1,
				Target: accountant.Cost{Epsilon: 1, Delta: 1e-4}, Mode: iteration.Paper,
			}
			if method.UsesFraction() {
				config.Fraction = 0.5
			}
			_, err := NewPlan(config, private, c.public)
			if errors.Is(err, ErrPublicIsPrivate) != c.refused || !c.refused && err != nil {
				t.Errorf("%s, %s: %v", method, c.name, err)
			}
		}
	}
}

// Equality of records does not depend on their order, and nothing else is equal: not
// records of which one occurs more often, nor records without responses.
func TestSameRecords(t *testing.T) {
	a := records(t, [][]float64{{1, 2}, {1, 2}, {3, 4}}, []float64{0, 1, 0})
	for _, c := range []struct {
		name string
		b    *Records
		want bool
	}{
		{"reordered", records(t, [][]float64{{3, 4}, {1, 2}, {1, 2}}, []float64{0, 1, 0}), true},
		{"responses exchanged", records(t, [][]float64{{3, 4}, {1, 2}, {1, 2}}, []float64{1, 0, 0}), false},
		{"another one twice", records(t, [][]float64{{3, 4}, {1, 2}, {3, 4}}, []float64{0, 1, 0}), false},
		{"without responses", records(t, [][]float64{{1, 2}, {1, 2}, {3, 4}}, nil), false},
		{"fewer", records(t, [][]float64{{1, 2}, {1, 2}}, []float64{0, 1}), false},
		{"other columns", records(t, [][]float64{{2, 1}, {2, 1}, {4, 3}}, []float64{0, 1, 0}), false},
	} {
		if a.sameAs(c.b) != c.want || c.b.sameAs(a) != c.want {
			t.Errorf("%s: same = %v, want %v", c.name, !c.want, c.want)
		}
	}
	if !scalars(t, 3, 0, 1).sameAs(scalars(t, 1, 3, 0)) {
		t.Error("records without responses, reordered, are not the same")
	}
}

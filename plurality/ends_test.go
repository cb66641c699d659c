package plurality

import (
	"context"
	"errors"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// What takes long looks at its context along the way, however much of it one histogram has: where
// one record reaches all 40 votes for 6 classes, to go through its neighbours takes hours.
func TestLongWorkEnds(t *testing.T) {
	all, err := NewSystem(Problem{K: 40, Classes: 6, Epsilon: 1, Affected: 40})
	if err != nil {
		t.Fatal(err)
	}
	masses := all.masses(all.PermuteAndFlip(), 1)
	for name, work := range map[string]func(context.Context) error{
		"certificate": func(ctx context.Context) error {
			_, err := Certify(ctx, all, masses)
			return err
		},
		"rounding": func(ctx context.Context) error {
			_, err := Round(ctx, all, all.PermuteAndFlip())
			return err
		},
		"profile": func(ctx context.Context) error {
			_, err := (&Certified{system: all, masses: masses}).Profile(ctx, []float64{0, 0.5})
			return err
		},
		"cliques": func(ctx context.Context) error {
			s, err := NewSystem(Problem{K: 60, Classes: 8, Epsilon: 1, Affected: 30})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Cliques(ctx)
			return err
		},
		"uneven weights": func(ctx context.Context) error {
			_, err := Objective{Concentration: 1}.Weights(ctx, all.Space)
			return err
		},
		"weights": func(ctx context.Context) error {
			_, err := Objective{Accuracy: 0.5}.Weights(ctx, all.Space)
			return err
		},
		"table": func(ctx context.Context) error {
			_, err := NewTable(ctx, &Certified{system: all, masses: masses}, Objective{Concentration: 1},
				Proof{})
			return err
		},
	} {
		ctx := must.EndAfter(3, context.Canceled)
		if err := work(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

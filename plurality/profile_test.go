package plurality

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// A profile is what the definition says over all vote vectors, in both directions and at every distance,
// in exact fractions: never below, and at most some units above.
func TestProfileAgainstTheDefinition(t *testing.T) {
	for n, p := range []Problem{
		{K: 5, Classes: 3, Epsilon: 1, Affected: 1},
		{K: 4, Classes: 3, Epsilon: 0.8, Affected: 2},
		{K: 4, Classes: 4, Epsilon: 0.5, Affected: 1, Abstain: true},
		{K: 5, Classes: 3, Epsilon: 0.6, Delta: 0.05, Affected: 2},
	} {
		s := system(t, p)
		c, err := Round(context.Background(), s, uneven(s, uint64(n)))
		if err != nil {
			t.Fatal(err)
		}
		grid := []float64{0, p.Epsilon / 8, p.Epsilon / 2, p.Epsilon, 2 * p.Epsilon}
		deltas, err := c.Profile(context.Background(), grid)
		if err != nil {
			t.Fatal(err)
		}
		for k, epsilon := range grid {
			at := *s // its E⁻ is what spentBy takes
			at.below = max(1, num.Exp(num.Decimal(epsilon)).Lower())
			exact, got := spentBy(t, &at, c.masses), new(big.Rat).SetFloat64(deltas[k])
			above := new(big.Rat).Sub(got, exact)
			if above.Sign() < 0 || above.Cmp(new(big.Rat).SetFloat64(1e-15)) > 0 {
				t.Errorf("%+v, ε = %v: %v, by the definition %v", p, epsilon, deltas[k], exact.FloatString(20))
			}
		}
		if deltas[0] <= deltas[1] || deltas[3] > p.Delta {
			t.Errorf("%+v: %v", p, deltas)
		}
	}
}

// uneven are probabilities that favour classes with more votes unevenly.
func uneven(s *System, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := s.PermuteAndFlip()
	for h := range s.Histograms() {
		first, end := s.Range(h)
		sum := 0.0
		for i := first; i < end; i++ {
			x[i] = (x[i] + 0.05) * (0.5 + r.Float64())
			sum += x[i] * float64(s.ClassesOf(i))
		}
		for i := first; i < end; i++ {
			x[i] /= sum
		}
	}
	return x
}

func TestProfileRefusals(t *testing.T) {
	s := system(t, Problem{K: 3, Classes: 3, Epsilon: 1, Affected: 1})
	c, err := Round(context.Background(), s, s.PermuteAndFlip())
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []float64{-1e-9, 701} {
		var rule *check.Error
		if _, err := c.Profile(context.Background(), []float64{0, epsilon}); !errors.As(err, &rule) {
			t.Errorf("ε = %v: %v", epsilon, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Profile(ctx, []float64{0}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A table's profile at 33 points, as an ensemble takes it: rows of (25,10) and (50,4).
func BenchmarkProfile(b *testing.B) {
	for name, p := range map[string]Problem{"K=50,C=4": {K: 50, Classes: 4, Epsilon: 0.1, Affected: 1}, "K=25,C=10": {K: 25, Classes: 10, Epsilon: 0.5, Affected: 1}} {
		b.Run(name, func(b *testing.B) {
			s, err := NewSystem(p)
			if err != nil {
				b.Fatal(err)
			}
			c, err := Round(context.Background(), s, s.PermuteAndFlip())
			if err != nil {
				b.Fatal(err)
			}
			grid := make([]float64, 33)
			for k := range grid {
				grid[k] = p.Epsilon * float64(k) / 32
			}
			for b.Loop() {
				if _, err := c.Profile(context.Background(), grid); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

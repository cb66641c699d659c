package plurality

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// A profile is what the definition says over all vote vectors, in both directions and at every
// distance, in exact fractions: never below, and at most some units above.
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

// By hand: where the worst pair is nearer than t, and where classes that no vote touches share the
// column that counts.
func TestProfileByHand(t *testing.T) {
	const hundredth = One / 100
	for _, c := range []struct {
		p       Problem
		masses  []uint64 // in hundredths
		epsilon float64
		want    float64
	}{
		// (1,1): .4 each, abstains with .2. (2,0): .3 each, .4. Two moved votes lead to (0,2), which is
		// alike.
		{Problem{K: 2, Classes: 2, Epsilon: 1, Affected: 2, Abstain: true}, []uint64{80, 20, 30, 30, 40},
			0, 0.2},
		// (1,1,0,0): .28, .28, .22, .22. (2,0,0,0): .22 and three times .26.
		{Problem{K: 2, Classes: 4, Epsilon: 1, Affected: 1}, []uint64{56, 44, 22, 78}, 0.05,
			2 * (0.26 - 0.22*math.Exp(0.05))},
	} {
		s := system(t, c.p)
		masses := make([]uint64, len(c.masses))
		for h := range s.Histograms() {
			first, end := s.Range(h)
			left := One
			for i := first; i < end-1; i++ {
				masses[i] = c.masses[i] * hundredth
				left -= masses[i]
			}
			masses[end-1] = left
		}
		m, err := Certify(context.Background(), s, masses)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Profile(context.Background(), []float64{c.epsilon})
		if err != nil || math.Abs(got[0]-c.want) > 1e-14 {
			t.Errorf("%+v: %v, %v, want %v", c.p, got, err, c.want)
		}
	}
}

// However small ε is, the factor is no smaller than 1, and so δ no larger than at 0.
func TestProfileOfTinyEpsilons(t *testing.T) {
	s := system(t, Problem{K: 3, Classes: 3, Epsilon: 1, Affected: 1})
	c, err := Round(context.Background(), s, s.PermuteAndFlip())
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Profile(context.Background(), []float64{0, 5e-324, 1e-300, 1e-17})
	if err != nil {
		t.Fatal(err)
	}
	for _, delta := range got[1:] {
		if delta > got[0] || delta < got[0]*(1-1e-9) {
			t.Errorf("δ = %g, at ε = 0 %g", delta, got[0])
		}
	}
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
	for name, p := range map[string]Problem{"K=50,C=4": {K: 50, Classes: 4, Epsilon: 0.1, Affected: 1},
		"K=25,C=10": {K: 25, Classes: 10, Epsilon: 0.5, Affected: 1}} {
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

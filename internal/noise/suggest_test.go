package noise

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// What is suggested fits, or does with a little more, and is close to the smallest.
func TestSuggest(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct {
		t                     int
		epsilon, delta, ratio float64
	}{
		{1, 0.2676, 3e-4, 0}, {1, 1, 1e-5, 0}, {1, 3, 0.2, 0}, {1, 1, 1e-200, 0}, {1, 0.05, 1e-3, 0},
		{3, 0.5, 1e-4, 0},
		{1, 0.2676, 3e-4, 4}, {1, 2, 1e-6, 1}, {1, 1, 1e-3, 0.5}, {2, 1, 1e-3, 2},
	} {
		sigma := Suggest(c.t, c.epsilon, c.delta, c.ratio)
		delta := func(sigma float64) num.Interval {
			g, err := NewGaussian(num.Decimal(sigma * sigma))
			if err != nil {
				t.Fatal(err)
			}
			if c.ratio == 0 {
				return must.Get(g.VotesDelta(c.t, num.Decimal(c.epsilon)))(t)
			}
			check, err := NewGaussian(num.Decimal(c.ratio * c.ratio * sigma * sigma))
			if err != nil {
				t.Fatal(err)
			}
			return must.Get(g.CheckedDelta(check, c.t, num.Decimal(c.epsilon)))(t)
		}
		if d := delta(sigma * (1 + 1e-5)); d.Upper() > c.delta {
			t.Errorf("%+v: σ = %v has δ = %v", c, sigma, d.Upper())
		}
		if d := delta(sigma * (1 - 1e-4)); d.Lower() < c.delta {
			t.Errorf("%+v: σ = %v is not the smallest", c, sigma)
		}
	}
	if s := Suggest(1, 1e-6, 1e-9, 0); !math.IsNaN(s) {
		t.Errorf("a σ beyond the exact range: %v", s)
	}
}

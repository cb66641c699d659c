package pairwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// The tails of S are at least those of simulations, and hardly more: by five standard errors and
// the parts that v is rounded up to. A false alarm has a chance of 1e-6 a point, and the seed is
// fixed.
func TestAveragedTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, d := range []draws{{2, 9}, {8, 40}, {64, 300}, {5, 1}} {
		const runs = 40_000
		sums := make([]float64, runs)
		for i := range sums {
			for j := range d.steps + 1 {
				if rng.IntN(d.records) == 0 {
					sums[i] += float64(d.steps-max(j, 1)+1) / float64(d.steps)
				}
			}
		}
		share := func(x float64) float64 {
			n := 0
			for _, s := range sums {
				if s > x*(1+1e-12) {
					n++
				}
			}
			return float64(n) / runs
		}
		tails := averagedTails(d, 1e-12)
		for q := 0; q < len(tails); q += 7 {
			x := float64(q) / perUnit
			exact, error := share(x), 5*math.Sqrt(tails[q]/runs)
			if tails[q] < exact-error {
				t.Errorf("%v: P(S > %g) = %g, simulated %g", d, x, tails[q], exact)
			}
			// Each of the draws counted is rounded up by at most 1/perUnit.
			if low := share(x - 12./perUnit); tails[q] > low+error+1e-6 {
				t.Errorf("%v: P(S > %g) = %g, simulated %g above %g", d, x, tails[q], low, x-12./perUnit)
			}
		}
	}
}

// A law sums to 1, and a phase more makes it cost no less.
func TestLaws(t *testing.T) {
	target := setting(t).Target
	for name, of := range map[string]func([]draws, float64) law{"counted": counted,
		"averaged": averaged} {
		before := 0.0
		for _, phases := range [][]draws{{{128, 888}}, {{128, 888}, {64, 444}},
			{{128, 888}, {64, 444}, {2, 14}}} {
			l := of(phases, target.Delta*1e-5)
			sum := l.rest
			for i, w := range l.weights {
				sum += w
				if i > 0 && l.levels[i] <= l.levels[i-1] {
					t.Fatalf("%s: level %g after %g", name, l.levels[i], l.levels[i-1])
				}
			}
			must.Near(t, name+" sums to", sum, 1, 1e-13)
			if s := must.Get(l.noise(target))(t); s < before {
				t.Errorf("%s: %d phases need %g, fewer %g", name, len(phases), s, before)
			} else {
				before = s
			}
		}
	}
}

// What a law leaves out, and what it rounds, is on the side of more movement.
func TestLawsDominate(t *testing.T) {
	for _, d := range []draws{{2, 9}, {8, 40}, {128, 888}} {
		exact := averagedTails(d, 1e-14)
		for _, least := range []float64{.3, 1e-2, 1e-5} {
			for q, v := range averagedTails(d, least) {
				if q < len(exact) && v < exact[q]*(1-1e-8) {
					t.Fatalf("%v: P(S > %d/%d) = %g ending at %g, exactly %g", d, q, perUnit, v, least, exact[q])
				}
			}
			l := averaged([]draws{d}, least)
			for q, v := range exact {
				above := l.rest
				for i, w := range l.weights {
					if l.levels[i] > float64(q)/perUnit {
						above += w
					}
				}
				if above < v*(1-1e-8) {
					t.Fatalf("%v: the law has %g above %d/%d, exactly %g", d, above, q, perUnit, v)
				}
			}
		}
	}
}

package noise

import (
	"math"
	"testing"
)

// Against the law of the larger of two noisy counts, which is summed over all outcomes; a
// tie that were counted wholly or not at all would differ by half its probability.
func TestOvertakingByDefinition(t *testing.T) {
	for _, variance := range [][2]uint64{{1, 9}, {7, 2}, {400, 1}} {
		g := mustGaussian(t, variance[0], variance[1])
		table := g.Table()
		probabilities, err := g.Overtaking(30)
		if err != nil {
			t.Fatal(err)
		}
		for gap, p := range probabilities {
			want := table.ArgMax([]int{gap, 0})[1]
			if got := p.Nearest(); math.Abs(got-want) > 1e-11 || p.Upper()-p.Lower() > 1e-15 {
				t.Errorf("σ² = %v, gap %d: %.15g, by the law %.15g", variance, gap, got, want)
			}
			if p.Hi().Sign() <= 0 {
				t.Errorf("σ² = %v, gap %d: 0, but any noise may overtake", variance, gap)
			}
		}
	}
	// Several classes: the union bound is above the probability of losing, ties included.
	g := mustGaussian(t, 7, 2)
	table := g.Table()
	probabilities, err := g.Overtaking(10)
	if err != nil {
		t.Fatal(err)
	}
	for _, counts := range [][]int{{5, 5, 5}, {6, 5, 0, 0}, {10, 0, 0}, {4, 4, 4, 4}} {
		sum := 0.0
		for _, n := range counts[1:] {
			sum += probabilities[counts[0]-n].Upper()
		}
		if lost := 1 - table.ArgMax(counts)[0]; sum < lost-1e-11 {
			t.Errorf("%v: the largest loses with probability %g, bound %g", counts, lost, sum)
		}
	}
	if _, err := mustGaussian(t, maxExactVariance, 1).Overtaking(3); err == nil {
		t.Error("no range")
	}
}

package ensemble

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
)

// A public library charges ε²/8 of zero-concentrated privacy for its noisy maximum, the price of a
// bounded range, also where that is permute-and-flip, whose range is not bounded by ε. The laws of
// one answer to 5 : 5 and to 6 : 4 votes disprove it. Here an answer costs at least what they show,
// at every order.
func TestPermuteAndFlipIsNotPricedAsABoundedRange(t *testing.T) {
	s := Setting{K: 10, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}
	for _, epsilon := range []float64{0.1, 1, 3} {
		m := must.Get(PermuteAndFlip(s, epsilon))(t)
		p, q := m.rule.law([]int{5, 5}), m.rule.law([]int{6, 4})
		disproved := false
		for _, order := range []float64{1.5, 2, 4, 16} {
			sum := 0.0
			for c := range p {
				sum += math.Pow(p[c], order) * math.Pow(q[c], 1-order)
			}
			truth := math.Log(sum) / (order - 1)
			charged := must.Get(accountant.RDP(m.Event(), order))(t)
			bounded := order * epsilon * epsilon / 8
			if charged < truth*(1-1e-12) {
				t.Errorf("ε = %g, order %g: charged %g, the laws show %g", epsilon, order, charged, truth)
			}
			disproved = disproved || truth > bounded*(1+1e-9)
		}
		if !disproved {
			t.Errorf("ε = %g: the laws are within ε²/8: this tests nothing", epsilon)
		}
	}
}

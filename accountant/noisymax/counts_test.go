package noisymax

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
)

// The cell of a region holds the law of the label of every pair of histograms in it, worked out from the law
// of the integers: what the first class gives, the second one, and all others together.
func TestRegionsHoldTheirHistograms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		p     Problem
		sigma float64
	}{
		{Problem{Teachers: 9, Classes: 3, Affected: 1, Answers: 4, Epsilon: 2, Delta: 1e-5}, 1.3},
		{Problem{Teachers: 8, Classes: 5, Affected: 1, Answers: 4, Epsilon: 2, Delta: 1e-5}, 3},
		{Problem{Teachers: 12, Classes: 14, Affected: 1, Answers: 9, Epsilon: 2, Delta: 1e-5}, 9},
	} {
		p := test.p
		l, reach, err := p.law(test.sigma)
		if err != nil {
			t.Fatal(err)
		}
		v := num.Decimal(test.sigma)
		g, err := noise.NewGaussian(v.Mul(v, v))
		if err != nil {
			t.Fatal(err)
		}
		table, c := g.Table(), newCounts(l, p, reach)
		for range 300 {
			votes := make([]int, p.Classes)
			for range p.Teachers - rng.IntN(2)*rng.IntN(p.Teachers) {
				votes[rng.IntN(1+rng.IntN(p.Classes))]++
			}
			alone := rng.IntN(4) == 0
			if votes[0] == 0 || !alone && votes[0] <= votes[1] {
				continue
			}
			rest, most, both := 0, 0, votes[0]
			others := votes[2:]
			if alone {
				others = votes[1:]
			} else {
				both += votes[1]
			}
			for _, n := range others {
				rest, most = rest+n, max(most, n)
			}
			around := func(x, least int) [2]int { return [2]int{max(least, x-rng.IntN(3)), x + rng.IntN(3)} }
			r := region{both: around(both, 1), rest: around(rest, 0), most: around(most, 0), alone: alone,
				teachers: p.Teachers, others: len(others), missing: true}
			if !alone {
				r.lead = around(votes[0]-votes[1], 1)
			}
			if rng.IntN(2) == 0 {
				r = region{lead: [2]int{votes[0] - votes[1], votes[0] - votes[1]}, both: [2]int{both, both},
					rest: [2]int{rest, rest}, most: [2]int{most, most}, alone: alone, teachers: p.Teachers, others: len(others), missing: true}
				if alone {
					r.lead = [2]int{}
				}
			}
			r, ok := r.whole()
			if !ok {
				t.Fatalf("%v is in no region", votes)
			}
			law := table.ArgMax(votes)
			votes[0]--
			if !alone {
				votes[1]++
			}
			next := table.ArgMax(votes)
			cell := c.cell(r)
			for _, x := range []float64{0.3, 0.7, 0.9, 0.99, 1, 1.01, 1.1, 1.4, 3} {
				value := 0.0
				for i, q := range law {
					value += max(0, q-x*next[i])
				}
				if bound := curveOf(cell, x); value > bound+1e-11 {
					t.Fatalf("σ = %v, %+v: before %v the curve at %v is %v, above %v", test.sigma, r, votes, x, value, bound)
				}
				if r.split(1) == nil && !alone && math.Abs(x-1) < 0.5 && curveOf(cell, x) > value+0.04 {
					t.Fatalf("σ = %v, %+v: before %v the curve at %v is %v, far below %v", test.sigma, r, votes, x, value,
						curveOf(cell, x))
				}
			}
		}
	}
}

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

// The bound of ∫(c0 + c1·f)·F(x+f)df is nowhere below it for any F between two laws: each f may take the
// law that is worse. All signs of c0, of c1 and of their sum occur, and the bound is not far above.
func TestLargestIsAboveEveryLawBetween(t *testing.T) {
	const teachers, sigma, fine = 9, 1.3, 2000
	l, reach, err := Problem{Teachers: teachers, Classes: 4, Affected: 1, Answers: 4, Epsilon: 2, Delta: 1e-5}.law(sigma)
	if err != nil {
		t.Fatal(err)
	}
	low, up := []run{{4, 2}}, []run{{2, 2}}
	o := others{low: l.momentsOf(low, -reach, reach), up: l.momentsOf(up, -reach, reach)}
	rng := rand.New(rand.NewPCG(3, 4))
	seen := map[[3]bool]int{}
	for range 400 {
		x, c0, c1 := rng.IntN(9)-2, rng.NormFloat64(), 2*rng.NormFloat64()
		seen[[3]bool{c0 > 0, c1 > 0, c0+c1 > 0}]++
		want := 0.0
		for i := range fine { // by the rule of midpoints
			f := (float64(i) + 0.5) / fine
			c := c0 + c1*f
			want += max(c*l.product(low, x, f, false), c*l.product(up, x, f, true)) / fine
		}
		got := o.largest(c0, c1, x)
		if got < want-1e-6 {
			t.Errorf("x = %d: (%v, %v) is at most %v, but it can be %v", x, c0, c1, got, want)
		}
		if most := want + max(math.Abs(c0), math.Abs(c1))/2; got > most {
			t.Errorf("x = %d: (%v, %v) is at most %v, far above %v", x, c0, c1, got, want)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d of 6 combinations of signs: %v", len(seen), seen)
	}
}

// Without what no histogram has, a region has all histograms that it had, and no pair without the vote
// that goes.
func TestWholeRegionsKeepTheirHistograms(t *testing.T) {
	const teachers, others = 5, 2
	rng := rand.New(rand.NewPCG(7, 8))
	within := func(x int, limits [2]int) bool { return limits[0] <= x && x <= limits[1] }
	kept, empty := 0, 0
	for range 2000 {
		span := func(least int) [2]int {
			from := least + rng.IntN(4)
			return [2]int{from, from + rng.IntN(4)}
		}
		r := region{lead: span(-3), both: span(0), rest: span(0), most: span(0), missing: rng.IntN(2) == 0,
			teachers: teachers, others: others}
		whole, ok := r.whole()
		if ok && whole.both[0] < 1 {
			t.Fatalf("%+v has no vote that goes", whole)
		}
		found := 0
		for n := 1; n <= teachers; n++ {
			for m := 0; n+m <= teachers; m++ {
				for a := 0; n+m+a <= teachers; a++ {
					for b := 0; b <= a && n+m+a+b <= teachers; b++ {
						in := func(r region) bool {
							return within(n-m, r.lead) && within(n+m, r.both) && within(a+b, r.rest) && within(a, r.most)
						}
						if n+m+a+b < teachers && !r.missing || !in(r) {
							continue
						}
						if found++; !ok || !in(whole) {
							t.Fatalf("%+v has %d, %d, %d and %d, but %+v, %t has not", r, n, m, a, b, whole, ok)
						}
					}
				}
			}
		}
		if kept += min(found, 1); !ok {
			empty++
		}
	}
	if kept < 100 || empty < 100 {
		t.Errorf("%d regions with histograms, %d without", kept, empty)
	}
}

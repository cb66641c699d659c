package selection

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// bestLaw is the law of the best of K runs of a law, K having f(x) = E[x^K]; outcomes of one score
// are as likely to stay as they are to come.
func bestLaw(f func(x float64) float64, law map[outcome]float64) map[outcome]float64 {
	byScore := map[int64]float64{}
	for o, p := range law {
		byScore[o.score] += p
	}
	scores := make([]int64, 0, len(byScore))
	for s := range byScore {
		scores = append(scores, s)
	}
	slices.Sort(scores)
	best := map[outcome]float64{{candidate: -1}: f(0)}
	share, below := map[int64]float64{}, 0.0
	for _, s := range scores {
		to := min(1, below+byScore[s])
		share[s] = (f(to) - f(below)) / byScore[s]
		below = to
	}
	for o, p := range law {
		best[o] = p * share[o.score]
	}
	return best
}

// generating functions, apart from the account's.
func generatingOf(p *plan) func(x float64) float64 {
	mean := p.stopping.Mean()
	switch p.s.Stopping {
	case "poisson":
		return func(x float64) float64 { return math.Exp(mean * (x - 1)) }
	case "geometric":
		return func(x float64) float64 { return x / mean / (1 - x*(1-1/mean)) }
	}
	panic(p.s.Stopping)
}

// hockeyStick returns the δ of two laws at ε, in the worse direction.
func hockeyStick(a, b map[outcome]float64, eps float64) float64 {
	one := func(a, b map[outcome]float64) float64 {
		sum := 0.0
		for o, p := range a {
			sum += max(0, p-math.Exp(eps)*b[o])
		}
		return sum
	}
	return max(one(a, b), one(b, a))
}

// All of it is (ε, δ)-DP for its price, by enumeration of what is released on neighbouring data,
// and it is not what one candidate costs: that claim, and what the price is without the choice,
// fail.
func TestSelectionKeepsItsPriceByEnumeration(t *testing.T) {
	neighbours := [][2][]float64{
		{{1, 1, 1, -1, -1}, {1, 1, -1, -1, -1}}, // the majority turns
		{{1, 1, 1, 1, 1}, {1, 1, 1, 1, -1}},
		{{1, 1, -1, -1, -1}, {-1, 1, -1, -1, -1}},
	}
	for _, c := range []struct {
		stopping string
		runs     float64
	}{{"", 0}, {"poisson", 6}, {"geometric", 6}} {
		p := planOf(t, tiny(c.stopping, c.runs), 5, 1)
		law := func(r *data.Records) map[outcome]float64 {
			if c.stopping == "" {
				return choiceLaw(p, r)
			}
			return bestLaw(generatingOf(p), runLaw(p, r))
		}
		worst, naive := 0.0, 0.0
		for _, n := range neighbours {
			a, b := law(features(t, n[0]...)), law(features(t, n[1]...))
			worst = max(worst, hockeyStick(a, b, p.price.Cost.Epsilon))
			naive = max(naive, hockeyStick(a, b, p.base.Epsilon))
		}
		if worst > p.price.Cost.Delta {
			t.Errorf("%q: δ = %g at the price %v", c.stopping, worst, p.price.Cost)
		}
		if c.stopping != "poisson" && naive <= p.base.Delta {
			t.Errorf("%q: what one candidate costs, %v, is not broken: δ = %g", c.stopping, p.base, naive)
		}
		t.Logf("%q %g: price %v, base %v; δ = %.3g at the price, %.3g at the base", c.stopping, c.runs,
			p.price.Cost, p.base, worst, naive)
	}
}

// What a run does has the law that was enumerated: candidates, bits and scores, by χ² over cells of
// scores. A right selection fails once in 10⁵ runs. Scores without half of their noise, a stop at
// the first good score, and runs that share coins are noticed (they were planted).
func TestSelectionHasItsLaw(t *testing.T) {
	const seeds = 1500
	for _, c := range []struct {
		stopping string
		runs     float64
	}{{"", 0}, {"poisson", 3}, {"geometric", 5}} {
		p := planOf(t, tiny(c.stopping, c.runs), 5, 1)
		r := features(t, 1, 1, 1, -1, -1)
		a, err := p.Train(r)
		if err != nil {
			t.Fatal(err)
		}
		law := choiceLaw(p, r)
		if c.stopping != "" {
			law = bestLaw(generatingOf(p), runLaw(p, r))
		}
		cell := func(o outcome) outcome {
			if o.candidate >= 0 && c.stopping != "" {
				o.score = int64(math.Floor(float64(o.score) / (0.7 * p.sigma)))
			}
			return o
		}
		want, got := map[outcome]float64{}, map[outcome]float64{}
		for o, q := range law {
			want[cell(o)] += q * seeds
		}
		for seed := range uint64(seeds) {
			s := train.Simulate(a, seed)
			w, err := s.Run(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			choice := s.Choice()
			o := outcome{choice.Candidate, w[0], 0}
			if choice.Score != nil {
				o.score = int64(math.Round(*choice.Score * unit * 5))
			}
			got[cell(o)]++
		}
		chi, cells, rest, found := 0.0, 0, 0.0, 0.0
		for o, e := range want {
			if e < 8 {
				rest, found = rest+e, found+got[o]
				continue
			}
			cells++
			chi += (got[o] - e) * (got[o] - e) / e
		}
		if rest > 1 {
			cells++
			chi += (found - rest) * (found - rest) / rest
		}
		// Wilson and Hilferty's normal approximation of χ², at 4.3 deviations.
		k := float64(cells - 1)
		limit := k * math.Pow(1-2/(9*k)+4.3*math.Sqrt(2/(9*k)), 3)
		if chi > limit {
			t.Errorf("%q: χ² = %.1f over %d cells, above %.1f", c.stopping, chi, cells, limit)
		}
	}
}

package pairwise

import (
	"context"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/train"
)

// law is of how far a phase moves, in units of cGη: one of the levels, which grow, each with its
// probability, and with probability rest anything. It dominates, in the stochastic order, what it
// is the law of: more movement costs more, so it is never cheaper.
type law struct {
	levels, weights []float64
	rest            float64
}

// fromTails returns the law whose probability of more than level i is tails[i], and of more than 0
// is tails[0] where levels[0] is 0.
func fromTails(levels, tails []float64) law {
	l := law{levels: levels, weights: make([]float64, len(levels))}
	before := 1.0
	for i, v := range tails {
		v = min(v, before)
		l.weights[i] = before - v
		before = v
	}
	l.rest = before
	return l
}

// counted returns the law of N, in the phase where it is largest: of the largest in the
// stochastic order over the phases, since each has a dominating pair of its own.
func counted(phases []draws, least float64) law {
	var tails, levels []float64
	for _, d := range phases {
		for q, v := range occurrences(d.steps+1, d.records, least) {
			if q == len(tails) {
				tails, levels = append(tails, 0), append(levels, float64(q))
			}
			tails[q] = max(tails[q], v)
		}
	}
	tails[len(tails)-1] = max(tails[len(tails)-1], least) // of the phases whose tails end before
	return fromTails(levels, tails)
}

// perUnit is the number of levels in one occurrence that averaged distinguishes.
const perUnit = 64

// averaged returns the law of S = Σ_j B_j·v_j over the draws j = 0, …, T, B_j being 1 where draw j
// is the record and v_j the share of the iterates w_1, …, w_T from j on: what the average of the
// iterates moves by. v_j is rounded up to parts of 1/perUnit, the levels to parts of about 3 %. S
// is about half of N.
func averaged(phases []draws, least float64) law {
	var worst []float64
	for _, d := range phases {
		for q, v := range averagedTails(d, least) {
			if q == len(worst) {
				worst = append(worst, 0)
			}
			worst[q] = max(worst[q], v)
		}
	}
	worst[len(worst)-1] = max(worst[len(worst)-1], least) // of the phases whose tails end before
	// Levels q/perUnit; those that a level 3 % above covers are counted as that.
	var levels, tails []float64
	for q := 0; q < len(worst); {
		to := min(len(worst)-1, q+q/33)
		levels, tails = append(levels, float64(to)/perUnit), append(tails, worst[to])
		q = to + 1
	}
	return fromTails(levels, tails)
}

// averagedTails returns P(S > q/perUnit) for q = 0, 1, …, rounded up, of one phase.
func averagedTails(d draws, least float64) []float64 {
	groups := make([]int, perUnit+1) // how many draws have v_j·perUnit rounded up to this
	steps := d.steps
	groups[perUnit]++ // the first draw moves all iterates
	before := 0
	for g := 1; g <= perUnit; g++ { // shares of at most g/perUnit: steps·g/perUnit of them
		upTo := int(float64(steps) * float64(g) / perUnit)
		if g == perUnit {
			upTo = steps
		}
		groups[g] += upTo - before
		before = upTo
	}
	most := len(occurrences(steps+1, d.records, least)) * perUnit
	pmf, lost := make([]float64, most+1), 0.0
	pmf[0] = 1
	next := make([]float64, most+1)
	for g, draws := range groups {
		if draws == 0 {
			continue
		}
		tails := occurrences(draws, d.records, least*1e-3)
		clear(next)
		above := 1.0
		for k, v := range tails {
			p := above - min(v, above)
			for q, mass := range pmf {
				if q+k*g > most {
					lost += p * mass
					continue
				}
				next[q+k*g] += p * mass
			}
			above = min(v, above)
		}
		lost += above
		pmf, next = next, pmf
	}
	// All is sums of products of what is at least 0: the margin is far above the rounding errors.
	tails := make([]float64, most+1)
	for q, above := most, lost; q >= 0; q-- {
		tails[q] = min(1, above*(1+1e-9))
		above += pmf[q]
	}
	for q, v := range tails {
		if v < least {
			return tails[:q+1]
		}
	}
	return tails
}

// event is normal noise of multiplier s over the level.
func (l law) event(relation accountant.Relation, s float64) (accountant.Event, error) {
	var parts []accountant.ProfilePart
	for i, p := range l.weights {
		switch {
		case p == 0:
			continue
		case l.levels[i] == 0:
			parts = append(parts, accountant.ProfilePart{Weight: p, NoiseMultiplier: math.Inf(1)})
		default:
			parts = append(parts, accountant.ProfilePart{Weight: p, NoiseMultiplier: s / l.levels[i]})
		}
	}
	if l.rest > 0 {
		parts = append(parts, accountant.ProfilePart{Weight: l.rest})
	}
	return accountant.NewProfile(relation, "joint convexity over the draws of a record", parts)
}

// noise returns the s that a target needs, in float64 and without a promise: a guess.
func (l law) noise(target accountant.Cost) (float64, error) {
	tail := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
	search := train.Search{Start: 1, Least: 1e-3, Most: 1e12, Tolerance: 1e-12}
	s, _, err := train.Calibrate(context.Background(), target.Delta, search,
		func(s float64) (float64, error) {
			delta := l.rest
			for i, p := range l.weights {
				if l.levels[i] == 0 {
					continue
				}
				sigma := s / l.levels[i]
				low, high := target.Epsilon*sigma-1/(2*sigma), target.Epsilon*sigma+1/(2*sigma)
				lost := 0.0
				if v := tail(high); v > 0 {
					lost = math.Exp(target.Epsilon + math.Log(v))
				}
				delta += p * (tail(low) - lost)
			}
			return delta, nil
		})
	return s, err
}

// occurrences returns the tails P(N > q), q = 0, 1, …, of the number N of times that one of n
// records is among draws uniform ones, rounded up, and never rising. The last is below least;
// later ones are too. n ≥ 2. Cost: O(draws/n + √(draws/n)) or so, whatever n is.
//
// The terms of Binomial(draws, 1/n) come from their ratios, in logarithms: each is off by a few
// units in the last place of the largest logarithm, times the number of steps, for which
// the margin is.
func occurrences(draws, n int, least float64) []float64 {
	total, odds := float64(draws), -math.Log(float64(n)-1) // ln(p/(1-p))
	// far from underflow; what is less is never promised
	least = max(least, 1e-200)
	logs := []float64{total * math.Log1p(-1/float64(n))}
	top, at := logs[0], 0
	for q := 1; q <= draws; q++ {
		l := logs[q-1] + math.Log((total-float64(q)+1)/float64(q)) + odds
		logs = append(logs, l)
		if l > top {
			top, at = l, q
		}
		if q > at && l < math.Log(least)-60 && l < logs[q-1]-0.01 {
			break // what follows falls at least as fast: the rest is below 100 of the last
		}
	}
	margin := 1 + float64(len(logs))*0x1p-48*(1+math.Abs(logs[0]))
	tails := make([]float64, len(logs))
	rest := 0.0
	if len(logs) <= draws {
		rest = 101 * math.Exp(logs[len(logs)-1])
	}
	for q := len(logs) - 1; q >= 0; q-- {
		tails[q] = min(1, rest*margin)
		rest += math.Exp(logs[q])
	}
	for q, v := range tails {
		if v < least {
			return tails[:q+1]
		}
	}
	return tails
}

// mostOccurrences returns the smallest q ≥ 1 with P(N > q) ≤ gamma. 0 would leave a phase without
// noise where gamma covers every draw of a record.
func mostOccurrences(draws, n int, gamma float64) float64 {
	for q, v := range occurrences(draws, n, gamma) {
		if q > 0 && v <= gamma {
			return float64(q)
		}
	}
	return float64(draws)
}

// chernoff returns a bound on both the number of draws after the first, and of those before the
// last, that are one record, each exceeded with probability at most gamma/2: with μ = steps/n and
// l = ln(2/γ), μ + (l + √(l²+8lμ))/2. The text has √(lμ) for √(2lμ) in its weaker form, which
// does not hold where μ > l.
func chernoff(steps, n int, gamma float64) float64 {
	mu, l := float64(steps)/float64(n), math.Log(2/gamma)
	return (mu + (l+math.Sqrt(l*l+8*l*mu))/2) * (1 + 0x1p-45)
}

package pairwise

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Rule says how Localized bounds what the number N of occurrences of a record does.
type Rule string

// The rules. The first three bound N but for a probability δ/2, and calibrate normal noise to
// δ/2 (Lemma 5); with Mixture each N costs what it costs, by joint convexity.
const (
	Mixture  Rule = "mixture"  // E_N of the exact δ of noise at sensitivity cGηN; the default
	Exact    Rule = "exact"    // the binomial quantile
	Chernoff Rule = "chernoff" // Lemma 7 with its √2
	Paper    Rule = "paper"    // 12Gη·ln(4/δ), which Algorithm 3 prints, with c = 4 and no less
)

// draws are a phase of Localized: its records and its steps.
type draws struct{ records, steps int }

// count returns Q for a rule other than Mixture: Δ = c·Gη·Q but for probability gamma.
func (r Rule) count(d draws, gamma float64) (float64, error) {
	switch r {
	case Paper:
		q := 3 * math.Log(2/gamma)
		if at := occurrences(d.steps+1, d.records, gamma); int(q) < len(at) && at[int(q)] > gamma {
			return 0, &check.Error{Name: "rule", Value: r, Rule: "another for so many steps: 12Gη·ln(4/δ) is for at most n·ln(4/δ) of them (--rule exact)"}
		}
		return q, nil
	case Chernoff:
		return chernoff(d.steps, d.records, gamma), nil
	case Exact:
		return mostOccurrences(d.steps+1, d.records, gamma), nil
	}
	return 0, &check.Error{Name: "rule", Value: fmt.Sprintf("%q", r), Rule: "mixture, exact, chernoff or paper (--rule)"}
}

// classicalNoise is the multiplier √(2·ln(2.5/δ))/ε, which normal noise at (ε, δ/2) is printed
// with.
func classicalNoise(t accountant.Cost) float64 {
	return math.Sqrt(2*math.Log(2.5/t.Delta)) / t.Epsilon
}

// halved is what Lemma 5 leaves for the noise.
func halved(t accountant.Cost) accountant.Cost {
	return accountant.Cost{Epsilon: t.Epsilon, Delta: t.Delta / 2}
}

// failing is the event of normal noise of a multiplier whose sensitivity holds but for
// probability gamma.
func failing(relation accountant.Relation, gamma, multiplier float64) (accountant.Event, error) {
	return accountant.NewProfile(relation, "a bound on occurrences that fails with small probability", []accountant.ProfilePart{
		{Weight: gamma, NoiseMultiplier: 0}, {Weight: 1 - gamma, NoiseMultiplier: multiplier},
	})
}

// mixture returns the law of N as probabilities of 0, 1, …, and last that of more: of the
// largest N in the stochastic order over the phases, since each has a dominating pair of its
// own and a larger N costs more.
func mixture(phases []draws, least float64) []float64 {
	var worst []float64
	for _, d := range phases {
		for q, v := range occurrences(d.steps+1, d.records, least) {
			if q == len(worst) {
				worst = append(worst, 0)
			}
			worst[q] = max(worst[q], v)
		}
	}
	law := make([]float64, len(worst)+1)
	before := 1.0
	for q, v := range worst {
		law[q] = max(0, before-v)
		before = min(before, v)
	}
	law[len(worst)] = before
	return law
}

// mixtureEvent is normal noise of multiplier s/N, N of a law; more than the law has is as if
// everything were told.
func mixtureEvent(relation accountant.Relation, law []float64, s float64) (accountant.Event, error) {
	var parts []accountant.ProfilePart
	for q, p := range law {
		part := accountant.ProfilePart{Weight: p}
		switch {
		case p == 0:
			continue
		case q == 0:
			part.NoiseMultiplier = math.Inf(1)
		case q < len(law)-1:
			part.NoiseMultiplier = s / float64(q)
		}
		parts = append(parts, part)
	}
	return accountant.NewProfile(relation, "joint convexity over the occurrences of a record", parts)
}

// calibrate returns the smallest multiplier whose event meets the target by the account of
// privacy loss distributions, to a part in 10⁴, and the event: a search near a guess, whose end
// is priced and not trusted.
func calibrate(target accountant.Cost, guess float64, event func(multiplier float64) (accountant.Event, error)) (float64, accountant.Event, error) {
	for range 100 {
		e, err := event(guess * (1 - train.Slack))
		if err != nil {
			return 0, nil, err
		}
		a, err := accountant.New(e.Relation())
		if err == nil {
			a, err = a.Charge(e, 1)
		}
		if err != nil {
			return 0, nil, err
		}
		at, err := a.AtEpsilon(target.Epsilon, accountant.MethodPLD)
		if best, ok := at.Best(); err == nil && ok && best.Cost.Delta <= target.Delta {
			return guess, e, nil
		}
		guess *= 1 + 1e-4
	}
	return 0, nil, fmt.Errorf("no noise near a multiplier of %g meets %v", guess, target)
}

// mixtureNoise returns s for a law by bisection in float64, without a promise.
func mixtureNoise(target accountant.Cost, law []float64) float64 {
	tail := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
	fits := func(s float64) bool {
		delta := law[len(law)-1]
		for q := 1; q < len(law)-1; q++ {
			sigma := s / float64(q)
			low, high := target.Epsilon*sigma-1/(2*sigma), target.Epsilon*sigma+1/(2*sigma)
			lost := 0.0
			if v := tail(high); v > 0 {
				lost = math.Exp(target.Epsilon + math.Log(v))
			}
			delta += law[q] * (tail(low) - lost)
		}
		return delta <= target.Delta
	}
	low, high := 1e-3, 1e12
	for range 100 {
		if mid := math.Sqrt(low * high); fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

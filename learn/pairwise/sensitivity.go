package pairwise

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Rule names the way Localized accounts for the number N of occurrences of a record.
type Rule string

// The rules. The last three bound N but for a probability δ/2, and calibrate normal noise to
// δ/2 (Lemma 5); with the others each N costs what it costs, by joint convexity.
const (
	// Mixture, and a draw at step j moves only the iterates from j on: the default
	Averaged Rule = "averaged"
	Mixture  Rule = "mixture"  // E_N of the exact δ of noise at sensitivity cGηN
	Exact    Rule = "exact"    // the binomial quantile
	Chernoff Rule = "chernoff" // Lemma 7 with its √2
	Paper    Rule = "paper"    // 12Gη·ln(4/δ), which Algorithm 3 prints, with c = 4 and no less
)

// priced reports whether a rule prices each number of occurrences instead of bounding it.
func (r Rule) priced() bool { return r == Averaged || r == Mixture }

// draws are a phase of Localized: its records and its steps.
type draws struct{ records, steps int }

// count returns Q for a rule with a bound: Δ = c·Gη·Q but for probability gamma.
func (r Rule) count(d draws, gamma float64) (float64, error) {
	switch r {
	case Paper:
		q := 3 * math.Log(2/gamma)
		if at := occurrences(d.steps+1, d.records, gamma); int(q) < len(at) && at[int(q)] > gamma {
			return 0, check.SettledBy(check.Want("rule", r,
				"another for so many steps: 12Gη·ln(4/δ) is for at most n·ln(4/δ) of them"), "rule=exact")
		}
		return q, nil
	case Chernoff:
		return chernoff(d.steps, d.records, gamma), nil
	case Exact:
		return mostOccurrences(d.steps+1, d.records, gamma), nil
	}
	return 0, check.Want("rule", fmt.Sprintf("%q", r), "averaged, mixture, exact, chernoff or paper")
}

// classicalNoise is the multiplier √(2·ln(2.5/δ))/ε, which normal noise at (ε, δ/2) is printed
// with.
func classicalNoise(t accountant.Cost) float64 {
	return math.Sqrt(2*math.Log(2.5/t.Delta)) / t.Epsilon
}

// classical marks rows whose noise is by a formula that textbooks have, and no source's.
const classical train.Noise = "classical"

// halved returns the target of the noise in Lemma 5: half of δ pays for the bound on N.
func halved(t accountant.Cost) accountant.Cost {
	return accountant.Cost{Epsilon: t.Epsilon, Delta: t.Delta / 2}
}

// failing is the event of normal noise of a multiplier whose sensitivity holds but for
// probability gamma.
func failing(relation accountant.Relation, gamma, multiplier float64) (accountant.Event, error) {
	return accountant.NewProfile(relation, "a bound on occurrences that fails with small probability",
		[]accountant.ProfilePart{
			{Weight: gamma, NoiseMultiplier: 0}, {Weight: 1 - gamma, NoiseMultiplier: multiplier},
		})
}

// calibrate returns the smallest multiplier whose event meets the target by the account of
// privacy loss distributions, to a part in 10⁴, and the event: a search near a guess.
func calibrate(target accountant.Cost, guess float64,
	event func(multiplier float64) (accountant.Event, error)) (float64, accountant.Event, error) {
	rounded := func(multiplier float64) (accountant.Event, error) {
		return event(multiplier * (1 - train.Slack))
	}
	s := train.Search{Start: guess, Least: guess / 2, Most: guess * 2, Tolerance: 1e-4}
	multiplier, _, err := train.Calibrate(context.Background(), target.Delta, s,
		func(multiplier float64) (float64, error) {
			e, err := rounded(multiplier)
			if err != nil {
				return 0, err
			}
			at, err := train.LeastDelta(e, e.Relation(), target.Epsilon, accountant.MethodPLD)
			return at.Cost.Delta, err
		})
	if err != nil {
		return 0, nil, fmt.Errorf("no noise near a multiplier of %g meets %v: %w", guess, target, err)
	}
	e, err := rounded(multiplier)
	return multiplier, e, err
}

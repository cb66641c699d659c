package pairwise

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Localized is private localised gradient descent on random records, with replacement
// (Algorithm 3): as OnePass, but phase k makes T_k = ⌈n_k·Passes⌉ steps on uniform draws, each
// paired with the draw before. A record that is drawn N times moves an average by at most cGη_kN.
type Localized struct {
	Setting
	// StepSize is η; 0 is (D/G)·min{1/(√n·Passes), 1/(M·√d), 8G/(LD)} for noise M·Gη: the
	// source's, with its first term corrected. It needs a ball.
	StepSize float64
	Passes   float64     // T_k/n_k; 0 is ln(4/δ)
	Rule     Rule        // "" is Averaged
	Noise    train.Noise // "" is Calibrated; Printed is σ = Δ√(2·ln(2.5/δ))/ε
}

// maxPricedPasses keeps the law of the occurrences, whose cost grows with the square of the passes,
// within seconds. ln(4/δ) is below it for every δ of float64.
const maxPricedPasses = 1000

// Plan prices the method for n records of dimension d. It takes up to seconds: Averaged is
// calibrated by privacy loss distributions.
func (c Localized) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c Localized) plan(n, d int) (*phased, error) {
	p, err := newPhased(c.Setting, drawn, c.StepSize, n, d)
	if err != nil {
		return nil, err
	}
	c.Passes = cmp.Or(c.Passes, math.Log(4/c.Target.Delta))
	if !(c.Passes > 0 && c.Passes <= maxPasses) {
		return nil, check.Wantf("passes", c.Passes, "in (0, %g], or 0 for ln(4/delta)", float64(maxPasses))
	}
	p.split(func(records int) int { return max(1, int(math.Ceil(float64(records)*c.Passes))) })
	c.Rule = cmp.Or(c.Rule, Averaged)
	p.rule = c.Rule
	if p.noise, err = check.OneOf("noise", c.Noise, train.Calibrated, train.Printed); err != nil {
		return nil, err
	}
	if c.Rule.priced() && p.noise == train.Printed {
		return nil, check.SettledBy(check.Want("noise", c.Noise,
			"calibrated with this rule, for which the source prints none"), "noise", "rule")
	}
	if c.Rule.priced() && c.Passes > maxPricedPasses {
		return nil, check.SettledBy(check.Wantf("passes", c.Passes,
			"at most %d with this rule, which works out the law of how often a record is drawn",
			maxPricedPasses), "passes", "rule=exact")
	}
	event, err := p.scale(c.Rule)
	if err != nil {
		return nil, err
	}
	if err := p.choose(c.StepSize, 1/(math.Sqrt(float64(n))*c.Passes)); err != nil {
		return nil, err
	}
	gamma := c.Target.Delta / 2
	err = p.fill(func(k int) float64 {
		if c.Rule.priced() { // the sensitivity that is exceeded with probability γ, for people
			return p.occurrence * mostOccurrences(p.blocks[k].steps+1, p.blocks[k].records, gamma)
		}
		q, _ := c.Rule.count(p.blocks[k], gamma)
		return p.of(c.Rule) * q
	})
	if err != nil {
		return nil, err
	}
	if err := p.price.Settle(event, accountant.MethodPLD, c.Target,
		p.noise == train.Calibrated); err != nil {
		if p.noise == train.Printed {
			return nil, check.SettledBy(
				fmt.Errorf("%w; the printed formula ends near epsilon = 4, calibrated noise goes on", err),
				"noise=calibrated")
		}
		return nil, err
	}
	return p, nil
}

// of returns c, for Paper as the text has it.
func (p *phased) of(rule Rule) float64 {
	if rule == Paper {
		return 4
	}
	return p.occurrence
}

// law returns the law of a rule that is priced.
func (p *phased) law(rule Rule) law {
	least := p.Target.Delta * 1e-5
	if rule == Averaged {
		return averaged(p.blocks, least)
	}
	return counted(p.blocks, least)
}

// scale sets M_k by a rule, and returns the run's event.
func (p *phased) scale(rule Rule) (accountant.Event, error) {
	if rule.priced() {
		l := p.law(rule)
		guess, err := l.noise(p.Target)
		if err != nil {
			return nil, err
		}
		s, event, err := calibrate(p.Target, guess, func(s float64) (accountant.Event, error) {
			return l.event(p.Neighbours, s)
		})
		for range p.blocks {
			p.scales = append(p.scales, p.occurrence*s)
		}
		return event, err
	}
	gamma, multiplier := p.Target.Delta/2, classicalNoise(p.Target)
	event, err := failing(p.Neighbours, gamma, min(multiplier*(1-train.Slack), accountant.MaxNoise))
	if p.noise == train.Calibrated {
		guess, err := train.NoiseFor(halved(p.Target))
		if err != nil {
			return nil, err
		}
		multiplier, event, err = calibrate(p.Target, guess, func(m float64) (accountant.Event, error) {
			return failing(p.Neighbours, gamma, m)
		})
		if err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	for _, b := range p.blocks {
		q, err := rule.count(b, gamma)
		if err != nil {
			return nil, err
		}
		p.scales = append(p.scales, p.of(rule)*q*multiplier)
	}
	return event, nil
}

package pairwise

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/train"
)

// Compare returns, for the first phase, which costs most, a row for each bound on the sensitivity,
// with the noise that the target needs under it. Cost: up to seconds.
func (p *phased) compare() ([]train.PriceRow, error) {
	if p.form != drawn {
		return slices.Clone(p.known), nil
	}
	return p.ways()
}

// ways returns the rows of Localized, whose sensitivity hangs on how often a record is drawn: those
// of its rules, then those of OnePass and Cyclic for comparison.
func (p *phased) ways() (rows []train.PriceRow, err error) {
	used := p.rule
	first, gamma := p.blocks[0], p.Target.Delta/2
	exact, err := train.NoiseFor(halved(p.Target))
	if err != nil {
		return nil, err
	}
	classical := min(classicalNoise(p.Target)*(1-train.Slack), accountant.MaxNoise)
	for _, rule := range []Rule{Paper, Chernoff, Exact} {
		q, err := rule.count(first, gamma)
		if err != nil {
			continue // the rule is for other numbers of steps
		}
		delta := p.of(rule) * q
		if rule == Paper {
			epsilon, err := accountant.GaussianEpsilon(classical, gamma) // Lemma 5 leaves δ/2 for it
			if err != nil {
				return nil, err
			}
			printed := p.row(train.Printed, "paper: 12Gη·ln(4/δ), the classical noise", delta,
				delta*classicalNoise(p.Target), epsilon)
			printed.InUse = used == rule && p.noise == train.Printed
			rows = append(rows, printed)
		}
		row := p.row(train.Calibrated, map[Rule]string{
			Paper:    "paper: 12Gη·ln(4/δ)",
			Chernoff: "chernoff: occurrences by Chernoff's bound",
			Exact:    "exact: the binomial quantile of the occurrences",
		}[rule], delta, delta*exact, p.Target.Epsilon)
		if used == rule && p.noise == train.Printed && rule != Paper {
			row.Noise, row.Deviation, row.Epsilon = train.Printed, p.price.Blocks[0].Deviation,
				p.price.Cost.Epsilon
		}
		row.InUse = used == rule && row.Noise == p.noise
		rows = append(rows, row)
	}
	q, _ := Exact.count(first, gamma)
	for _, rule := range []Rule{Mixture, Averaged} {
		if first.steps > maxPricedPasses*first.records {
			break
		}
		s := 0.0 // noise in units of the sensitivity of one occurrence
		if used == rule {
			s = p.scales[0] / p.occurrence
		} else {
			guess, err := p.law(rule).noise(p.Target)
			if err != nil {
				return nil, err
			}
			s = guess * (1 + 1e-3) // what calibrate would add
		}
		row := p.row(train.Calibrated, map[Rule]string{
			Mixture:  "mixture: each number of occurrences at its own price",
			Averaged: "averaged: each draw by the share of iterates that it moves",
		}[rule], p.occurrence*q, p.occurrence*s, p.Target.Epsilon)
		row.InUse = used == rule
		rows = append(rows, row)
	}
	star, err := train.NoiseFor(p.Target)
	if err != nil {
		return nil, err
	}
	for _, k := range []int{1, cyclicPasses(p.n)} {
		d := draws{first.records, first.records * k}
		scale := p.occurrence * cyclicMoved(k)
		reading := fmt.Sprintf("one pass in order: one-pass, with %.3g times the steps",
			float64(d.steps)/float64(first.steps))
		if k > 1 {
			reading = fmt.Sprintf("%d passes in order: cyclic, with %.3g times the steps", k,
				float64(d.steps)/float64(first.steps))
		}
		rows = append(rows, p.row(train.Calibrated, reading, scale, scale*star, p.Target.Epsilon))
	}
	return rows, nil
}

// row returns the row of the first phase for a sensitivity and a noise, both in units of Gη.
func (p *phased) row(noise train.Noise, reading string, sensitivity, scale,
	epsilon float64) train.PriceRow {
	unit := p.norm * p.price.Blocks[0].StepSize
	return train.PriceRow{Noise: noise, Reading: reading, Sensitivity: sensitivity * unit,
		Deviation: scale * unit, Epsilon: epsilon, Holds: true}
}

package convex

import (
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/train"
)

// What every method's plan has is package train's.
type (
	Plan  = train.Plan
	Noise = train.Noise
)

// The noises.
const (
	Calibrated = train.Calibrated
	Printed    = train.Printed
)

// gaussian returns the event of blocks of normal noise. Blocks are fixed by the records'
// numbers, so that neighbours differ in one of them, and nothing but noised vectors passes
// between them: the run costs at most what its worst block does, as in parallel composition.
// Normal noise with the least multiplier dominates all others. The releases of a block
// compose to one with the multiplier over √releases.
func gaussian(relation accountant.Relation, blocks []train.Block) (accountant.Event, error) {
	worst, least := blocks[0], 0.0
	for i, b := range blocks {
		m := b.Multiplier()
		if joint := m * m / float64(b.Releases); i == 0 || joint < least {
			worst, least = b, joint
		}
	}
	return accountant.Compose(accountant.Charge{
		Event: accountant.Gaussian{NoiseMultiplier: min(worst.Multiplier(), accountant.MaxNoise),
			Neighbours: relation}, Count: worst.Releases})
}

// settle sets event and cost of a price from its blocks of normal noise. Calibrated noise costs its
// target, which is checked.
func settle(p *train.Price, target accountant.Cost, calibrated bool) error {
	event, err := gaussian(p.Relation, p.Blocks)
	if err != nil {
		return err
	}
	return p.Settle(event, accountant.MethodGaussian, target, calibrated)
}

// compare fills in ε of the rows.
func compare(target accountant.Cost, rows []train.PriceRow) (_ []train.PriceRow, err error) {
	for i, r := range rows {
		multiplier := min(r.Deviation/r.Sensitivity*(1-slack), accountant.MaxNoise)
		if rows[i].Epsilon, err = accountant.GaussianEpsilon(multiplier, target.Delta); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

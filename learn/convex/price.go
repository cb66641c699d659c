package convex

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
)

// Noise says how much noise a method adds.
type Noise string

// The noises.
const (
	Calibrated Noise = "calibrated" // what the target needs by the exact account; the default
	Printed    Noise = "printed"    // what the source prints
)

// Price is what a plan costs, and how that was worked out. Nothing in it depends on records.
type Price struct {
	Method       string
	Records, Dim int
	Relation     accountant.Relation
	// Event is the whole run for an Accountant.
	Event accountant.Event
	// Cost is what the model costs, by the rule Bound.
	Cost  accountant.Cost
	Bound accountant.Method
	// Blocks are the parts of the data with their sensitivities and noise, in order. Each
	// record is in one of them, or in none.
	Blocks []Block
	Notes  []string
}

// PriceRow is one account of one amount of noise: printed beside corrected.
type PriceRow struct {
	Noise       Noise
	Reading     string  // of the sensitivity: what is taken as proved
	Sensitivity float64 // in the block that costs most
	Deviation   float64 // of the noise there
	Epsilon     float64 // at the target's δ
	InUse       bool    // Cost is of this row
	Holds       bool    // the reading is proved: its ε is a promise
}

// Block is a part of the data and the noise that it gets.
type Block struct {
	Name        string
	From, To    int // records From to To-1, from 0
	Releases    int // of noisy vectors
	StepSize    float64
	Sensitivity float64 // ℓ2, of one release
	Deviation   float64 // of its noise, per coordinate
}

// multiplier returns the block's noise per sensitivity, rounded down.
func (b Block) multiplier() float64 { return b.Deviation / b.Sensitivity * (1 - slack) }

// gaussian returns the event of blocks of normal noise. Blocks are fixed by the records'
// numbers, so that neighbours differ in one of them, and nothing but noised vectors passes
// between them: the run costs at most what its worst block does, as in parallel composition.
// Normal noise with the least multiplier dominates all others. The releases of a block
// compose to one with the multiplier over √releases.
func gaussian(relation accountant.Relation, blocks []Block) (accountant.Event, error) {
	worst, least := blocks[0], 0.0
	for i, b := range blocks {
		m := b.multiplier()
		if joint := m * m / float64(b.Releases); i == 0 || joint < least {
			worst, least = b, joint
		}
	}
	return accountant.Compose(accountant.Charge{
		Event: accountant.Gaussian{NoiseMultiplier: min(worst.multiplier(), accountant.MaxNoise), Neighbours: relation}, Count: worst.Releases})
}

// gaussian sets event and cost of blocks of normal noise. Calibrated noise costs its target,
// which is checked.
func (p *Price) gaussian(target accountant.Cost, calibrated bool) (err error) {
	if p.Event, err = gaussian(p.Relation, p.Blocks); err != nil {
		return err
	}
	p.Bound = accountant.MethodGaussian
	p.Cost = target
	if !calibrated {
		best, err := bestBound(p.Event, p.Relation, target.Delta, p.Bound)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Method, err)
		}
		p.Cost = best.Cost
		return exceeds(p.Method, p.Cost.Epsilon, target)
	}
	a, err := accountant.New(p.Relation)
	if err == nil {
		a, err = a.Charge(p.Event, 1)
	}
	if err != nil {
		return err
	}
	at, err := a.AtEpsilon(target.Epsilon, p.Bound)
	if best, ok := at.Best(); err != nil || !ok || best.Cost.Delta > target.Delta {
		return fmt.Errorf("%s: the noise ended at delta = %g above the target %g (%w)", p.Method, best.Cost.Delta, target.Delta, err) // cannot happen
	}
	return nil
}

// compare fills in ε of the rows.
func compare(target accountant.Cost, rows []PriceRow) (_ []PriceRow, err error) {
	for i, r := range rows {
		multiplier := min(r.Deviation/r.Sensitivity*(1-slack), accountant.MaxNoise)
		if rows[i].Epsilon, err = accountant.GaussianEpsilon(multiplier, target.Delta); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// noiseFor returns the noise multiplier for a target, rounded up beyond what multiplier
// rounds down.
func noiseFor(target accountant.Cost) (float64, error) {
	m, err := accountant.GaussianNoise(target)
	return m * (1 + 4*slack), err
}

// exceeds refuses a plan whose account ended above its target.
func exceeds(method string, got float64, target accountant.Cost) error {
	if got <= target.Epsilon {
		return nil
	}
	return fmt.Errorf("%s: epsilon = %.6g at delta = %g, above the target %g", method, got, target.Delta, target.Epsilon)
}

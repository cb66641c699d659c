package federated

import (
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/federated/amplification"
	"github.com/darrm/darrm/learn/train"
)

// Compare prices other ways to account for the run, or other noise, beside the one in use. For a
// mode that does not apply to the run ε is +Inf, and Reading gives the reason.
func (p *Plan) Compare() ([]train.PriceRow, error) {
	p = handle.Made(p)
	if p.price.Event == nil {
		return nil, fmt.Errorf("%s has no price", p.price.Method)
	}
	if p.kind == trusted {
		return p.compareNoise()
	}
	var local accountant.Event
	if p.Local.Steps > 1 {
		stated := *p
		stated.Local.Noise = p.sigma
		var err error
		if local, err = stated.localEvent(); err != nil {
			return nil, err
		}
	}
	block := p.price.Blocks[0]
	var rows []train.PriceRow
	if p.price.Bound == accountant.MethodPLD {
		rows = append(rows, p.price.Used(train.Calibrated, "privacy losses", block))
	}
	add := func(reading string, name Account, conversion amplification.Conversion) error {
		row := train.PriceRow{Noise: train.Calibrated, Reading: reading, Sensitivity: block.Sensitivity,
			Deviation: block.Deviation, Epsilon: math.Inf(1), Holds: true}
		e, err := (&account{&p.plan, name}).reports(p.LocalEpsilon(),
			accountant.MethodRDP)
		if err == nil {
			e, err = compose(e, local)
		}
		if err == nil {
			row.Epsilon, _, err = amplification.Epsilon(p.Target.Delta, conversion,
				accountant.Charge{Event: e, Count: 1})
		}
		if errors.Is(err, amplification.ErrInapplicable) || errors.Is(err, accountant.ErrUnsupported) {
			row.Reading, row.Epsilon, err = fmt.Sprintf("%s: %v", reading, err), math.Inf(1), nil
		}
		row.InUse = name == p.account && conversion == amplification.Improved &&
			p.price.Bound == accountant.MethodRDP
		rows = append(rows, row)
		return err
	}
	for _, c := range []struct {
		reading    string
		name       Account
		conversion amplification.Conversion
	}{
		{"divergences of the best mode", "", amplification.Improved},
		{"the same, classical conversion", "", amplification.Classical},
		{"truncated CDP", Account(amplification.TCDP), amplification.Improved},
		{"published constants", Account(amplification.Paper), amplification.Classical},
		{"no shuffler", Unshuffled, amplification.Improved},
	} {
		if err := add(c.reading, c.name, c.conversion); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// compareNoise has the printed noise beside the calibrated.
func (p *Plan) compareNoise() ([]train.PriceRow, error) {
	kinds := []train.Noise{train.Calibrated, train.Printed}
	if p.Local.Steps > 1 {
		kinds = kinds[:1] // the source's noise is without a local phase
	}
	var rows []train.PriceRow
	for _, kind := range kinds {
		q, err := Central{Setting: p.Setting, Period: p.period, Noise: kind}.New(p.n, p.features)
		if err != nil {
			return nil, err
		}
		b := q.price.Blocks[0]
		rows = append(rows, train.PriceRow{Noise: kind, Reading: "normal noise on means",
			Sensitivity: b.Sensitivity, Deviation: b.Deviation, Epsilon: q.price.Cost.Epsilon,
			InUse: kind == p.noise, Holds: true})
	}
	return rows, nil
}

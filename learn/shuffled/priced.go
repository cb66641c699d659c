package shuffled

import (
	"errors"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// Priced returns the plan as a train.Plan, for a choice among candidates: with the event that its
// epochs are together. Its records are fixed. It refuses dp-sgd, of which no event is known, and
// modes whose conditions fail.
func (p *Plan) Priced() (train.Plan, error) {
	if p.c.Method == DPSGD {
		return nil, errors.New("dp-sgd has no event to be composed here: take train convex --method dp-sgd")
	}
	var charges []accountant.Charge
	for _, e := range p.events() {
		if e.Private == 0 {
			continue
		}
		event, err := e.Event()
		if err != nil {
			return nil, err
		}
		charges = append(charges, accountant.Charge{Event: event, Count: 1})
	}
	price := train.Price{Method: string(p.c.Method), Records: p.n, Dim: p.d, Relation: accountant.ReplaceOne, Cost: p.report.Cost}
	if len(charges) > 0 {
		event, err := accountant.Compose(charges...)
		if err != nil {
			return nil, err
		}
		price.Event = event
	}
	return priced{p, price}, nil
}

type priced struct {
	plan  *Plan
	price train.Price
}

func (p priced) Price() train.Price { return p.price.Clone() }

// Compare has nothing beside the plan: its report has what every mode says.
func (p priced) Compare() ([]train.PriceRow, error) { return nil, nil }

// Train returns the plan, which has its records, and checks that they are these.
func (p priced) Train(r *data.Records) (train.Algorithm, error) {
	if r == nil || r.Len() != p.plan.n || r.Dim() != p.plan.d {
		return nil, errors.New("other records than the plan's")
	}
	for i := range p.plan.n {
		if r.Response(i) != p.plan.private.Response(i) {
			return nil, errors.New("other records than the plan's")
		}
	}
	return p.plan, nil
}

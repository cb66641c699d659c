package shuffled

import (
	"errors"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Price returns the privacy cost of the plan, by the mode of its Report. It has no Event: see
// Priced.
func (p *Plan) Price() train.Price { return priceOf(p.c.Method, p.n, p.d, p.report) }

// Compare returns no rows: the plan's report has the figures of every mode.
func (p *Plan) Compare() ([]train.PriceRow, error) { return nil, nil }

// Train returns the plan, which has its records, and checks that they are these.
func (p *Plan) Train(r *data.Records) (train.Algorithm, error) {
	if r == nil || r.Len() != p.n || r.Dim() != p.d {
		return nil, errors.New("other records than the plan's")
	}
	for i := range p.n {
		if r.Response(i) != p.private.Response(i) {
			return nil, errors.New("other records than the plan's")
		}
	}
	return p, nil
}

// Priced returns the plan for a choice among candidates: with the event that its epochs are
// together. It refuses dp-sgd, of which no event is known, and modes whose conditions fail.
func (p *Plan) Priced() (train.PricedMethod, error) {
	if p.c.Method == DPSGD {
		return nil, errors.New(
			"dp-sgd has no event to be composed here: take the method dp-sgd of package convex")
	}
	price := p.Price()
	var err error
	if price.Event, err = together(p.events()); err != nil {
		return nil, err
	}
	return priced{p, price}, nil
}

// priced is a plan with its event.
type priced struct {
	*Plan
	price train.Price
}

// Price has the event.
func (p priced) Price() train.Price { return p.price.Clone() }

// priceOf is a price without its event.
func priceOf(method Scheme, n, d int, r iteration.Report) train.Price {
	return train.Price{
		Method: string(method), Records: n, Dim: d, Relation: accountant.ReplaceOne,
		Cost: r.Cost, Bound: accountant.Method(r.Mode),
	}
}

// together returns the event of runs of epochs, nil where none has private data.
func together(runs []iteration.Steps) (accountant.Event, error) {
	var charges []accountant.Charge
	for _, e := range runs {
		if e.Private == 0 {
			continue
		}
		event, err := e.Event()
		if err != nil {
			return nil, err
		}
		charges = append(charges, accountant.Charge{Event: event, Count: 1})
	}
	if len(charges) == 0 {
		return nil, nil //nolint:nilnil // nothing is charged
	}
	return accountant.Compose(charges...)
}

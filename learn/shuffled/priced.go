package shuffled

import (
	"errors"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Price returns the privacy cost of the model, without an event.
func (p *Plan) Price() train.Price { return priceOf(p.c.Method, p.n, p.d, p.report) }

// Plan returns the plan for callers that know no shuffled gradients. It has no rows: the plan's report
// has the figures of every mode.
func (p *Plan) Plan() train.Plan { return train.Plan{Price: p.Price(), Train: p.train} }

// train returns the algorithm, which has its records, and checks that they are these.
func (p *Plan) train(r *data.Records) (train.Algorithm, error) {
	other := r == nil || r.Len() != p.n || r.Dim() != p.d
	for i := 0; !other && i < p.n; i++ {
		other = r.Response(i) != p.private.Response(i)
	}
	if other {
		return train.Algorithm{}, errors.New("other records than the plan's")
	}
	return p.Algorithm(), nil
}

// Priced returns the plan for a choice among candidates: with the event that its epochs are
// together. It refuses dp-sgd, of which no event is known, and modes whose conditions fail.
func (p *Plan) Priced() (plan train.Plan, err error) {
	if p.c.Method == DPSGD {
		return plan, errors.New(
			"dp-sgd has no event to be composed here: take the method dp-sgd of package convex")
	}
	plan = p.Plan()
	plan.Price.Event, err = together(p.events())
	return plan, err
}

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

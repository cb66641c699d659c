package shuffled

import (
	"errors"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Priced returns the plan as a train.Plan, for a choice among candidates: with the event that its
// epochs are together. Its records are fixed. It refuses dp-sgd, of which no event is known, and
// modes whose conditions fail.
func (p *Plan) Priced() (train.Plan, error) {
	if p.c.Method == DPSGD {
		return nil, errors.New("dp-sgd has no event to be composed here: take the method dp-sgd of package convex")
	}
	price, err := priceOf(p.c.Method, p.n, p.d, p.report.Cost, p.events())
	if err != nil {
		return nil, err
	}
	return priced{p, price}, nil
}

// Quote is Priced before there are records: of a method on n records whose epochs with private data
// are steps, as Calibrate returned them with the report. It does not train.
func Quote(method Method, n int, steps iteration.Steps, report iteration.Report) (train.Plan, error) {
	price, err := priceOf(method, n, 0, report.Cost, []iteration.Steps{steps})
	if err != nil {
		return nil, err
	}
	return quoted{price}, nil
}

// priceOf prices runs of epochs, together one event.
func priceOf(method Method, n, d int, cost accountant.Cost, runs []iteration.Steps) (train.Price, error) {
	price := train.Price{Method: string(method), Records: n, Dim: d, Relation: accountant.ReplaceOne, Cost: cost}
	var charges []accountant.Charge
	for _, e := range runs {
		if e.Private == 0 {
			continue
		}
		event, err := e.Event()
		if err != nil {
			return price, err
		}
		charges = append(charges, accountant.Charge{Event: event, Count: 1})
	}
	if len(charges) == 0 {
		return price, nil
	}
	var err error
	price.Event, err = accountant.Compose(charges...)
	return price, err
}

// quoted is a price without records.
type quoted struct{ price train.Price }

func (q quoted) Price() train.Price { return q.price.Clone() }

func (q quoted) Compare() ([]train.PriceRow, error) { return nil, nil }

// Train has no steps to take.
func (q quoted) Train(*data.Records) (train.Algorithm, error) {
	return nil, errors.New("a quote has no records to train on: take NewPlan")
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

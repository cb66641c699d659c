package shuffled

import (
	"context"
	"errors"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Forecast is a training before there are records: a Config, whose Task, Regularizer and Start
// count for nothing, with what is known of the records and of the release.
type Forecast struct {
	Config
	Records      int     // n, private ones
	Smoothness   float64 `flag:"smoothness" help:"L, the largest smoothness of any sample's loss, private or public (default unknown)"`
	NonConvex    bool    `flag:"non-convex" help:"the losses are not convex, or clipping may break contraction"`
	OrderVisible bool    `flag:"order-visible" help:"others may learn in which order records were visited"`
	Released     iteration.Released
}

// Steps returns the epochs with private data, which are alike, with noise 1 on each step that has
// noise: a pattern for [iteration.Steps.Calibrate].
func (f Forecast) Steps() (iteration.Steps, error) {
	schedule, err := f.Method.Schedule(f.Records, f.Epochs, f.Fraction)
	if err != nil {
		return iteration.Steps{}, err
	}
	i := slices.IndexFunc(schedule, func(b Block) bool { return b.Private > 0 && b.Noise > 0 })
	if i < 0 || f.Method == DPSGD {
		return iteration.Steps{}, check.Want("method", string(f.Method),
			"a shuffled method with noise on private data")
	}
	e := f.steps(schedule[i], f.Records)
	e.OrderSecret, e.Released, e.Smoothness = !f.OrderVisible, f.Released, f.Smoothness
	e.Convex, e.ClipKeepsContraction, e.ConvexRegulariser = !f.NonConvex, !f.NonConvex, true
	return e, nil
}

// Quote prices the training for its target, for a choice among candidates. It does not train.
func (f Forecast) Quote(ctx context.Context) (train.Plan, error) {
	e, err := f.Steps()
	if err != nil {
		return train.Plan{}, err
	}
	e, report, err := e.Calibrate(ctx, f.Target)
	if err != nil {
		return train.Plan{}, err
	}
	price := priceOf(f.Method, f.Records, 0, report)
	if price.Event, err = together([]iteration.Steps{e}); err != nil {
		return train.Plan{}, err
	}
	return train.Plan{Price: price, Train: func(*data.Records) (train.Algorithm, error) {
		return train.Algorithm{}, errors.New("a quote has no records to train on: take NewPlan")
	}}, nil
}

// Price returns the privacy cost of the model, without an event.
func (p *Plan) Price() train.Price {
	p = p.made()
	return priceOf(p.c.Method, p.n, p.d, p.report)
}

// Plan returns the plan for callers that know no shuffled gradients. It has no rows: the plan's report
// has the figures of every mode.
func (p *Plan) Plan() train.Plan {
	p = p.made()
	return train.Plan{Price: p.Price(), Train: p.train}
}

// train returns the algorithm, which has its records, and checks that they are these.
func (p *Plan) train(r *data.Records) (train.Algorithm, error) {
	other := r == nil || r.Len() != p.n || r.Dim() != p.d
	for i := 0; !other && i < p.n; i++ {
		other = r.Response(i) != p.private.Response(i)
	}
	if other {
		return train.Algorithm{}, errors.New("the records are not those of the plan")
	}
	return p.Algorithm(), nil
}

// Priced returns the plan for a choice among candidates: with the event that its epochs are
// together. It refuses dp-sgd, of which no event is known, and modes whose conditions fail.
func (p *Plan) Priced() (plan train.Plan, err error) {
	p = p.made()
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

// Package onevsrest trains a model for each of several classes, that class against the rest, as one
// model at one price: a record takes part in all of them, so all of them are composed.
//
//	m := onevsrest.Method{Classes: 3, Target: target, Model: plan}
//	p, err := m.Plan(ctx, n, d) // a train.Plan like any other: Price, Compare, Train
//
// The class of a record is its response, a whole number from 0. The classes are public: their
// number and what they are called are stated, never looked up in the records.
//
// Values of its types are safe for concurrent use while nobody writes to their fields.
//
// # Notation
//
//	C      Method.Classes   number of classes
//	ε_b    plan.base        what a class's model is calibrated to
//	w      Run.Output       C models of d weights each, one after the other
package onevsrest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// maxClasses bounds the classes: with more, nothing is left for one's model.
const maxClasses = 1000

// Method is one model for each class.
type Method struct {
	Classes int             // C, 3 to 1000: of two classes, one model is for both
	Target  accountant.Cost // (ε, δ) of all models together
	// Model prices a class's model for a target of its own. It may depend on no record.
	Model func(target accountant.Cost) (train.Plan, error)
}

// Plan prices the method for n records of dimension d: it calibrates what a class's model may cost
// so that all of them cost the target. Cost: some ten plans of a class's model.
func (m Method) Plan(ctx context.Context, n, d int) (train.Plan, error) {
	return train.PlanOf(m.plan(ctx, n, d))
}

func (m Method) plan(ctx context.Context, n, d int) (*plan, error) {
	if err := cmp.Or(check.Whole("number of classes", m.Classes, 3, maxClasses),
		check.Target(m.Target.Epsilon, m.Target.Delta)); err != nil {
		return nil, err
	}
	p := &plan{m: m}
	if err := p.calibrate(ctx); err != nil {
		return nil, err
	}
	one := p.one.Price
	if one.Records != n || one.Dim != d {
		return nil, fmt.Errorf("a class's model is for %d records of dimension %d, not %d of %d",
			one.Records, one.Dim, n, d)
	}
	p.price.Method = fmt.Sprintf("%d times %s", m.Classes, one.Method)
	p.price.Records, p.price.Dim, p.price.Blocks = n, m.Classes*d, one.Blocks
	p.price.Notes = append([]string{fmt.Sprintf("a model for each of %d classes against the rest, "+
		"at epsilon = %.6g and delta = %.3g by itself; all of them are composed", m.Classes,
		p.base.Epsilon, p.base.Delta)}, one.Notes...)
	return p, nil
}

// plan is a priced Method.
type plan struct {
	m     Method
	base  accountant.Cost // that each class's model is calibrated to
	one   train.Plan      // a class's model
	price train.Price
}

// calibrate finds the base. What it ends with is priced, not trusted.
func (p *plan) calibrate(ctx context.Context) error {
	models := float64(p.m.Classes)
	// δ of a model is a part of the target's, rounded down.
	p.base.Delta = p.m.Target.Delta / models * (1 - 0x1p-50)
	s := train.Search{Start: p.m.Target.Epsilon / models, Growing: true, Tolerance: 2e-3}
	s.Least, s.Most = s.Start/2, p.m.Target.Epsilon
	epsilon, _, err := train.Calibrate(ctx, p.m.Target.Epsilon, s, p.settle)
	if err != nil {
		return fmt.Errorf("models of %d classes: %w", p.m.Classes, err)
	}
	if _, err = p.settle(epsilon); err != nil {
		return err
	}
	return p.price.Within(p.m.Target)
}

// settle plans a class's model for the base's ε, and sets what all of them cost.
func (p *plan) settle(epsilon float64) (float64, error) {
	p.base.Epsilon = epsilon
	var err error
	if p.one, err = p.m.Model(p.base); err != nil {
		return 0, err
	}
	one := p.one.Price
	if one.Event == nil {
		return 0, fmt.Errorf("%s is not private, and so are no models of it", one.Method)
	}
	event, err := accountant.Compose(accountant.Charge{Event: one.Event, Count: p.m.Classes})
	if err != nil {
		return 0, err
	}
	bound, err := train.LeastEpsilon(event, one.Relation, p.m.Target.Delta)
	if err != nil {
		return 0, err
	}
	p.price.Relation, p.price.Event, p.price.Cost, p.price.Bound = one.Relation, event, bound.Cost,
		bound.Method
	return bound.Cost.Epsilon, nil
}

// Plan returns the plan for others.
func (p *plan) Plan() train.Plan {
	return train.Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train}
}

// Compare prices, beside all models, what one of them costs by itself.
func (p *plan) Compare() ([]train.PriceRow, error) {
	row := train.PriceRow{Noise: train.Calibrated}
	if len(p.price.Blocks) > 0 {
		row.Sensitivity, row.Deviation = p.price.Blocks[0].Sensitivity, p.price.Blocks[0].Deviation
	}
	one, all := row, row
	one.Reading, one.Epsilon = "one class's model alone", p.base.Epsilon
	all.Reading, all.Epsilon, all.InUse, all.Holds = "all models", p.price.Cost.Epsilon, true, true
	return []train.PriceRow{one, all}, nil
}

// Train returns the method on these records. Each class's model is made ready, so that what refuses
// records does so before anything is paid for.
func (p *plan) Train(r *data.Records) (train.Algorithm, error) {
	if r == nil {
		return train.Algorithm{}, check.Wantf("number of records", 0, "the %d of the plan", p.price.Records)
	}
	if err := r.Unweighted().Check(p.check); err != nil {
		return train.Algorithm{}, err
	}
	a := train.Algorithm{Cost: p.price.Cost, Rounds: p.m.Classes} // each model is rounded by its own noise
	var models []train.Algorithm
	h := sha256.New()
	fmt.Fprintf(h, "darrm one against the rest v1\n%v %v\n", p.m.Classes, p.price.Cost)
	for k := range p.m.Classes {
		one, err := against(r, k)
		if err != nil {
			return train.Algorithm{}, err
		}
		model, err := p.one.Train(one)
		if err != nil {
			return train.Algorithm{}, fmt.Errorf("class %d: %w", k, err)
		}
		fmt.Fprintf(h, "%x\n", model.Digest)
		models = append(models, model)
	}
	a.Digest, a.Refused = [32]byte(h.Sum(nil)), models[0].Releasable()
	a.Start = func(coins train.Coins) train.Run {
		return &run{of: models, coins: coins, models: make([]float64, p.price.Dim)}
	}
	return a, nil
}

// check refuses a record of no class.
func (p *plan) check(_ []float64, y float64) error { return check.Class(y, p.m.Classes) }

// against returns the records with the response 1 for class k, and 0 for the others.
func against(r *data.Records, k int) (*data.Records, error) {
	x, y := make([]float64, 0, r.Len()*r.Dim()), make([]float64, r.Len())
	for i := range y {
		x = append(x, r.Row(i)...)
		if r.Response(i) == float64(k) {
			y[i] = 1
		}
	}
	one, err := data.NewRecords(r.Len(), r.Dim(), x, y)
	if weights := r.Weights(); err == nil && weights != nil {
		return one.Weighted(weights) // a class's model refuses them, or knows them
	}
	return one, err
}

// streamClass derives the coins of a class's model, which no other model has.
const streamClass = "one against the rest"

// run trains a class's model a round.
type run struct {
	of     []train.Algorithm
	coins  train.Coins
	models []float64
}

func (e *run) State() []train.Vector {
	return []train.Vector{{Name: "models", Values: e.models}}
}

func (e *run) Output() []float64 { return e.models }

// Round trains the model of class k.
func (e *run) Round(ctx context.Context, k int) error {
	w, err := train.Inner(ctx, e.of[k], e.coins.Derive(streamClass, k))
	if err != nil {
		return err
	}
	copy(e.models[k*len(w):], w)
	return nil
}

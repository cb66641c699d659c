package solve

import (
	"context"
	"math"
	"slices"

	"github.com/darrm/darrm/plurality/answers"
)

// orders are those that are tried.
var orders = []int{2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64, 96, 128}

// firstOrder is the order of a chain that is tried first.
const firstOrder = 8

// coarse is the lattice step with which orders are compared, and manyAnswers the most answers up to
// which they are priced for that: with more, all orders have the same part of their price in the
// dearest pair alone.
const coarse, manyAnswers = 1. / 6, 4096

// order returns the order whose chain agrees most often, of some between 2 and 128, and where its
// price should keep the promise: by the model, corrected by one coarse price.
func (v *solver) order(ctx context.Context) (order int, x float64, err error) {
	if v.system.Problem().Labels > 0 {
		return v.orderOfLabels(ctx)
	}
	values, places := slices.Repeat([]float64{math.Inf(-1)}, len(orders)), make([]float64, len(orders))
	o := v.Price
	o.Step = min(coarse, 4*o.Step)
	try := func(i int) error {
		f := v.chainOf(orders[i])
		x, err := f.guess(ctx, v.system)
		if err != nil {
			return err
		}
		p, err := f.probabilities(x)
		if err != nil {
			return err
		}
		if v.system.Problem().Answers <= manyAnswers {
			price, _, err := v.system.Price(ctx, masses(v.system, p), o)
			if err != nil {
				return err
			}
			v.tell(answers.ChainLaw)(price)
			if x, err = f.corrected(ctx, v.system, x, logarithm(price)); err != nil {
				return err
			}
			if p, err = f.probabilities(x); err != nil {
				return err
			}
		}
		places[i] = x
		values[i] = v.value(masses(v.system, p))
		return nil
	}
	at := slices.Index(orders, firstOrder)
	if v.system.Problem().Answers <= fewAnswers { // which may agree most often at two orders
		for _, order := range []int{firstOrder, 20, 48, 128} {
			i := slices.Index(orders, order)
			if err := try(i); err != nil {
				return 0, 0, err
			}
			if values[i] > values[at] {
				at = i
			}
		}
	}
	for {
		best := at
		for i := max(0, at-1); i <= min(len(orders)-1, at+1); i++ {
			if math.IsInf(values[i], -1) {
				if err := try(i); err != nil {
					return 0, 0, err
				}
			}
			if values[i] > values[best] {
				best = i
			}
		}
		if best == at {
			return orders[at], places[at], nil
		}
		at = best
	}
}

// orderOfLabels is order where each label has a table: that of one table for the mean share. It is as good as the best
// for theirs, and is found without a table for each. Labels whose tables tell nothing at that order have no part in
// the mean: whatever the order, they cost nothing and gain nothing.
func (v *solver) orderOfLabels(ctx context.Context) (order int, x float64, err error) {
	mean, err := v.ofMean(ctx, v.prior.Yes)
	if err != nil {
		return 0, 0, err
	}
	if order, x, err = mean.order(ctx); err != nil {
		return 0, 0, err
	}
	some := v.telling(v.window(renyiLink(float64(order), moment(x))))
	if len(some) == 0 || len(some) == len(v.prior.Yes) {
		return order, x, nil
	}
	if mean, err = v.ofMean(ctx, some); err != nil {
		return 0, 0, err
	}
	return mean.order(ctx)
}

// telling returns the shares of yes of the labels that are worth more than always the same answer, where all labels
// have these probabilities.
func (v *solver) telling(all []float64) (yes []float64) {
	s, space := v.system, v.system.Space()
	for label := range s.Problem().Labels {
		// What answering yes is worth beside always no, of this table, of always yes, and without noise.
		var value float64
		var by answers.ByClass
		gains, own := s.Gains(v.prior, s.Weights(v.weights, label)), all[label*space.Variables():]
		for h := range space.Histograms() {
			gain := gains[space.Histogram(h)[1]]
			value += float64(gain * own[2*h+1])
			by.ConstantValue += gain
			by.Perfect += max(0, gain)
		}
		if by.ConstantValue = max(0, by.ConstantValue); by.Tells(value) {
			yes = append(yes, v.prior.Yes[label])
		}
	}
	return yes
}

// ofMean returns the solver of one table for the mean of shares of yes.
func (v *solver) ofMean(ctx context.Context, yes []float64) (*solver, error) {
	mean, p := *v, v.system.Problem()
	p.Labels = 0
	mean.prior.Shares, mean.prior.Yes = answers.Prior{Yes: yes}.MeanShares(), nil
	var err error
	if mean.system, err = answers.NewSystem(ctx, p); err != nil {
		return nil, err
	}
	mean.weights, err = mean.prior.Weights(ctx, mean.system)
	return &mean, err
}

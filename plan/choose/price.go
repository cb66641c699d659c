package choose

import (
	"context"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/release"
)

// Price is the cost of one answer.
type Price struct {
	Problem   constraints.Problem
	PerAnswer accountant.Cost
	Answer    accountant.Event // with the noise of the mechanism, where that is known without solving
	Mechanism string           // as ensemble.Describe knows it
	Teachers  bool             // the mechanism rests on the teachers' own promise
}

// Priced returns the price of an answer of the mechanism that is stated or decided on, and solves
// nothing: of an optimum no more is known than what one answer costs. K must be stated. The table
// is not looked at.
func Priced(ctx context.Context, r Request) (x Price, err error) {
	if err := r.CheckThreshold(); err != nil {
		return x, err
	}
	r.noVotes = true
	if _, err := r.validate(); err != nil {
		return x, err
	}
	d := r.mechanism()
	x.Mechanism, x.Teachers = d.Name, d.Teachers
	if d.Table == ensemble.NoiseTable && r.PresumesNothing() {
		x.Mechanism = ensemble.OptimalCounts
	}
	switch {
	case d.Table == ensemble.PluralityTable:
		p := r.plurality(r.K, r.Classes)
		if err := p.Validate(); err != nil && TooLong(err) == nil {
			return x, err
		}
		s := ensemble.Setting{K: p.K, Classes: p.Classes, Affected: p.Affected, Neighbours: r.Neighbours}
		x.PerAnswer = accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta}
		x.Problem = ensemble.OfCounts(s, x.PerAnswer)
	case d.Teachers:
		if x.Problem, err = r.Stated.Problem(r.K); err != nil {
			return x, err
		}
		if d.Table != ensemble.NoiseTable { // what is not private has no cost
			if _, err := release.Baseline(ctx, d.Name, x.Problem, r.Neighbours); err != nil {
				return x, err
			}
		}
		x.PerAnswer.Epsilon, x.PerAnswer.Delta = x.Problem.Total()
	default:
		g, err := r.calibrated(d.Name, r.K, r.Classes)
		if err != nil {
			return x, err
		}
		m := g.Mechanism()
		x.Problem, x.PerAnswer, x.Answer = m.Problem(), m.PerAnswer(), m.Event()
		return x, nil
	}
	x.Answer = accountant.ApproxDP{Cost: x.PerAnswer, Neighbours: r.Neighbours}
	return x, nil
}

package shuffled

import (
	"context"
	"math"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// BoundOptions are the parameters of [BoundOf] besides the run.
type BoundOptions struct {
	Beta       float64 // β; 0 as [Plan.Bounds]
	L1Bound    float64 // as BoundInput
	Projection bool    // as BoundInput
	Seed       uint64  // of the search for the public data's dissimilarity
}

// BoundReport is a run's excess-risk bound with what it rests on.
type BoundReport struct {
	Account   iteration.Report // the run's noise and cost
	Bound     Bound
	Rates     *Rates  // nil for a run without noise or without a cost
	TunedStep float64 // see [TunedStepSize]
}

// BoundOf plans the run and bounds its excess risk over the optimum. All of it is a secret
// of the data. Its cost is that of [EstimateDissimilarity]. The errors are those of NewPlan,
// Plan.Bounds, ExcessRisk and Rate, or that of ctx.
func BoundOf(ctx context.Context, c Config, private, public *data.Records, optimum train.Optimum,
	o BoundOptions) (r BoundReport, err error) {
	plan, err := NewPlan(ctx, c, private, public)
	if err != nil {
		return r, err
	}
	in, err := plan.Bounds(func(privateSteps int) (Dissimilarity, error) {
		return EstimateDissimilarity(ctx, c.Task, private, public, privateSteps,
			DissimilarityOptions{Seed: o.Seed})
	}, optimum, o.Beta)
	if err != nil {
		return r, err
	}
	in.L1Bound, in.Projection = o.L1Bound, o.Projection
	if r.Bound, err = ExcessRisk(in); err != nil {
		return r, err
	}
	r.Account = plan.Report()
	r.TunedStep = tunedStepSize(in.N, plan.Rounds(), in.Distance, in.Variance, in.AvgSmoothness,
		in.MaxSmoothness)
	if epsilon := r.Account.Cost.Epsilon; epsilon == 0 || math.IsInf(epsilon, 1) {
		return r, nil
	}
	share := 1.0
	if c.Method.UsesFraction() {
		share = c.Fraction
	}
	rates, err := rate(c.Method, in.N, in.Dim, r.Account.Cost.Epsilon, share)
	r.Rates = &rates
	return r, err
}

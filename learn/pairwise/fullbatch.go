package pairwise

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// FullBatch is private localised gradient descent over all pairs (DPEGD, after Xue et al., 2021):
// the phases of OnePass, of T_k = n_k steps of η_k on ∇F_{S_k}. Cost: n_k² evaluations a step.
//
// Privacy: a record is in 2(n_k-1) of n_k(n_k-1) pairs, so one that is replaced moves a step by at
// most cGη_k/n_k, the t-th iterate by t times that, and the average of T_k by (T_k+1)/2 times.
type FullBatch struct {
	Setting
	StepSize float64 // η; 0 is as for OnePass
	// Passes is T_k/n_k; 0 is 1.
	Passes float64
	// Noise is Calibrated for "". Printed is for the published sensitivity 4Gη_kT_k/n_k, up to four
	// times as much.
	Noise train.Noise
}

// Plan prices the method for n records of dimension d.
func (c FullBatch) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c FullBatch) plan(n, d int) (*phased, error) {
	p, err := newPhased(c.Setting, allPairs, c.StepSize, n, d)
	if err != nil {
		return nil, err
	}
	if c.Passes == 0 {
		c.Passes = 1
	}
	if !(c.Passes > 0 && c.Passes <= maxPasses) {
		return nil, &check.Error{Name: "passes", Value: c.Passes, Rule: "in (0, 1e6], or 0 for 1"}
	}
	p.split(func(records int) int { return max(1, int(float64(records)*c.Passes)) })
	switch c.Noise {
	case "", train.Calibrated:
	case train.Printed:
		p.noise = train.Printed
	default:
		return nil, &check.Error{Name: "noise", Value: c.Noise, Rule: "calibrated or printed"}
	}
	plan, err := p.deterministic(c.StepSize, 1/(math.Sqrt(float64(n))*c.Passes),
		func(d draws) float64 {
			moved := float64(d.steps+1) / (2 * float64(d.records))
			if p.noise == train.Printed { // of the last iterate, by 4G whatever the loss
				return max(moved, 4/p.occurrence*float64(d.steps)/float64(d.records))
			}
			return moved
		})
	if err == nil && p.noise == train.Printed {
		b := p.price.Blocks[0]
		p.rows = []train.PriceRow{{Noise: train.Printed,
			Reading: "published: the last iterate moves by 4GηT/n", Sensitivity: b.Sensitivity,
			Deviation: b.Deviation, Epsilon: p.Target.Epsilon, InUse: true, Holds: true}}
	}
	return plan, err
}

// descend does the steps of a phase of FullBatch.
func (e *phasedRun) descend(ctx context.Context, b train.Block, steps int) error {
	sum := newPairSum(&e.p.task, e.rows, b.From, b.To)
	for range steps {
		if err := sum.gradient(ctx, e.z, e.u); err != nil {
			return err
		}
		floats.AddScaled(e.u, -b.StepSize, e.z)
		e.p.project(e.u)
		floats.Add(e.sum, e.u)
	}
	return nil
}

package pairwise

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// pairSum has the mean loss over all ordered pairs of a block of records,
//
//	F_S(w) = 1/(n(n-1)) Σ_{i≠j} f(w; z_i, z_j),
//
// for which only pairs of a positive and a negative example matter: twice each where the loss is
// symmetric.
type pairSum struct {
	t                  *task
	rows               samples
	positive, negative []int
	weight             float64   // of a pair of a positive and a negative example
	up, down           []float64 // scores of the positive and of the negative ones
	a, b               []float64 // sums of slopes of each
	ramp               *ramp     // of a smoothed hinge
}

func newPairSum(t *task, rows samples, from, to int) *pairSum {
	s := &pairSum{t: t, rows: rows}
	for i := from; i < to; i++ {
		if rows.Response(i) == 1 {
			s.positive = append(s.positive, i)
		} else {
			s.negative = append(s.negative, i)
		}
	}
	n := float64(to - from)
	s.weight = 1 / (n * (n - 1))
	if t.Loss.Orientation() == loss.Symmetric {
		s.weight *= 2
	}
	s.up, s.a = make([]float64, len(s.positive)), make([]float64, len(s.positive))
	s.down, s.b = make([]float64, len(s.negative)), make([]float64, len(s.negative))
	if e, ok := t.Loss.Link().(loss.Envelope); ok {
		if of, beta := e.Of(); of == loss.Proximal(loss.Hinge{}) && t.slope >= 1 {
			s.ramp = newRamp(beta, len(s.positive), len(s.negative))
		}
	}
	return s
}

func (s *pairSum) score(w []float64) {
	for k, i := range s.positive {
		s.up[k] = floats.Dot(w, s.rows.Row(i))
	}
	for k, i := range s.negative {
		s.down[k] = floats.Dot(w, s.rows.Row(i))
	}
}

// value returns F_S(w). Cost: O(nd) and an evaluation a pair.
func (s *pairSum) value(w []float64) float64 {
	s.score(w)
	sum := 0.0
	for _, p := range s.up {
		part := 0.0
		for _, q := range s.down {
			part += s.t.Loss.Value(p - q)
		}
		sum += part
	}
	return sum * s.weight
}

// gradient sets g to ∇F_S(w), with slopes cut to their bounds. Cost as value's, and O(n·(d + ln n))
// for a smoothed hinge, but for pairs in its bend.
func (s *pairSum) gradient(ctx context.Context, g, w []float64) error {
	s.score(w)
	if s.ramp != nil {
		s.ramp.slopes(s.up, s.down, s.a, s.b)
	} else if err := s.slopes(ctx); err != nil {
		return err
	}
	clear(g)
	for k, i := range s.positive {
		floats.AddScaled(g, s.a[k]*s.weight, s.rows.Row(i))
	}
	for m, i := range s.negative {
		floats.AddScaled(g, -s.b[m]*s.weight, s.rows.Row(i))
	}
	return nil
}

// slopes sets a and b pair by pair.
func (s *pairSum) slopes(ctx context.Context) error {
	clear(s.b)
	for k, p := range s.up {
		if k%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		part := 0.0
		for m, q := range s.down {
			v := s.t.cut(s.t.Loss.Slope(p - q))
			part += v
			s.b[m] += v
		}
		s.a[k] = part
	}
	return nil
}

// Risk returns F_S(w) of a loss on records with classes, unclipped: what simulations are measured
// by, and a secret of the records. Cost: an evaluation for each pair of two classes.
func Risk(l loss.Pair, records *data.Records, w []float64) float64 {
	return newPairSum(&task{Setting: Setting{Base: Base{Loss: l}}}, records, 0, records.Len()).value(w)
}

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
	c.Passes = cmp.Or(c.Passes, 1)
	if !(c.Passes > 0 && c.Passes <= maxPasses) {
		return nil, check.Want("passes", c.Passes, "in (0, 1e6], or 0 for 1")
	}
	p.split(func(records int) int { return max(1, int(float64(records)*c.Passes)) })
	if p.noise, err = check.OneOf("noise", c.Noise, train.Calibrated, train.Printed); err != nil {
		return nil, err
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
		p.known = []train.PriceRow{p.price.Used(train.Printed, "published: the last iterate moves by 4GηT/n",
			p.price.Blocks[0])}
	}
	return plan, err
}

// descend does the steps of a phase of FullBatch.
func (e *pairWalk) descend(ctx context.Context, b train.Block, steps int) error {
	sum, g := newPairSum(&e.p.task, e.rows, b.From, b.To), make([]float64, e.p.d)
	for range steps {
		if err := sum.gradient(ctx, g, e.u); err != nil {
			return err
		}
		floats.AddScaled(e.u, -b.StepSize, g)
		e.p.project(e.u)
		floats.Add(e.sum, e.u)
	}
	return nil
}

package pairwise

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/train"
)

// minimisedRun is one run of Minimised. Its state is the last noised minimiser, in W.
type minimisedRun struct {
	p     *minimised
	rows  samples
	noise normals
	w, v  []float64
	z     []float64
}

func newMinimisedRun(p *minimised, rows samples, noise normals) *minimisedRun {
	v := func() []float64 { return make([]float64, p.d) }
	return &minimisedRun{p, rows, noise, v(), v(), v()}
}

// State returns w_k.
func (e *minimisedRun) State() []train.Vector { return []train.Vector{{Name: "w", Values: e.w}} }

// Output returns w_k.
func (e *minimisedRun) Output() []float64 { return e.w }

// Round does phase k+1.
func (e *minimisedRun) Round(ctx context.Context, k int) error {
	b := e.p.price.Blocks[k]
	if err := e.p.phases[k].minimise(ctx, e.rows, b.From, b.To, e.w, e.v); err != nil {
		return err
	}
	e.noise.Restart(streamNoise, k)
	e.noise.Fill(e.z)
	for j := range e.w {
		e.w[j] = e.v[j] + b.Deviation*e.z[j]
	}
	e.p.project(e.w)
	return nil
}

// minimise sets w to a point where the gradient of
//
//	J(w) = F_S(w) + (α/2)‖w-centre‖²
//
// has a norm of at most γ, its rounding errors included, so that w is within γ/α of the
// minimiser: Nesterov's method for strongly convex functions (Introductory Lectures on Convex
// Optimization, 2004, Section 2.2). The minimiser is within G/α of the centre, and J falls to
// within (1-√(α/L))ᵏ·L·(G/α)² of its minimum, so how many steps always suffice is known
// beforehand: that the search ends does not depend on the data.
func (o *objective) minimise(ctx context.Context, rows samples, from, to int, centre,
	w []float64) error {
	t := &o.task
	smooth := o.curvature + o.alpha
	far := t.norm / o.alpha
	// At the extrapolated points ‖∇J‖ ≤ 3L√(2·gap/α).
	orders := math.Log(18) + 3*math.Log(smooth) + 2*math.Log(far) - 2*math.Log(o.tolerance/2) -
		math.Log(o.alpha)
	root := math.Sqrt(o.alpha / smooth)
	limit := 100 + 2/root*max(1, orders)
	momentum := (1 - root) / (1 + root)
	pairs := newPairSum(t, rows, from, to)
	v, before, g := make([]float64, t.d), make([]float64, t.d), make([]float64, t.d)
	copy(v, centre)
	copy(w, centre)
	for k := 0.0; k < limit; k++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := pairs.gradient(ctx, g, v); err != nil {
			return err
		}
		for j := range g {
			g[j] += o.alpha * (v[j] - centre[j])
		}
		if vec.Norm(g)*(1+vec.Slack(t.d))+o.rounding(to-from, max(vec.Norm(v), vec.Norm(centre))) <=
			o.tolerance {
			copy(w, v)
			return nil
		}
		copy(before, w)
		for j := range w {
			w[j] = v[j] - g[j]/smooth
			v[j] = w[j] + momentum*(w[j]-before[j])
		}
	}
	if math.IsNaN(vec.Norm(g)) {
		return train.ErrDiverged
	}
	// cannot happen
	return fmt.Errorf("no point with a gradient of norm %g was found in %g steps", o.tolerance, limit)
}

// rounding bounds the norm of the rounding error of J's gradient over a number of records, at
// points of norm at most length: of scores, which the slope magnifies by its curvature, of the
// sums over pairs, and of the regulariser, four times over.
func (o *objective) rounding(records int, length float64) float64 {
	const ulp = 0x1p-53
	n := float64(records)
	scores := o.curvature * (length*float64(o.task.d+8) + 4/o.task.Radius)
	return ulp * 4 * (scores + (2*n+16)*o.task.norm + 4*o.alpha*length)
}

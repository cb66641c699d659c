package pairwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

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

// ramp sums the slopes -clamp(β(1-s), 0, 1) of the smoothed hinge over all pairs, s = p - q,
// without going through them: most are 0 or -1, and of sorted scores it is known which. It works
// out the others as the link does, so that the sums are the same but for their order.
type ramp struct {
	beta     float64
	up, down []int     // numbers of the scores, sorted by them; nearly sorted from call to call
	full     []float64 // how many pairs with slope -1 begin at a place in down
}

func newRamp(beta float64, positive, negative int) *ramp {
	r := &ramp{beta: beta, up: make([]int, positive), down: make([]int, negative),
		full: make([]float64, negative+1)}
	for i := range r.up {
		r.up[i] = i
	}
	for i := range r.down {
		r.down[i] = i
	}
	return r
}

// slopes sets a to the sums over the negative scores q of each positive score p, and b the other
// way about.
func (r *ramp) slopes(p, q, a, b []float64) {
	slices.SortFunc(r.up, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	slices.SortFunc(r.down, func(i, j int) int { return cmp.Compare(q[i], q[j]) })
	clear(b)
	clear(r.full)
	low, high := 0, 0 // places in down from which on the slope is below 0, and -1
	for _, i := range r.up {
		steep := func(place int) float64 { return r.beta * (1 - (p[i] - q[r.down[place]])) }
		for high < len(q) && !(steep(high) >= 1) {
			high++
		}
		for low < high && !(steep(low) > 0) {
			low++
		}
		sum := float64(len(q) - high)
		r.full[high]++
		for place := low; place < high; place++ {
			v := steep(place)
			sum += v
			b[r.down[place]] -= v
		}
		a[i] = -sum
	}
	begun := 0.0
	for place, j := range r.down {
		begun += r.full[place]
		b[j] -= begun
	}
}

// intersect replaces w by the point next to it of the ball of a radius around 0 and that of r
// around centre, which is in the first.
//
// Where neither ball's own projection is in the other, the point is on both spheres: they meet
// in the plane ⟨v, centre⟩ = h‖centre‖, in a sphere around its point h·centre/‖centre‖.
func intersect(w []float64, radius float64, centre []float64, r float64) {
	const rounding = 1 + 1e-12
	outside := func(v []float64) (far, off bool) {
		return floats.Norm(v, 2) > radius*rounding, floats.Distance(v, centre, 2) > r*rounding
	}
	far, off := outside(w)
	if !far && !off {
		return
	}
	d := len(w)
	v := make([]float64, d)
	if far {
		floats.ScaleTo(v, radius/floats.Norm(w, 2), w)
		if _, off := outside(v); !off {
			copy(w, v)
			return
		}
	}
	if off {
		floats.SubTo(v, w, centre)
		floats.Scale(r/floats.Norm(v, 2), v)
		floats.Add(v, centre)
		if far, _ := outside(v); !far {
			copy(w, v)
			return
		}
	}
	length := floats.Norm(centre, 2)
	if length == 0 { // the smaller of two balls around 0
		floats.Scale(min(radius, r)/floats.Norm(w, 2), w)
		return
	}
	h := (length*length + radius*radius - r*r) / (2 * length)
	around := math.Sqrt(max(0, radius*radius-h*h))
	along := floats.Dot(w, centre) / length
	floats.AddScaledTo(v, w, -along/length, centre) // across
	across := floats.Norm(v, 2)
	floats.ScaleTo(w, h/length, centre)
	if across > 0 {
		floats.AddScaled(w, around/across, v)
	}
}

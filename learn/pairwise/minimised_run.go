package pairwise

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/train"
)

// newMinimisedRun returns a run, whose state is the last noised minimiser, in W.
func newMinimisedRun(p *minimised, rows samples, noise normals) *phaseRun {
	return newPhaseRun(&p.planned, noise, func(ctx context.Context, k int, b train.Block, w, to []float64) error {
		return p.solved[k].minimise(ctx, rows, b.From, b.To, w, to)
	})
}

// minimise sets w to a point where the gradient of
//
//	J(w) = F_S(w) + (α/2)‖w-centre‖²
//
// has a norm of at most γ. The minimiser is within G/α of the centre.
func (o *objective) minimise(ctx context.Context, rows samples, from, to int, centre,
	w []float64) error {
	pairs := newPairSum(&o.task, rows, from, to)
	length := vec.Norm(centre)
	copy(w, centre)
	return train.Minimise(ctx, train.StronglyConvex{Convexity: o.alpha, Smooth: o.curvature + o.alpha,
		Far: o.task.norm / o.alpha, Tolerance: o.tolerance,
		Gradient: func(ctx context.Context, g, v []float64) error {
			if err := pairs.gradient(ctx, g, v); err != nil {
				return err
			}
			for j := range g {
				g[j] += o.alpha * (v[j] - centre[j])
			}
			return nil
		},
		Rounding: func(v []float64) float64 { return o.rounding(to-from, max(vec.Norm(v), length)) },
	}, w)
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

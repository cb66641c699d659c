package convex

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// erm is the minimisation of
//
//	J(w) = (1/n)Σ φ(⟨w,x⟩, y) + (λ/2)‖w‖² + ⟨b,w⟩
//
// for a convex φ with |φ′| ≤ L0 (its slopes are clipped to that) and φ″ ≤ C, and ‖x‖ ≤ R: J is
// λ-strongly convex and (CR²+λ)-smooth.
type erm struct {
	task
	lambda    float64
	curvature float64 // C
	// tolerance is γ: the minimiser is found to ‖∇J(w)‖ ≤ γ, so ‖w - w*‖ ≤ γ/λ.
	tolerance float64
}

// newERM checks what the minimisation needs. A link with kinks is replaced by its envelope at
// smoothing, or at √n·L0/R where that is 0. lambda is set later.
func newERM(s Setting, n, d int, smoothing, ball float64) (erm, error) {
	t, err := checked(s, n, d, math.Inf(1))
	if err != nil {
		return erm{}, err
	}
	if err := t.replaced(); err != nil {
		return erm{}, err
	}
	if t.link.WeakConvexity() != 0 {
		return erm{}, check.Want("task", t.link.Name(), "convex for this method")
	}
	if err := checkBall(ball); err != nil {
		return erm{}, err
	}
	if !(smoothing >= 0) || math.IsInf(smoothing, 1) {
		return erm{}, check.Want("smoothing", smoothing, "0, or a finite Moreau parameter")
	}
	if prox, ok := t.link.(loss.Proximal); ok && (math.IsInf(t.link.Curvature(), 1) || smoothing > 0) {
		smoothing = cmp.Or(smoothing, math.Sqrt(float64(n))*t.slope/t.Radius)
		if t.link, err = loss.NewEnvelope(prox, smoothing); err != nil {
			return erm{}, err
		}
	}
	if smoothing > 0 && math.IsInf(t.link.Curvature(), 1) {
		return erm{}, check.Want("smoothing", smoothing, "0 for "+t.link.Name()+", which has no proximal map")
	}
	c := t.link.Curvature()
	if math.IsInf(c, 1) {
		return erm{}, check.Want("task", t.link.Name(), "smooth, or with a proximal map that smooths it")
	}
	return erm{task: t, curvature: c}, nil
}

// regularise sets λ, or the suggested one for 0.
func (e *erm) regularise(lambda, suggested float64) error {
	e.lambda = cmp.Or(lambda, suggested)
	if !(e.lambda >= 1e-100 && e.lambda <= data.MaxMagnitude) {
		return check.SettledBy(check.Want("lambda", lambda,
			"above 0, or 0 beside a ball: the account rests on strong convexity"), "lambda", "set")
	}
	return nil
}

// solve sets w to a point with ‖∇J(w)‖ ≤ γ. The minimiser is no longer than (L0·R+‖b‖)/λ.
func (e *erm) solve(ctx context.Context, rows *data.Records, b, w []float64) error {
	sum := make([]float64, e.d)
	clear(w)
	return train.Minimise(ctx, train.StronglyConvex{Convexity: e.lambda,
		Smooth:    (e.curvature*e.Radius*e.Radius + e.lambda) * (1 + slack),
		Far:       (e.norm + vec.Norm(b)) / e.lambda,
		Tolerance: e.tolerance,
		Gradient: func(ctx context.Context, g, v []float64) error {
			return e.gradient(ctx, rows, b, v, g, sum)
		},
		Rounding: func(v []float64) float64 { return e.rounding(b, v) },
	}, w)
}

// blockOf is the number of rows whose sum is formed before it is added to the others'. A sum of n
// numbers is then off by blockOf + n/blockOf roundings, not n.
const blockOf = 1024

// gradient sets g to ∇J(v).
func (e *erm) gradient(ctx context.Context, rows *data.Records, b, v, g, sum []float64) error {
	clear(g)
	n := rows.Len()
	for from := 0; from < n; from += blockOf {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		clear(sum)
		for i := from; i < min(n, from+blockOf); i++ {
			x := rows.Row(i)
			s := e.link.Slope(floats.Dot(v, x), rows.Response(i))
			floats.AddScaled(sum, max(-e.slope, min(e.slope, s)), x)
		}
		floats.Add(g, sum)
	}
	for j := range g {
		g[j] = g[j]/float64(n) + e.lambda*v[j] + b[j]
	}
	return nil
}

// rounding bounds the norm of the gradient's rounding error: of the sums, of the products and
// of the prediction ⟨v,x⟩, which φ′ magnifies by its curvature.
func (e *erm) rounding(b, v []float64) float64 {
	const ulp = 0x1p-53
	sums := blockOf + float64(e.n)/blockOf + 16
	length := vec.Norm(v)
	predictions := e.curvature * e.Radius * e.Radius * length * float64(e.d+8)
	return ulp * 2 * (sums*e.norm + predictions + 4*(e.lambda*length+vec.Norm(b)))
}

// tolerate sets γ to a share of what one record moves a gradient by, or where float64 may
// not reach that, whatever the records are and for ‖b‖ ≤ longest, to what it does reach.
func (e *erm) tolerate(share, longest float64) {
	v, b := make([]float64, e.d), make([]float64, e.d)
	v[0], b[0] = (e.norm+longest)/e.lambda, longest
	e.tolerance = max(share*e.gradients()*e.norm/float64(e.n), 4*e.rounding(b, v))
}

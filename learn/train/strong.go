package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/vec"
)

// StronglyConvex is a function that [Minimise] finds the minimiser of.
type StronglyConvex struct {
	Convexity float64 // λ, of strong convexity
	Smooth    float64 // L
	Far       float64 // the minimiser is no further from the start
	Tolerance float64 // γ: how long a gradient may be that counts as 0
	// Gradient sets g to the gradient at v, and Rounding bounds the norm of its rounding error.
	Gradient func(ctx context.Context, g, v []float64) error
	Rounding func(v []float64) float64
}

// Minimise replaces w, the start, by a point with a gradient of norm γ at most, rounding errors
// included, so that it is within γ/λ of the minimiser: Nesterov's method for strongly convex
// functions (Introductory Lectures on Convex Optimization, 2004, Section 2.2). The function falls to
// within (1-√(λ/L))ᵏ·L·Far² of its minimum, so the number of steps that always suffice is known
// beforehand: that the search ends with a certificate does not depend on the data.
func Minimise(ctx context.Context, f StronglyConvex, w []float64) error {
	// At the extrapolated points ‖∇‖ ≤ 3L√(2·gap/λ).
	orders := math.Log(18) + 3*math.Log(f.Smooth) + 2*math.Log(f.Far) - 2*math.Log(f.Tolerance/2) -
		math.Log(f.Convexity)
	root := math.Sqrt(f.Convexity / f.Smooth)
	limit := 100 + 2/root*max(1, orders)
	momentum := (1 - root) / (1 + root)
	v, before, g := slices.Clone(w), make([]float64, len(w)), make([]float64, len(w))
	for k := 0.0; k < limit; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.Gradient(ctx, g, v); err != nil {
			return err
		}
		if vec.Norm(g)*(1+vec.Slack(len(w)))+f.Rounding(v) <= f.Tolerance {
			copy(w, v)
			return nil
		}
		copy(before, w)
		for j := range w {
			w[j] = v[j] - g[j]/f.Smooth
			v[j] = w[j] + momentum*(w[j]-before[j])
		}
	}
	if math.IsNaN(vec.Norm(g)) {
		return ErrDiverged
	}
	// Cannot happen: tolerances are what float64 reaches.
	return fmt.Errorf("no point with a gradient of norm %g was found in %g steps", f.Tolerance, limit)
}

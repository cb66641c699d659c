package pairwise

import (
	"cmp"
	"slices"
)

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

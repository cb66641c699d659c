package solve

import "math"

// projectCone replaces v by v - Proj(v), the projection on the polar cone of
//
//	{u : max u ≤ e·min u} = {u : s ≤ u ≤ e·s for some s ≥ 0},   e > 1
//
// The nearest s is where f'(s) = Σ_{v<s} (s-v) - e·Σ_{v>es} (v-es) changes sign; f' is
// piecewise linear and increasing. Newton's steps inside a bracket find it in a few passes.
func projectCone(v []float64, e float64) {
	low, high := v[0], v[0]
	for _, x := range v[1:] {
		low, high = min(low, x), max(high, x)
	}
	if high <= e*low { // then low ≥ 0
		clear(v)
		return
	}
	if high <= 0 {
		return // the nearest point is 0
	}
	// f' < 0 at left and > 0 at right, once 0 itself is excluded.
	left, right := max(0, low), high/e
	if low < 0 {
		slope := 0.0
		for _, x := range v {
			if x < 0 {
				slope -= x
			} else {
				slope -= e * x
			}
		}
		if slope >= 0 {
			return // s = 0
		}
	}
	s := min(right, max(left, (low+e*high)/(1+e*e))) // if only these two are outside
	for range 60 {
		es := e * s
		num, den, f := 0.0, 0.0, 0.0
		for _, x := range v {
			if x < s {
				num += x
				den++
				f += s - x
			} else if x > es {
				num += e * x
				den += e * e
				f -= e * (x - es)
			}
		}
		if f < 0 {
			left = s
		} else {
			right = s
		}
		next := num / den
		if den == 0 || !(next >= left && next <= right) {
			next = 0.5 * (left + right)
		}
		if d := next - s; d <= 1e-16*s && d >= -1e-16*s {
			break
		}
		s = next
	}
	es := e * s
	for i, x := range v {
		switch {
		case x < s:
			v[i] = x - s
		case x > es:
			v[i] = x - es
		default:
			v[i] = 0
		}
	}
}

// projectSimplex replaces q by the nearest point of {p ≥ 0 : Σ m·p = 1} in the norm
// Σ p²/τ: max(0, q - θ·τ·m) for the θ that makes the sum 1. step is τ.
func projectSimplex(q, step, m []float64) {
	theta, active := math.Inf(-1), len(q)+1
	for {
		n, sum, den := 0, -1.0, 0.0
		for i, x := range q {
			mt := m[i] * step[i]
			if x > theta*mt {
				n++
				sum += m[i] * x
				den += m[i] * mt
			}
		}
		if n >= active { // the sets are nested: it is the same one, but for rounding
			break
		}
		theta, active = sum/den, n
	}
	for i, x := range q {
		q[i] = max(0, x-theta*m[i]*step[i])
	}
}

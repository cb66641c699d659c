package solve

import "math"

// projectCone replaces v by v - Proj(v), the projection on the polar cone of
//
//	{u : max u ≤ e·min u} = {u : s ≤ u ≤ e·s for some s ≥ 0},   e > 1
//
// The nearest s is where f'(s) = Σ_{v<s} (s-v) - e·Σ_{v>es} (v-es) changes sign; f' is
// piecewise linear and increasing. Newton's steps inside a bracket find it in a few passes, in two
// where guess is near. It returns s, or guess where none is needed.
func projectCone(v []float64, e, guess float64) float64 {
	low, high := v[0], v[0]
	for _, x := range v[1:] {
		if x < low {
			low = x
		}
		if x > high {
			high = x
		}
	}
	if high <= e*low { // then low ≥ 0
		clear(v)
		return guess
	}
	if high <= 0 {
		return guess // the nearest point is 0
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
			return guess // s = 0
		}
	}
	square := e * e
	s := guess
	if !(s > left && s < right) {
		s = min(right, max(left, (low+e*high)/(1+square))) // if only these two are outside
	}
	for range 60 {
		es := e * s
		below, above, fewer, more := 0.0, 0.0, 0, 0
		for _, x := range v {
			if x < s {
				below += x
				fewer++
			} else if x > es {
				above += x
				more++
			}
		}
		num, den := below+e*above, float64(fewer)+square*float64(more)
		// f'(s) = den·s - num
		next := num / den
		if next > s {
			left = s
		} else {
			right = s
		}
		if !(next >= left && next <= right) { // NaN too
			next = 0.5 * (left + right)
		}
		d := next - s
		s = next
		if d <= 4e-16*s && d >= -4e-16*s {
			break
		}
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
	return s
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

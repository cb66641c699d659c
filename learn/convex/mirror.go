package convex

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/geometry"
)

// mirror takes steps of mirror descent in the ball W of ‖·‖_p and a given radius, p in (1,2], by
// the mirror map h(v) = ½‖v - c‖_p². With q dual to p,
//
//	∇h(v) = ‖x‖_p·(sgn(x_i)(|x_i|/‖x‖_p)^{p-1})_i, x = v - c,   its inverse  θ ↦ c + ∇½‖θ‖_q²,
//
// and h is (p-1)-strongly convex in ‖·‖_p. A step from v is to the Bregman projection of a point
// onto W, which is closed for p = 2 only. For others it is replaced by projections onto half-spaces
// that W is in, {⟨b,v⟩ ≤ radius} for the norm's gradient b where the point stands: θ becomes θ -
// τb, for the τ that puts it on the border. By each the divergence D(u, v) of every u in W falls or
// stays, which is all that the analysis of mirror descent needs, so nothing is lost to them; and a
// τ that is too small is the projection onto a wider half-space, so neither is to rounding. They
// end within 1+cutSlack of the ball.
//
// Privacy rests on none of this: a step is a function of noised gradients and of released iterates.
type mirror struct {
	p, q, radius  float64
	center        []float64
	point, dual   []float64 // v and θ = ∇h(v)
	facet, moving []float64
	cuts          int // the most half-spaces that a step took: for tests
}

// cutSlack bounds how far outside the ball a point of a step may be, relative to the radius.
const cutSlack = 1e-9

// maxCuts bounds the half-spaces of a step. Tests of every norm that a plan allows needed at most
// 12.
const maxCuts = 64

func newMirror(p float64, d int, radius float64) *mirror {
	v := func() []float64 { return make([]float64, d) }
	return &mirror{p: p, q: geometry.Dual(p), radius: radius,
		center: v(), point: v(), dual: v(), facet: v(), moving: v()}
}

// restart makes c the center, and v.
func (m *mirror) restart(c []float64) {
	copy(m.center, c)
	copy(m.point, c)
	clear(m.dual)
}

// step goes a step of a size down g + β∇h(v).
func (m *mirror) step(g []float64, size, beta float64) {
	for j := range m.dual {
		m.dual[j] -= size * (g[j] + beta*m.dual[j])
	}
	if m.p == 2 {
		floats.AddTo(m.point, m.center, m.dual)
		vec.Clip(m.point, m.radius)
		floats.SubTo(m.dual, m.point, m.center)
		return
	}
	m.primal(0)
	for cut := 0; ; cut++ {
		norm := geometry.Norm(m.point, m.p)
		if !(norm > m.radius*(1+cutSlack)) {
			return
		}
		if cut == maxCuts { // in W, if not where the analysis wants it
			floats.Scale(m.radius/norm, m.point)
			floats.SubTo(m.moving, m.point, m.center)
			halfSquareGradient(m.dual, m.moving, m.p)
			return
		}
		m.cuts = max(m.cuts, cut+1)
		for j, x := range m.point {
			m.facet[j] = math.Copysign(math.Pow(math.Abs(x)/norm, m.p-1), x)
		}
		floats.AddScaled(m.dual, -m.border(norm-m.radius), m.facet)
		m.primal(0)
	}
}

// border returns the τ ≥ 0 with ⟨b, v⟩ = radius for the dual point θ - τb, or slightly less.
func (m *mirror) border(above float64) float64 {
	// v moves by at most (q-1)·τ, so the border is no nearer than that.
	low, high := above/(m.q-1), 2*above/(m.q-1)
	atLow, atHigh := m.primal(low), m.primal(high)
	for atHigh > 0 {
		low, atLow = high, atHigh
		high *= 2
		atHigh = m.primal(high)
	}
	// The rule of false position in the form called Illinois.
	for range 200 {
		if atLow <= m.radius*cutSlack/4 || high-low <= 1e-15*high {
			break
		}
		t := low + (high-low)*atLow/(atLow-atHigh)
		if !(t > low && t < high) {
			t = low + (high-low)/2
		}
		if at := m.primal(t); at > 0 {
			low, atLow, atHigh = t, at, atHigh/2
		} else {
			high, atHigh, atLow = t, at, atLow/2
		}
	}
	return low
}

// primal sets v to the point of θ - τb, and returns ⟨b, v⟩ - radius.
func (m *mirror) primal(tau float64) float64 {
	floats.AddScaledTo(m.moving, m.dual, -tau, m.facet)
	halfSquareGradient(m.point, m.moving, m.q)
	floats.Add(m.point, m.center)
	return floats.Dot(m.facet, m.point) - m.radius
}

// halfSquareGradient sets g to ∇½‖x‖_p², which is x for p = 2.
func halfSquareGradient(g, x []float64, p float64) {
	norm := geometry.Norm(x, p)
	if norm == 0 {
		clear(g)
		return
	}
	for j, v := range x {
		g[j] = norm * math.Copysign(math.Pow(math.Abs(v)/norm, p-1), v)
	}
}

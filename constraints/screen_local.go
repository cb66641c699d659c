package constraints

// nearby is the bound of screen for each n1 by itself. Where many teachers sit at (a,b), U and V are
// flat but for a few places, and most multisets of a family differ by little: with the largest
// curvature of the whole family hardly one of them can be ruled out.
//
// A mixed derivative of A averages second differences of U around n1+S, where S are the steps of the
// other teachers: each goes up or down by 1 with a probability of at most Δ. So |S| is at most Z in
// law, Z ~ Binomial(t,Δ), and the centre of the difference is at most one step from n1+S. Let
//
//	P = Σ_{z≤d} P(Z=z)·max{0, d²U(c): |c-n1| ≤ z+1} + 4τ
//
// and M the same of -d²U. No second difference exceeds 4, and τ ≥ P(Z > d). Two steps the same way
// have the derivative d²U, at most P, and two steps in opposite directions -d²U, at most M. So with
// i teachers up and l down
//
//	R ≤ Δ²·((C(i,2)+C(l,2))·P + i·l·M)  ≤ Δ²·((i+l)·½(N-1)·P + min(i,l)·N·M)
//
// which charges each teacher with its part: that of i·l to those of the direction whose first-order
// gain is smaller, as these are the ones that the largest g does without. What is left is linear in
// the numbers of teachers, as the first-order part is. For B, P and M are of -V.
type nearby struct {
	law  []float64 // of Z, z ≤ d
	tail float64   // 4τ
	n    float64   // N
	u, v []float64 // weighted second differences of w·U and of -w'·V, by their centre
}

func newNearby(p Problem, laws [][]float64) *nearby {
	_, tau := truncation(p.Affected, p.TeacherDelta)
	return &nearby{law: laws[p.Affected], tail: 4 * tau}
}

// family takes up the family of sc.
func (nb *nearby) family(sc *screen) {
	n := sc.n + 1
	if cap(nb.u) < n {
		nb.u, nb.v = make([]float64, n), make([]float64, n)
	}
	nb.u, nb.v, nb.n = nb.u[:n], nb.v[:n], float64(min(sc.may, sc.n))
	for _, at := range [][]float64{nb.u, nb.v} {
		at[0], at[n-1] = 0, 0 // no difference has its centre there
	}
	for c := 1; c < n-1; c++ {
		nb.u[c] = sc.s.w * (sc.u[c+1] - 2*sc.u[c] + sc.u[c-1])
		nb.v[c] = -sc.s.wp * (sc.v[c+1] - 2*sc.v[c] + sc.v[c-1])
	}
}

// bends returns P and M of weighted second differences.
func (nb *nearby) bends(at []float64, n1 int) (same, opposite float64) {
	most, least := max(0, at[n1]), min(0, at[n1])
	same, opposite = nb.tail, nb.tail
	for z, pr := range nb.law {
		if low := n1 - z - 1; low >= 0 {
			most, least = max(most, at[low]), min(least, at[low])
		}
		if high := n1 + z + 1; high < len(at) {
			most, least = max(most, at[high]), min(least, at[high])
		}
		same += float64(pr * most)
		opposite -= float64(pr * least)
	}
	return same, opposite
}

// charged returns upper bounds of what a teacher that goes up, and one that goes down, adds, given
// their first-order gains.
func (nb *nearby) charged(at []float64, n1 int, up, down, delta float64) (float64, float64) {
	same, opposite := nb.bends(at, n1)
	each := float64(delta * delta * ((nb.n - 1) / 2 * same))
	other := float64(delta * delta * (nb.n * opposite))
	if up < down {
		return up + each + other, down + each
	}
	return up + each, down + each + other
}

// bound returns an upper bound on g, up to nearbyError.
func (nb *nearby) bound(sc *screen, n1 int) float64 {
	w, wp, delta := sc.s.w, sc.s.wp, sc.s.problem.TeacherDelta
	var up, down float64 // slopes of w·U at n1: to n1+1, and from n1 to n1-1
	var upV, downV float64
	if n1 < sc.n {
		up, upV = w*(sc.u[n1+1]-sc.u[n1]), -wp*(sc.v[n1+1]-sc.v[n1])
	}
	if n1 > 0 {
		down, downV = -w*(sc.u[n1]-sc.u[n1-1]), wp*(sc.v[n1]-sc.v[n1-1])
	}
	up, down = nb.charged(nb.u, n1, delta*up, delta*down, delta)
	upV, downV = nb.charged(nb.v, n1, delta*upV, delta*downV, delta)
	zero, one := max(0, up, upV), max(0, down, downV)
	zeros, ones := sc.movers(n1, zero, one)
	return float64(w*sc.u[n1]) - float64(wp*sc.v[n1]) + float64(float64(zeros)*zero) +
		float64(float64(ones)*one)
}

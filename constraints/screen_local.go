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

// Where all teachers may be affected, g of a macro multiset is nearly largest at one of nine splits:
// those in which the n0 teachers near (0,0) all stay, all go to (Δ,0), or all go to (0,Δ), and the n1
// near (1,1) likewise.
//
// In the notation of splitter, A is nearly linear in i: its second difference there is
//
//	A(i+1,l) - 2A(i,l) + A(i-1,l) = Δ²·E d²U(n1 + X - Y + 1),  X ~ Binomial(i-1,Δ), Y ~ Binomial(l,Δ)
//
// at least -Δ²·M with the M of nearby, and so is that in l. A sequence whose second differences are at
// least -x is above its chord by at most x·i(n0-i)/2 (it is convex with x·i²/2 added). So, first along
// i and then along l,
//
//	A(i,l) ≤ Ā(i,l) + ½Δ²·M·(i(n0-i) + l(n1-l))
//
// with Ā the bilinear interpolation between i = 0, n0 and l = 0, n1; the same holds for -w'·B(j,k), j
// ≤ n0, k ≤ n1, with its own M'. The sum of both interpolations is linear in (i,j) for given (k,l), and
// in (k,l) for given (i,j). Hence over i+j ≤ n0 and k+l ≤ n1 it is largest where (i,j) is (0,0),
// (n0,0) or (0,n0), and (k,l) is (0,0), (n1,0) or (0,n1), where it is g itself. As i(n0-i) ≤ n0²/4,
//
//	max g ≤ (largest g of the nine) + Δ²·(M+M')·(n0²+n1²)/8
//
// That is exact but for an eighth of the second order, where the screens stop at the first.

// vertices returns the largest g of the nine splits and its multiset, High and Low left zero.
func (sp *splitter) vertices(u, v []float64, n1 int) (float64, Multiset) {
	n0 := len(u) - 1 - n1
	// By how the teachers near (0,0) and near (1,1) move: those of p in a, those of p' in b.
	var a, b [2][2]float64
	for zeros := range 2 {
		for ones := range 2 {
			a[zeros][ones] = sp.s.w * sp.mean(u, n1, zeros*n0, ones*n1)
			b[zeros][ones] = sp.s.wp * sp.mean(v, n1, zeros*n0, ones*n1)
		}
	}
	value, at := negInf, Multiset{}
	for _, zeros := range [3][2]int{{0, 0}, {1, 0}, {0, 1}} {
		for _, ones := range [3][2]int{{0, 0}, {1, 0}, {0, 1}} {
			g := a[zeros[0]][ones[0]] - b[zeros[1]][ones[1]]
			if g > value {
				value = g
				at = Multiset{
					Zeros: n0 * (1 - zeros[0] - zeros[1]), NearZeroUp: n0 * zeros[0],
					NearZeroDown: n0 * zeros[1],
					Ones:         n1 * (1 - ones[0] - ones[1]), NearOneDown: n1 * ones[0],
					NearOneUp: n1 * ones[1],
				}
			}
		}
	}
	return value, at
}

// above bounds by how much the best split of n0 and n1 teachers exceeds the best of the nine.
func (nb *nearby) above(n0, n1 int, delta float64) float64 {
	_, u := nb.bends(nb.u, n1)
	_, v := nb.bends(nb.v, n1)
	squares := float64(float64(n0)*float64(n0)) + float64(float64(n1)*float64(n1))
	return float64(delta * delta * (u + v) * squares / 8)
}

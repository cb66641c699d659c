package constraints

// screen bounds the left-hand sides of the macro multisets of one family (n3,n4),
// over all ways to move teachers from (0,0) and (1,1) to the corners near them.
//
// Let i teachers move to (Δ,0), j to (0,Δ), k to (1,1-Δ), l to (1-Δ,1). A is the
// expectation of U at n1 plus i and minus l independent Bernoulli(Δ) steps: a
// function of i+l probabilities, affine in each. Its expansion at 0 ends with
//
//	A = U(n1) + Δ·(i·(U(n1+1)-U(n1)) - l·(U(n1)-U(n1-1))) + R
//	R = Σ_{a<b} Δ²·∂_a∂_b A at some point,  so  |R| ≤ C(i+l,2)·Δ²·max|d²U|
//
// since each mixed derivative is an average of second differences of U, up to
// sign. The same holds for B with j, k and V. So with i+j ≤ n0, k+l ≤ n1,
// i+j+k+l ≤ may, and C(x,2)+C(y,2) ≤ C(x+y,2),
//
//	g ≤ g0 + (linear part) + C(N,2)·Δ²·max(w·max|d²U|, w'·max|d²V|),  N = min(n0+n1, may)
//
// and the linear part is largest when the teachers with the steepest gain move
// first, each side to its better corner.
type screen struct {
	s    *System
	u, v []float64
	may  int // teachers that may be affected
	n    int // n0+n1
}

func newScreen(s *System, u, v []float64, may int) screen {
	return screen{s: s, u: u, v: v, may: may, n: len(u) - 1}
}

// crudeBound bounds what all moves together can add to g0 in the whole family, given the largest
// weighted slope and second difference: N·Δ·slope + C(N,2)·Δ²·bend. It is what linear and
// remainder add at most, and costs nothing.
func (sc *screen) crudeBound(slope, bend float64) float64 {
	n := float64(min(sc.may, sc.n))
	delta := sc.s.problem.TeacherDelta
	return float64(n*delta*slope) + float64(n*(n-1)/2*delta*delta*bend)
}

// remainder returns the last term of the bound, the same for the whole family.
func (sc *screen) remainder() float64 {
	return sc.crudeBound(0, max(sc.s.w*curvature(sc.u), sc.s.wp*curvature(sc.v)))
}

// curvature returns max|d²x|.
func curvature(x []float64) float64 {
	largest, smallest := 0.0, 0.0
	if len(x) < 3 {
		return 0
	}
	before, slope := x[1], x[1]-x[0]
	for _, y := range x[2:] {
		next := y - before
		d := next - slope
		largest, smallest = max(largest, d), min(smallest, d)
		before, slope = y, next
	}
	return max(largest, -smallest)
}

// moveGains returns what one teacher that moves away from (0,0), and one from (1,1),
// adds to first order, and whether it moves in p (up: to (Δ,0), or (1-Δ,1)) or in
// p'. The gain is 0 where no move helps or no teacher is there.
func (sc *screen) moveGains(n1 int) (zero, one float64, zeroInP, oneInP bool) {
	w, wp, delta := sc.s.w, sc.s.wp, sc.s.problem.TeacherDelta
	if n1 < sc.n {
		inP, inPrime := w*(sc.u[n1+1]-sc.u[n1]), -wp*(sc.v[n1+1]-sc.v[n1])
		zero, zeroInP = delta*max(0, inP, inPrime), inP >= inPrime
	}
	if n1 > 0 {
		inP, inPrime := -w*(sc.u[n1]-sc.u[n1-1]), wp*(sc.v[n1]-sc.v[n1-1])
		one, oneInP = delta*max(0, inP, inPrime), inP >= inPrime
	}
	return zero, one, zeroInP, oneInP
}

// movers returns how many teachers move from (0,0) and from (1,1).
func (sc *screen) movers(n1 int, zero, one float64) (zeros, ones int) {
	zeros, ones = min(sc.n-n1, sc.may), min(n1, sc.may)
	if zero >= one {
		ones = min(ones, sc.may-zeros)
	} else {
		zeros = min(zeros, sc.may-ones)
	}
	return zeros, ones
}

// linear returns g to first order in Δ, the best moves made. With remainder it is
// an upper bound on g, up to screenError.
func (sc *screen) linear(n1 int) float64 {
	zero, one, _, _ := sc.moveGains(n1)
	zeros, ones := sc.movers(n1, zero, one)
	return float64(sc.s.w*sc.u[n1]) - float64(sc.s.wp*sc.v[n1]) + float64(float64(zeros)*zero) +
		float64(float64(ones)*one)
}

// split returns the multiset behind linear, High and Low left zero.
func (sc *screen) split(n1 int) Multiset {
	zero, one, zeroInP, oneInP := sc.moveGains(n1)
	zeros, ones := sc.movers(n1, zero, one)
	m := Multiset{Zeros: sc.n - n1, Ones: n1}
	move := func(from, to Corner, gain float64, n int) {
		if gain > 0 {
			m[from] -= n
			m[to] += n
		}
	}
	if zeroInP {
		move(Zeros, NearZeroUp, zero, zeros)
	} else {
		move(Zeros, NearZeroDown, zero, zeros)
	}
	if oneInP {
		move(Ones, NearOneDown, one, ones)
	} else {
		move(Ones, NearOneUp, one, ones)
	}
	return m
}

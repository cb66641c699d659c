package constraints

import (
	"context"

	"github.com/darrm/darrm/poissonbinom"
)

// splitter finds the best split of one macro multiset exactly: the second level
// of sweepMacro.
//
// Of the n0 teachers near (0,0), i sit at (Δ,0) and j at (0,Δ); of the n1 near
// (1,1), k sit at (1,1-Δ) and l at (1-Δ,1). Then g = w·A(i,l) - w'·B(j,k) with
//
//	A(i,l) = E U(n1 + X - Y),  X ~ Binomial(i,Δ), Y ~ Binomial(l,Δ)
//	B(j,k) = E V(n1 + X - Y),  X ~ Binomial(j,Δ), Y ~ Binomial(k,Δ)
//
// The two share only the limits i+j ≤ n0, k+l ≤ n1 and, when no more than may
// teachers may be affected, i+j+k+l ≤ may. So
//
//	max g = max over (i,l) of  w·A(i,l) + P(i,l),
//	P(i,l) = max of -w'·B(j,k) over j ≤ n0-i, k ≤ n1-l, j+k ≤ may-i-l
//
// and P follows from its neighbours: with J = n0-i, K = n1-l and c = n0+n1-may ≥ 0,
// the third limit reads j+k ≤ J+K-c, and every point allowed for (J,K) is allowed
// for (J-1,K) or (J,K-1) or has j+k = J+K-c exactly, which leaves at most c+1.
type splitter struct {
	s     *System
	laws  [][]float64 // β_i(x), see evaluationError
	depth int         // last x kept in laws
	a     []float64   // A(i,l), row-major
	b     []float64   // -w'·B(j,k), row-major
	p     []float64   // P(i,l)
	from  []int32     // where P(i,l) was met, an index into b
	inner []float64
}

// best returns the largest g and its multiset, High and Low left zero.
func (sp *splitter) best(u, v []float64, n1, may int) (float64, Multiset) {
	n0 := len(u) - 1 - n1
	rows, cols := min(n0, may)+1, min(n1, may)+1
	size := rows * cols
	if cap(sp.a) < size {
		sp.a, sp.b, sp.p = make([]float64, size), make([]float64, size), make([]float64, size)
		sp.from = make([]int32, size)
	}
	a, b, p, from := sp.a[:size], sp.b[:size], sp.p[:size], sp.from[:size]
	sp.expect(a, u, n1, rows, cols, may, sp.s.w)
	sp.expect(b, v, n1, rows, cols, may, -sp.s.wp)

	c := n0 + n1 - may
	value, at, other := negInf, 0, 0
	for i := rows - 1; i >= 0; i-- {
		for l := min(cols-1, may-i); l >= 0; l-- {
			best, where := negInf, int32(0)
			// (i+1, l) and (i, l+1) stand for J-1 and K-1; outside the table
			// nothing is allowed there.
			if i+1 < rows && i+1+l <= may {
				best, where = p[(i+1)*cols+l], from[(i+1)*cols+l]
			}
			if l+1 < cols && i+l+1 <= may {
				if x := p[i*cols+l+1]; x > best {
					best, where = x, from[i*cols+l+1]
				}
			}
			sum := may - i - l // J+K-c
			for j := max(0, n0-i-c); j <= min(n0-i, sum); j++ {
				k := sum - j // ≤ n1-l, since j ≥ n0-i-c; as j, no more than may
				if x := b[j*cols+k]; x > best {
					best, where = x, int32(j*cols+k)
				}
			}
			p[i*cols+l], from[i*cols+l] = best, where
			if g := a[i*cols+l] + best; g > value {
				value, at, other = g, i*cols+l, int(where)
			}
		}
	}
	i, l, j, k := at/cols, at%cols, other/cols, other%cols
	return value, Multiset{
		Zeros: n0 - i - j, Ones: n1 - k - l,
		NearZeroUp: i, NearZeroDown: j, NearOneUp: k, NearOneDown: l,
	}
}

// value returns g of the split of m.
func (sp *splitter) value(u, v []float64, n1 int, m Multiset) float64 {
	return float64(sp.s.w*sp.mean(u, n1, m[NearZeroUp], m[NearOneDown])) -
		float64(sp.s.wp*sp.mean(v, n1, m[NearZeroDown], m[NearOneUp]))
}

// mean returns E f(n1 + X - Y), X ~ Binomial(ups,Δ), Y ~ Binomial(downs,Δ).
func (sp *splitter) mean(f []float64, n1, ups, downs int) float64 {
	sum := 0.0
	for down, pr := range sp.laws[downs][:min(sp.depth, downs)+1] {
		inner := 0.0
		for up, pr := range sp.laws[ups][:min(sp.depth, ups)+1] {
			inner += float64(pr * f[n1+up-down])
		}
		sum += float64(pr * inner)
	}
	return sum
}

// expect fills dst(x,y) = weight · E f(n1 + X - Y), X ~ Binomial(x,Δ),
// Y ~ Binomial(y,Δ), for x < rows, y < cols and x+y ≤ may.
func (sp *splitter) expect(dst, f []float64, n1, rows, cols, may int, weight float64) {
	for y := range cols {
		law := sp.laws[y]
		ups := min(sp.depth, rows-1)
		for up := 0; up <= ups; up++ {
			sum := 0.0
			for down := 0; down <= min(sp.depth, y); down++ {
				sum += float64(law[down] * f[n1+up-down])
			}
			sp.inner[up] = sum
		}
		for x := 0; x < rows && x+y <= may; x++ {
			sum := 0.0
			for up, pr := range sp.laws[x][:min(ups, x)+1] {
				sum += float64(pr * sp.inner[up])
			}
			dst[x*cols+y] = weight * sum
		}
	}
}

// sweepMonotone searches all multisets for a non-decreasing phi and t = K. Three
// corners suffice.
//
// Dominance theorem. If φ is non-decreasing, f = Φ(p) - E·Φ(p') is largest at a
// multiset of (Δ,0), (1,1-Δ) and (a,b).
//
// Proof. Fix all teachers but one and let ψ be φ averaged over the others, so
// Φ = (1-p)ψ(0) + pψ(1), with ψ non-decreasing: an average of shifts of φ. Hence Φ
// does not fall when p rises, and f does not fall when p rises or p' falls. Now
// (Δ,0) has a p at least as large and a p' at most as large as (0,0) and as (0,Δ);
// so has (1,1-Δ) against (1,1) and (1-Δ,1), and (a,b) against (b,a), as a ≥ b.
// Replace the teachers one after the other. ∎
//
// With n0 teachers at (Δ,0), n1 at (1,1-Δ) and n3 at (a,b),
//
//	Φ(p)  = (T_a^{n3} T_Δ^{n0} φ)(n1)      the last element: T_1 drops the first
//	Φ(p') = (T_b^{n3} T_{1-Δ}^{n1} φ)(0)   T_0 drops the last
//
// The first depends on (n0,n3) only, as n1 = K-n0-n3, the second on (n1,n3): two
// tables of O(K²) numbers, O(K³/3) operations in all.
func (s *System) sweepMonotone(ctx context.Context, phi []float64, sh *search) (findings, error) {
	k := s.problem.K
	a, b := s.corner[High][0], s.corner[High][1]
	up, down := s.corner[NearZeroUp][0], s.corner[NearOneUp][1]

	// first[n0][n3] and second[n1][n3].
	first, err := s.table(ctx, phi, up, a, func(v []float64) float64 { return v[len(v)-1] })
	if err != nil {
		return findings{}, err
	}
	second, err := s.table(ctx, phi, down, b, func(v []float64) float64 { return v[0] })
	if err != nil {
		return findings{}, err
	}
	found := findings{best: Violation{Value: negInf}}
	values := make([]float64, k+1)
	for n3 := 0; n3 <= k; n3++ {
		line := values[:k-n3+1]
		for n0 := range line {
			line[n0] = float64(s.w*first[n0][n3]) - float64(s.wp*second[k-n0-n3][n3])
		}
		found.line(line, sh.limit, func(n0 int) Multiset { return s.dominant(n0, k-n0-n3, n3) })
	}
	return found, nil
}

// dominant names the multiset by corners that exist: where Δ = 0, (Δ,0) is (0,0)
// and (1,1-Δ) is (1,1).
func (s *System) dominant(n0, n1, n3 int) Multiset {
	if s.perturbed() {
		return Multiset{NearZeroUp: n0, NearOneUp: n1, High: n3}
	}
	return Multiset{Zeros: n0, Ones: n1, High: n3}
}

// table returns pick(T_q^{j} T_p^{i} φ) for all i+j ≤ K.
func (s *System) table(ctx context.Context, phi []float64, p, q probability,
	pick func([]float64) float64) ([][]float64, error) {
	k := s.problem.K
	starts := make([][]float64, k+1)
	starts[0] = phi
	for i := 1; i <= k; i++ {
		starts[i] = poissonbinom.Average(nil, starts[i-1], p.q, p.p)
	}
	out := make([][]float64, k+1)
	err := parallel(ctx, k+1, func(_, i int) error {
		v := append([]float64(nil), starts[i]...)
		row := make([]float64, 0, k-i+1)
		row = append(row, pick(v))
		for range k - i {
			v = poissonbinom.Average(v, v, q.q, q.p)
			row = append(row, pick(v))
		}
		out[i] = row
		return nil
	})
	return out, err
}

package constraints

import (
	"context"

	"github.com/darrm/darrm/poissonbinom"
)

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

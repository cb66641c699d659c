package constraints

import (
	"fmt"
	"iter"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/poissonbinom"
)

// Row returns the scaled constraint of one multiset as a row over the free
// values of γ, in dst (allocated when too short), of length Variables():
//
//	row(l) = w·(α(K-l) - α(l)) - w'·(α'(K-l) - α'(l)),   l < K/2
//
// with α, α' the Poisson binomial laws of the multiset on the two datasets. The
// constraint is Σ row(l)·γ(l) ≤ r. It panics if the multiset is not one of the
// problem's. Cost O(K²).
func (s *System) Row(m Multiset, dst []float64) []float64 {
	s = handle.Made(s)
	if s.problem.K < 1 {
		return nil
	}
	laws := s.laws(m)
	if cap(dst) < s.Variables() {
		dst = make([]float64, s.Variables())
	}
	return s.fold(dst[:s.Variables()], laws[0], laws[1])
}

// laws returns the laws of the number of ones on the two datasets.
func (s *System) laws(m Multiset) (laws [2][]float64) {
	s.mustHold(m)
	for side := range laws {
		groups := make([]poissonbinom.Group, 0, corners)
		for c, n := range m {
			groups = append(groups, s.group(Corner(c), side, n))
		}
		laws[side] = poissonbinom.GroupedPMF(groups, nil)
	}
	return laws
}

// RowByName is Row for γ that may treat the labels by their names: the scaled constraint of label 1, or of
// label 0 where zero is set, as a row over all K+1 values of γ, with φ(l) = -γ(l) below K/2 and γ(l) from
// there on.
func (s *System) RowByName(m Multiset, zero bool, dst []float64) []float64 {
	s = handle.Made(s)
	if s.problem.K < 1 {
		return nil
	}
	dst = s.rowOfPhi(m, dst)
	for l := range dst {
		if (2*l < s.problem.K) != zero {
			dst[l] = -dst[l]
		}
	}
	return dst
}

// rowOfPhi returns the scaled constraint of label 1 as a row over φ(0) … φ(K).
func (s *System) rowOfPhi(m Multiset, dst []float64) []float64 {
	laws := s.laws(m)
	if cap(dst) <= s.problem.K {
		dst = make([]float64, s.problem.K+1)
	}
	dst = dst[:s.problem.K+1]
	for l := range dst {
		dst[l] = float64(s.w*laws[0][l]) - float64(s.wp*laws[1][l])
	}
	return dst
}

// Holds reports whether m is one of the problem's multisets.
func (s *System) Holds(m Multiset) bool {
	s = handle.Made(s)
	for c, n := range m {
		near := Corner(c) >= NearZeroUp && Corner(c) <= NearOneDown
		// More than K is refused by itself: sums of huge counts wrap around.
		if n < 0 || n > s.problem.K || near && n > 0 && !s.perturbed() {
			return false
		}
	}
	return m.Teachers() == s.problem.K && m.Affected() <= s.problem.Affected
}

func (s *System) mustHold(m Multiset) {
	if !s.Holds(m) {
		panic(fmt.Sprintf("constraints: multiset %v is not one of %d teachers, %d affected", m,
			s.problem.K, s.problem.Affected))
	}
}

// fold turns two laws of length K+1 into a row, using the symmetry of γ.
func (s *System) fold(row, alpha, alphaPrime []float64) []float64 {
	k := s.problem.K
	for l := range row {
		row[l] = float64(s.w*(alpha[k-l]-alpha[l])) - float64(s.wp*(alphaPrime[k-l]-alphaPrime[l]))
	}
	return row
}

// Rows iterates over the whole constraint set, one multiset and its scaled row
// at a time; nothing is kept in memory. The row is reused: copy what you keep.
//
// Multisets come in depth-first order and share the laws of their affected
// teachers; Zeros and Ones only pad and shift a law. Cost O(K) a row.
func (s *System) Rows() iter.Seq2[Multiset, []float64] {
	return func(yield func(Multiset, []float64) bool) {
		w := newWalk(s, yield)
		w.descend(0, 0)
	}
}

// walk is the depth-first search behind Rows.
type walk struct {
	s       *System
	yield   func(Multiset, []float64) bool
	corners []Corner
	at      Multiset
	law     [2][][]float64 // law[side][n]: law of the first n affected teachers
	padded  [2][]float64   // the same, shifted and padded to length K+1
	row     []float64
}

func newWalk(s *System, yield func(Multiset, []float64) bool) *walk {
	w := &walk{s: s, yield: yield, corners: affectedCorners(s.perturbed()),
		row: make([]float64, s.Variables())}
	for side := range w.law {
		w.law[side] = make([][]float64, s.problem.Affected+1)
		for n := range w.law[side] {
			w.law[side][n] = make([]float64, n+1)
		}
		w.law[side][0][0] = 1
		w.padded[side] = make([]float64, s.problem.K+1)
	}
	return w
}

// descend visits every way to place more teachers at corners[i:], n being placed
// already. It returns false when the caller wants no more.
func (w *walk) descend(i, n int) bool {
	if i == len(w.corners) {
		return w.placeRest(n)
	}
	if !w.descend(i+1, n) {
		return false
	}
	if n == w.s.problem.Affected {
		return true
	}
	c := w.corners[i]
	for side := range w.law {
		pr := w.s.corner[c][side]
		poissonbinom.Append(w.law[side][n+1], w.law[side][n], pr.q, pr.p)
	}
	w.at[c]++
	more := w.descend(i, n+1)
	w.at[c]--
	return more
}

// placeRest visits every split of the K-n teachers left between Zeros and Ones.
func (w *walk) placeRest(n int) bool {
	k := w.s.problem.K
	for ones := 0; ones <= k-n; ones++ {
		for side := range w.padded {
			clear(w.padded[side])
			copy(w.padded[side][ones:], w.law[side][n])
		}
		w.at[Ones], w.at[Zeros] = ones, k-n-ones
		if !w.yield(w.at, w.s.fold(w.row, w.padded[0], w.padded[1])) {
			return false
		}
	}
	w.at[Ones], w.at[Zeros] = 0, 0
	return true
}

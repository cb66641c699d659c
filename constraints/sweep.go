package constraints

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/meter"
)

// Bound is the outcome of a search of the complete constraint set.
type Bound struct {
	Upper    float64  // no scaled left-hand side exceeds this; rigorous, rounded up
	Computed float64  // the largest one met, as computed
	At       Multiset // where it was met
	Zero     bool     // the constraint is that of label 0
}

// Violation is one violated constraint.
type Violation struct {
	Multiset Multiset
	Zero     bool    // it is the constraint of label 0
	Value    float64 // scaled left-hand side, as computed
}

// UpperBound returns a rigorous upper bound on the scaled left-hand side
// w·Φ(p) - w'·Φ(p') over all multisets of the problem: over all eight corners, or
// four where Δ = 0. The noise function behind phi is (mε,δ)-DP if Upper ≤ RHS().
//
// phi has length K+1 and entries in [-1,1]. UpperBound panics otherwise; it is for callers that built
// phi from a valid γ. Where phi is not antisymmetric, the constraints of label 0 are others than those of
// label 1 (see the package comment), and both are searched.
//
// Upper exceeds the true maximum by at most twice the bound on rounding errors and, where
// Δ > 0 and the maximum is below the right-hand side, by a thousandth of that distance. That
// spares most of the second level for phi far from the limit. Where Δ > 0 and many splits of a
// macro multiset differ by rounding errors only, those of a screen take their place: at most 1e-10
// of the right-hand side.
//
// Cost O(K³) where Δ = 0, or phi is non-decreasing and t = K;
// otherwise there is besides, for each macro multiset that the first level cannot
// rule out, O(n0·n1·(K-t+d)), where d+1 terms of Binomial(t,Δ) matter: a handful of
// multisets and d ≤ 4 for solved tables and small Δ, very many for a phi made to be
// expensive. Memory O(K²). It runs on all cores and returns ctx.Err() soon after ctx
// is done.
func (s *System) UpperBound(ctx context.Context, phi []float64) (Bound, error) {
	s = handle.Made(s)
	if s.problem.K < 1 {
		return Bound{}, errNoSystem
	}
	one, err := s.complete(ctx, phi, true)
	if err != nil || alike(phi) {
		return one, err
	}
	zero, err := s.complete(ctx, otherLabel(phi), true)
	if err != nil {
		return Bound{}, err
	}
	upper := max(one.Upper, zero.Upper)
	if zero.Computed > one.Computed {
		one = Bound{Computed: zero.Computed, At: zero.At.mirrored(), Zero: true}
	}
	one.Upper = upper
	return one, nil
}

// alike reports whether phi(K-l) = -phi(l): whether both labels are treated alike. The
// constraint of label 0 at a multiset is then that of label 1 at its mirror image.
func alike(phi []float64) bool {
	for l, x := range phi {
		if phi[len(phi)-1-l] != -x {
			return false
		}
	}
	return true
}

// otherLabel returns ψ(l) = -φ(K-l), whose constraint of label 1 at a multiset is that of φ of label 0 at
// the multiset's mirror image: -Φ(p) = Ψ(1-p). It rises where φ does.
func otherLabel(phi []float64) []float64 {
	out := make([]float64, len(phi))
	for l, x := range phi {
		out[len(phi)-1-l] = -x
	}
	return out
}

// Separate searches all multisets for violated constraints, those whose computed
// left-hand side exceeds RHS() + tolerance, and returns them worst first: for each number
// of teachers at (a,b) and at (b,a) the local maxima over the number near (1,1). None means
// that none exists, up to rounding. See UpperBound for phi, cost and ctx.
func (s *System) Separate(ctx context.Context, phi []float64,
	tolerance float64) ([]Violation, error) {
	s = handle.Made(s)
	return s.separate(ctx, phi, tolerance, &search{})
}

// SeparateFirstOrder is Separate to first order in Δ: violations of second order, (KΔ)², may be
// missed. It looks at multisets with no teacher at (b,a) or one of the given numbers, which increase,
// or at all of them where lows is nil: few such numbers have nearly all tight constraints of a
// solved table. Whether a constraint is violated indeed, its Row tells. For
// all but the last rounds of a cutting-plane method. Cost O(len(lows)·K²).
func (s *System) SeparateFirstOrder(ctx context.Context, phi []float64, tolerance float64,
	lows []int) ([]Violation, error) {
	s = handle.Made(s)
	return s.separate(ctx, phi, tolerance, &search{firstOrder: true, lows: lows})
}

// SeparateVertices is SeparateFirstOrder with exact values, of at most nine ways to move teachers to
// the corners near (0,0) and (1,1) for each choice of the other numbers: all, or none, of the teachers
// at each move, to either corner. They have nearly all tight constraints. It costs a few times as much.
func (s *System) SeparateVertices(ctx context.Context, phi []float64, tolerance float64,
	lows []int) ([]Violation, error) {
	s = handle.Made(s)
	return s.separate(ctx, phi, tolerance, &search{vertices: true, lows: lows})
}

// separate searches for what exceeds RHS() + tolerance.
func (s *System) separate(ctx context.Context, phi []float64, tolerance float64,
	sh *search) ([]Violation, error) {
	if s.problem.K < 1 {
		return nil, errNoSystem
	}
	for i, n := range sh.lows {
		if n < 0 || i > 0 && n <= sh.lows[i-1] {
			panic(fmt.Sprintf("constraints: lows = %v, want numbers of teachers in increasing order",
				sh.lows))
		}
	}
	s.mustBePhi(phi)
	sh.limit = s.rhs + tolerance
	sh.threshold = newMaximum(sh.limit)
	found, err := s.sweep(ctx, phi, sh)
	if err == nil && !alike(phi) {
		var zero findings
		zero, err = s.sweep(ctx, otherLabel(phi), sh)
		for _, v := range zero.violated {
			found.violated = append(found.violated, Violation{v.Multiset.mirrored(), true, v.Value})
		}
	}
	return sortWorstFirst(found.violated), err
}

// complete searches the whole set, and returns a bound on it. A coarse search does not look for the
// maximum between a likely value of it and one that is above by a thousandth of the room left.
func (s *System) complete(ctx context.Context, phi []float64, coarse bool) (Bound, error) {
	s.mustBePhi(phi)
	if !slices.ContainsFunc(phi, func(x float64) bool { return x != 0 }) {
		return Bound{At: Multiset{Zeros: s.problem.K}}, ctx.Err() // exactly 0, everywhere
	}
	sh := &search{threshold: newMaximum(negInf), limit: math.Inf(1)}
	likely, err := s.likelyWorst(ctx, phi, sh)
	if err != nil {
		return Bound{}, err
	}
	floor := negInf // what the search does not look below
	if room := s.rhs - likely.Value; coarse && s.perturbed() && room > 0 {
		floor = likely.Value + float64(room/1024)
		sh.threshold.raise(floor)
	}
	found, err := s.sweep(ctx, phi, sh)
	if err != nil {
		return Bound{}, err
	}
	best := found.best
	if best.Value < likely.Value { // all was ruled out by the threshold
		best = likely
	}
	if math.IsNaN(best.Value) || math.IsInf(best.Value, 0) {
		return Bound{}, fmt.Errorf("constraints: sweep of %d teachers ended with maximum %v",
			s.problem.K, best.Value)
	}
	// What was ruled out is at most the threshold, up to the same error.
	upper := math.Nextafter(max(best.Value, floor)+s.evalError, math.Inf(1))
	return Bound{Upper: upper, Computed: best.Value, At: best.Multiset}, nil
}

// likelyLows are the numbers of teachers at (b,a) at which likelyWorst looks. Where the worst
// multiset has another one, the search takes longer and finds the same.
var likelyLows = []int{0, 1, 2}

// likelyWorst raises the threshold of a search to the value of a multiset that is
// likely the worst, so that the search can rule out most others at once.
func (s *System) likelyWorst(ctx context.Context, phi []float64, sh *search) (Violation, error) {
	likely := Violation{Value: negInf}
	if !s.perturbed() {
		return likely, nil // nothing to rule out
	}
	found, err := s.sweep(ctx, phi, &search{threshold: newMaximum(negInf), limit: math.Inf(1),
		firstOrder: true, lows: likelyLows})
	if err != nil {
		return likely, err
	}
	likely.Multiset = found.best.Multiset
	value := 0.0
	if alike(phi) {
		for l, x := range s.Row(likely.Multiset, nil) {
			value -= float64(x * phi[l])
		}
	} else {
		for l, x := range s.rowOfPhi(likely.Multiset, nil) {
			value += float64(x * phi[l])
		}
	}
	likely.Value = value
	// A little less than computed here: rounding must not put the threshold above
	// what the search itself computes for this very multiset.
	sh.record(value - float64(2*s.evalError) - float64(2*s.RowError()) -
		float64(float64(s.problem.K)*unit))
	return likely, nil
}

func sortWorstFirst(found []Violation) []Violation {
	// By place: a violation is ten words long, and there may be millions.
	type place struct {
		value float64
		at    int
	}
	order := make([]place, len(found))
	for i, v := range found {
		order[i] = place{v.Value, i}
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.at, b.at))
	})
	out := make([]Violation, len(found))
	for i, p := range order {
		out[i] = found[p.at]
	}
	return out
}

var errNoSystem = errors.New("the zero System has no constraints: make one with NewSystem")

func (s *System) mustBePhi(phi []float64) {
	k := s.problem.K
	if len(phi) != k+1 {
		panic(fmt.Sprintf("constraints: phi has %d entries, want K+1 = %d", len(phi), k+1))
	}
	for l, x := range phi {
		if !(x >= -1 && x <= 1) {
			panic(fmt.Sprintf("constraints: phi(%d) = %v: want a number in [-1,1]", l, x))
		}
	}
}

// search is the state that the workers of one sweep share.
type search struct {
	threshold  *maximum // nothing below it is of interest
	limit      float64  // values above it are violations; the threshold rises no further
	firstOrder bool     // first level only, to first order in Δ
	vertices   bool     // of the second level only the splits that vertices looks at
	lows       []int    // numbers of teachers at (b,a), increasing; nil for all
}

// record raises the threshold to a computed value.
func (sh *search) record(x float64) { sh.threshold.raise(min(x, sh.limit)) }

// findings holds the violations that a sweep, or a part of one, has found.
type findings struct {
	best     Violation
	violated []Violation
}

// add joins what is found in the next part. Of equal values the first stays the best, so that
// the outcome does not depend on which worker was faster.
func (f *findings) add(next findings) {
	if next.best.Value > f.best.Value {
		f.best = next.best
	}
	f.violated = append(f.violated, next.violated...)
}

// line records the values of a line of neighbouring multisets: the largest, and the local
// maxima above limit.
func (f *findings) line(values []float64, limit float64, at func(i int) Multiset) {
	best := -1
	for i, x := range values {
		if x > f.best.Value {
			f.best.Value, best = x, i
		}
		if x > limit && (i == 0 || x > values[i-1]) && (i == len(values)-1 || x >= values[i+1]) {
			f.violated = append(f.violated, Violation{Multiset: at(i), Value: x})
		}
	}
	if best >= 0 {
		f.best.Multiset = at(best)
	}
}

// maximum is a float64 that only grows, safe for concurrent use.
type maximum struct{ bits atomic.Uint64 }

func newMaximum(x float64) *maximum {
	m := new(maximum)
	m.bits.Store(math.Float64bits(x))
	return m
}

func (m *maximum) get() float64 { return math.Float64frombits(m.bits.Load()) }

func (m *maximum) raise(x float64) {
	for {
		old := m.bits.Load()
		if x <= math.Float64frombits(old) || m.bits.CompareAndSwap(old, math.Float64bits(x)) {
			return
		}
	}
}

// sweep searches the complete set by the method that fits phi.
func (s *System) sweep(ctx context.Context, phi []float64, sh *search) (findings, error) {
	increasing := slices.IsSorted(phi)
	if increasing && s.problem.Affected == s.problem.K {
		return s.sweepMonotone(ctx, phi, sh)
	}
	return s.sweepMacro(ctx, phi, sh, increasing)
}

// parallel runs task(worker, i) for i = 0 … n-1 on all cores, in order of i, and
// stops early when ctx is done, the only reason for which a task fails.
func parallel(ctx context.Context, n int, task func(worker, i int) error) error {
	workers := max(1, min(n, runtime.GOMAXPROCS(0)))
	var next atomic.Int64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := ctx.Err(); err != nil {
					errs[w] = err
				} else {
					errs[w] = task(w, i)
				}
				if errs[w] != nil {
					return
				}
				meter.Share(ctx, float64(i+1), float64(n))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

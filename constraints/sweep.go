package constraints

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Bound is the outcome of a search of the complete constraint set.
type Bound struct {
	Upper    float64  // no scaled left-hand side exceeds this; rigorous, rounded up
	Computed float64  // the largest one met, as computed
	At       Multiset // where it was met
}

// Violation is one violated constraint.
type Violation struct {
	Multiset Multiset
	Value    float64 // scaled left-hand side, as computed
}

// Max returns a rigorous upper bound on the scaled left-hand side
// w·Φ(p) - w'·Φ(p') over all multisets of the problem: over all eight corners, or
// four where Δ = 0. The noise function behind phi is (mε,δ)-DP if Upper ≤ RHS().
//
// phi has length K+1, entries in [-1,1], and is antisymmetric: phi(K-l) =
// -phi(l). Max panics otherwise; it is for callers that built phi from a valid γ.
//
// The search is exact: Upper exceeds the true maximum by at most twice the bound
// on rounding errors. Cost O(K³) where Δ = 0, or phi is non-decreasing and t = K;
// otherwise there is besides, for each macro multiset that the first level cannot
// rule out, O(n0·n1·(K-t+d)), where d+1 terms of Binomial(t,Δ) matter: a handful of
// multisets and d ≤ 4 for solved tables and small Δ, very many for a phi made to be
// expensive. Memory O(K²). It runs on all cores and returns ctx.Err() soon after ctx
// is done.
func (s *System) Max(ctx context.Context, phi []float64) (Bound, error) {
	return s.max(ctx, phi, false)
}

// UpperBound is Max, only as precise as the question Upper ≤ RHS() needs: where the
// maximum is below the right-hand side, Upper may exceed it by a thousandth of the
// difference. That spares most of the second level for phi far from the limit.
func (s *System) UpperBound(ctx context.Context, phi []float64) (Bound, error) {
	return s.max(ctx, phi, true)
}

func (s *System) max(ctx context.Context, phi []float64, coarse bool) (Bound, error) {
	s.mustBePhi(phi)
	if !slices.ContainsFunc(phi, func(x float64) bool { return x != 0 }) {
		return Bound{At: Multiset{Zeros: s.problem.K}}, ctx.Err() // exactly 0, everywhere
	}
	sh := &shared{threshold: newMaximum(negInf), follow: true, floor: negInf}
	likely, err := s.foresee(ctx, phi, sh)
	if err != nil {
		return Bound{}, err
	}
	if room := s.rhs - likely.Value; coarse && s.perturbed() && room > 0 {
		sh.floor = likely.Value + room/1024
		sh.threshold.raise(sh.floor)
	}
	found, err := s.sweep(ctx, phi, sh)
	if err != nil {
		return Bound{}, err
	}
	best := worst(found)
	if best.Value < likely.Value { // all was ruled out by the threshold
		best = likely
	}
	if math.IsNaN(best.Value) || math.IsInf(best.Value, 0) {
		return Bound{}, fmt.Errorf("constraints: sweep of %d teachers ended with maximum %v", s.problem.K, best.Value)
	}
	// What was ruled out is at most the threshold, up to the same error.
	upper := math.Nextafter(max(best.Value, sh.floor)+s.evalError, math.Inf(1))
	return Bound{Upper: upper, Computed: best.Value, At: best.Multiset}, nil
}

// foresee raises the threshold of a search to the value of a multiset that is
// likely the worst, so that the search can rule out most others at once.
func (s *System) foresee(ctx context.Context, phi []float64, sh *shared) (Violation, error) {
	likely := Violation{Value: negInf}
	if !s.perturbed() {
		return likely, nil // nothing to rule out
	}
	found, err := s.sweep(ctx, phi, &shared{threshold: newMaximum(negInf), fast: true})
	if err != nil {
		return likely, err
	}
	likely.Multiset = worst(found).Multiset
	value := 0.0
	for l, x := range s.Row(likely.Multiset, nil) {
		value -= x * phi[l]
	}
	likely.Value = value
	// A little less than computed here: rounding must not put the threshold above
	// what the search itself computes for this very multiset.
	sh.threshold.raise(value - 2*s.evalError - 2*s.RowError() - float64(s.problem.K)*unit)
	return likely, nil
}

func worst(found []Violation) Violation {
	best := Violation{Value: negInf}
	for _, v := range found {
		if v.Value > best.Value {
			best = v
		}
	}
	return best
}

// Separate returns violated constraints, worst first: those whose computed
// left-hand side exceeds RHS() + tolerance, at most one for each number of
// teachers at (a,b) and at (b,a), and at most limit of them (0: all). None means
// that none exists, up to rounding. See Max for phi, cost and ctx.
func (s *System) Separate(ctx context.Context, phi []float64, tolerance float64, limit int) ([]Violation, error) {
	return s.separate(ctx, phi, limit, &shared{threshold: newMaximum(s.rhs + tolerance)})
}

// SeparateFast is Separate without its second level: values are to first order in
// Δ only, and violations of second order, (KΔ)², may be missed. The multisets are
// the problem's; whether one is violated indeed, its Row tells. For the early
// rounds of a cutting-plane method. Cost O(K³).
func (s *System) SeparateFast(ctx context.Context, phi []float64, tolerance float64, limit int) ([]Violation, error) {
	return s.separate(ctx, phi, limit, &shared{threshold: newMaximum(s.rhs + tolerance), fast: true})
}

func (s *System) separate(ctx context.Context, phi []float64, limit int, sh *shared) ([]Violation, error) {
	s.mustBePhi(phi)
	floor := sh.threshold.get()
	found, err := s.sweep(ctx, phi, sh)
	if err != nil {
		return nil, err
	}
	violated := found[:0]
	for _, v := range found {
		if v.Value > floor {
			violated = append(violated, v)
		}
	}
	sort.SliceStable(violated, func(i, j int) bool { return violated[i].Value > violated[j].Value })
	if limit > 0 && len(violated) > limit {
		violated = violated[:limit]
	}
	return violated, nil
}

func (s *System) mustBePhi(phi []float64) {
	k := s.problem.K
	if len(phi) != k+1 {
		panic(fmt.Sprintf("constraints: phi has %d entries, want K+1 = %d", len(phi), k+1))
	}
	for l, x := range phi {
		if !(x >= -1 && x <= 1) || phi[k-l] != -x {
			panic(fmt.Sprintf("constraints: phi(%d) = %v, phi(%d) = %v: want opposite numbers in [-1,1]", l, x, k-l, phi[k-l]))
		}
	}
}

// shared is what the workers of one sweep share.
type shared struct {
	threshold *maximum // nothing at or below it is of interest
	follow    bool     // raise the threshold to the best value met
	fast      bool     // first level only, to first order in Δ
	floor     float64  // what a coarse search does not look below
}

// met records a computed value.
func (sh *shared) met(x float64) {
	if sh.follow {
		sh.threshold.raise(x)
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

// sweep searches the complete set by the method that fits phi. Each returned
// entry is the best of one family of multisets.
func (s *System) sweep(ctx context.Context, phi []float64, sh *shared) ([]Violation, error) {
	increasing := true
	for l := 1; l < len(phi); l++ {
		increasing = increasing && phi[l] >= phi[l-1]
	}
	if increasing && s.problem.Affected == s.problem.K {
		return s.sweepMonotone(ctx, phi)
	}
	return s.sweepMacro(ctx, phi, sh, increasing)
}

// parallel runs task(worker, i) for i = 0 … n-1 on all cores, in order of i, and
// stops early when ctx is done or a task fails.
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
					next.Store(int64(n))
					return
				}
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

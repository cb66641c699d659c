package constraints

import (
	"context"
	"math"
	"runtime"

	"github.com/darrm/darrm/poissonbinom"
)

// sweepMacro searches all multisets in two levels.
//
// A macro multiset (n0, n1, n3, n4) has n0 teachers near (0,0), n1 near (1,1), n3
// at (a,b) and n4 at (b,a). With U = T_a^{n3} T_b^{n4} φ and V = T_b^{n3} T_a^{n4} φ,
// vectors of length n0+n1+1, its scaled left-hand side is
//
//	g0 = w·U(n1) - w'·V(n1)
//
// when "near" means "at". This is all there is when Δ = 0. Otherwise a bound
// (screen) rules out most macro multisets, and the others go to the second level,
// which is exact (splitter).
//
// The chains are shared: from (n3,n4) to (n3+1,n4) is one operator on U and V.
//
// Where phi is non-decreasing, (a,b) dominates (b,a) (see sweepMonotone), so n4 = 0
// suffices.
func (s *System) sweepMacro(ctx context.Context, phi []float64, sh *search,
	increasing bool) (findings, error) {
	t := s.problem.Affected
	lows := s.lows(sh.lows)
	if increasing {
		lows = lows[:1] // that is 0
	}
	startU, startV := s.averagedPowers(phi, lows[len(lows)-1])
	growth := s.slopeGrowth(phi)
	found := make([]findings, len(lows))
	workers := newMacroWorkers(s, sh, runtime.GOMAXPROCS(0))
	err := parallel(ctx, len(lows), func(worker, i int) error {
		w, n4 := workers[worker], lows[i]
		u := append(w.u[:0], startU[n4]...)
		v := append(w.v[:0], startV[n4]...)
		w.u, w.v = u, v
		w.found = findings{best: Violation{Value: negInf}}
		for n3 := 0; n3 <= t-n4; n3++ {
			if n3 > 0 {
				a := s.corner[High][0]
				u = poissonbinom.Average(u, u, a.q, a.p)
				v = poissonbinom.Average(v, v, a.p, a.q)
				w.steepest += growth
			}
			if err := w.family(ctx, u, v, n3, n4); err != nil {
				return err
			}
		}
		found[i] = w.found
		return nil
	})
	all := findings{best: Violation{Value: negInf}}
	for _, f := range found {
		all.add(f)
	}
	return all, err
}

// lows returns 0, and the given numbers of teachers at (b,a) that t allows; all of them for nil.
func (s *System) lows(given []int) []int {
	if given == nil {
		given = make([]int, s.problem.Affected+1)
		for n := range given {
			given[n] = n
		}
	}
	out := []int{0}
	for _, n := range given {
		if 0 < n && n <= s.problem.Affected {
			out = append(out, n)
		}
	}
	return out
}

// averagedPowers returns T_b^{n} φ and T_a^{n} φ for n = 0 … most.
func (s *System) averagedPowers(phi []float64, most int) (u, v [][]float64) {
	a := s.corner[High][0]
	u, v = [][]float64{phi}, [][]float64{phi}
	for n := range most {
		u = append(u, poissonbinom.Average(nil, u[n], a.p, a.q))
		v = append(v, poissonbinom.Average(nil, v[n], a.q, a.p))
	}
	return u, v
}

// macroWorker is the state of one goroutine of sweepMacro.
type macroWorker struct {
	s                  *System
	sh                 *search
	u, v               []float64
	values             []float64  // by n1, in family
	splits             []Multiset // by n1
	steepest           float64    // what the weighted slopes of u and v are at most
	screen, nearScreen float64
	split              *splitter
	near               *nearby
	found              findings
}

// newMacroWorkers returns one worker for each index that parallel hands out.
func newMacroWorkers(s *System, sh *search, n int) []*macroWorker {
	var laws [][]float64
	depth := 0
	if s.perturbed() {
		depth, _ = truncation(s.problem.Affected, s.problem.TeacherDelta)
		laws = binomialLaws(s.problem.Affected, depth, s.corner[NearZeroUp][0])
	}
	workers := make([]*macroWorker, n)
	for i := range workers {
		w := &macroWorker{s: s, sh: sh, values: make([]float64, s.problem.K+1),
			splits: make([]Multiset, s.problem.K+1)}
		if s.perturbed() {
			// The evaluation error besides: no multiset is ruled out whose computed value is
			// above the threshold, so what is found does not depend on which worker was faster.
			w.screen = screenError(s.problem) + float64(2*s.evalError)
			w.split = &splitter{s: s, laws: laws, depth: depth, inner: make([]float64, depth+1)}
			w.near, w.nearScreen = newNearby(s.problem, laws), s.nearbyScreen()
		}
		workers[i] = w
	}
	return workers
}

// family searches the multisets with n3 teachers at (a,b) and n4 at (b,a). Its line are the
// numbers of teachers near (1,1).
func (w *macroWorker) family(ctx context.Context, u, v []float64, n3, n4 int) error {
	n := len(u) - 1
	may := w.s.problem.Affected - n3 - n4 // teachers that may still be affected
	if n3 == 0 {                          // nothing is known of u and v yet
		w.steepest = math.Inf(1)
	}
	top := w.largest(u, v)
	values, splits := w.values[:n+1], w.splits[:n+1]
	at := func(n1 int) Multiset {
		m := splits[n1]
		m[High], m[Low] = n3, n4
		return m
	}
	if !w.s.perturbed() || may == 0 || n == 0 {
		w.sh.record(top)
		if top < w.sh.threshold.get() {
			return nil
		}
		for n1 := range values {
			values[n1], splits[n1] = w.unperturbed(u, v, n1), Multiset{Zeros: n - n1, Ones: n1}
		}
		w.found.line(values, w.sh.limit, at)
		return nil
	}
	sc := newScreen(w.s, u, v, may)
	bends := 0. // the second differences, in slopes
	if !w.sh.firstOrder {
		w.sh.record(top)
		bends = 2
	}
	for _, look := range []bool{false, true} { // at first by the slopes of an earlier family, which cost nothing
		if look {
			w.steepest = w.slopes(u, v)
		}
		// Not below the threshold: a multiset that equals it may be the one to name.
		if top+sc.crudeBound(w.steepest, bends*w.steepest)+w.screen < w.sh.threshold.get() {
			return nil
		}
	}
	if w.sh.firstOrder {
		for n1 := range values {
			values[n1] = sc.linear(n1)
			w.sh.record(values[n1])
		}
		w.found.line(values, w.sh.limit, func(n1 int) Multiset {
			splits[n1] = sc.split(n1)
			return at(n1)
		})
		return nil
	}
	slack, looked := sc.remainder()+w.screen, false
	for n1 := range values {
		values[n1] = negInf
		if sc.linear(n1)+slack < w.sh.threshold.get() {
			continue
		}
		if !looked {
			w.near.family(&sc)
			looked = true
		}
		bound := w.near.bound(&sc, n1) + w.nearScreen
		if bound < w.sh.threshold.get() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		flat := w.flat(bound-w.unperturbed(u, v, n1), n-n1, n1, may)
		switch {
		case w.sh.vertices && may < n:
			splits[n1] = sc.split(n1)
			values[n1] = w.split.value(u, v, n1, splits[n1])
		case flat:
			values[n1], splits[n1] = bound, sc.split(n1)
		case may < n:
			values[n1], splits[n1] = w.split.best(u, v, n1, may)
		default:
			values[n1], splits[n1] = w.split.vertices(u, v, n1)
			if w.sh.vertices {
				break
			}
			bound := values[n1] + w.near.above(n-n1, n1, w.s.problem.TeacherDelta) + w.nearScreen
			if bound < w.sh.threshold.get() {
				values[n1] = negInf
				continue
			}
			values[n1], splits[n1] = w.split.best(u, v, n1, may)
		}
		w.sh.record(values[n1])
	}
	w.found.line(values, w.sh.limit, at)
	return nil
}

// cheapSplit is the number of splits up to which the second level is always asked.
const cheapSplit = 1 << 10

// flattest is the largest share of the right-hand side that the errors of a screen may have for its
// bound to stand for the second level: less than what γ is worth to anybody, and than what a solver
// leaves.
const flattest = 0x1p-35

// flat reports whether all splits of n0 and n1 teachers are the same but for rounding errors, as
// what may be added to the unperturbed value says. Then the screen's bound stands for them: it is
// above by no more than its own error, and so on the private side. Where φ is nearly constant,
// thousands of multisets are the worst but for rounding errors, and a second level that looked at
// each of them would never end.
func (w *macroWorker) flat(added float64, n0, n1, may int) bool {
	return added <= 2*w.nearScreen && w.nearScreen <= flattest*w.s.rhs &&
		(min(n0, may)+1)*(min(n1, may)+1) > cheapSplit
}

// unperturbed returns g0.
func (w *macroWorker) unperturbed(u, v []float64, n1 int) float64 {
	return float64(w.s.w*u[n1]) - float64(w.s.wp*v[n1])
}

// largest returns the largest g0.
func (w *macroWorker) largest(u, v []float64) float64 {
	wt, wp := w.s.w, w.s.wp
	v = v[:len(u)]
	top := negInf
	for n1, x := range u {
		if g := float64(wt*x) - float64(wp*v[n1]); g > top {
			top = g
		}
	}
	return top
}

// slopes returns the largest slope of w·U and w'·V.
func (w *macroWorker) slopes(u, v []float64) float64 {
	return max(w.s.w*slope(u), w.s.wp*slope(v))
}

// slope returns max|dx|.
func slope(x []float64) float64 {
	largest := 0.0
	for l := 1; l < len(x); l++ {
		if d := math.Abs(x[l] - x[l-1]); d > largest {
			largest = d
		}
	}
	return largest
}

// slopeGrowth returns what one operator adds at most to the largest weighted slope, rounded up. Exactly it
// adds nothing: the slopes of T_p ψ are averages of those of ψ. Let all |ψ| ≤ M, so that slopes are at most 2M,
// and u = 2⁻⁵³. The factors, which are rounded, sum to at most 1+u, for 2uM more; each of two neighbours is computed
// with two products and a sum, for 2u·M(1+u)³ each, and their difference is rounded, for 2u·M(1+u)³. That is less
// than 9uM, and M, which grows by (1+u)³ with an operator, is less than twice that of φ; 32u·max|φ| leaves room for
// the weights' roundings.
func (s *System) slopeGrowth(phi []float64) float64 {
	most := 0.0
	for _, x := range phi {
		most = max(most, math.Abs(x))
	}
	return 0x1p-48 * most * max(s.w, s.wp)
}

package constraints

import (
	"context"
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
func (s *System) sweepMacro(ctx context.Context, phi []float64, sh *shared, increasing bool) ([]Violation, error) {
	t := s.problem.Affected
	lows := t // the most teachers at (b,a)
	if increasing {
		lows = 0
	}
	startU, startV := s.starts(phi, lows)
	found := make([][]Violation, lows+1)
	workers := newMacroWorkers(s, sh, runtime.GOMAXPROCS(0))
	err := parallel(ctx, lows+1, func(worker, n4 int) error {
		w := workers[worker]
		u := append(w.u[:0], startU[n4]...)
		v := append(w.v[:0], startV[n4]...)
		for n3 := 0; n3 <= t-n4; n3++ {
			if n3 > 0 {
				a := s.corner[High][0]
				u = poissonbinom.Average(u, u, a.q, a.p)
				v = poissonbinom.Average(v, v, a.p, a.q)
			}
			best, err := w.family(ctx, u, v, n3, n4)
			if err != nil {
				return err
			}
			found[n4] = append(found[n4], best)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []Violation
	for _, f := range found {
		all = append(all, f...)
	}
	return all, nil
}

// starts returns T_b^{n} φ and T_a^{n} φ for n = 0 … most.
func (s *System) starts(phi []float64, most int) (u, v [][]float64) {
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
	s      *System
	sh     *shared
	u, v   []float64
	screen float64
	split  *splitter
}

// newMacroWorkers returns one worker for each index that parallel hands out.
func newMacroWorkers(s *System, sh *shared, n int) []*macroWorker {
	var laws [][]float64
	depth := 0
	if s.perturbed() {
		depth, _ = truncation(s.problem.Affected, s.problem.TeacherDelta)
		laws = binomialLaws(s.problem.Affected, depth, s.corner[NearZeroUp][0])
	}
	workers := make([]*macroWorker, n)
	for i := range workers {
		w := &macroWorker{s: s, sh: sh}
		if s.perturbed() {
			w.screen = screenError(s.problem)
			w.split = &splitter{s: s, laws: laws, depth: depth, inner: make([]float64, depth+1)}
		}
		workers[i] = w
	}
	return workers
}

// family returns the best multiset with n3 teachers at (a,b) and n4 at (b,a).
func (w *macroWorker) family(ctx context.Context, u, v []float64, n3, n4 int) (Violation, error) {
	n := len(u) - 1
	may := w.s.problem.Affected - n3 - n4 // teachers that may still be affected
	if !w.s.perturbed() || may == 0 || n == 0 {
		best, ones := w.still(u, v)
		w.sh.met(best)
		return Violation{Value: best, Multiset: Multiset{Zeros: n - ones, Ones: ones, High: n3, Low: n4}}, nil
	}
	sc := newScreen(w.s, u, v, may)
	best := Violation{Value: negInf}
	if w.sh.fast {
		for n1 := range u {
			if g := sc.linear(n1); g > best.Value {
				best.Value = g
				best.Multiset = sc.split(n1)
			}
		}
		best.Multiset[High], best.Multiset[Low] = n3, n4
		return best, nil
	}
	best.Value, _ = w.still(u, v)
	w.sh.met(best.Value)
	best.Value = negInf // its split may not be the best one
	slack := sc.remainder() + w.screen
	for n1 := range u {
		// Not below the threshold: a multiset that equals it may be the one to name.
		if sc.linear(n1)+slack < max(w.sh.threshold.get(), best.Value) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return best, err
		}
		value, split := w.split.best(u, v, n1, may)
		if value > best.Value {
			best.Value = value
			split[High], split[Low] = n3, n4
			best.Multiset = split
			w.sh.met(value)
		}
	}
	return best, nil
}

// still returns the largest g0 and its n1.
func (w *macroWorker) still(u, v []float64) (best float64, ones int) {
	best = negInf
	wt, wp := w.s.w, w.s.wp
	v = v[:len(u)]
	for n1, x := range u {
		if g := float64(wt*x) - float64(wp*v[n1]); g > best {
			best, ones = g, n1
		}
	}
	return best, ones
}

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
// when "near" means "at". This is all there is when Δ = 0. Otherwise moving one
// teacher from (0,0) to (Δ,0) changes g by w·Δ times an average of differences of
// U, and to (0,Δ) by -w'·Δ times one of V; likewise near (1,1). So
//
//	g ≤ g0 + i·Δ·max(0, w·max dU, -w'·min dV) + k·Δ·max(0, -w·min dU, w'·max dV)
//
// with i and k the most teachers that may move. A macro multiset whose bound does
// not exceed the threshold is done; the others go to the second level (splitter).
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
	s := w.s
	best := Violation{Value: negInf}
	ones := 0
	for n1 := range u {
		if g := float64(s.w*u[n1]) - float64(s.wp*v[n1]); g > best.Value {
			best.Value, ones = g, n1
		}
	}
	n := len(u) - 1
	best.Multiset = Multiset{Zeros: n - ones, Ones: ones, High: n3, Low: n4}
	w.sh.met(best.Value)
	may := s.problem.Affected - n3 - n4 // teachers that may still be affected
	if !s.perturbed() || may == 0 || n == 0 {
		return best, nil
	}
	nearZero, nearOne := w.slopes(u, v)
	for n1 := range u {
		g := float64(s.w*u[n1]) - float64(s.wp*v[n1])
		bound := g + float64(min(n-n1, may))*nearZero + float64(min(n1, may))*nearOne
		if bound+w.screen <= max(w.sh.threshold.get(), best.Value) {
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

// slopes returns the most that one teacher moved away from (0,0), and from (1,1),
// can add.
func (w *macroWorker) slopes(u, v []float64) (nearZero, nearOne float64) {
	maxU, minU := negInf, math.Inf(1)
	maxV, minV := negInf, math.Inf(1)
	for i := 1; i < len(u); i++ {
		du, dv := u[i]-u[i-1], v[i]-v[i-1]
		maxU, minU = max(maxU, du), min(minU, du)
		maxV, minV = max(maxV, dv), min(minV, dv)
	}
	delta := w.s.problem.TeacherDelta
	nearZero = delta * max(0, w.s.w*maxU, -w.s.wp*minV)
	nearOne = delta * max(0, -w.s.w*minU, w.s.wp*maxV)
	return nearZero, nearOne
}

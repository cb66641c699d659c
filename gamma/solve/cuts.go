package solve

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// near is the difference of errors, relative to the error of coins, from which two functions are
// equally good: what the certificates' rounding and the solver's tolerance leave open.
const near = 1e-10

// Beyond a processor's cache the last digits of the bound take half of the time: for 1,001 teachers and
// m = 3 the loop is within nearMany after 150 rounds of 180. Half of the teachers make a proposal only.
const (
	nearMany = 1e-8
	nearHalf = 1e-6
)

// A scaled constraint must be broken by leastViolation, and by a quarter of near of the right-hand
// side, to be worth a row. What is left the certificate's shrinking repairs at the end: it takes that
// share of γ, and costs less than near. It is below what the solver's own tolerance leaves.
const leastViolation = 1e-12

// closeness returns near for the program.
func (pr *program) closeness() float64 {
	switch {
	case pr.o.near > 0:
		return pr.o.near
	case !pr.fitsCache():
		return nearMany
	}
	return near
}

// maxStalled is the number of rounds in a row that do not move the bound, after which the first search
// looks everywhere: rows of where it looks otherwise may move nothing any more. A single such round is
// common, and millions of multisets are found by a search everywhere. For many teachers the bound is 0
// in the first rounds.
func (pr *program) maxStalled() int {
	if pr.many() {
		return 8
	}
	return 3
}

// maxRounds stops a loop that no longer converges; solves take some dozen rounds.
const maxRounds = 1000

// errRounds ends a loop after too many rounds or complete searches.
var errRounds = errors.New("cutting planes did not end")

// cuttingPlanes solves by adding violated rows until there is no new one.
func (pr *program) cuttingPlanes(ctx context.Context) ([]float64, gamma.Proof, error) {
	// γ ≡ 1 is the optimum without rows, and of the program where it breaks none. A solver may
	// return another point without rows: one where γ is 0 at counts whose weights it does not see,
	// for which the complete search takes minutes.
	ones := pr.majority()
	violation, err := pr.separate(ctx, ones)
	if err != nil {
		return nil, gamma.Proof{}, err
	}
	if violation == 0 && pr.order+len(pr.rows) == 0 {
		pr.last, pr.lastProof, pr.lastError = ones, gamma.Proof{}, 0
		pr.report(0)
		return ones, gamma.Proof{}, nil
	}
	before := math.Inf(-1)
	for range pr.rounds {
		if pr.exhausted() {
			return nil, gamma.Proof{}, errWork
		}
		free, sol, err := pr.solve(ctx)
		if pr.mayRetreat(err) {
			before := len(pr.rows)
			if err := pr.retreat(); err != nil {
				return nil, gamma.Proof{}, err
			}
			if len(pr.rows) < before {
				continue
			} // else the solver would fail at the very same program
		}
		if err != nil {
			return nil, gamma.Proof{}, err
		}
		if reached := pr.reached(); reached != nil {
			pr.report(0)
			return reached, pr.lastProof, nil
		}
		if pr.stalled++; pr.lastError-before > pr.near*pr.worth {
			pr.stalled = 0
		}
		before = pr.lastError
		if err := pr.prune(free, sol); err != nil {
			return nil, gamma.Proof{}, err
		}
		inner, violation, err := pr.within(ctx)
		if err != nil {
			return nil, gamma.Proof{}, err
		}
		if inner != nil {
			pr.report(0)
			return inner, pr.lastProof, nil
		}
		if violation > 0 {
			pr.report(violation)
			continue
		}
		violation, err = pr.separateBetween(ctx, free)
		if err != nil {
			return nil, gamma.Proof{}, err
		}
		pr.report(violation)
		if violation == 0 {
			return free, pr.lastProof, nil
		}
	}
	return nil, gamma.Proof{}, errRounds
}

// reached returns γ of a certified function that is as good as the relaxation says that any function can be,
// or nil. Beside a baseline many thousands of multisets are equally bad but for rounding errors, and
// a search that rules out each of them has no end.
func (pr *program) reached() []float64 {
	enough := pr.lastError + pr.near*pr.worth
	for _, c := range pr.private {
		if f := c.Func(); pr.allows(f) {
			if free := f.Values()[:pr.n]; pr.errorOf(free) <= enough {
				pr.arrived = c
				return free
			}
		}
	}
	return nil
}

// allows reports whether f has the program's shape and is not below its least values.
func (pr *program) allows(f gamma.Func) bool {
	for l, least := range pr.least {
		if f.At(l) < least {
			return false
		}
	}
	return pr.o.Shape != gamma.Monotone || f.Monotone() // none is below 0 but for shape any
}

// errorOf returns the error of γ by the program's objective.
func (pr *program) errorOf(free []float64) float64 {
	if pr.o.WorstCase {
		return (1 - slices.Min(free)) / 2
	}
	return missing(pr.weights, free)
}

// maxRetreats bounds how often a program is thinned out after numerical trouble.
const maxRetreats = 8

// mayRetreat reports whether err is numerical trouble that a smaller program may not have.
func (pr *program) mayRetreat(err error) bool {
	return isTrouble(err) && pr.retreats < maxRetreats
}

// isTrouble reports whether a solver failed at a program that has an optimum.
func isTrouble(err error) bool {
	var status *lp.StatusError
	return errors.As(err, &status) && slices.Contains([]lp.Status{lp.Numerical, lp.Unknown,
		lp.IterationLimit}, status.Status)
}

// retreat goes back to the last program that was solved, without its slack rows, or to half of the
// first one's rows. Rows of neighbouring multisets are nearly the same, and too many of them make a
// basis that no solver can work with: from now on fewer neighbours are added.
func (pr *program) retreat() error {
	pr.retreats++
	pr.apart *= 2
	pr.round-- // it brought nothing
	if pr.last == nil {
		odd := true
		return pr.deleteRows(func(row) bool { odd = !odd; return odd })
	}
	return pr.deleteRows(func(r row) bool { return math.Abs(pr.slack(r, pr.last)) > tightBelow })
}

// keepRounds is the number of rounds that a row stays after it was last tight. For many teachers a
// program with many slack rows takes longer than the rounds that they save.
func (pr *program) keepRounds() int {
	if pr.many() {
		return 2
	}
	return 4
}

// mostRows is how many rows a search may add at most.
func (pr *program) mostRows() int {
	if pr.many() {
		return pr.n
	}
	return 2 * pr.n
}

// tightBelow is the slack up to which a row counts as tight. The multiplier does not tell:
// where γ is worth next to nothing it is below the solver's tolerance, and without its row
// the same violation comes back.
const tightBelow = 1e-6

// prune deletes rows that have not been tight for keepRounds rounds, so that the
// program stays small. That is worth doing only once there are many.
func (pr *program) prune(free []float64, sol lp.Solution) error {
	old, keep := 0, pr.keepRounds()
	for i := range pr.rows {
		r := &pr.rows[i]
		if pr.slack(*r, free) <= tightBelow || sol.Dual[pr.order+i] > 0 {
			r.tight = pr.round
		}
		if r.tight+keep < pr.round {
			old++
		}
	}
	if old < pr.mostRows()/2 || pr.many() && pr.fitsCache() && len(pr.rows) < 2*pr.n {
		return nil // rows that go from a small program come back
	}
	return pr.deleteRows(func(r row) bool { return r.tight+keep < pr.round })
}

// deleteRows deletes the rows of multisets that are old.
func (pr *program) deleteRows(old func(row) bool) error {
	var indices []int
	var kept []row
	for i, r := range pr.rows {
		if old(r) {
			indices = append(indices, pr.order+i)
			delete(pr.known, r.place)
		} else {
			kept = append(kept, r)
		}
	}
	pr.rows = kept
	return pr.solver.DeleteRows(indices)
}

// separate adds violated rows that are not known yet and returns the largest violation
// among them, 0 if there is none. It tries the fast searches first; only the complete one can prove
// that there is none.
func (pr *program) separate(ctx context.Context, free []float64) (float64, error) {
	s, phi := pr.system, phi(pr.system.Problem().K, free)
	for _, search := range []func() ([]constraints.Violation, error){
		func() ([]constraints.Violation, error) {
			if pr.stalled >= pr.maxStalled() {
				return pr.firstOrder(ctx, phi, nil)
			}
			return pr.firstOrder(ctx, phi, pr.lowsInUse())
		},
		func() ([]constraints.Violation, error) {
			if pr.many() { // KΔ may be large
				pr.spendSearch(-1)
				return s.SeparateVertices(ctx, phi, pr.tolerance, nil)
			}
			return pr.firstOrder(ctx, phi, nil)
		},
		func() ([]constraints.Violation, error) {
			if pr.searches--; pr.searches < 0 {
				return nil, errRounds
			}
			pr.spendSearch(-1)
			return s.Separate(ctx, phi, pr.tolerance)
		},
	} {
		found, err := search()
		if err != nil {
			return 0, err
		}
		for _, v := range found {
			pr.lows = max(pr.lows, placeOf(v).low())
		}
		if worst, err := pr.addSpread(found, free); worst > 0 || err != nil {
			return worst, err
		}
	}
	return 0, nil
}

// firstOrder is SeparateFirstOrder at some numbers of teachers at (b,a), or at all of them for nil.
func (pr *program) firstOrder(ctx context.Context, phi []float64,
	lows []int) ([]constraints.Violation, error) {
	if lows == nil {
		pr.spendSearch(-1)
	} else {
		pr.spendSearch(len(lows))
	}
	return pr.system.SeparateFirstOrder(ctx, phi, pr.tolerance, lows)
}

// fewTeachers is up to how many teachers a search at all numbers at (b,a) costs less than a linear
// program, and a linear program less than the rounds that more rows save.
const fewTeachers = 256

// many reports whether searches and programs have to be small.
func (pr *program) many() bool { return pr.system.Problem().K > fewTeachers }

// fitsCache reports whether a program of two or three times as many rows as it needs is still solved
// fast: its cells fit a processor's cache. Beyond, each pivot takes longer than the rounds that more
// rows save.
func (pr *program) fitsCache() bool { return pr.n <= fewTeachers }

// lowsInUse returns the numbers of teachers at (b,a) where the first search looks.
func (pr *program) lowsInUse() []int {
	lows := make([]int, 0, pr.lows+1)
	if !pr.many() {
		for n := range pr.lows + 1 {
			lows = append(lows, n)
		}
		return lows
	}
	for n := range firstLows + 1 {
		lows = append(lows, n)
	}
	for _, r := range pr.rows {
		lows = append(lows, r.low())
	}
	slices.Sort(lows)
	return slices.Compact(lows)
}

// addSpread adds rows of the violated multisets, worst first, and returns the largest
// violation among them. Left out are a multiset that the program has already, which is
// broken within the solver's tolerance only; one that is violated to first order only; and
// one near another that was just added: neighbours are nearly the same row, and the next
// round needs few of them.
func (pr *program) addSpread(found []constraints.Violation,
	free []float64) (worst float64, err error) {
	var fresh []row
	for _, v := range found {
		at, m := placeOf(v), v.Multiset
		near := func(r row) bool {
			return r.zero == v.Zero && cornerDistance(r.Multiset, m, constraints.High) <= pr.apart &&
				cornerDistance(r.Multiset, m, constraints.Low) <= pr.apart &&
				cornerDistance(r.Multiset, m, ones...) <= 1
		}
		if pr.known[at] || slices.ContainsFunc(fresh, near) {
			continue
		}
		r := row{at, pr.o.Shape.Row(pr.system, m, v.Zero, nil), pr.round}
		pr.spendRow()
		by := -pr.slack(r, free)
		if by <= pr.tolerance {
			continue
		}
		worst = max(worst, by)
		if fresh = append(fresh, r); len(fresh) == pr.mostRows() {
			break
		}
	}
	return worst, pr.add(fresh)
}

// ones are the corners at and near (1,1).
var ones = []constraints.Corner{constraints.Ones, constraints.NearOneUp, constraints.NearOneDown}

// cornerDistance is by how much the numbers of teachers at some corners differ.
func cornerDistance(a, b constraints.Multiset, at ...constraints.Corner) int {
	d := 0
	for _, c := range at {
		d += a[c] - b[c]
	}
	return max(d, -d)
}

// slack returns the distance of γ from breaking the row.
func (pr *program) slack(r row, free []float64) float64 {
	slack := pr.system.RHS()
	for l, x := range r.coef {
		slack -= x * free[l]
	}
	return slack
}

// phi is sign(l-K/2)·γ(l).
func phi(k int, free []float64) []float64 {
	out := make([]float64, k+1)
	if len(free) > k { // by name
		for l, g := range free {
			if out[l] = g; 2*l < k {
				out[l] = -g
			}
		}
		return out
	}
	for l, g := range free {
		out[l], out[k-l] = -g, g
	}
	return out
}

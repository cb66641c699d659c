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

// A scaled constraint must be broken by leastViolation, and by nearViolation of the right-hand side,
// to be worth a row. What is left the certificate's shrinking repairs at the end: it takes that share
// of γ, and costs less than near. It is below what the solver's own tolerance leaves.
const (
	leastViolation = 1e-12
	nearViolation  = near / 4
)

// maxStalled is the number of rounds in a row that do not move the bound, after which the first search
// looks everywhere: rows of where it looks otherwise may move nothing any more. A single such round is
// common, and millions of multisets are found by a search everywhere.
const maxStalled = 3

// maxRounds stops a loop that no longer converges; solves take some dozen rounds.
const maxRounds = 1000

// errRounds ends a loop after too many rounds or complete searches.
var errRounds = errors.New("cutting planes did not end")

// cuttingPlanes solves by adding violated rows until there is no new one.
func (pr *program) cuttingPlanes(ctx context.Context) ([]float64, gamma.Proof, error) {
	// γ ≡ 1 is the optimum without rows, and of the program where it breaks none. A solver may
	// return another point without rows: one where γ is 0 at counts whose weights it does not see,
	// for which the complete search takes minutes.
	ones := allOnes(pr.n)
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
		free, sol, err := pr.solve(ctx)
		if pr.mayRetreat(err) {
			if err := pr.retreat(); err != nil {
				return nil, gamma.Proof{}, err
			}
			continue
		}
		if err != nil {
			return nil, gamma.Proof{}, err
		}
		if reached := pr.reached(); reached != nil {
			pr.report(0)
			return reached, pr.lastProof, nil
		}
		if pr.stalled++; pr.lastError-before > near*pr.worth {
			pr.stalled = 0
		}
		before = pr.lastError
		if err := pr.prune(free, sol); err != nil {
			return nil, gamma.Proof{}, err
		}
		violation, err := pr.separate(ctx, free)
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

// reached returns γ of a baseline that is as good as the relaxation says that any function can be,
// or nil. Beside a baseline many thousands of multisets are equally bad but for rounding errors, and
// a search that rules out each of them has no end.
func (pr *program) reached() []float64 {
	enough := pr.lastError + near*pr.worth
	for _, b := range pr.baselines {
		if f := b.Certified.Func(); pr.allows(f) {
			if free := f.Values()[:pr.n]; pr.errorOf(free) <= enough {
				pr.arrived = b.Certified
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
	return pr.o.Shape != gamma.Monotone || f.Monotone() // a baseline is never below 0
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

// keepRounds is the number of rounds that a row stays after it was last tight.
const keepRounds = 4

// tightBelow is the slack up to which a row counts as tight. The multiplier does not tell:
// where γ is worth next to nothing it is below the solver's tolerance, and without its row
// the same violation comes back.
const tightBelow = 1e-6

// prune deletes rows that have not been tight for keepRounds rounds, so that the
// program stays small. That is worth doing only once there are many.
func (pr *program) prune(free []float64, sol lp.Solution) error {
	old := 0
	for i := range pr.rows {
		r := &pr.rows[i]
		if pr.slack(*r, free) <= tightBelow || sol.Dual[pr.order+i] > 0 {
			r.tight = pr.round
		}
		if r.tight+keepRounds < pr.round {
			old++
		}
	}
	if old < pr.n {
		return nil
	}
	return pr.deleteRows(func(r row) bool { return r.tight+keepRounds < pr.round })
}

// deleteRows deletes the rows of multisets that are old.
func (pr *program) deleteRows(old func(row) bool) error {
	var indices []int
	var kept []row
	for i, r := range pr.rows {
		if old(r) {
			indices = append(indices, pr.order+i)
			delete(pr.known, r.Multiset)
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
			if pr.stalled >= maxStalled {
				return s.SeparateFirstOrder(ctx, phi, pr.tolerance, s.Problem().K)
			}
			return s.SeparateFirstOrder(ctx, phi, pr.tolerance, pr.lows)
		},
		func() ([]constraints.Violation, error) {
			return s.SeparateFirstOrder(ctx, phi, pr.tolerance, s.Problem().K)
		},
		func() ([]constraints.Violation, error) {
			if pr.searches--; pr.searches < 0 {
				return nil, errRounds
			}
			return s.Separate(ctx, phi, pr.tolerance)
		},
	} {
		found, err := search()
		if err != nil {
			return 0, err
		}
		for _, v := range found {
			pr.lows = max(pr.lows, v.Multiset[constraints.Low])
		}
		if worst, err := pr.addSpread(found, free); worst > 0 || err != nil {
			return worst, err
		}
	}
	return 0, nil
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
		m := v.Multiset
		near := func(r row) bool {
			return cornerDistance(r.Multiset, m, constraints.High) <= pr.apart &&
				cornerDistance(r.Multiset, m, constraints.Low) <= pr.apart &&
				cornerDistance(r.Multiset, m, ones...) <= 1
		}
		if pr.known[m] || slices.ContainsFunc(fresh, near) {
			continue
		}
		r := row{m, pr.system.Row(m, nil), pr.round}
		by := -pr.slack(r, free)
		if by <= pr.tolerance {
			continue
		}
		worst = max(worst, by)
		if fresh = append(fresh, r); len(fresh) == 2*pr.n {
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
	for l, g := range free {
		out[l], out[k-l] = -g, g
	}
	return out
}

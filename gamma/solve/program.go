package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// program is the linear program under construction. Its variables stand for γ (see
// coefficients); in the worst case there is one more, s ≤ γ(l) for all l, and -½s is
// minimised.
type program struct {
	system   *constraints.System
	o        Options
	solver   lp.Solver
	worth    float64 // the error of γ ≡ 0: error = worth + scale·objective
	scale    float64 // costs are divided by it for the solver
	n        int     // values of γ
	order    int     // rows that do not come from multisets, the first ones
	rows     []row   // the others
	known    map[place]bool
	round    int
	work     int64 // multiplications so far
	stalled  int   // rounds in a row that did not move the bound
	lows     int   // up to how many teachers at (b,a) the fast search looks
	apart    int   // how far apart in the numbers at (a,b) and at (b,a) new rows are, see addSpread
	retreats int   // after numerical trouble
	rounds   int   // most of them
	searches int   // most complete ones

	outset    []float64 // γ of a private function towards which inner goes back; nil for few teachers
	inner     []float64 // γ where no search has found a violation yet, at first a baseline's
	last      []float64 // γ of the last relaxation that was solved, for best
	lastProof gamma.Proof
	lastError float64 // of that relaxation
	far       estimate

	weights   []float64          // nil in the worst case
	least     []float64          // for a second criterion: γ may not be smaller; nil otherwise
	baselines []gamma.Named      // of the system: points that are private
	private   []*gamma.Certified // theirs, and what half of the teachers found
	near      float64            // see there
	arrived   *gamma.Certified   // the one at which the loop ended, if any
	tolerance float64            // by how much a constraint must be broken to be worth a row
}

// Where the fast search looks at first, and how far apart its rows are. Measured for
// K = 101 … 1001: closer rows make worse bases, rows further apart more rounds.
const (
	firstLows  = 2
	firstApart = 4
)

// place is a constraint: that of label 1 at a multiset, or of label 0.
type place struct {
	constraints.Multiset
	zero bool
}

func placeOf(v constraints.Violation) place { return place{v.Multiset, v.Zero} }

// low is how many teachers sit at the corner that a search calls (b,a): of label 0 it looks at the mirror
// image.
func (p place) low() int {
	if p.zero {
		return p.Multiset[constraints.High]
	}
	return p.Multiset[constraints.Low]
}

// row is a constraint that the program has.
type row struct {
	place
	coef  []float64 // over γ
	tight int       // the last round in which it was
}

func newProgram(s *constraints.System, o Options, baselines []gamma.Named) (*program, error) {
	if o.WorstCase {
		return newWeighted(s, o, baselines, nil, nil)
	}
	weights, err := o.objective().Weights(s.Problem().K)
	if err != nil {
		return nil, err
	}
	return newWeighted(s, o, baselines, weights, nil)
}

// newWeighted is newProgram for other weights than o's. The worst case has none.
func newWeighted(s *constraints.System, o Options, baselines []gamma.Named,
	weights, least []float64) (*program, error) {
	n := o.Shape.Free(s.Problem().K)
	pr := &program{system: s, o: o, n: n, known: map[place]bool{}, lows: firstLows,
		apart: firstApart, rounds: maxRounds, searches: maxRounds, weights: weights, least: least,
		baselines: baselines}
	pr.near = pr.closeness()
	pr.tolerance = max(leastViolation, pr.near/4*s.RHS())
	for _, b := range baselines {
		pr.private = append(pr.private, b.Certified)
	}
	columns := n
	if o.WorstCase {
		columns++
	}
	cost := make([]float64, columns)
	if o.WorstCase {
		cost[n], pr.worth = -0.5, 0.5
	} else {
		for l, w := range weights {
			cost[l] = -w
			pr.worth += w
		}
	}
	pr.coefficients(cost)
	for _, c := range cost {
		pr.scale = math.Max(pr.scale, -c)
	}
	base := lp.Problem{C: cost, Lower: make([]float64, columns), Upper: make([]float64, columns)}
	for j := range cost {
		cost[j] /= pr.scale
		base.Lower[j], base.Upper[j] = o.Shape.Least(), 1
	}
	var err error
	if pr.solver, err = o.NewSolver(base); err != nil {
		return nil, err
	}
	rows := pr.ownRows(columns)
	pr.order = len(rows)
	if err := pr.solver.AddRows(rows); err != nil {
		pr.close()
		return nil, err
	}
	if pr.inner = pr.start(); pr.inner != nil {
		pr.outset = make([]float64, n)
		if least != nil {
			pr.outset = pr.inner
		}
	}
	return pr, nil
}

// ownRows returns the rows that do not come from multisets: those of the worst case
// first, then γ(0) ≤ 1 for shape monotone, then γ(l) ≥ least(l).
func (pr *program) ownRows(columns int) []lp.Row {
	var rows []lp.Row
	if pr.o.WorstCase {
		for l := range pr.n {
			coef := make([]float64, columns)
			coef[l] = -1
			pr.coefficients(coef)
			coef[pr.n] = 1
			rows = append(rows, lp.Row{Coef: coef})
		}
	}
	if pr.o.Shape == gamma.Monotone {
		coef := make([]float64, columns)
		for l := range pr.n {
			coef[l] = 1
		}
		rows = append(rows, lp.Row{Coef: coef, RHS: 1})
	}
	for l, least := range pr.least {
		if least > pr.o.Shape.Least() {
			coef := make([]float64, columns)
			coef[l] = -1
			pr.coefficients(coef)
			rows = append(rows, lp.Row{Coef: coef, RHS: -least})
		}
	}
	return rows
}

// coefficients turns coefficients of γ(0), γ(1), … into those of the program's
// variables, in place. Those are γ itself for shape free. A γ that does not increase
// towards the middle is a sum of steps,
//
//	γ(l) = Σ_{j≥l} x(j),   x ≥ 0,   γ(0) = Σ_j x(j) ≤ 1
//
// so for shape monotone the coefficient of x(j) is the sum of those of
// γ(0) … γ(j): no order rows, and a much better conditioned program.
func (pr *program) coefficients(c []float64) {
	if pr.o.Shape == gamma.Monotone {
		for l := 1; l < pr.n; l++ {
			c[l] += c[l-1]
		}
	}
}

// values is the way back, from the program's variables to γ. The solver keeps
// bounds within its tolerance only; what is returned lies in the shape's exact set:
// sums of non-negative numbers do not fall, in floating point either.
func (pr *program) values(x []float64) []float64 {
	free := make([]float64, pr.n)
	for l, v := range x[:pr.n] {
		free[l] = max(pr.o.Shape.Least(), v)
	}
	if pr.o.Shape == gamma.Monotone {
		for l := len(free) - 2; l >= 0; l-- {
			free[l] += free[l+1]
		}
	}
	for l, v := range free {
		free[l] = min(1, v)
	}
	return free
}

func (pr *program) close() { _ = pr.solver.Close() } // nothing is read from it any more

// solve solves the program and returns γ's free values.
func (pr *program) solve(ctx context.Context) ([]float64, lp.Solution, error) {
	pr.round++
	sol, err := pr.solver.Solve(ctx)
	pr.spend(sol.Work)
	if err != nil {
		return nil, sol, err
	}
	if len(sol.X) < pr.n || len(sol.Dual) != pr.order+len(pr.rows) {
		return nil, sol, &lp.StatusError{Status: lp.Numerical,
			Detail: fmt.Sprintf("solver returned %d values and %d multipliers for %d columns and %d rows",
				len(sol.X), len(sol.Dual), pr.n, pr.order+len(pr.rows))}
	}
	for l, x := range sol.X {
		if math.IsNaN(x) { // ±Inf is clipped
			return nil, sol, &lp.StatusError{Status: lp.Numerical,
				Detail: fmt.Sprintf("solver returned x[%d] = %v", l, x)}
		}
	}
	pr.last, pr.lastProof = pr.values(sol.X), pr.proof(sol)
	pr.lastError = max(0, pr.worth+sol.Objective*pr.scale)
	return pr.last, sol, nil
}

// proof turns the solver's duals into multipliers of the constraints.
func (pr *program) proof(sol lp.Solution) gamma.Proof {
	var out gamma.Proof
	for i, r := range pr.rows {
		if y := sol.Dual[pr.order+i] * pr.scale; y > 0 {
			out.Multipliers = append(out.Multipliers, gamma.Multiplier{Multiset: r.Multiset, Zero: r.zero, Value: y})
		}
	}
	if pr.o.WorstCase {
		out.Weights = make([]float64, pr.n)
		sum := 0.0
		for l := range out.Weights {
			out.Weights[l] = max(0, sol.Dual[l]) * pr.scale
			sum += out.Weights[l]
		}
		if sum > 0.5 { // by the solver's tolerance
			for l := range out.Weights {
				out.Weights[l] *= 0.5 / sum
			}
		}
	}
	return out
}

// add appends rows of multisets.
func (pr *program) add(fresh []row) error {
	rows := make([]lp.Row, len(fresh))
	for i, r := range fresh {
		rows[i] = pr.row(r.coef)
		pr.known[r.place] = true
	}
	pr.rows = append(pr.rows, fresh...)
	return pr.solver.AddRows(rows)
}

// row turns a constraint's row over γ into the program's; it copies.
func (pr *program) row(overGamma []float64) lp.Row {
	columns := pr.n
	if pr.o.WorstCase {
		columns++
	}
	coef := make([]float64, columns)
	copy(coef, overGamma)
	pr.coefficients(coef)
	return lp.Row{Coef: coef, RHS: pr.system.RHS()}
}

// Progress describes a running solve.
type Progress struct {
	Round     int     // linear programs solved
	Rows      int     // rows in the last one
	Violation float64 // by how much the worst constraint was broken, scaled; 0 at the end
	Error     float64 // error of the relaxation: a lower bound
	Share     float64 // an estimate of the part that is done, in [0,1]; it never falls
	Work      int64   // multiplications so far, of Options.Work
}

// A loop ends about when its bound no longer moves. The logarithm of what the bound moved in the last
// recentRounds rounds says how far that is; as it may rest for some rounds long before, the share of
// the first rounds stays below rounds / (rounds + usualRounds).
const (
	recentRounds = 16
	usualRounds  = 48
)

// estimate follows a bound, in units of the error of coins.
type estimate struct {
	near   float64   // where it ends
	bounds []float64 // the last ones
	share  float64
}

// next takes up the bound of a round and returns the share.
func (e *estimate) next(round int, bound float64) float64 {
	if e.bounds = append(e.bounds, bound); len(e.bounds) > recentRounds {
		moved := max(e.near, bound-e.bounds[0])
		e.bounds = e.bounds[1:]
		share := min(math.Log(moved)/math.Log(e.near), float64(round)/float64(round+usualRounds))
		e.share = max(e.share, share)
	}
	return e.share
}

// report tells how far the program is: nearer to the end of its gap, or to that of its work.
func (pr *program) report(violation float64) {
	if pr.o.Progress != nil {
		pr.far.near = pr.near
		share := max(pr.far.next(pr.round, pr.lastError/pr.worth),
			min(1, float64(pr.work)/float64(pr.o.Work)))
		pr.o.Progress(Progress{Round: pr.round, Rows: pr.order + len(pr.rows), Violation: violation,
			Error: pr.lastError, Share: share, Work: pr.work})
	}
}

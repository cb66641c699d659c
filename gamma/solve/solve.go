package solve

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/lp"
)

// Method is a way to solve the linear program. All give the same optimum.
type Method string

const (
	CuttingPlanes Method = "cutting-planes" // rows on demand, for any K
	Exhaustive    Method = "exhaustive"     // all rows at once, for small K
)

// ParseMethod returns the method of that name.
func ParseMethod(name string) (Method, error) {
	switch m := Method(name); m {
	case CuttingPlanes, Exhaustive:
		return m, nil
	}
	return "", &check.Error{Name: "method", Value: fmt.Sprintf("%q", name), Rule: `"cutting-planes" or "exhaustive"`}
}

// Options says what is optimal and how to get there. The zero value asks for the
// source's linear program: shape free, prior mean 0.75, cutting planes.
type Options struct {
	// PriorMean is μ in (0.5, 1); see gamma.Weights. Defaults to 0.75 unless Counts or
	// WorstCase is given.
	PriorMean float64
	// Counts and WorstCase: see gamma.Objective.
	Counts    []float64
	WorstCase bool
	// Shape is the set of noise functions. Defaults to gamma.Free.
	Shape gamma.Shape
	// Method defaults to CuttingPlanes.
	Method Method
	// NewSolver makes the LP solver. Defaults to lp.New, the best in the build.
	NewSolver func(lp.Problem) (lp.Solver, error)
	// SolverName is recorded in the table. Defaults to lp.Backend().
	SolverName string
	// Version of the program, recorded in the table. May be empty.
	Version string
	// BestOnCancel asks for the best certified table found so far when ctx ends
	// before the solve: the last relaxation's γ shrunk until it is private, or a
	// baseline if that is better, with the gap that is proved by then. It takes a few
	// certificates' time more. Without it, ctx.Err() is returned.
	BestOnCancel bool
	// Progress, if not nil, is called after every round, from the goroutine of
	// the caller.
	Progress func(Progress)
}

// DefaultPriorMean is the mean of the source's first prior, Uniform[½,1].
const DefaultPriorMean = gamma.DefaultPriorMean

// ClearPriorMean is the mean of the source's second prior, teachers that are clear
// about their answer: Uniform[0.7,1].
const ClearPriorMean = 0.85

func (o Options) withDefaults() Options {
	if o.PriorMean == 0 && o.Counts == nil && !o.WorstCase {
		o.PriorMean = DefaultPriorMean
	}
	if o.Shape == "" {
		o.Shape = gamma.Free
	}
	if o.Method == "" {
		o.Method = CuttingPlanes
	}
	if o.NewSolver == nil {
		o.NewSolver = lp.New
	}
	if o.SolverName == "" {
		o.SolverName = lp.Backend()
	}
	return o
}

func (o Options) objective() gamma.Objective {
	return gamma.Objective{PriorMean: o.PriorMean, Counts: o.Counts, WorstCase: o.WorstCase, Shape: o.Shape}
}

// Progress is how far a solve has come.
type Progress struct {
	Round     int     // linear programs solved
	Rows      int     // rows in the last one
	Violation float64 // by how much the worst constraint was broken, scaled; 0 at the end
	Error     float64 // error of the relaxation: a lower bound
}

// TooManyRowsError says that exhaustive enumeration would not fit in memory.
type TooManyRowsError struct {
	Rows  *big.Int
	Limit int64
}

func (e *TooManyRowsError) Error() string {
	return fmt.Sprintf("method = %q needs %v rows in memory, but at most %d are allowed here: use method %q", Exhaustive, e.Rows, e.Limit, CuttingPlanes)
}

// Optimal returns the noise function with the least expected error among those
// that keep p's promise, certified, with a proof of how close to the optimum it is. Its
// error is never above that of a baseline of the shape (gamma.Baselines).
//
// The errors are a *constraints.ParameterError for p or o, a *TooManyRowsError, an
// lp error (lp.ErrTooLarge, *lp.StatusError), a *gamma.ViolationError if the result could
// not be certified (nothing is returned then), or ctx.Err().
//
// Cost: some dozen rounds of one small linear program and one sweep of O(K³).
func Optimal(ctx context.Context, p constraints.Problem, o Options) (*gamma.Table, error) {
	o = o.withDefaults()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := o.objective().Validate(p.K); err != nil {
		return nil, err
	}
	if _, err := ParseMethod(string(o.Method)); err != nil {
		return nil, err
	}
	system, err := constraints.NewSystem(p)
	if err != nil {
		return nil, err
	}
	if p.PostProcessing() { // every γ is private: γ ≡ 1, whose error is 0
		o.SolverName = "none needed"
		return certified(ctx, system, o, ones(system.Variables()), gamma.Proof{})
	}
	pr, err := newProgram(system, o)
	if err != nil {
		return nil, err
	}
	defer pr.close()

	run := pr.cuttingPlanes
	if o.Method == Exhaustive {
		run = pr.exhaustive
	}
	free, proof, err := run(ctx)
	if err != nil && ctx.Err() != nil && o.BestOnCancel {
		return pr.best(context.WithoutCancel(ctx))
	}
	if err != nil {
		return nil, err
	}
	return certified(ctx, system, o, free, proof)
}

// best returns the best certified table that can be had without another round.
func (pr *program) best(ctx context.Context) (*gamma.Table, error) {
	o := pr.o
	o.SolverName += ", stopped early"
	free := pr.last
	if free == nil { // no relaxation yet: that without rows
		free = ones(pr.n)
	}
	return certified(ctx, pr.system, o, free, pr.lastProof)
}

// ones is γ ≡ 1, the optimum where no constraint binds.
func ones(n int) []float64 {
	free := make([]float64, n)
	for l := range free {
		free[l] = 1
	}
	return free
}

// certified turns what a solver proposed into a table: of it, or of a baseline that is
// better. That happens where the optimum is nearly a baseline: a solver leaves γ(l) where
// it is when its weight is below the solver's tolerance, and certifying shrinks.
func certified(ctx context.Context, s *constraints.System, o Options, free []float64, proof gamma.Proof) (*gamma.Table, error) {
	f, err := gamma.FromFree(s.Problem().K, free)
	if err != nil {
		return nil, err
	}
	c, err := gamma.CertifyLargest(ctx, s, f)
	if err != nil {
		return nil, err
	}
	t, err := gamma.BestTable(ctx, c, o.objective(), proof)
	if err != nil {
		return nil, err
	}
	t.Solver, t.Version = o.SolverName, o.Version
	for _, b := range t.Baselines {
		if b.Certified == t.Certified {
			t.Solver += ", then " + b.Name
		}
	}
	return t, nil
}

// program is the linear program under construction. Its variables stand for γ (see
// coefficients); in the worst case there is one more, s ≤ γ(l) for all l, and -½s is
// minimised.
type program struct {
	system    *constraints.System
	o         Options
	solver    lp.Solver
	worth     float64 // the error of γ ≡ 0: error = worth + scale·objective
	scale     float64 // costs are divided by it for the solver
	n         int     // values of γ
	order     int     // rows that do not come from multisets, the first ones
	rows      []row   // the others
	known     map[constraints.Multiset]bool
	round     int
	solved    int // the last round that ended with a solution
	lows      int // up to how many teachers at (b,a) the fast search looks
	apart     int // how far apart in the numbers at (a,b) and at (b,a) new rows are, see addSpread
	retreated int

	last      []float64 // γ of the last relaxation that was solved, for best
	lastProof gamma.Proof
}

// Where the fast search looks at first, and how far apart its rows are. Measured for
// K = 101 … 1001: closer rows make worse bases, rows further apart more rounds.
const (
	firstLows  = 2
	firstApart = 4
)

// row is a constraint that the program has.
type row struct {
	constraints.Multiset
	coef  []float64 // over γ
	tight int       // the last round in which it was
}

func newProgram(s *constraints.System, o Options) (*program, error) {
	n := s.Variables()
	pr := &program{system: s, o: o, n: n, known: map[constraints.Multiset]bool{}, lows: firstLows, apart: firstApart}
	columns := n
	if o.WorstCase {
		columns++
	}
	cost := make([]float64, columns)
	if o.WorstCase {
		cost[n], pr.worth = -0.5, 0.5
	} else {
		weights, err := o.objective().Weights(s.Problem().K)
		if err != nil {
			return nil, err
		}
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
		base.Upper[j] = 1
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
	return pr, nil
}

// ownRows returns the rows that do not come from multisets: those of the worst case
// first, then γ(0) ≤ 1 for shape monotone.
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
		free[l] = max(0, v)
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
	if err != nil {
		return nil, sol, err
	}
	if len(sol.X) < pr.n || len(sol.Dual) != pr.order+len(pr.rows) {
		return nil, sol, &lp.StatusError{Status: lp.Numerical, Detail: fmt.Sprintf("solver returned %d values and %d multipliers for %d columns and %d rows", len(sol.X), len(sol.Dual), pr.n, pr.order+len(pr.rows))}
	}
	for l, x := range sol.X {
		if math.IsNaN(x) { // ±Inf is clipped
			return nil, sol, &lp.StatusError{Status: lp.Numerical, Detail: fmt.Sprintf("solver returned x[%d] = %v", l, x)}
		}
	}
	pr.solved = pr.round
	pr.last, pr.lastProof = pr.values(sol.X), pr.proof(sol)
	return pr.last, sol, nil
}

// proof turns the solver's duals into multipliers of the constraints.
func (pr *program) proof(sol lp.Solution) gamma.Proof {
	var out gamma.Proof
	for i, r := range pr.rows {
		if y := sol.Dual[pr.order+i] * pr.scale; y > 0 {
			out.Multipliers = append(out.Multipliers, gamma.Multiplier{Multiset: r.Multiset, Value: y})
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

func (pr *program) report(sol lp.Solution, violation float64) {
	if pr.o.Progress != nil {
		pr.o.Progress(Progress{Round: pr.round, Rows: pr.order + len(pr.rows), Violation: violation, Error: max(0, pr.worth+sol.Objective*pr.scale)})
	}
}

// add appends rows of multisets.
func (pr *program) add(fresh []row) error {
	rows := make([]lp.Row, len(fresh))
	for i, r := range fresh {
		rows[i] = pr.row(r.coef)
		pr.known[r.Multiset] = true
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

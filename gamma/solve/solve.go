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
	// PriorMean is μ in (0.5, 1); see gamma.Weights. Defaults to 0.75.
	PriorMean float64
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
	// Progress, if not nil, is called after every round, from the goroutine of
	// the caller.
	Progress func(Progress)
}

// DefaultPriorMean is the mean of the source's first prior, Uniform[½,1].
const DefaultPriorMean = 0.75

func (o Options) withDefaults() Options {
	if o.PriorMean == 0 {
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
	return gamma.Objective{PriorMean: o.PriorMean, Shape: o.Shape}
}

// Progress is how far a solve has come.
type Progress struct {
	Round     int     // linear programs solved
	Rows      int     // rows in the last one
	Violation float64 // by how much the worst constraint was broken, scaled; 0 at the end
	Error     float64 // expected error of the relaxation: a lower bound
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
// that keep p's promise, certified, with a proof of how close to the optimum it is.
//
// The errors are a *constraints.ParameterError for p or o, a *TooManyRowsError, an
// lp error (lp.ErrTooLarge, *lp.StatusError), a *gamma.ViolationError if the result could
// not be certified (nothing is returned then), or ctx.Err().
//
// Cost: some dozen rounds of one small linear program and one sweep of O(K³).
func Optimal(ctx context.Context, p constraints.Problem, o Options) (*gamma.Table, error) {
	o = o.withDefaults()
	if err := o.objective().Validate(); err != nil {
		return nil, err
	}
	if _, err := ParseMethod(string(o.Method)); err != nil {
		return nil, err
	}
	system, err := constraints.NewSystem(p)
	if err != nil {
		return nil, err
	}
	weights, err := gamma.Weights(p.K, o.PriorMean)
	if err != nil {
		return nil, err
	}
	pr, err := newProgram(system, weights, o)
	if err != nil {
		return nil, err
	}
	defer pr.close()

	run := pr.cuttingPlanes
	if o.Method == Exhaustive {
		run = pr.exhaustive
	}
	free, proof, err := run(ctx)
	if err != nil {
		return nil, err
	}
	f, err := gamma.FromFree(p.K, free)
	if err != nil {
		return nil, err
	}
	certified, err := gamma.CertifyShrunk(ctx, p, f)
	if err != nil {
		return nil, err
	}
	t, err := gamma.NewTable(ctx, certified, o.objective(), proof)
	if err != nil {
		return nil, err
	}
	t.Solver, t.Version = o.SolverName, o.Version
	return t, nil
}

// program is the linear program under construction.
type program struct {
	system  *constraints.System
	weights []float64
	scale   float64 // weights are divided by it for the solver
	o       Options
	solver  lp.Solver
	order   int   // rows of the shape, the first ones
	rows    []row // the others
	known   map[constraints.Multiset]bool
	round   int
}

// row is a constraint that the program has.
type row struct {
	constraints.Multiset
	tight int // the last round in which it was
}

func newProgram(s *constraints.System, weights []float64, o Options) (*program, error) {
	n := len(weights)
	pr := &program{system: s, weights: weights, o: o, known: map[constraints.Multiset]bool{}}
	cost := make([]float64, n)
	for l, w := range weights {
		cost[l] = -w
	}
	pr.coefficients(cost)
	for _, c := range cost {
		pr.scale = math.Max(pr.scale, -c)
	}
	base := lp.Problem{C: cost, Lower: make([]float64, n), Upper: make([]float64, n)}
	for l := range cost {
		cost[l] /= pr.scale
		base.Upper[l] = 1
	}
	var err error
	if pr.solver, err = o.NewSolver(base); err != nil {
		return nil, err
	}
	if o.Shape == gamma.Monotone {
		top := lp.Row{Coef: make([]float64, n), RHS: 1} // γ(0) ≤ 1
		for l := range top.Coef {
			top.Coef[l] = 1
		}
		if err := pr.solver.AddRows([]lp.Row{top}); err != nil {
			pr.close()
			return nil, err
		}
		pr.order = 1
	}
	return pr, nil
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
		for l := 1; l < len(c); l++ {
			c[l] += c[l-1]
		}
	}
}

// values is the way back, from the program's variables to γ. The solver keeps
// bounds within its tolerance only; what is returned lies in the shape's exact set:
// sums of non-negative numbers do not fall, in floating point either.
func (pr *program) values(x []float64) []float64 {
	free := make([]float64, len(x))
	for l, v := range x {
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
	if len(sol.X) != len(pr.weights) || len(sol.Dual) != pr.order+len(pr.rows) {
		return nil, sol, &lp.StatusError{Status: lp.Numerical, Detail: fmt.Sprintf("solver returned %d values and %d multipliers for %d columns and %d rows", len(sol.X), len(sol.Dual), len(pr.weights), pr.order+len(pr.rows))}
	}
	for l, x := range sol.X {
		if math.IsNaN(x) { // ±Inf is clipped
			return nil, sol, &lp.StatusError{Status: lp.Numerical, Detail: fmt.Sprintf("solver returned x[%d] = %v", l, x)}
		}
	}
	return pr.values(sol.X), sol, nil
}

// proof turns the solver's duals into multipliers of the constraints.
func (pr *program) proof(sol lp.Solution) []gamma.Multiplier {
	var out []gamma.Multiplier
	for i, r := range pr.rows {
		if y := sol.Dual[pr.order+i] * pr.scale; y > 0 {
			out = append(out, gamma.Multiplier{Multiset: r.Multiset, Value: y})
		}
	}
	return out
}

func (pr *program) report(sol lp.Solution, violation float64) {
	if pr.o.Progress == nil {
		return
	}
	e := 0.0
	for _, w := range pr.weights {
		e += w
	}
	pr.o.Progress(Progress{Round: pr.round, Rows: pr.order + len(pr.rows), Violation: violation, Error: max(0, e+sol.Objective*pr.scale)})
}

// add appends the rows of the multisets.
func (pr *program) add(multisets []constraints.Multiset) error {
	rows := make([]lp.Row, len(multisets))
	for i, m := range multisets {
		rows[i] = lp.Row{Coef: pr.system.Row(m, nil), RHS: pr.system.RHS()}
		pr.coefficients(rows[i].Coef)
	}
	if err := pr.solver.AddRows(rows); err != nil {
		return err
	}
	for _, m := range multisets {
		pr.rows = append(pr.rows, row{m, pr.round})
		pr.known[m] = true
	}
	return nil
}

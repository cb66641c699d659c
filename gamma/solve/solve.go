package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

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

// Methods returns all methods.
func Methods() []Method { return []Method{CuttingPlanes, Exhaustive} }

// Options holds the objective and the settings of a solve. The zero value asks for the source's
// linear program: shape free, prior mean 0.75, cutting planes.
type Options struct {
	// PriorMean is μ in (0.5, 1); see gamma.Weights. Defaults to 0.75 unless Counts or
	// WorstCase is given.
	PriorMean float64
	// Counts and WorstCase: see gamma.Objective.
	Counts    []float64
	WorstCase bool
	// Shape is the set of noise functions. Defaults to gamma.Any for Counts, where a probability
	// below ½ of naming the majority may serve, to gamma.ByName for counts that favour one label and for
	// Costs, and to gamma.Free, the source's, otherwise.
	Shape gamma.Shape
	Costs [2]float64 // see gamma.Objective
	// Method defaults to CuttingPlanes.
	Method Method
	// NewSolver makes the LP solver. Defaults to lp.New, the best in the build.
	NewSolver func(lp.Problem) (lp.Solver, error)
	// SolverName is recorded in the table. Defaults to lp.Backend().
	SolverName string
	// Version of the program, recorded in the table. May be empty.
	Version string
	// Work bounds CuttingPlanes: multiplications that are counted, not timed, so that a solve ends at the
	// same place everywhere. Where that is before the gap is closed, the table is the best certified one
	// by then, with the gap that is proved: Table.Solver says so. Defaults to DefaultWork.
	Work int64
	// BestOnCancel asks for the best certified table found so far when ctx ends
	// before the solve: the last relaxation's γ shrunk until it is private, or a
	// baseline if that is better, with the gap that is proved by then. It takes a few
	// certificates' time more. Without it, ctx.Err() is returned.
	BestOnCancel bool
	near         float64 // see closeness; 0 for the size's
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
		switch {
		case o.Costs != [2]float64{} || o.objective().Lopsided():
			o.Shape = gamma.ByName
		case o.Counts != nil:
			o.Shape = gamma.Any
		}
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
	if o.Work == 0 {
		o.Work = DefaultWork
	}
	return o
}

func (o Options) objective() gamma.Objective {
	return gamma.Objective{PriorMean: o.PriorMean, Counts: o.Counts, WorstCase: o.WorstCase,
		Shape: o.Shape, Costs: o.Costs}
}

// TooManyRowsError reports that exhaustive enumeration would not fit in memory.
type TooManyRowsError struct {
	Rows  *big.Int
	Limit int64
}

func (e *TooManyRowsError) Error() string {
	return fmt.Sprintf("method = %q needs %v rows in memory, but at most %d are allowed here: use "+
		"method %q", Exhaustive, e.Rows, e.Limit, CuttingPlanes)
}

// Optimal returns the noise function with the least expected error among those that keep p's
// promise, certified, with a proof of how close to the optimum it is. Its error is never above that
// of a baseline of the shape (gamma.Baselines). Among functions that are equally good within the
// solver's tolerance, it is one that is best for the vote counts that the objective takes for rare.
//
// The errors are a *constraints.ParameterError for p or o, a *TooManyRowsError, an
// lp error (lp.ErrTooLarge, *lp.StatusError), a *gamma.ViolationError if the result could
// not be certified (nothing is returned then), or ctx.Err().
//
// Cost: some dozen rounds of one or two small linear programs and one sweep of O(K³), within Options.Work.
func Optimal(ctx context.Context, p constraints.Problem, o Options) (*gamma.Table, error) {
	o = o.withDefaults()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := o.objective().Validate(p.K); err != nil {
		return nil, err
	}
	if err := check.Known("method", o.Method, Methods()); err != nil {
		return nil, err
	}
	if o.Method == Exhaustive && o.Shape == gamma.ByName {
		return nil, check.Want("method", fmt.Sprintf("%q", o.Method), fmt.Sprintf("%q for shape %q", CuttingPlanes, o.Shape))
	}
	if o.Work < 0 {
		return nil, check.Want("work", o.Work, "≥ 0")
	}
	table, _, err := optimum(ctx, p, o)
	return table, err
}

// optimum is Optimal for what has been checked, and says what work it took.
func optimum(ctx context.Context, p constraints.Problem, o Options) (*gamma.Table, int64, error) {
	system, err := constraints.NewSystem(p)
	if err != nil {
		return nil, 0, err
	}
	within := ctx
	if o.BestOnCancel {
		within = context.WithoutCancel(ctx) // the best table holds them
	}
	baselines, err := gamma.SystemBaselines(within, system)
	if err != nil {
		return nil, 0, err
	}
	if p.PostProcessing() { // every γ is private: γ ≡ 1, whose error is 0
		o.SolverName = "none needed"
		pr := &program{system: system, o: o, baselines: baselines}
		table, err := pr.certified(ctx, pr.majority(), gamma.Proof{})
		return table, 0, err
	}
	pr, err := newProgram(system, o, baselines)
	if err != nil {
		return nil, 0, err
	}
	defer pr.close()
	table, err := pr.run(ctx)
	if isTrouble(err) && o.SolverName != lp.SimplexName { // one solver's trouble is not the other's
		o.NewSolver, o.SolverName = lp.NewSimplex, lp.SimplexName
		o.Work = max(1, o.Work-pr.work)
		table, work, err := optimum(ctx, p, o)
		return table, pr.work + work, err
	}
	return table, pr.work, err
}

// run solves the program and certifies what it finds.
func (pr *program) run(ctx context.Context) (*gamma.Table, error) {
	loop := pr.exhaustive
	if pr.o.Method == CuttingPlanes {
		pr.startFromHalf(ctx)
		loop = pr.cuttingPlanes
	}
	early := func() bool { return ctx.Err() != nil && pr.o.BestOnCancel }
	free, proof, err := loop(ctx)
	switch {
	case err == nil:
	case isTrouble(err) && pr.o.SolverName != lp.SimplexName:
		return nil, err
	case early():
		return pr.best(context.WithoutCancel(ctx), "stopped early")
	case pr.last != nil && isTrouble(err):
		return pr.best(ctx, "stopped early by numerical trouble")
	case errors.Is(err, errWork):
		return pr.best(ctx, fmt.Sprintf("stopped early after %.2g multiplications", float64(pr.work)))
	case errors.Is(err, errRounds):
		return pr.best(ctx, fmt.Sprintf("stopped early after %d rounds", maxRounds))
	default:
		return nil, err
	}
	finer := pr.refined(ctx, free)
	if early() {
		return pr.best(context.WithoutCancel(ctx), "stopped early")
	}
	table, err := pr.certifiedFiner(ctx, free, finer, proof)
	if err != nil && early() {
		return pr.best(context.WithoutCancel(ctx), "stopped early")
	}
	return table, err
}

// best returns the best certified table without another round: from the last relaxation, from the
// point between it and a private function, or an earlier one. The proof is that of the last
// relaxation.
func (pr *program) best(ctx context.Context, why string) (*gamma.Table, error) {
	pr.o.SolverName += ", " + why
	free := pr.last
	if free == nil { // no relaxation yet: that without rows
		free = pr.majority()
	}
	table, err := pr.certified(ctx, free, pr.lastProof)
	if err != nil || pr.inner == nil {
		return table, err
	}
	points := [][]float64{pr.inner}
	for _, c := range pr.private[len(pr.baselines):] {
		if pr.allows(c.Func()) {
			points = append(points, c.Func().Values()[:pr.n])
		}
	}
	for _, free := range points {
		other, err := pr.certified(ctx, free, pr.lastProof)
		if err != nil {
			return nil, err
		}
		if other.ExpectedError < table.ExpectedError {
			table = other
		}
	}
	return table, nil
}

// majority is γ ≡ 1, the optimum where no constraint binds. A tie, which shape ByName alone has a value for, is
// neither label's: it stays a coin.
func (pr *program) majority() []float64 {
	k := pr.system.Problem().K
	free := slices.Repeat([]float64{1}, pr.o.Shape.Free(k))
	if k%2 == 0 && len(free) > k {
		free[k/2] = 0
	}
	return free
}

// certified turns what a solver proposed into a table: of it, or of a baseline that is
// better. That happens where the optimum is nearly a baseline: a solver leaves γ(l) where
// it is when its weight is below the solver's tolerance, and certifying shrinks.
func (pr *program) certified(ctx context.Context, free []float64,
	proof gamma.Proof) (*gamma.Table, error) {
	f, err := gamma.FromFree(pr.system.Problem().K, free)
	if pr.o.Shape == gamma.ByName {
		f, err = gamma.NewByName(free)
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(pr.private, func(c *gamma.Certified) bool { return c.Func().Equal(f) })
	c := (*gamma.Certified)(nil)
	if at >= 0 {
		c = pr.private[at]
	} else if c, err = gamma.CertifyLargest(ctx, pr.system, f); err != nil {
		return nil, err
	}
	t, err := gamma.BestTable(c, pr.o.objective(), proof, pr.baselines)
	if err != nil {
		return nil, err
	}
	t.Solver, t.Version = pr.o.SolverName, pr.o.Version
	for _, b := range t.Baselines {
		if b.Certified == t.Certified {
			t.Solver += ", then " + b.Name
		}
	}
	return t, nil
}

// DefaultWork is how much a solve may take by default: about a minute of a core of 2024.
const DefaultWork = 200_000_000_000

// errWork ends a loop that has taken Options.Work.
var errWork = errors.New("cutting planes reached the limit of work")

// What a place costs in multiplications of a linear program: a search has some eight arithmetic steps
// there, on vectors that it has just made.
const workOfPlace = 12

// spend counts work. It is counted from sizes and from what the solver says, and never from time, so
// that a program ends at the same round on every machine and under every load.
func (pr *program) spend(n int64) {
	pr.work += min(max(0, n), math.MaxInt64-pr.work) // a solver may say anything
}

// spendSearch counts a search at so many numbers of teachers at (b,a), or at all of them for lows < 0:
// for each n4 of them and n3 ≤ t-n4 a family of K-n3-n4+1 places. Splits are not counted.
func (pr *program) spendSearch(lows int) {
	p := pr.system.Problem()
	k, t := int64(p.K)+1, int64(p.Affected)+1
	places := int64(lows) * t * (2*k - t) / 2
	if lows < 0 {
		places = t * t * (3*k - 2*t) / 6
	}
	pr.spend(workOfPlace * places)
}

// spendRow counts a row that is made: the laws of two sides, of K teachers each.
func (pr *program) spendRow() {
	k := int64(pr.system.Problem().K)
	pr.spend(k * k / 4)
}

// exhausted reports whether the program may do no more.
func (pr *program) exhausted() bool { return pr.work >= pr.o.Work }

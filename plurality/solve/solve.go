package solve

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
)

// Method is a way to solve the linear program. All give the same optimum.
type Method string

const (
	FirstOrder    Method = "first-order"    // plain Go, for any size
	InteriorPoint Method = "interior-point" // HiGHS on the dual, for moderate sizes
	Simplex       Method = "simplex"        // HiGHS on the dual, for comparison
	PDLP          Method = "pdlp"           // HiGHS on the dual, for comparison
)

// algorithms are HiGHS's names.
var algorithms = map[Method]lp.Algorithm{InteriorPoint: lp.InteriorPoint, Simplex: lp.Simplex,
	PDLP: lp.FirstOrder}

// Methods returns all methods.
func Methods() []Method { return []Method{FirstOrder, InteriorPoint, Simplex, PDLP} }

// DefaultGap is the largest gap of a table to the optimum, unless Options state another.
const DefaultGap = 1e-6

// Options configures a solve. The zero value is fine.
type Options struct {
	// Method is chosen by size unless it is given: package gamma/solve for two classes;
	// InteriorPoint for δ > 0 and up to 50,000 rows where the build has HiGHS; then FirstOrder
	// from where these ended if the gap is not closed; otherwise FirstOrder.
	Method Method
	// Gap, in (0,1), ends the search: no private mechanism's value is higher by more. Defaults to
	// DefaultGap. Rounding errors may end the search before; Table.Gap is the gap that is proved.
	Gap float64
	// Workers is the number of goroutines to use. Defaults to the number of processors. The table
	// does not depend on it.
	Workers int
	// Work bounds FirstOrder: its steps times the dual values that each touches. Above it the error
	// is a *LimitError. Unlike a time, it is the same on every machine. 0 is no bound.
	Work int64
	// Version of the program, recorded in the table. May be empty.
	Version string
	// BestOnCancel asks for the best certified table found so far when ctx ends before the
	// solve, with the gap that is proved by then. It takes a certificate's time more, seconds
	// for the largest programs. Without it, ctx.Err() is returned.
	BestOnCancel bool
	// Checkpoint, if not nil, is given certified tables of a large problem along the way, whose
	// certificate takes too long to wait for when a solve is interrupted. That takes a tenth of
	// the time at most. It is called from the goroutine of the caller.
	Checkpoint func(*plurality.Table)
	// Progress, if not nil, is called now and then from the goroutine of the caller. Its figures
	// are floating point; only the table is certified.
	Progress func(Progress)
}

// Progress describes a running solve.
type Progress struct {
	Elapsed           time.Duration
	Steps             int
	Value, UpperBound float64
}

// Gap bounds the distance of the best mechanism so far from the optimum.
func (p Progress) Gap() float64 { return p.UpperBound - p.Value }

func (o Options) withDefaults() Options {
	if o.Gap == 0 {
		o.Gap = DefaultGap
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

func (o Options) validate() error {
	if o.Method != "" {
		if err := check.Known("method", o.Method, Methods()); err != nil {
			return err
		}
	}
	if err := check.Within("gap", o.Gap); err != nil {
		return err
	}
	if o.Work < 0 {
		return check.Want("work", o.Work, "≥ 0")
	}
	return check.Whole("workers", o.Workers, 1, 0)
}

// Optimal returns a mechanism whose value is within o.Gap of the best that keeps p's promise,
// certified, with the proof of that. Its value is never below permute-and-flip's by
// more than rounding to masses costs.
//
// The errors are a *constraints.ParameterError for p, objective or o, an lp error (lp.ErrNoHiGHS,
// *lp.StatusError), or ctx.Err().
func Optimal(ctx context.Context, p plurality.Problem, objective plurality.Objective,
	o Options) (*plurality.Table, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := objective.Validate(p); err != nil {
		return nil, err
	}
	began := time.Now()
	s, err := plurality.NewSystem(p)
	if err != nil {
		return nil, err
	}
	two := p.Classes == 2 && !p.Abstain && o.Method == ""
	var r rows
	var unlisted error
	if !two { // first of all: what is too large costs no weights
		if r, unlisted = newRows(ctx, s, o); unlisted != nil && ctx.Err() == nil {
			return nil, unlisted
		}
	}
	weighing := ctx
	if o.BestOnCancel { // any table needs them
		weighing = context.WithoutCancel(ctx)
	}
	weights, err := objective.Weights(weighing, s.Space)
	if err != nil {
		return nil, err
	}
	stoppedEarly := func(solver string) string {
		return strings.TrimPrefix(solver+", stopped early", ", ")
	}
	best := &incumbent{x: s.PermuteAndFlip(), upper: 1}
	if two {
		t, x, err := twoClasses(ctx, s, objective, weights, o)
		if err != nil || t != nil && (t.Gap <= o.Gap || ctx.Err() != nil) {
			return t, err
		}
		if t != nil {
			best.x = x
		}
		r, unlisted = newRows(ctx, s, o)
	}
	var solver string
	var pr *program
	if err = unlisted; err == nil {
		pr = newProgram(s, r, objective, weights)
		best.value = pr.value(best.x)
		solver, err = pr.solve(ctx, best, o, began, newCheckpoints(pr, o, func() {
			// An error is ctx's, or met again at the end.
			if t, err := certified(ctx, s, objective, weights, best, pr, o.Gap); err == nil {
				t.Solver, t.Version = stoppedEarly(string(FirstOrder)), o.Version
				o.Checkpoint(t)
			}
		}))
	}
	if err != nil {
		if ctx.Err() == nil || !o.BestOnCancel {
			return nil, err
		}
		solver = stoppedEarly(solver)
	}
	if o.BestOnCancel {
		ctx = context.WithoutCancel(ctx)
	}
	t, err := certified(ctx, s, objective, weights, best, pr, o.Gap)
	if err != nil {
		return nil, err
	}
	t.Solver, t.Version = solver, o.Version
	return t, nil
}

// mostInterior is the largest number of rows for which the interior point method is faster.
const mostInterior = 50_000

// solve improves best by the chosen method. It returns who did.
func (p *program) solve(ctx context.Context, best *incumbent, o Options, began time.Time,
	points *checkpoints) (solver string, err error) {
	goal := 0.9 * o.Gap
	method := o.Method
	if method == "" && p.system.Problem().Delta > 0 && p.values() <= mostInterior {
		method = InteriorPoint
	}
	if algorithm, ok := algorithms[method]; ok {
		err := p.highs(ctx, best, algorithm)
		if err == nil {
			solver = fmt.Sprintf("%s, %s", lp.Backend(), method)
		}
		if ctx.Err() != nil { // what there is is in best
			return solver, ctx.Err()
		}
		if o.Method != "" || err == nil && best.gap() <= goal {
			return solver, err
		}
		if solver != "" {
			solver += ", then "
		}
	}
	f := &firstOrder{program: p, best: best, workers: p.workers(o.Workers), progress: o.Progress,
		began: began, points: points, work: o.Work}
	return solver + string(FirstOrder), f.run(ctx, goal)
}

// values returns the number of dual values.
func (p *program) values() int {
	_, end := p.rows.block(p.rows.blocks() - 1)
	return end
}

// workers returns the number of goroutines that are worth their synchronisation, at most most: for
// small programs fewer are faster.
func (p *program) workers(most int) int {
	return max(1, min(most, p.values()/4096))
}

// certified turns the best that was found into a table.
func certified(ctx context.Context, s *plurality.System, o plurality.Objective, w plurality.Weights,
	best *incumbent, pr *program, gap float64) (*plurality.Table, error) {
	c, err := plurality.Round(ctx, s, best.x)
	if err != nil {
		return nil, err
	}
	var proof plurality.Proof
	if best.y != nil {
		// All that is left out together costs at most a hundredth of the gap.
		proof = pr.rows.proof(best.y, 0.01*gap/float64(len(best.y))/(1+pr.e))
	}
	t, err := plurality.NewWeightedTable(c, o, w, proof)
	if err != nil {
		return nil, errors.Join(errors.New("a bound contradicts a certified value"), err)
	}
	return t, nil
}

// LimitError reports that the optimum was not found within a stated time, or within Options.Work.
// It is not context.DeadlineExceeded: the caller's context may still be running.
type LimitError struct {
	Problem plurality.Problem
	Limit   time.Duration // 0 where Work ended it
	Work    int64
	Values  int // above 0 where it was not begun: there are more dual values than that
}

func (e *LimitError) Error() string {
	if e.Limit == 0 {
		counted := ""
		if e.Values > 0 {
			counted = fmt.Sprintf(": it has more than %d dual values, and its first %d steps touch each", e.Values,
				firstLook)
		}
		return fmt.Sprintf("the optimal table of %d classes for K = %d takes more work than is counted for "+
			"one, %.2g%s", e.Problem.Classes, e.Problem.K, float64(e.Work), counted)
	}
	return fmt.Sprintf("the optimal table of %d classes for K = %d was not found within %v",
		e.Problem.Classes, e.Problem.K, e.Limit)
}

// Within is Cached with a limit of time: it takes about limit at most, or fails with a *LimitError.
// o.BestOnCancel must not be set: the clock would then decide on the table, and a resumed release
// must find the mechanism that it began with.
func Within(ctx context.Context, limit time.Duration, store *cache.Store, p plurality.Problem,
	objective plurality.Objective, o Options) (Result, error) {
	if o.BestOnCancel {
		panic("solve: Within with BestOnCancel")
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := Cached(limited, store, p, objective, o)
	if err != nil && r.Table == nil && ctx.Err() == nil && limited.Err() != nil &&
		errors.Is(err, context.DeadlineExceeded) {
		return r, &LimitError{Problem: p, Limit: limit}
	}
	return r, err
}

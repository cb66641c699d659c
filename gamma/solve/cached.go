package solve

import (
	"context"
	"fmt"
	"io"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

// Result is a table and where it came from.
type Result = cache.Found[*gamma.Table]

// keyOf returns the cache key: everything that determines the table.
func keyOf(p constraints.Problem, o Options) string {
	o = o.withDefaults()
	budget := fmt.Sprintf("m=%v", p.M)
	if p.TotalEpsilon != 0 {
		budget = fmt.Sprintf("total_epsilon=%v", p.TotalEpsilon)
	}
	prior := fmt.Sprintf("prior_mean=%v", o.PriorMean)
	switch {
	case o.WorstCase:
		prior = "worst_case"
	case o.Counts != nil:
		prior = fmt.Sprintf("prior_counts=%v", o.Counts)
	}
	if o.Costs != [2]float64{} {
		prior += fmt.Sprintf(" costs=%v", o.Costs)
	}
	work := "" // the default is one of the solvers' version
	if o.Work != DefaultWork {
		work = fmt.Sprintf(" work=%d", o.Work)
	}
	return fmt.Sprintf("darrm table format=%d k=%d %s epsilon=%v teacher_delta=%v delta=%v "+
		"affected=%d shape=%s %s method=%s%s solvers=%d",
		gamma.FormatVersion, p.K, budget, p.Epsilon, p.TeacherDelta, p.Delta, p.Affected, o.Shape, prior,
		o.Method, work, cache.Solvers)
}

// Cached is Optimal with a cache in front; a nil store means none. An entry is
// used only if it is a table for exactly p and o, certifies again, its proof shows that
// it is optimal, and no baseline is better; otherwise Result.Rejected has the reason, and the table
// is solved and stored anew.
//
// An error to store comes with the Result, which is complete and certified.
func Cached(ctx context.Context, store *cache.Store, p constraints.Problem,
	o Options) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	return cache.Search[*gamma.Table]{
		Key:          keyOf(p, o),
		Certify:      func(r io.Reader) (*gamma.Table, error) { return fromCache(ctx, r, p, o.withDefaults()) },
		Solve:        func() (*gamma.Table, error) { return Optimal(ctx, p, o) },
		Keep:         func(t *gamma.Table) bool { return ctx.Err() == nil && t.Optimal() }, // a damaged entry may be private and useless
		BestOnCancel: o.BestOnCancel,
	}.Find(ctx, store)
}

// fromCache returns the table of a cache entry, or why it is not used.
func fromCache(ctx context.Context, r io.Reader, p constraints.Problem, o Options) (*gamma.Table, error) {
	claim, err := gamma.ReadClaim(r)
	if err != nil {
		return nil, err
	}
	if claim.Problem != p || !claim.Objective.Equal(o.objective()) {
		return nil, cache.ErrOther
	}
	t, err := claim.Certify(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Optimal() {
		return nil, fmt.Errorf("its table is only shown to be within %.3g of the optimum", t.Gap)
	}
	if b := t.BetterBaseline(); b != nil {
		return nil, fmt.Errorf("its table has error %.3g, but %s has %.3g", t.ExpectedError, b.Name,
			t.BaselineError(*b))
	}
	return t, nil
}

package solve

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

// OptimalGap is the largest gap, relative to the error of releasing nothing but coins,
// of a table that is called optimal. The cache holds no others: a damaged entry may
// be private and useless.
const OptimalGap = 1e-6

// Result is a table and where it came from.
type Result struct {
	Table *gamma.Table
	// Cached is true if the table was read from the cache (and certified again).
	Cached bool
	// Path is the table's place in the cache, "" without a cache.
	Path string
	// Rejected is the reason why an existing entry was not used; nil otherwise.
	Rejected error
}

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
	return fmt.Sprintf("darrm table format=%d k=%d %s epsilon=%v teacher_delta=%v delta=%v "+
		"affected=%d shape=%s %s method=%s solvers=%d",
		gamma.FormatVersion, p.K, budget, p.Epsilon, p.TeacherDelta, p.Delta, p.Affected, o.Shape, prior,
		o.Method, cache.Solvers)
}

// Cached is Optimal with a cache in front; a nil store means none. An entry is
// used only if it is a table for exactly p and o, certifies again, its proof shows that
// it is optimal, and no baseline is better; otherwise Result.Rejected has the reason, and the table
// is solved and stored anew.
//
// An error to store comes with the Result, which is complete and certified.
func Cached(ctx context.Context, store *cache.Store, p constraints.Problem,
	o Options) (Result, error) {
	var r Result
	if store == nil {
		t, err := Optimal(ctx, p, o)
		return Result{Table: t}, err
	}
	if err := p.Validate(); err != nil {
		return r, err
	}
	key := keyOf(p, o)
	r.Path = store.Path(key)
	t, err := lookUp(ctx, store, key, p, o)
	switch {
	case err == nil:
		r.Table, r.Cached = t, true
		return r, nil
	case ctx.Err() != nil:
		if !o.BestOnCancel {
			return r, ctx.Err()
		}
	case !errors.Is(err, cache.ErrNotFound):
		r.Rejected = err
	}
	if r.Table, err = Optimal(ctx, p, o); err != nil {
		return r, err
	}
	if ctx.Err() != nil || r.Table.Gap > OptimalGap*r.Table.ErrorOfCoin() {
		r.Path = ""
		return r, nil // the best so far is not the optimum: not for the cache
	}
	var b bytes.Buffer
	if err := r.Table.Encode(&b); err != nil {
		return r, err
	}
	return r, store.Put(key, b.Bytes())
}

// lookUp returns the certified table of the entry, or why there is none.
func lookUp(ctx context.Context, store *cache.Store, key string, p constraints.Problem,
	o Options) (*gamma.Table, error) {
	o = o.withDefaults()
	value, err := store.Get(key)
	if err != nil {
		return nil, err
	}
	reject := func(err error) error { return fmt.Errorf("cache entry %s: %w", store.Path(key), err) }
	claim, err := gamma.ReadClaim(bytes.NewReader(value))
	if err != nil {
		return nil, reject(err)
	}
	if claim.Problem != p || !claim.Objective.Equal(o.objective()) {
		return nil, reject(errors.New("it holds a table for other parameters"))
	}
	t, err := claim.Certify(ctx)
	if err != nil {
		return nil, reject(err)
	}
	if worth := t.ErrorOfCoin(); t.Gap > OptimalGap*worth {
		return nil, reject(fmt.Errorf("its table is only shown to be within %.3g of the optimum", t.Gap))
	}
	if b := t.BetterBaseline(); b != nil {
		return nil, reject(fmt.Errorf("its table has error %.3g, but %s has %.3g", t.ExpectedError,
			b.Name, t.BaselineError(*b)))
	}
	return t, nil
}

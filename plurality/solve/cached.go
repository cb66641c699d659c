package solve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality"
)

// Result is a table and where it came from.
type Result struct {
	Table *plurality.Table
	// Cached is true if the table was read from the cache (and certified again).
	Cached bool
	// Path is the table's place in the cache, "" without a cache or where it was not stored.
	Path string
	// Rejected is the reason why an existing entry was not used; nil otherwise.
	Rejected error
}

// keyOf returns the cache key: everything that determines the table. A table of another gap, or one
// that took more work than is allowed, would make what is found depend on what was sought before.
func keyOf(p plurality.Problem, o plurality.Objective, options Options) string {
	counts := ""
	if o.Counts != nil { // there may be more of them than a key has room for
		counts = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, o.Counts)))
	}
	return fmt.Sprintf("darrm plurality format=%d k=%d classes=%d epsilon=%v delta=%v affected=%d "+
		"abstain=%t value=%v accuracy=%v concentration=%v counts=%v method=%s gap=%v work=%d solvers=%d",
		plurality.FormatVersion, p.K, p.Classes, p.Epsilon, p.Delta, p.Affected, p.Abstain,
		o.AbstainValue, o.Accuracy, o.Concentration, counts, options.Method, options.Gap, options.Work,
		cache.Solvers)
}

// Cached is Optimal with a cache in front; a nil store means none. An entry is used only if
// it is a table for exactly p and objective, certifies again, and its proof shows a gap of at
// most o.Gap; otherwise Result.Rejected has the reason, and the table is solved and stored anew.
//
// An error to store comes with the Result, which is complete and certified.
func Cached(ctx context.Context, store *cache.Store, p plurality.Problem,
	objective plurality.Objective, o Options) (Result, error) {
	var r Result
	o = o.withDefaults()
	if store != nil {
		for _, err := range []error{p.Validate(), o.validate()} {
			if err != nil {
				return r, err
			}
		}
		t, err := lookUp(ctx, store, p, objective, o)
		switch {
		case err == nil:
			return Result{Table: t, Cached: true, Path: store.Path(keyOf(p, objective, o))}, nil
		case ctx.Err() != nil && !o.BestOnCancel:
			return r, ctx.Err()
		case ctx.Err() == nil && !errors.Is(err, cache.ErrNotFound):
			r.Rejected = err
		}
	}
	var err error
	if r.Table, err = Optimal(ctx, p, objective, o); err != nil || store == nil ||
		r.Table.Gap > o.Gap {
		return r, err // what is not near the optimum is not for the cache
	}
	var b bytes.Buffer
	if err := r.Table.Encode(&b); err != nil {
		return r, err
	}
	r.Path = store.Path(keyOf(p, objective, o))
	return r, store.Put(keyOf(p, objective, o), b.Bytes())
}

// lookUp returns the certified table of the entry, or why there is none.
func lookUp(ctx context.Context, store *cache.Store, p plurality.Problem,
	objective plurality.Objective, o Options) (*plurality.Table, error) {
	key := keyOf(p, objective, o)
	value, err := store.Get(key)
	if err != nil {
		return nil, err
	}
	reject := func(err error) error { return fmt.Errorf("cache entry %s: %w", store.Path(key), err) }
	claim, err := plurality.ReadClaim(bytes.NewReader(value))
	if err != nil {
		return nil, reject(err)
	}
	if claim.System.Problem() != p || !claim.Objective.Equal(objective) {
		return nil, reject(errors.New("it holds a table for other parameters"))
	}
	t, err := claim.Certify(ctx)
	if err != nil {
		return nil, reject(err)
	}
	if t.Gap > o.Gap {
		return nil, reject(fmt.Errorf("its table is only shown to be within %.3g of the optimum", t.Gap))
	}
	return t, nil
}

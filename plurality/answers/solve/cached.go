package solve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality/answers"
)

// Result is a table and where it came from.
type Result struct {
	Table *answers.Table
	// Cached is true if the table was read from the cache (and priced again).
	Cached bool
	// Path is the table's place in the cache, "" without a cache or where it was not stored.
	Path string
	// Rejected is the reason why an existing entry was not used; nil otherwise.
	Rejected error
}

// keyOf returns the cache key: all that a solve begins with, but for its time.
func keyOf(p answers.Problem, prior answers.Prior, o Options) string {
	counts := ""
	if prior.Counts != nil { // there may be more of them than a key has room for
		counts = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, prior.Counts)))
	}
	return fmt.Sprintf("darrm answers format=%d k=%d classes=%d affected=%d missing=%t answers=%d "+
		"epsilon=%v delta=%v abstain=%t value=%v accuracy=%v concentration=%v present=%v counts=%v "+
		"law=%s order=%d price=%v work=%d solvers=%d", answers.FormatVersion, p.K, p.Classes, p.Affected, p.Missing,
		p.Answers, p.Epsilon, p.Delta, p.Abstain, prior.AbstainValue, prior.Accuracy,
		prior.Concentration, prior.Present, counts, o.Law, o.Order, o.Price, o.Work, cache.Solvers)
}

// Cached is Best with a cache in front; a nil store means none. An entry is used only if it is a
// table for exactly p and prior and its price keeps the promise again; otherwise Result.Rejected
// has the reason, and the table is solved and stored anew. What was cut short is not stored.
//
// An error to store comes with the Result, which is complete and certified.
func Cached(ctx context.Context, store *cache.Store, p answers.Problem, prior answers.Prior,
	o Options) (r Result, err error) {
	if store != nil {
		if err := errors.Join(p.Validate(), o.validate()); err != nil {
			return r, err
		}
		r.Table, r.Rejected = lookUp(ctx, store, p, prior, o)
		switch {
		case r.Rejected == nil:
			return Result{Table: r.Table, Cached: true, Path: store.Path(keyOf(p, prior, o))}, nil
		case ctx.Err() != nil:
			return Result{}, ctx.Err()
		case errors.Is(r.Rejected, cache.ErrNotFound):
			r.Rejected = nil
		}
	}
	if r.Table, err = Best(ctx, p, prior, o); err != nil || store == nil || ctx.Err() != nil {
		return r, err
	}
	var b bytes.Buffer
	if err := r.Table.Encode(&b); err != nil {
		return r, err
	}
	r.Path = store.Path(keyOf(p, prior, o))
	return r, store.Put(keyOf(p, prior, o), b.Bytes())
}

// lookUp returns the certified table of the entry, or why there is none.
func lookUp(ctx context.Context, store *cache.Store, p answers.Problem, prior answers.Prior,
	o Options) (*answers.Table, error) {
	key := keyOf(p, prior, o)
	value, err := store.Get(key)
	if err != nil {
		return nil, err
	}
	reject := func(err error) error { return fmt.Errorf("cache entry %s: %w", store.Path(key), err) }
	claim, err := answers.ReadClaim(ctx, bytes.NewReader(value))
	if err != nil {
		return nil, reject(err)
	}
	if claim.System.Problem() != p || !claim.Prior.Equal(prior) {
		return nil, reject(errors.New("it holds a table for other parameters"))
	}
	t, err := claim.Certify(ctx)
	if err != nil {
		return nil, reject(err)
	}
	return t, nil
}

// LimitError reports that no table for many answers was certified within a time.
type LimitError struct {
	Problem answers.Problem
	Limit   time.Duration
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("no table for %d answers of K = %d teachers was certified within %v",
		e.Problem.Answers, e.Problem.K, e.Limit)
}

// Within is Cached for callers who were given a limit of time: it takes about limit at most, or
// fails with a *LimitError.
func Within(ctx context.Context, limit time.Duration, store *cache.Store, p answers.Problem,
	prior answers.Prior, o Options) (Result, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	o.BestOnCancel = false // a table that the clock made would be another one the next time
	r, err := Cached(limited, store, p, prior, o)
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case r.Table == nil && limited.Err() != nil:
		return Result{}, &LimitError{p, limit}
	}
	return r, err
}

package solve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality/answers"
)

// Result is a table and where it came from.
type Result = cache.Found[*answers.Table]

// keyOf returns the cache key: all that a solve begins with, but for its time.
func keyOf(p answers.Problem, prior answers.Prior, o Options) string {
	counts := ""
	if prior.Counts != nil { // there may be more of them than a key has room for
		counts = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, prior.Counts)))
	}
	return fmt.Sprintf("darrm answers format=%d k=%d classes=%d affected=%d missing=%t answers=%d "+
		"epsilon=%v delta=%v abstain=%t value=%v accuracy=%v concentration=%v present=%v counts=%v "+
		"law=%s order=%d price=%v work=%d solvers=%d named=%t shares=%v costs=%v labels=%d yes=%v", answers.FormatVersion, p.K, p.Classes, p.Affected, p.Missing,
		p.Answers, p.Epsilon, p.Delta, p.Abstain, prior.AbstainValue, prior.Accuracy,
		prior.Concentration, prior.Present, counts, o.Law, o.Order, o.Price, o.Work, cache.Solvers, p.Named,
		prior.Shares, prior.Costs, p.Labels, prior.Yes)
}

// Cached is Best with a cache in front; a nil store means none. An entry is used only if it is a
// table for exactly p and prior and its price keeps the promise again; otherwise Result.Rejected
// has the reason, and the table is solved and stored anew. What was cut short is not stored.
//
// An error to store comes with the Result, which is complete and certified.
func Cached(ctx context.Context, store *cache.Store, p answers.Problem, prior answers.Prior,
	o Options) (Result, error) {
	if err := cmp.Or(o.validate(), p.Validate()); err != nil {
		return Result{}, err
	}
	return cache.Search[*answers.Table]{
		Key: keyOf(p, prior, o),
		Certify: func(r io.Reader) (*answers.Table, error) {
			claim, err := answers.ReadClaim(ctx, r)
			if err != nil {
				return nil, err
			}
			if claim.System.Problem() != p || !claim.Prior.Equal(prior) {
				return nil, cache.ErrOther
			}
			return claim.Certify(ctx)
		},
		Solve: func() (*answers.Table, error) { return Best(ctx, p, prior, o) },
		Keep:  func(*answers.Table) bool { return ctx.Err() == nil },
	}.Find(ctx, store)
}

// CachedNoise returns about the least noise, priced by its labels alone, that keeps the
// promise, with a cache in front: see Cached. It serves problems that are too large for a table. The errors
// are those of noisymax.Sigma.
func CachedNoise(ctx context.Context, store *cache.Store, p noisymax.Problem,
	version string) (cache.Found[*noisymax.Table], error) {
	if err := p.Validate(); err != nil {
		return cache.Found[*noisymax.Table]{}, err
	}
	return cache.Search[*noisymax.Table]{
		Key: fmt.Sprintf("darrm noise format=%d k=%d classes=%d affected=%d missing=%t answers=%d epsilon=%v "+
			"delta=%v solvers=%d", noisymax.FormatVersion, p.Teachers, p.Classes, p.Affected, p.Missing, p.Answers,
			p.Epsilon, p.Delta, cache.Solvers),
		Certify: func(r io.Reader) (*noisymax.Table, error) {
			claim, err := noisymax.ReadClaim(ctx, r)
			if err != nil {
				return nil, err
			}
			if claim.Problem != p {
				return nil, cache.ErrOther
			}
			return claim.Certify(ctx)
		},
		Solve: func() (*noisymax.Table, error) {
			c, err := noisymax.Best(ctx, p)
			if err != nil {
				return nil, err
			}
			return &noisymax.Table{Certified: c, Version: version}, nil
		},
		Keep: func(*noisymax.Table) bool { return true },
	}.Find(ctx, store)
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

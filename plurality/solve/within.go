package solve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality"
)

// LimitError is the error where the optimum was not found within a stated time, or within
// Options.Work. It is no context.DeadlineExceeded: the caller's context may go on.
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

// Within is Cached for callers who were given a limit of time: it takes about limit at most, or
// fails with a *LimitError. o.BestOnCancel must not be set: a table that the clock
// made would be another one the next time, and a release that is resumed must find the
// mechanism that it was begun with.
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

package plan

import (
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/internal/num"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// advisedTeachers is the largest K for which advice solves for private teachers, some ten
// times: beyond, each solve can take minutes.
const advisedTeachers = 101

// advisedHistograms is the same of many classes: beyond, some ten solves take more than some ten
// seconds. The advice then needs a larger budget than the optimum would.
const advisedHistograms = 600

// advise looks for the least budget, and for the most queries, with which one of the choices'
// mechanisms agrees as often as is wanted.
func (r *Request) advise(ctx context.Context, promise bool, choices []Choice) (*Advice, error) {
	a := &Advice{}
	for _, c := range choices {
		private := !math.IsInf(c.Mechanism.Teachers().Epsilon, 1)
		if c.Mechanism.Abstains() || private && r.votes() > advisedTeachers ||
			c.Mechanism.Table() != nil && c.Mechanism.Table().System().Histograms() > advisedHistograms {
			continue
		}
		k := r.kinds(promise)[c.kind]
		if k.whole != nil {
			r.adviseAll(ctx, a, k)
			continue
		}
		x, ok, err := r.leastUseful(ctx, k, c.x)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || !ok { // not known, or there is none
			continue
		}
		if cost, err := r.cost(ctx, k, x); err == nil && cost.Delta <= r.Budget.Delta {
			if e := gridCeil(cost.Epsilon); e <= maxEpsilon && (a.Epsilon == 0 || e < a.Epsilon) {
				a.Epsilon, a.EpsilonName = e, c.Name
			}
		}
		if q := r.mostQueries(ctx, promise, c.kind, x, a.Queries); q > a.Queries {
			a.Queries, a.QueriesName = q, c.Name
		}
	}
	if a.Queries > 0 {
		fewer := *r
		fewer.Queries, fewer.Agreement, fewer.Progress, fewer.Early = a.Queries, 0, nil, nil
		p, err := New(ctx, fewer)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil { // else no more is known of them
			a.Worth = p.Choices[0].Worth
		}
	}
	return a, ctx.Err()
}

// mostQueries returns the largest number of labels at x that fits, if it is more than known.
// Fewer labels leave more δ to each, so they agree no less often than Queries at x.
func (r *Request) mostQueries(ctx context.Context, promise bool, kind int, x float64,
	known int) int {
	fits := func(queries int) bool {
		fewer := *r
		fewer.Queries = queries
		cost, err := fewer.cost(ctx, fewer.kinds(promise)[kind], x)
		return err == nil && within(cost, r.Budget)
	}
	// Upwards from few labels, whose cost takes little work.
	lo, hi := known, known+1
	for ; hi < r.Queries && fits(hi); hi *= 2 {
		lo = hi
	}
	for hi = min(hi, r.Queries); hi-lo > 1; {
		if mid := (lo + hi) / 2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// leastUseful returns the smallest x, rounded up by less than a hundredth, with which labels agree
// as often as is wanted; from is too small. ok is false where no x does. The error is ctx's, a
// *solve.LimitError where the answer is not known, or that of Law.Agreement.
func (r *Request) leastUseful(ctx context.Context, k kind,
	from float64) (x float64, ok bool, err error) {
	const fine = 32 // steps of the grid
	useful := func(i int) (bool, error) {
		x := gridValue(i)
		if k.label != nil && r.Votes.most(r.reach(), k.label(x)) < r.Agreement {
			return false, nil
		}
		if k.atLeast != nil {
			if least, err := k.atLeast(ctx, x); err == nil && least >= r.Agreement {
				return true, nil
			}
		}
		c, err := k.build(ctx, x)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		var limit *pluralitysolve.LimitError
		if errors.As(err, &limit) {
			return false, err
		}
		if err != nil {
			return false, nil // out of the mechanism's range
		}
		c.Agreement, err = r.Votes.Agreement(ctx, c.Mechanism)
		return c.Agreement.Expected >= r.Agreement, err
	}
	lo, top := gridBelow(num.Decimal(from)), gridBelow(num.Decimal(k.most))
	hi := lo
	for step := 4 * fine; ; step *= 2 {
		if hi == top {
			return 0, false, nil
		}
		hi = min(hi+step, top)
		if ok, err := useful(hi); err != nil {
			return 0, false, err
		} else if ok {
			break
		}
		lo = hi
	}
	for hi-lo > fine {
		mid := (lo + hi) / 2
		if ok, err := useful(mid); err != nil {
			return 0, false, err
		} else if ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return gridValue(hi), true, nil
}

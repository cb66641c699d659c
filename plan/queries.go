package plan

import (
	"context"
	"errors"

	"github.com/darrm/darrm/internal/check"
)

// Numbered is the plan of a number of labels.
type Numbered struct {
	Queries int
	Plan    *Plan            // nil where nothing keeps the budget
	Refused *InfeasibleError // instead of Plan
}

// Numbers plans r for each of some numbers of labels, in place of its own Queries, and gives no advice.
// Progress, unless nil, is called with how many were planned. The errors are New's. Cost: that of New
// for each.
func Numbers(ctx context.Context, r Request, queries []int) ([]Numbered, error) {
	var out []Numbered
	err := each(ctx, r, "numbers of labels", queries, func(r *Request, n int) { r.Queries = n },
		func(n int, p *Plan, refused *InfeasibleError) { out = append(out, Numbered{n, p, refused}) })
	return out, err
}

// nearBest is the share of the best worth from which on a number of labels is as good.
const nearBest = 0.95

// Most returns the largest number of labels whose worth is within 5 % of the best, nil where nothing
// keeps the budget: more labels cost a student little to learn from, and of tables that are priced by
// their labels the worth of more is no less.
func Most(all []Numbered) *Numbered {
	best := 0.0
	for _, c := range all {
		if c.Plan != nil {
			best = max(best, c.Plan.Choices[0].Worth.Labels)
		}
	}
	var most *Numbered
	for i, c := range all {
		if c.Plan != nil && c.Plan.Choices[0].Worth.Labels >= nearBest*best && (most == nil || c.Queries > most.Queries) {
			most = &all[i]
		}
	}
	return most
}

// UsualNumbers returns the numbers of labels that are compared, up to the number that can be had: 50, 200,
// 1000 and so on, and all of them. 0 stands for any number, of which 5000 is the last that is compared.
func UsualNumbers(most int) (out []int) {
	for _, n := range []int{50, 200, 1000, 5000, 20_000, 100_000} {
		if n < most || most == 0 && n <= 5000 {
			out = append(out, n)
		}
	}
	if most > 0 {
		out = append(out, most)
	}
	return out
}

// Size is a number of teachers that the same records could be split among.
type Size struct {
	K        int
	Affected int  // t of that many teachers
	Votes    *Law // what is expected of their votes, as in Request
}

// Sized is the plan of a Size.
type Sized struct {
	Size
	Best    *Choice          // the first of the plan's; nil where nothing keeps the budget
	Refused *InfeasibleError // instead of Best
}

// Sizes plans r for each of some numbers of teachers, in place of its own K, Affected and Votes,
// and gives no advice. More teachers hide a record better, but each learns from fewer of the
// records: what that costs is in Size.Votes alone. Progress, unless nil, is called with the number
// of sizes that were planned. The errors are New's. Cost: that of New for each.
func Sizes(ctx context.Context, r Request, sizes []Size) ([]Sized, error) {
	var out []Sized
	err := each(ctx, r, "numbers of teachers", sizes,
		func(r *Request, size Size) { r.K, r.Affected, r.Votes = size.K, &size.Affected, size.Votes },
		func(size Size, p *Plan, refused *InfeasibleError) {
			s := Sized{Size: size, Refused: refused}
			if p != nil {
				s.Best = &p.Choices[0]
			}
			out = append(out, s)
		})
	return out, err
}

// each plans r, without advice, as set changes it for each of the values, and passes on the plan, or why nothing
// keeps the budget.
func each[T any](ctx context.Context, r Request, what string, values []T, set func(*Request, T),
	planned func(T, *Plan, *InfeasibleError)) error {
	if err := check.Some(what, len(values)); err != nil {
		return err
	}
	progress := r.Progress
	r.Progress, r.Early, r.Agreement = nil, nil, 0
	for i, x := range values {
		set(&r, x)
		p, err := New(ctx, r)
		var refused *InfeasibleError
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		planned(x, p, refused)
		if progress != nil {
			progress(i+1, len(values))
		}
	}
	return nil
}

// Reaching returns the least K from which on all sizes that were planned agree as often as is
// wanted, or 0 where the largest does not.
func Reaching(sizes []Sized, agreement float64) int {
	least := 0
	for _, s := range sizes { // of any order
		if s.Best == nil || s.Best.Agreement.Expected < agreement {
			least = max(least, s.K+1)
		}
	}
	k := 0
	for _, s := range sizes {
		if s.K >= least && (k == 0 || s.K < k) {
			k = s.K
		}
	}
	return k
}

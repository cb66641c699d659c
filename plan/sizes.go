package plan

import (
	"context"
	"errors"

	"github.com/darrm/darrm/internal/check"
)

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
	if err := check.Some("numbers of teachers", len(sizes)); err != nil {
		return nil, err
	}
	progress := r.Progress
	r.Progress, r.Agreement = nil, 0
	var out []Sized
	for i, size := range sizes {
		r.K, r.Affected, r.Votes = size.K, size.Affected, size.Votes
		p, err := New(ctx, r)
		s := Sized{Size: size}
		if err == nil {
			s.Best = &p.Choices[0]
		} else if !errors.As(err, &s.Refused) {
			return nil, err
		}
		out = append(out, s)
		if progress != nil {
			progress(i+1, len(sizes))
		}
	}
	return out, nil
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

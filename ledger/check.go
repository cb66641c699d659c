package ledger

import (
	"context"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// Check returns nil if [Ledger.ChargeAll] would accept the requests now, and otherwise the error
// with which it would refuse them. It charges nothing. It promises nothing: another process may
// spend what is left in between.
func (l *Ledger) Check(ctx context.Context, requests ...Request) error {
	requests, err := checkAll(requests)
	if err != nil {
		return err
	}
	return l.do(ctx, false, func(s *session) error {
		s.ids = func() []string { return idsOf(requests) }
		_, err := s.admit(requests)
		return err
	})
}

func idsOf(requests []Request) []string {
	ids := make([]string, len(requests))
	for i := range requests {
		ids[i] = requests[i].ID
	}
	return ids
}

// checkAll returns the requests of one charge in their canonical form.
func checkAll(requests []Request) ([]Request, error) {
	if n := len(requests); n < 1 || n > MaxRequests {
		return nil, check.Wantf("number of requests", n, "between 1 and %d", MaxRequests)
	}
	requests = slices.Clone(requests)
	ids := map[string]bool{}
	for i, r := range requests {
		var err error
		if requests[i], err = r.checked(); err != nil {
			return nil, err
		}
		if ids[r.ID] {
			return nil, &ConflictError{ID: r.ID}
		}
		ids[r.ID] = true
	}
	return requests, nil
}

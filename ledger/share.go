package ledger

import (
	"context"
	"fmt"
)

// shares holds the cost that each client has spent.
type shares map[string]Cost

func (s shares) add(e *Entry) {
	if e.Client != "" {
		s[e.Client] = s[e.Client].Plus(e.Total())
	}
}

// withinShares fails for the first entry that is more than is left of the share of its request's
// client, after what is on disk, what the group has, and the entries before it.
func (s *session) withinShares(requests []Request, entries []*Entry) error {
	call := shares{}
	for i, e := range entries {
		r := &requests[i]
		spent := s.clients[r.Client].Plus(s.group.clients[r.Client]).Plus(call[r.Client])
		if r.Share != nil && !spent.Plus(r.total()).Within(*r.Share) {
			return &ShareError{Client: r.Client, Share: *r.Share, Spent: spent, Asked: r.total()}
		}
		call.add(e)
	}
	return nil
}

// SpentBy returns what a client has spent, under basic composition: the sum over the charges that
// name it. It takes no more time than [Ledger.State].
func (l *Ledger) SpentBy(ctx context.Context, client string) (spent Cost, err error) {
	err = l.do(ctx, false, func(s *session) error {
		spent = s.clients[client]
		return nil
	})
	return spent, err
}

// ShareError is an [ErrShare].
type ShareError struct {
	Client string
	Share  Budget
	Spent  Cost // by the client, before the charge, and still
	Asked  Cost // the whole charge, all counts included
}

func (e *ShareError) Error() string {
	return fmt.Sprintf("%v: the request asks for (ε, δ) = %v, %v of %v is spent", ErrShare, e.Asked,
		e.Spent, e.Share)
}

// Unwrap returns [ErrShare].
func (e *ShareError) Unwrap() error { return ErrShare }

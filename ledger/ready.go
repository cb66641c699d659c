package ledger

import (
	"context"
	"errors"
)

// Ready returns nil if the ledger's store would take a charge now: it locks the ledger and stores
// its anchor again, unchanged. It charges nothing and does not look at the budget. Errors are those
// of [Ledger.State], and the store's where it does not take the anchor; after these the handle is
// good. Cost: that of a charge of nothing, one write that is forced to disk.
func (l *Ledger) Ready(ctx context.Context) error {
	return l.storeAnchor(ctx, func(err error) error { return err })
}

// settle writes the anchor of a new ledger.
func (l *Ledger) settle(ctx context.Context) error { return l.storeAnchor(ctx, writeError) }

// storeAnchor stores the anchor of the ledger as it is. failed makes the error of a store that does
// not take it.
func (l *Ledger) storeAnchor(ctx context.Context, failed func(error) error) error {
	for {
		err := l.do(ctx, true, func(s *session) error {
			err := s.tx.SetAnchor(s.anchorOf(s.now))
			if err != nil && !errors.Is(err, ErrRetry) {
				return failed(err)
			}
			return err
		})
		if !errors.Is(err, ErrRetry) {
			return err
		}
	}
}

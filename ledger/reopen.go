package ledger

import (
	"context"
	"fmt"
)

// Reopen opens the ledger again, for who got an [ErrBroken]: everything that this handle saw must
// still be there, as it is in no other ledger; else it is an [ErrRolledBack]. A new [Open] would
// take a copy from before for the ledger, and what was spent since could be spent again. Other
// errors are those of Open.
func (l *Ledger) Reopen(ctx context.Context) (*Ledger, error) {
	if l.unmade() {
		return nil, errUnmade
	}
	select {
	case <-l.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	seen := l.chain.now.head
	l.turn <- struct{}{}
	again, err := Open(ctx, l.location)
	if err != nil {
		return nil, err
	}
	if err := again.Contains(ctx, seen); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return again, nil
}

// Contains fails with an [ErrRolledBack] unless the ledger goes through a head that was seen
// before. It reads one entry, where [Ledger.Verify] reads all; the rest was verified when it was
// read.
func (l *Ledger) Contains(ctx context.Context, seen Head) error {
	err := l.do(ctx, false, func(s *session) error { return s.contains(seen) })
	if err != nil {
		return fmt.Errorf("%s: %w", l.Path(), err)
	}
	return nil
}

// contains fails unless the chain of hashes goes through h.
func (s *session) contains(h Head) error {
	here := h == Head{0, s.start}
	if 0 < h.Seq && h.Seq <= s.now.head.Seq {
		e, err := entryAt(s.tx, s.book.at(h.Seq))
		if err != nil {
			return err
		}
		here = e.Hash == h.Hash
	}
	if !here {
		return rolledBack("the ledger ends at %v and does not contain %v, which was seen before",
			s.now.head, h)
	}
	return nil
}

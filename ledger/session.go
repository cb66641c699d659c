package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// session is one look at a ledger.
type session struct {
	*chain
	tx     Tx
	anchor *anchor
	group  *group            // what is to be written
	again  map[uint64]*Entry // by number, what this look read again
	ids    func() []string   // of the requests that this look is about and that wait
}

func (s *session) end() error { return s.tx.Close() }

// begin looks at what is new in the ledger, and compares it with the anchor. The caller ends
// the session.
func (l *Ledger) begin(ctx context.Context, exclusive bool) (*session, error) {
	for {
		tx, err := l.store.Begin(ctx, exclusive)
		var s *session
		if err == nil {
			if s, err = l.look(ctx, tx); err == nil {
				return s, nil
			}
			tx.Close()
		}
		switch {
		case errors.Is(err, ErrRetry) && ctx.Err() == nil:
		case errors.Is(err, ErrNotLedger):
			return nil, fmt.Errorf("%s is %w", l.store.Location(), err)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, ctx.Err()):
			return nil, err
		default:
			return nil, fmt.Errorf("%s: %w", l.store.Location(), err)
		}
	}
}

func (l *Ledger) look(ctx context.Context, tx Tx) (*session, error) {
	s := &session{tx: tx, chain: l.chain, group: &group{recent: newRecent(), clients: shares{}},
		again: map[uint64]*Entry{}, ids: func() []string { return nil }}
	line, err := tx.Anchor()
	if err != nil {
		return nil, err
	}
	if line != nil {
		a, err := decodeAnchor(line)
		if err != nil {
			return nil, damaged("anchor: %w", err)
		}
		s.anchor = &a
	}
	if s.chain == nil {
		s.chain, err = readChain(ctx, tx, nil)
	} else {
		err = s.extend(ctx, tx)
	}
	if errors.Is(err, errForeign) && s.anchor == nil && l.chain == nil {
		// There is no sign that a ledger was ever here.
		return nil, fmt.Errorf("%w: %w", ErrNotLedger, errForeign)
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkAnchor(s.anchor, tx.Atomic()); err != nil {
		return nil, err
	}
	if s.anchor != nil && s.anchor.commit != s.now.commit {
		// Left by a process that was killed, perhaps before the commit was forced
		// to disk. Neither the anchor nor a head that is kept elsewhere may get
		// ahead of the disk.
		if err := tx.Sync(); err != nil {
			return nil, writeError(err)
		}
	}
	return s, nil
}

// anchorOf returns the anchor of a state.
func (s *session) anchorOf(now state) []byte { return (&anchor{s.genesis.id, now}).encode() }

// commit writes entries, durably. An error leaves it open whether they are there, unless it is an
// [ErrRetry]; the receipt is withheld, so at worst budget is spent without a release.
func (s *session) commit(entries []*Entry) error {
	next, lines, at, err := s.encode(entries)
	if err != nil {
		return err
	}
	if err := s.tx.Commit(s.size, lines, s.anchorOf(s.now), s.anchorOf(next)); err != nil {
		return err
	}
	for i, e := range entries {
		s.book.add(&located{Entry: *e, at: at[i]})
		s.clients.add(e)
	}
	s.chain.end(next, s.size+int64(len(lines)))
	return nil
}

// encode numbers entries and returns the lines of their commit, where each begins in the
// file, and the state after them.
func (s *session) encode(entries []*Entry) (next state, lines []byte, at []int64, err error) {
	next = s.now
	for _, e := range entries {
		e.Seq, e.Commit, e.Previous = next.head.Seq+1, s.now.commit+1, next.head.Hash
		line, err := e.encode()
		if err != nil {
			return next, nil, nil, err
		}
		// Reading back what is about to be stored makes sure that the next Open accepts it.
		stored, err := decodeEntry(line)
		if err != nil {
			return next, nil, nil, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		e.Hash = stored.Hash
		if next, err = next.follow(e); err != nil {
			return next, nil, nil, err
		}
		at = append(at, s.size+int64(len(lines)))
		lines = append(append(lines, line...), '\n')
	}
	return next, append(next.appendTo(lines), '\n'), at, nil
}

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

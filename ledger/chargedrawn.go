package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// ChargeDrawn pays for several requests as [Ledger.ChargeAll] does, and stores with them, in the
// same commit, the digest of the last one's result. draw draws that result. It is called under the
// lock, when all requests are admitted and nothing is written: a request that is refused draws
// nothing. The result stays in the memory of who drew it until ChargeDrawn returns nil; after any
// error it is dropped and shown to nobody, since its charge may not be on disk. The order of the
// steps is in the package comment.
//
// It is for coins that were kept before: a crash after the commit leaves a request that is paid for
// and has a result, and only with the same coins can that be drawn again. Draws of one handle come
// one after the other, and everybody who charges waits meanwhile, so a draw takes microseconds. It
// must not use the ledger. It is called again where a store asks for another try, and gives the
// same digest then.
//
// The receipt is the last request's, and used up: draw was what it admits. The state is the
// ledger's after the commit. Errors are those of [Ledger.ChargeAll] and, with nothing consumed,
// draw's. If draw panics, so does ChargeDrawn, with the same value and nothing consumed.
func (l *Ledger) ChargeDrawn(ctx context.Context, requests []Request,
	draw func() (Digest, error)) (*Receipt, State, error) {
	requests, err := checkAll(requests)
	if err != nil {
		return nil, State{}, err
	}
	var panicked any
	entries, after, err := l.submit(ctx, idsOf(requests), func(s *session) ([]*Entry, error) {
		panicked = nil // in another try
		entries, err := s.admit(requests)
		if err != nil {
			return nil, err
		}
		// Whoever writes for the group runs this, and must not end by another caller's draw.
		var result Digest
		if panicked, err = l.clock.draws(func() (err error) { result, err = draw(); return }); err != nil {
			return nil, err
		}
		last := entries[len(entries)-1]
		return append(entries, &Entry{Kind: KindResult, ID: last.ID, Time: last.Time,
			Result: result}), nil
	})
	if panicked != nil {
		panic(panicked)
	}
	if err != nil {
		return nil, State{}, err
	}
	return spentReceipt(*entries[len(entries)-2]), after, nil
}

// Clock returns the time since the handle was made, less that of the draws of [Ledger.ChargeDrawn]
// through it. The difference of two is how long a call took without its own draw and those that it
// waited for, which can depend on what is drawn.
func (l *Ledger) Clock() time.Duration {
	if l.unmade() {
		return 0
	}
	return l.clock.now()
}

// clock stands still during draws.
type clock struct {
	mu      sync.Mutex
	start   time.Time
	drawing time.Time     // when the draw that runs began; zero where none does
	drawn   time.Duration // by those before
}

// draws runs a draw. A panic of it is returned, with an error.
func (c *clock) draws(draw func() error) (panicked any, err error) {
	c.mu.Lock()
	c.drawing = time.Now()
	c.mu.Unlock()
	defer func() {
		if panicked = recover(); panicked != nil {
			err = fmt.Errorf("the draw panicked: nothing was charged")
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.drawn += time.Since(c.drawing)
		c.drawing = time.Time{}
	}()
	return nil, draw()
}

func (c *clock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.drawing
	if at.IsZero() {
		at = time.Now()
	}
	return at.Sub(c.start) - c.drawn
}

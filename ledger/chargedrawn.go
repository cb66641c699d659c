package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/darrm/darrm/internal/check"
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

// Draw is one series of rows of votes, each row cast once by fresh teachers. A second
// answer to the same rows is not a second run of the teachers, so its cost does not add to
// the first one's: [Ledger.Charge] has the rules. [VoteHash.Draw] makes one.
type Draw struct {
	// Name is unique within [Request].Ensemble: 1 to MaxID bytes, as an id. Required.
	Name string `json:"name"`
	// Votes is the digest of the rows under the ledger's secret, the ensemble and Name. Of a
	// Query it is any digest under another key. Required, not zero.
	Votes Digest `json:"votes"`
	// Query marks the draw as one query on line, whose ID is its Name: equal votes of two queries
	// are expected, and the draw is compared with none of another name.
	Query bool `json:"query,omitempty"`
	// Covers marks a charge that pays for any number of answers to the draw, by the composition of
	// the teachers' promises. It is no answer itself: each of those is a charge that names this one
	// in [Request].PaidBy. It must spend something itself.
	Covers bool `json:"covers,omitempty"`
	// CastAnew states that the teachers cast the votes for this draw. Votes that equal those
	// of a draw of another name are then admitted. It is in a request alone: no entry has it.
	CastAnew bool `json:"-"`

	cast *cast // what Votes is made of, in a request that is no Query
}

// cast is votes that can be tried on the name of any draw.
type cast struct {
	key secret
	sum [4]uint64
}

// stored returns the draw as an entry has it.
func (d *Draw) stored() *Draw {
	if d == nil {
		return nil
	}
	return &Draw{Name: d.Name, Votes: d.Votes, Query: d.Query, Covers: d.Covers}
}

// DrawName identifies a draw within a ledger.
type DrawName struct {
	Ensemble string // "" where the teachers have no name
	Name     string
}

func (n DrawName) String() string {
	if n.Ensemble == "" {
		return fmt.Sprintf("%q", n.Name)
	}
	return fmt.Sprintf("%q of ensemble %q", n.Name, n.Ensemble)
}

// check returns an error unless the draw is valid in a charge that paidBy pays for.
func (d *Draw) check(paidBy string) error {
	if err := checkID("draw", d.Name); err != nil {
		return err
	}
	if d.Votes == (Digest{}) {
		return check.Want("votes of the draw", d.Votes, "a digest made with the ledger's secret")
	}
	if d.Covers && paidBy != "" {
		return check.Want("paid by", fmt.Sprintf("%q", paidBy), "left out where a charge covers a draw")
	}
	return nil
}

// checkCast returns an error unless a requested draw carries its votes and Votes is their digest.
// The votes are needed to try them on the names of other draws. A query on line needs none.
func (d *Draw) checkCast(ensemble string) error {
	if d.Query || d.cast != nil && d.cast.hash().digest(ensemble, d.Name) == d.Votes {
		return nil
	}
	return check.Want("draw", DrawName{ensemble, d.Name},
		"made by VoteHash.Draw for the request's ensemble")
}

// sameVotes fails where the votes of a draw that is new equal those of a draw of another name,
// unless the request states that they were cast anew. Digests of two draws differ even where the
// votes agree, so the votes are tried on the name of each draw. Nothing of the outcome is stored.
func (r *Request) sameVotes(p past) error {
	d := r.Draw
	if d == nil || d.Query || d.CastAnew ||
		p.first(key{byDraw, r.Ensemble, d.Name}) != nil ||
		p.first(key{byDrawCover, r.Ensemble, d.Name}) != nil {
		return nil
	}
	h := d.cast.hash()
	var err error
	p.draws(func(ensemble string, name []byte, votes Digest) bool {
		if h.digest(ensemble, string(name)) == votes {
			err = fmt.Errorf("%w: draw %v has the same votes; only votes that the teachers cast anew are another draw",
				ErrSameVotes, DrawName{ensemble, string(name)})
		}
		return err == nil
	})
	return err
}

package ledger

import (
	"errors"
	"fmt"
)

// The rules for a charge ask for earlier ones, and are the same for a request and for an
// entry that is read: what could not have been charged must not be in a file.

// charged is what the rules ask of an entry, and where the rest of it is.
type charged struct {
	seq      uint64 // 0 for one that is not written yet
	at       int64  // where its line begins in the file
	id       string
	paidBy   string
	ensemble string
	teachers string // the digest of the ensemble
	draw     *Draw
}

func (e *Entry) charged() *charged {
	return &charged{e.Seq, 0, e.ID, e.PaidBy, e.Ensemble, e.EnsembleDigest, e.Draw}
}

func (c *charged) drawName() DrawName { return DrawName{c.ensemble, c.draw.Name} }

// past finds earlier entries.
type past interface {
	// first returns the first entry that is to be found under a key, or nil.
	first(key) *charged
}

// key is what an entry is found by.
type key struct {
	index index
	name  string
}

type index uint8

const (
	ofID       index = iota // a request's: its charge
	ofResult                // a request's: its result
	ofDraw                  // name of a draw: an answer to it
	ofCover                 // name of a draw: a charge that covers it
	ofVotes                 // digest of votes: any charge of a draw that has them
	ofEnsemble              // name of an ensemble: a charge that states its digest
)

// keys returns what an entry is found by. A key belongs to the first entry that has it; no
// two entries have a key ofID or ofResult in common.
func (e *Entry) keys() []key {
	if e.Kind == KindResult {
		return []key{{ofResult, e.ID}}
	}
	keys := []key{{ofID, e.ID}}
	if d := e.Draw; d != nil {
		name := DrawName{e.Ensemble, d.Name}.key()
		if d.Covers {
			keys = append(keys, key{ofCover, name})
		} else {
			keys = append(keys, key{ofDraw, name})
		}
		keys = append(keys, key{ofVotes, string(d.Votes[:])})
	}
	if e.EnsembleDigest != "" {
		keys = append(keys, key{ofEnsemble, e.Ensemble})
	}
	return keys
}

// book is a past in memory. It has a part for each index.
type book map[key]*charged

func (b book) first(k key) *charged { return b[k] }

// add enters e, whose line begins at the byte at, where no earlier entry is.
func (b book) add(e *Entry, at int64) {
	c := e.charged()
	c.at = at
	for _, k := range e.keys() {
		if b[k] == nil {
			b[k] = c
		}
	}
}

// verify checks an entry by those before it: whatever is in a file could have been charged.
func (b book) verify(e *Entry) error {
	if before := b[e.keys()[0]]; before != nil {
		return fmt.Errorf("entry %d is already the %s of request %q", before.seq, e.Kind, e.ID)
	}
	if e.Kind == KindResult {
		if b[key{ofID, e.ID}] == nil {
			return fmt.Errorf("it is the result of request %q, which was not charged", e.ID)
		}
		return nil
	}
	c := e.charged()
	if err := c.sameTeachers(b); err != nil {
		return err
	}
	same, err := c.obey(b)
	if err != nil {
		return err
	}
	if (same == nil) != (e.SameVotesAs == nil) || same != nil && *same != *e.SameVotesAs {
		return errors.New("it does not name the earlier draw with the same votes")
	}
	return nil
}

// call is the past of one request of several: the ledger, and the requests before it.
type call struct{ ledger, requests book }

func (c call) first(k key) *charged {
	if before := c.ledger[k]; before != nil {
		return before
	}
	return c.requests[k]
}

// sameTeachers fails where the ensemble was charged with another digest, or with one where
// there is none now.
func (c *charged) sameTeachers(p past) error {
	if c.ensemble == "" {
		return nil
	}
	before := p.first(key{ofEnsemble, c.ensemble})
	switch {
	case before == nil:
	case c.teachers == "":
		return fmt.Errorf("%w: ensemble %q was charged as %q, and no digest is stated now (--ensemble-digest)", ErrEnsemble, c.ensemble, before.teachers)
	case c.teachers != before.teachers:
		return fmt.Errorf("%w: ensemble %q was charged as %q, not as %q: other teachers need another name (--ensemble)", ErrEnsemble, c.ensemble, before.teachers, c.teachers)
	}
	return nil
}

// obey checks the rules for who pays and for draws. same is the earlier draw of the same
// votes, where one was admitted.
func (c *charged) obey(p past) (same *DrawName, err error) {
	if c.draw != nil {
		if err := c.onceAnswered(p); err != nil {
			return nil, err
		}
	}
	if err := c.paid(p); err != nil {
		return nil, err
	}
	if c.draw != nil {
		return c.sameVotes(p)
	}
	return nil, nil
}

// onceAnswered: the votes of a draw do not change, and only the first answer to them pays
// for itself.
func (c *charged) onceAnswered(p past) error {
	name := c.drawName()
	answered, covered := p.first(key{ofDraw, name.key()}), p.first(key{ofCover, name.key()})
	again := &DrawnError{Ensemble: name.Ensemble, Draw: name.Name}
	for _, before := range []*charged{answered, covered} {
		switch {
		case before == nil:
			continue
		case before.draw.Votes != c.draw.Votes:
			return fmt.Errorf("%w: draw %v was charged by the request %q with other votes; votes that the teachers cast anew need another name (--draw)", ErrDraw, name, before.id)
		case before.draw.Covers:
			again.Covered = before.id
		default:
			again.By = before.id
		}
	}
	if again.By+again.Covered != "" && c.paidBy == "" && !c.draw.Covers {
		return again
	}
	return nil
}

// paid: whoever is said to have paid has paid for this. Nobody who was paid for pays.
func (c *charged) paid(p past) error {
	if c.paidBy == "" {
		return nil
	}
	payer := p.first(key{ofID, c.paidBy})
	why := ""
	switch {
	case payer == nil:
		why = "is not in the ledger"
	case payer.paidBy != "":
		why = "spent nothing itself"
	case payer.ensemble != c.ensemble:
		why = fmt.Sprintf("is of ensemble %q, not %q", payer.ensemble, c.ensemble)
	case c.draw == nil && payer.draw != nil:
		why = fmt.Sprintf("is of the draw %v alone", payer.drawName())
	case c.draw != nil && (payer.draw == nil || !payer.draw.Covers || payer.draw.Name != c.draw.Name): // the votes of one draw are equal
		why = fmt.Sprintf("does not cover the draw %v", c.drawName())
	}
	if why != "" {
		return &UnpaidError{c.paidBy, why}
	}
	return nil
}

// sameVotes: equal votes are one draw, unless the user stated that they are two. A name
// that the earlier draw has too, in another ensemble, does not state that.
func (c *charged) sameVotes(p past) (*DrawName, error) {
	before := p.first(key{ofVotes, string(c.draw.Votes[:])})
	if before == nil {
		return nil, nil
	}
	name := before.drawName()
	switch {
	case name == c.drawName():
		return nil, nil
	case !c.draw.Stated, name.Name == c.draw.Name:
		return nil, &SameVotesError{Draw: name.Name, Ensemble: name.Ensemble}
	}
	return &name, nil
}

package ledger

import (
	"fmt"
)

// The rules for a charge ask for earlier ones, and are the same for a request and for an
// entry that is read: what could not have been charged must not be in a file.

// charged is what the rules ask of a charge.
type charged struct {
	seq      uint64 // 0 for one that is not written yet
	id       string
	paidBy   string
	ensemble string
	teachers string // the digest of the ensemble
	draw     *Draw
}

func (e *Entry) charged() *charged {
	return &charged{e.Seq, e.ID, e.PaidBy, e.Ensemble, e.EnsembleDigest, e.Draw}
}

func (c *charged) drawName() DrawName { return DrawName{c.ensemble, c.draw.Name} }

// past finds earlier charges.
type past interface {
	// first returns the first entry that an index has under a key, or nil.
	first(indexKey) (*charged, error)
}

// indexKey is a place in one of the indexes.
type indexKey struct{ index, key string }

// keys returns where an entry is to be found. A place belongs to the first entry that has
// it; in the indexes ids and results there is no second one.
func (e *Entry) keys() []indexKey {
	if e.Kind == KindResult {
		return []indexKey{{bucketResults, e.ID}}
	}
	keys := []indexKey{{bucketIDs, e.ID}}
	if d := e.Draw; d != nil {
		name := DrawName{e.Ensemble, d.Name}.key()
		if d.Covers {
			keys = append(keys, indexKey{bucketCovers, name})
		} else {
			keys = append(keys, indexKey{bucketDraws, name})
		}
		keys = append(keys, indexKey{bucketVotes, string(d.Votes[:])})
	}
	if e.EnsembleDigest != "" {
		keys = append(keys, indexKey{bucketEnsembles, e.Ensemble})
	}
	return keys
}

// book is a past in memory.
type book map[indexKey]*charged

func (b book) first(k indexKey) (*charged, error) { return b[k], nil }

// add enters e where no earlier entry is.
func (b book) add(e *Entry) {
	c := e.charged()
	for _, k := range e.keys() {
		if b[k] == nil {
			b[k] = c
		}
	}
}

// sameTeachers fails where the ensemble was charged with another digest, or with one where
// there is none now.
func (c *charged) sameTeachers(p past) error {
	if c.ensemble == "" {
		return nil
	}
	before, err := p.first(indexKey{bucketEnsembles, c.ensemble})
	if before == nil || err != nil {
		return err
	}
	switch {
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
	answered, err := p.first(indexKey{bucketDraws, name.key()})
	if err != nil {
		return err
	}
	covered, err := p.first(indexKey{bucketCovers, name.key()})
	if err != nil {
		return err
	}
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
	payer, err := p.first(indexKey{bucketIDs, c.paidBy})
	if err != nil {
		return err
	}
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
	before, err := p.first(indexKey{bucketVotes, string(c.draw.Votes[:])})
	if before == nil || err != nil {
		return nil, err
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

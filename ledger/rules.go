package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// The rules for a charge ask for earlier ones, and are the same for a request and for an
// entry that is read: what could not have been charged must not be in a file.

// located is an entry and where its line begins. The rules need no more of the entry than the fields that [book]
// keeps: Time, Event, the costs and the hashes may be left out.
type located struct {
	Entry
	at   int64
	room Draw // for the entry's draw, where it was decoded in part
}

func (c *located) isResult() bool { return c.Kind == KindResult }

func (c *located) drawName() DrawName { return DrawName{c.Ensemble, c.Draw.Name} }

// past finds earlier entries.
type past interface {
	// first returns the first entry that is to be found by a key, or nil.
	first(key) *located
	// draws passes every draw but queries to yield, the oldest first and some more than once,
	// until it returns false, and then returns false.
	draws(yield func(ensemble string, name []byte, votes Digest) bool) bool
	// taken returns how many answers of a quota were taken.
	taken(taker) uint64
}

// key finds an entry in one of three ways. The ID of a request finds its charge and its result. The
// name of a Draw within its ensemble finds an answer to it and a charge that covers it. The name of
// an Ensemble finds a charge that states its digest.
type key struct {
	index    index
	ensemble string
	name     string
}

type index uint8

const (
	byID index = iota
	byIDResult
	byDraw
	byDrawCover
	byEnsemble
)

// keys appends what an entry is found by. A key belongs to the first entry that has it; no
// two entries have one by ID in common.
func (c *located) keys(list []key) []key {
	if c.isResult() {
		return append(list, key{byIDResult, "", c.ID})
	}
	list = append(list, key{byID, "", c.ID})
	if d := c.Draw; d != nil {
		index := byDraw
		if d.Covers {
			index = byDrawCover
		}
		list = append(list, key{index, c.Ensemble, d.Name})
	}
	if c.EnsembleDigest != "" {
		list = append(list, key{byEnsemble, c.Ensemble, ""})
	}
	return list
}

// verify checks an entry by those before it: whatever is in a file could have been charged.
func (b *book) verify(c *located) error {
	charge := b.first(key{byID, "", c.ID})
	before := charge
	if c.Kind == KindResult {
		before = b.first(key{byIDResult, "", c.ID})
	}
	if before != nil {
		return fmt.Errorf("entry %d is already the %s of request %q", before.Seq, c.Kind, c.ID)
	}
	if c.Kind == KindResult {
		if charge == nil {
			return fmt.Errorf("it is the result of request %q, which was not charged", c.ID)
		}
		return nil
	}
	if err := c.sameTeachers(b); err != nil {
		return err
	}
	return c.obey(b)
}

// pasts are several, the oldest first: of the ledger, of what is being written with a
// request, and of the requests before it in the same call.
type pasts []past

func (p pasts) first(k key) *located {
	for _, b := range p {
		if before := b.first(k); before != nil {
			return before
		}
	}
	return nil
}

func (p pasts) draws(yield func(string, []byte, Digest) bool) bool {
	for _, b := range p {
		if !b.draws(yield) {
			return false
		}
	}
	return true
}

func (p pasts) taken(t taker) (sum uint64) {
	for _, b := range p {
		sum = saturated(sum, b.taken(t))
	}
	return sum
}

// sameTeachers fails where the ensemble was charged with another digest, or with one where
// there is none now.
func (c *located) sameTeachers(p past) error {
	if c.Ensemble == "" {
		return nil
	}
	before := p.first(key{byEnsemble, c.Ensemble, ""})
	switch {
	case before == nil:
	case c.EnsembleDigest == "":
		return check.Namedf("%w: ensemble %q was charged as %q, and no digest is stated now "+
			"(%s)", ErrEnsemble, c.Ensemble, before.EnsembleDigest, check.Parameter("ensemble digest"))
	case c.EnsembleDigest != before.EnsembleDigest:
		return check.Namedf("%w: ensemble %q was charged as %q, not as %q: other teachers need another "+
			"name (%s)", ErrEnsemble, c.Ensemble, before.EnsembleDigest, c.EnsembleDigest,
			check.Parameter("ensemble"))
	}
	return nil
}

// listed reports whether past.draws passes the draw of this charge: the charge has a draw, which is
// not a query, and pays for itself. Every draw has such a charge.
func (c *located) listed() bool { return c.Draw != nil && !c.Draw.Query && c.PaidBy == "" }

// obey checks the rules for who pays and for draws.
func (c *located) obey(p past) error {
	if c.Draw != nil {
		if err := c.onceAnswered(p); err != nil {
			return err
		}
	}
	return c.paid(p)
}

// onceAnswered: the votes of a draw do not change, and only the first answer to them pays
// for itself.
func (c *located) onceAnswered(p past) error {
	name := c.drawName()
	answered, covered := p.first(key{byDraw, c.Ensemble, c.Draw.Name}),
		p.first(key{byDrawCover, c.Ensemble, c.Draw.Name})
	by, cover := "", "" // the requests that answered the draw first, and that pay for further answers
	for _, before := range []*located{answered, covered} {
		switch {
		case before == nil:
			continue
		case before.Draw.Votes != c.Draw.Votes:
			return check.Namedf("%w: draw %v was charged by the request %q with other votes; votes that "+
				"the teachers cast anew need another name (%s)", ErrDraw, name, before.ID,
				check.Parameter("draw"))
		case before.Draw.Covers:
			cover = before.ID
		default:
			by = before.ID
		}
	}
	switch {
	case by+cover == "" || c.PaidBy != "" || c.Draw.Covers:
		return nil
	case cover != "":
		return fmt.Errorf("%w: draw %v is covered by the charge %q, which pays for further answers", ErrDrawn, name, cover)
	}
	return fmt.Errorf("%w: draw %v was answered by the request %q; one more charge must cover the draw before it is "+
		"answered again", ErrDrawn, name, by)
}

// paid: whoever is said to have paid has paid for this. Nobody who was paid for pays.
func (c *located) paid(p past) error {
	if c.PaidBy == "" {
		return nil
	}
	payer := p.first(key{byID, "", c.PaidBy})
	why := ""
	switch {
	case payer == nil:
		why = "is not in the ledger"
	case payer.PaidBy != "":
		why = "spent nothing itself"
	case payer.Ensemble != c.Ensemble:
		why = fmt.Sprintf("is of ensemble %q, not %q", payer.Ensemble, c.Ensemble)
	case c.Draw == nil && payer.Draw != nil:
		why = fmt.Sprintf("is of the draw %v alone", payer.drawName())
	case c.Draw != nil && (payer.Draw == nil || !payer.Draw.Covers || payer.Draw.Name != c.Draw.Name):
		// the votes of one draw are equal
		why = fmt.Sprintf("does not cover the draw %v", c.drawName())
	case c.Quota == nil && payer.Quota != nil:
		why = fmt.Sprintf("pays for answers of the table %v alone", payer.Quota.Table)
	case c.Quota != nil && payer.Quota == nil:
		why = "has no quota of answers"
	case c.Quota != nil && c.Quota.Table != payer.Quota.Table:
		why = fmt.Sprintf("pays for answers of the table %v, not of %v", payer.Quota.Table,
			c.Quota.Table)
	}
	if why != "" {
		return fmt.Errorf("%w: the charge %q %s", ErrUnpaid, c.PaidBy, why)
	}
	return c.withinQuota(p, payer)
}

// recent is a past of a few entries that are not in the ledger yet.
type recent struct {
	found map[key]*located
	drawn []*located // the listed ones
	takes takings
}

func newRecent() *recent { return &recent{found: map[key]*located{}, takes: takings{}} }

func (r *recent) first(k key) *located { return r.found[k] }

func (r *recent) taken(t taker) uint64 { return r.takes[t] }

func (r *recent) draws(yield func(string, []byte, Digest) bool) bool {
	for _, c := range r.drawn {
		if !yield(c.Ensemble, []byte(c.Draw.Name), c.Draw.Votes) {
			return false
		}
	}
	return true
}

// add enters an entry where no earlier one is.
func (r *recent) add(c *located) {
	for _, k := range c.keys(nil) {
		if r.found[k] == nil {
			r.found[k] = c
		}
	}
	if c.listed() {
		r.drawn = append(r.drawn, c)
	}
	r.takes.add(c)
}

// Memory keeps no entry whole, so each request for one reads it again, and sees whether it was
// changed since. A commit for many callers needs an entry of most of them, and these lie close
// together: the first one that is missing is read with those of all who wait.

const (
	readTogether = 256      // most entries of one reading, which are held in memory
	readOver     = 64 << 10 // bytes between two entries that are read over to save a reading
)

// lookup returns the first entry that is found by k, or nil.
func (s *session) lookup(k key) (*Entry, error) {
	c := s.book.first(k)
	if c == nil {
		return nil, nil
	}
	if s.again[c.Seq] == nil {
		if err := s.readAgain(c); err != nil {
			return nil, err
		}
	}
	return s.again[c.Seq], nil
}

// readAgain reads the entry that c names, and those of the requests that wait.
func (s *session) readAgain(c *located) error {
	wanted := []*located{c}
	for _, id := range s.ids() {
		for _, k := range []key{{byID, "", id}, {byIDResult, "", id}} {
			if c := s.book.first(k); c != nil && s.again[c.Seq] == nil && len(wanted) < readTogether {
				wanted = append(wanted, c)
			}
		}
	}
	slices.SortFunc(wanted, func(a, b *located) int { return cmp.Compare(a.Seq, b.Seq) })
	wanted = slices.CompactFunc(wanted, func(a, b *located) bool { return a.Seq == b.Seq })
	var l *lines
	for _, c := range wanted {
		if l == nil || c.at-l.at > readOver {
			l = newLines(s.tx, c.at)
		}
		e, err := l.entry(c)
		if err != nil {
			return err
		}
		s.again[c.Seq] = &e
	}
	return nil
}

package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// The rules for a charge ask for earlier ones, and are the same for a request and for an
// entry that is read: what could not have been charged must not be in a file.

// charged holds the fields of an entry that the rules use, and the place of its line in the file.
type charged struct {
	seq      uint64 // 0 for one that is not written yet
	at       int64  // where its line begins in the file
	result   bool   // it is the result of the charge with its id
	id       string
	paidBy   string
	ensemble string
	teachers string // the digest of the ensemble
	draw     *Draw
	quota    *Quota
	count    uint64 // of a charge with a quota: the answers that it takes
	client   string // of a charge with a quota
}

func (e *Entry) charged(at int64) charged {
	c := charged{seq: e.Seq, at: at, result: e.Kind == KindResult, id: e.ID, paidBy: e.PaidBy,
		ensemble: e.Ensemble, teachers: e.EnsembleDigest, draw: e.Draw, quota: e.Quota}
	if e.Quota != nil {
		c.count, c.client = e.Count, e.Client
	}
	return c
}

func (c *charged) drawName() DrawName { return DrawName{c.ensemble, c.draw.Name} }

// past finds earlier entries.
type past interface {
	// first returns the first entry that is to be found by a key, or nil.
	first(key) *charged
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
func (c *charged) keys(list []key) []key {
	if c.result {
		return append(list, key{byIDResult, "", c.id})
	}
	list = append(list, key{byID, "", c.id})
	if d := c.draw; d != nil {
		index := byDraw
		if d.Covers {
			index = byDrawCover
		}
		list = append(list, key{index, c.ensemble, d.Name})
	}
	if c.teachers != "" {
		list = append(list, key{byEnsemble, c.ensemble, ""})
	}
	return list
}

// verify checks an entry by those before it: whatever is in a file could have been charged.
func (b *book) verify(e *Entry) error {
	charge := b.first(key{byID, "", e.ID})
	before := charge
	if e.Kind == KindResult {
		before = b.first(key{byIDResult, "", e.ID})
	}
	if before != nil {
		return fmt.Errorf("entry %d is already the %s of request %q", before.seq, e.Kind, e.ID)
	}
	if e.Kind == KindResult {
		if charge == nil {
			return fmt.Errorf("it is the result of request %q, which was not charged", e.ID)
		}
		return nil
	}
	c := e.charged(0)
	if err := c.sameTeachers(b); err != nil {
		return err
	}
	return c.obey(b)
}

// pasts are several, the oldest first: of the ledger, of what is being written with a
// request, and of the requests before it in the same call.
type pasts []past

func (p pasts) first(k key) *charged {
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
func (c *charged) sameTeachers(p past) error {
	if c.ensemble == "" {
		return nil
	}
	before := p.first(key{byEnsemble, c.ensemble, ""})
	switch {
	case before == nil:
	case c.teachers == "":
		return check.Namedf("%w: ensemble %q was charged as %q, and no digest is stated now "+
			"(%s)", ErrEnsemble, c.ensemble, before.teachers, check.Parameter("ensemble digest"))
	case c.teachers != before.teachers:
		return check.Namedf("%w: ensemble %q was charged as %q, not as %q: other teachers need another "+
			"name (%s)", ErrEnsemble, c.ensemble, before.teachers, c.teachers,
			check.Parameter("ensemble"))
	}
	return nil
}

// listed reports whether past.draws passes the draw of this charge: the charge has a draw, which is
// not a query, and pays for itself. Every draw has such a charge.
func (c *charged) listed() bool { return c.draw != nil && !c.draw.Query && c.paidBy == "" }

// obey checks the rules for who pays and for draws.
func (c *charged) obey(p past) error {
	if c.draw != nil {
		if err := c.onceAnswered(p); err != nil {
			return err
		}
	}
	return c.paid(p)
}

// onceAnswered: the votes of a draw do not change, and only the first answer to them pays
// for itself.
func (c *charged) onceAnswered(p past) error {
	name := c.drawName()
	answered, covered := p.first(key{byDraw, c.ensemble, c.draw.Name}),
		p.first(key{byDrawCover, c.ensemble, c.draw.Name})
	by, cover := "", "" // the requests that answered the draw first, and that pay for further answers
	for _, before := range []*charged{answered, covered} {
		switch {
		case before == nil:
			continue
		case before.draw.Votes != c.draw.Votes:
			return check.Namedf("%w: draw %v was charged by the request %q with other votes; votes that "+
				"the teachers cast anew need another name (%s)", ErrDraw, name, before.id,
				check.Parameter("draw"))
		case before.draw.Covers:
			cover = before.id
		default:
			by = before.id
		}
	}
	switch {
	case by+cover == "" || c.paidBy != "" || c.draw.Covers:
		return nil
	case cover != "":
		return fmt.Errorf("%w: draw %v is covered by the charge %q, which pays for further answers", ErrDrawn, name, cover)
	}
	return fmt.Errorf("%w: draw %v was answered by the request %q; one more charge must cover the draw before it is "+
		"answered again", ErrDrawn, name, by)
}

// paid: whoever is said to have paid has paid for this. Nobody who was paid for pays.
func (c *charged) paid(p past) error {
	if c.paidBy == "" {
		return nil
	}
	payer := p.first(key{byID, "", c.paidBy})
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
	case c.draw != nil && (payer.draw == nil || !payer.draw.Covers || payer.draw.Name != c.draw.Name):
		// the votes of one draw are equal
		why = fmt.Sprintf("does not cover the draw %v", c.drawName())
	case c.quota == nil && payer.quota != nil:
		why = fmt.Sprintf("pays for answers of the table %v alone", payer.quota.Table)
	case c.quota != nil && payer.quota == nil:
		why = "has no quota of answers"
	case c.quota != nil && c.quota.Table != payer.quota.Table:
		why = fmt.Sprintf("pays for answers of the table %v, not of %v", payer.quota.Table,
			c.quota.Table)
	}
	if why != "" {
		return fmt.Errorf("%w: the charge %q %s", ErrUnpaid, c.paidBy, why)
	}
	return c.withinQuota(p, payer)
}

// recent is a past of a few entries that are not in the ledger yet.
type recent struct {
	found map[key]*charged
	drawn []*charged // the listed ones
	takes takings
}

func newRecent() *recent { return &recent{found: map[key]*charged{}, takes: takings{}} }

func (r *recent) first(k key) *charged { return r.found[k] }

func (r *recent) taken(t taker) uint64 { return r.takes[t] }

func (r *recent) draws(yield func(string, []byte, Digest) bool) bool {
	for _, c := range r.drawn {
		if !yield(c.ensemble, []byte(c.draw.Name), c.draw.Votes) {
			return false
		}
	}
	return true
}

// add enters an entry where no earlier one is.
func (r *recent) add(c charged) {
	for _, k := range c.keys(nil) {
		if r.found[k] == nil {
			r.found[k] = &c
		}
	}
	if c.listed() {
		r.drawn = append(r.drawn, &c)
	}
	r.takes.add(&c)
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
	if s.again[c.seq] == nil {
		if err := s.readAgain(c); err != nil {
			return nil, err
		}
	}
	return s.again[c.seq], nil
}

// readAgain reads the entry that c names, and those of the requests that wait.
func (s *session) readAgain(c *charged) error {
	wanted := []*charged{c}
	for _, id := range s.ids() {
		for _, k := range []key{{byID, "", id}, {byIDResult, "", id}} {
			if c := s.book.first(k); c != nil && s.again[c.seq] == nil && len(wanted) < readTogether {
				wanted = append(wanted, c)
			}
		}
	}
	slices.SortFunc(wanted, func(a, b *charged) int { return cmp.Compare(a.seq, b.seq) })
	wanted = slices.CompactFunc(wanted, func(a, b *charged) bool { return a.seq == b.seq })
	var l *lines
	for _, c := range wanted {
		if l == nil || c.at-l.at > readOver {
			l = newLines(s.tx, c.at)
		}
		e, err := l.entry(c)
		if err != nil {
			return err
		}
		s.again[c.seq] = &e
	}
	return nil
}

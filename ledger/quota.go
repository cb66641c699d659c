package ledger

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
)

// Quota is a number of answers of one table that one charge pays for. The charge that opens a
// quota states the table and the number, both before the first answer. A charge that takes
// answers names that one in [Request].PaidBy, states the table again and costs nothing; its Count
// is how many it takes.
type Quota struct {
	// Table is the SHA-256 of the table that gives the answers. Required, not zero.
	Table Digest `json:"table"`
	// Answers is the most answers that the charge pays for: at least 1 in the charge that opens the
	// quota, 0 in one that takes answers.
	Answers uint64 `json:"answers,omitempty"`
	// Share is the most answers that all charges of [Request].Client may take of all quotas together,
	// this one included. It is judged with the charge and not stored: a later request may state
	// another. Defaults to all that are left; needs Client and PaidBy.
	Share *uint64 `json:"-"`
}

// stored returns the quota as an entry has it.
func (q *Quota) stored() *Quota {
	if q == nil {
		return nil
	}
	return &Quota{Table: q.Table, Answers: q.Answers}
}

// copied returns a quota that the caller of a request cannot change.
func (q *Quota) copied() *Quota {
	c := q.stored()
	if c != nil && q.Share != nil {
		share := *q.Share
		c.Share = &share
	}
	return c
}

// checkQuota returns an error unless the request's quota is valid with its other fields.
func (r *Request) checkQuota() error {
	q, opens := r.Quota, r.PaidBy == ""
	switch {
	case r.Draw != nil:
		return check.Want("draw", fmt.Sprintf("%q", r.Draw.Name),
			"left out with a quota: its answers are private by their noise alone")
	case q.Table == (Digest{}):
		return check.Want("table of the quota", q.Table, "the table's SHA-256")
	case opens && q.Answers == 0:
		return check.Want("answers of the quota", q.Answers, "at least 1")
	case opens && r.Count != 1:
		return check.Want("count", r.Count, "1 where a charge opens a quota")
	case !opens && q.Answers != 0:
		return check.Want("answers of the quota", q.Answers, "left out where another charge pays")
	case q.Share != nil && (opens || r.Client == ""):
		return check.Want("share of the quota", *q.Share, "left out unless a client takes answers")
	}
	return nil
}

// sameQuota reports whether two charges with one payer open or take the same.
func sameQuota(a, b *Quota) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Table == b.Table && a.Answers == b.Answers
}

// taker finds the answers that were taken of a quota: those of a client, or all where it is "". With
// no payer, it finds those that the client took of all quotas.
type taker struct{ payer, client string }

// takings counts the answers that were taken.
type takings map[taker]uint64

func (t takings) add(c *located) {
	if c.Quota == nil || c.PaidBy == "" {
		return
	}
	t.count(taker{c.PaidBy, ""}, c.Count)
	if c.Client != "" {
		t.count(taker{c.PaidBy, c.Client}, c.Count)
		t.count(taker{"", c.Client}, c.Count)
	}
}

func (t takings) count(k taker, n uint64) { t[k] = saturated(t[k], n) }

// saturated returns a + b, or the largest number: two quotas may have more answers than it, and a
// client that took of both must not seem to have taken few.
func saturated(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	return sum | -carry
}

// withinQuota fails where a charge takes more answers than its payer has left.
func (c *located) withinQuota(p past, payer *located) error {
	if c.Quota == nil {
		return nil
	}
	return enough(QuotaError{PaidBy: c.PaidBy, Answers: payer.Quota.Answers, Asked: c.Count,
		Taken: p.taken(taker{c.PaidBy, ""})})
}

// withinQuotaShare fails where a request takes more answers than are left of its client's share of
// all quotas.
func (r *Request) withinQuotaShare(p past) error {
	if r.Quota == nil || r.Quota.Share == nil {
		return nil
	}
	return enough(QuotaError{PaidBy: r.PaidBy, Client: r.Client, Answers: *r.Quota.Share,
		Asked: r.Count, Taken: p.taken(taker{"", r.Client})})
}

// enough returns e unless what it asks for is left.
func enough(e QuotaError) error {
	if e.Asked > e.Left() {
		return &e
	}
	return nil
}

// QuotaUse is the state of a quota.
type QuotaUse struct {
	Charge   Entry  // that opened it
	Taken    uint64 // answers that were taken, delivered or not
	ByClient uint64 // those of them that one client took
}

// Left returns how many answers can still be taken.
func (u *QuotaUse) Left() uint64 {
	if u == nil || u.Charge.Quota == nil {
		return 0
	}
	return u.Charge.Quota.Answers - u.Taken
}

// Quota returns the state of the quota that the charge with an id opened, and how much of it a
// client took; nil where the ledger has no such charge. Cost: that of [Ledger.State] and of reading
// one entry, however many answers were taken.
func (l *Ledger) Quota(ctx context.Context, id, client string) (use *QuotaUse, err error) {
	err = l.do(ctx, false, func(s *session) error {
		e, err := s.lookup(key{byID, "", id})
		if err != nil || e == nil || e.Quota == nil || e.PaidBy != "" {
			return err
		}
		use = s.quotaUse(e, client)
		return nil
	})
	return use, err
}

func (s *session) quotaUse(e *Entry, client string) *QuotaUse {
	use := &QuotaUse{Charge: *e, Taken: s.book.taken(taker{e.ID, ""})}
	if client != "" {
		use.ByClient = s.book.taken(taker{e.ID, client})
	}
	return use
}

// Quotas returns the state of all quotas, the oldest first. Cost: that of [Ledger.State] and of
// reading one entry for each quota.
func (l *Ledger) Quotas(ctx context.Context) (all []QuotaUse, err error) {
	err = l.do(ctx, false, func(s *session) error {
		all = nil
		for _, number := range s.book.opened {
			e, err := s.lookup(key{byID, "", s.book.at(uint64(number)).ID})
			if err != nil {
				return err
			}
			all = append(all, *s.quotaUse(e, ""))
		}
		return nil
	})
	return all, err
}

// TakenBy returns how many answers a client took of all quotas. It takes no more time than
// [Ledger.State].
func (l *Ledger) TakenBy(ctx context.Context, client string) (n uint64, err error) {
	err = l.do(ctx, false, func(s *session) error {
		n = s.book.taken(taker{"", client})
		return nil
	})
	return n, err
}

// QuotaError is an [ErrAnswers] where too few answers of a quota are left, and an [ErrShare] where
// too few are left of a client's share of all quotas.
type QuotaError struct {
	PaidBy  string // the charge that opened the quota
	Client  string // whose share it is; "" for the quota itself
	Answers uint64 // of the quota, or of the share
	Taken   uint64 // before the charge, and still
	Asked   uint64
}

// Left returns how many answers can still be taken.
func (e *QuotaError) Left() uint64 {
	if e == nil || e.Taken > e.Answers { // a share that was larger before
		return 0
	}
	return e.Answers - e.Taken
}

func (e *QuotaError) Error() string {
	if e.Client != "" {
		return fmt.Sprintf("%v: client %q may take %d answers, %d are left, and the request asks for %d",
			e.Unwrap(), e.Client, e.Answers, e.Left(), e.Asked)
	}
	return fmt.Sprintf("%v: the charge %q paid for %d answers, %d are left, and the request asks for %d",
		e.Unwrap(), e.PaidBy, e.Answers, e.Left(), e.Asked)
}

// Unwrap returns [ErrAnswers] or [ErrShare].
func (e *QuotaError) Unwrap() error {
	if e.Client != "" {
		return ErrShare
	}
	return ErrAnswers
}

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

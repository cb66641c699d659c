package ledger

import (
	"context"
	"slices"
	"time"
)

// Outline summarises a ledger of any length. It is kept up to date, so nothing is read again for
// it.
type Outline struct {
	State
	Charges uint64  // how many entries are charges
	Latest  []Entry // the last charges, the newest last
	Payers  []Entry // the earlier charges that paid for those, the newest last
	Course  []Step  // what was spent after the first charge, after the last, and after some between
}

// Step records the cost spent after a commit, under basic composition.
type Step struct {
	Seq   uint64    // of the last entry of the commit
	Time  time.Time // of that entry
	Spent Cost
}

// Outline returns the ledger's outline with the latest n charges, all of one state. Cost: that of
// reading these, and once for a handle that of reading some hundred entries for the course. It does
// not grow with the ledger.
func (l *Ledger) Outline(ctx context.Context, n int) (out Outline, err error) {
	err = l.do(ctx, false, func(s *session) (err error) {
		out = Outline{State: s.state(), Charges: s.book.charges}
		if out.Latest, out.Payers, err = s.latest(n); err != nil {
			return err
		}
		out.Course, err = s.course.steps(s)
		return err
	})
	return out, err
}

// latest returns the last n charges, and those before them that paid for them.
func (s *session) latest(n int) (latest, payers []Entry, err error) {
	var found []*located
	for seq := s.now.head.Seq; seq > 0 && len(found) < n; seq-- {
		if c := s.book.at(seq); !c.isResult() {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return nil, nil, nil
	}
	slices.Reverse(found)
	var paid []*located
	lines := newLines(s.tx, found[0].at)
	for _, c := range found {
		e, err := lines.entry(c)
		if err != nil {
			return nil, nil, err
		}
		latest = append(latest, e)
		if payer := s.book.first(key{byID, "", c.PaidBy}); payer != nil && payer.Seq < found[0].Seq {
			paid = append(paid, payer)
		}
	}
	slices.SortFunc(paid, func(a, b *located) int { return int(a.Seq) - int(b.Seq) })
	for _, c := range slices.CompactFunc(paid, func(a, b *located) bool { return a.Seq == b.Seq }) {
		e, err := entryAt(s.tx, c)
		if err != nil {
			return nil, nil, err
		}
		payers = append(payers, e)
	}
	return latest, payers, nil
}

// maxSteps is the most steps of a course.
const maxSteps = 400

// course samples the cost spent over time. It keeps the first commit that spent anything, and every
// second, fourth, … of those that follow: at maxSteps steps every second one is dropped.
type course struct {
	kept  []Step // their times are looked up when they are asked for
	last  Step   // after the last commit that spent anything
	n     uint64 // commits that spent anything
	every uint64 // one step is kept of so many
}

// add follows the ledger by one commit.
func (c *course) add(now state) {
	if now.spent == c.last.Spent {
		return
	}
	c.last = Step{Seq: now.head.Seq, Spent: now.spent}
	c.every = max(c.every, 1)
	if c.n++; (c.n-1)%c.every != 0 {
		return
	}
	if c.kept = append(c.kept, c.last); len(c.kept) < maxSteps {
		return
	}
	half := c.kept[:0]
	for i, s := range c.kept {
		if i%2 == 0 {
			half = append(half, s)
		}
	}
	c.kept, c.every = half, 2*c.every
}

// steps returns the course with its times.
func (c *course) steps(s *session) (out []Step, err error) {
	for i := range c.kept {
		if err := c.kept[i].look(s); err != nil {
			return nil, err
		}
	}
	out = slices.Clone(c.kept)
	if n := len(out); n > 0 && out[n-1].Seq != c.last.Seq {
		if err := c.last.look(s); err != nil {
			return nil, err
		}
		out = append(out, c.last)
	}
	return out, nil
}

// look looks the time of a step up, unless it is known.
func (t *Step) look(s *session) error {
	if !t.Time.IsZero() {
		return nil
	}
	e, err := entryAt(s.tx, s.book.at(t.Seq))
	t.Time = e.Time
	return err
}

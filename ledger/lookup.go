package ledger

import (
	"cmp"
	"slices"
)

// Memory keeps no entry whole, so whoever asks for one reads it again, and sees whether it was
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

package ledger

import "context"

// ID names the ledger: 32 hexadecimal digits that were drawn when it was made. They are in its
// file, and so in every copy of it. "" of a ledger that nobody opened.
func (l *Ledger) ID() string {
	if l.unmade() {
		return ""
	}
	return l.genesis.id.String()
}

// maxAfter is the most entries that one After returns, so that nobody waits long for the lock.
const maxAfter = 4096

// After returns the entries that follow number seq, in order, at most some thousands of them;
// none where there are none yet. Who calls it again with the last number that it returned
// follows what all processes write. The cost is that of reading and decoding what is returned.
func (l *Ledger) After(ctx context.Context, seq uint64) (entries []Entry, err error) {
	err = l.do(ctx, false, func(s *session) error {
		if seq >= s.now.head.Seq {
			return nil
		}
		// One reading: to look up each entry by itself takes a query of a database for each.
		lines := newLines(s.tx, s.book.at(seq+1).at)
		for n := seq + 1; n <= s.now.head.Seq && len(entries) < maxAfter; n++ {
			e, err := lines.entry(s.book.at(n))
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

package ledger

import "context"

// ID names the ledger: 32 hexadecimal digits that were drawn when it was made. They are in its
// file, and so in every copy of it.
func (l *Ledger) ID() string { return l.genesis.id.String() }

// maxAfter is the most entries that one After returns, so that nobody waits long for the lock.
const maxAfter = 4096

// After returns the entries that follow number seq, in order, at most some thousands of them;
// none where there are none yet. Who calls it again with the last number that it returned
// follows what all processes write. The cost is that of decoding what is returned.
func (l *Ledger) After(ctx context.Context, seq uint64) (entries []Entry, err error) {
	err = l.do(ctx, false, func(s *session) error {
		for n := seq; n < s.now.head.Seq && len(entries) < maxAfter; n++ {
			c := &s.book.blocks[n/blockSize][n%blockSize]
			k := key{byID, "", c.id}
			if c.result {
				k.index = byIDResult
			}
			e, err := s.lookup(k)
			if err != nil {
				return err
			}
			entries = append(entries, *e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

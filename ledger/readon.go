package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A long ledger is read by three goroutines: one reads ahead, one decodes and hashes pieces of what
// was read, and one judges them by the rules. What is new since the last look is one piece, and
// needs no second.

// pieceEntries is about how many entries a piece has.
const pieceEntries = 1024

// piece is some commits that follow each other, decoded and not judged yet.
type piece struct {
	entries []located
	ends    []ending
	err     error // why nothing more follows; nil where something may
}

// ending marks the end of a commit: in the entries of its piece, and in the ledger.
type ending struct {
	entries int
	after   state
	size    int64
}

// read fills p with what follows a state, and returns the state after it.
func (p *piece) read(lines *lines, now state, d *decoder) state {
	p.entries, p.ends, p.err = p.entries[:0], p.ends[:0], nil
	for len(p.entries) < pieceEntries {
		list, next, err := readCommit(p.entries, lines, now, d)
		if err != nil {
			p.err = err
			break
		}
		p.entries, now = list, next
		p.ends = append(p.ends, ending{len(list), next, lines.at})
	}
	return now
}

// readCommit appends the entries of one commit to list, up to the head record that closes it,
// and returns the state after it. The error is io.EOF where there is nothing more, an errLine
// where there is no whole commit.
func readCommit(list []located, lines *lines, now state, d *decoder) ([]located, state, error) {
	next, first := now, len(list)
	for {
		at := lines.at
		line, err := lines.next()
		switch {
		case err == io.EOF && len(list) > first:
			return nil, now, badLine(at, errors.New("the head record of the commit is missing"))
		case err != nil:
			return nil, now, err
		case len(list) > first && bytes.HasPrefix(line, []byte(headBegins)) &&
			bytes.Equal(line, next.appendTo(lines.scratch[:0])):
			return list, next, nil
		}
		list = append(list, located{at: at})
		e := &list[len(list)-1]
		err = d.decode(line, e)
		if err == nil && e.Commit != now.commit+1 {
			err = fmt.Errorf("entry %d of commit %d follows commit %d", e.Seq, e.Commit, now.commit)
		}
		if err == nil {
			next, err = next.follow(&e.Entry)
		}
		if err != nil {
			return nil, now, badLine(at, err)
		}
	}
}

// readOn adds the commits that follow, as far as they are whole. visit sees every entry; where
// it is nil, times and events are not looked into.
func (c *chain) readOn(ctx context.Context, lines *lines, visit func(*Entry) error) error {
	p := &piece{}
	d := &decoder{all: visit != nil}
	now := p.read(lines, c.now, d)
	if p.err != nil {
		return c.judge(ctx, p, visit)
	}
	free, pieces, stop := make(chan *piece, 3), make(chan *piece), make(chan struct{})
	free <- &piece{}
	var reader sync.WaitGroup
	lines.r = bufio.NewReaderSize(readAhead(lines.r, stop, &reader), maxLine)
	reader.Go(func() {
		for q := range free {
			now = q.read(lines, now, d)
			select {
			case pieces <- q:
			case <-stop:
				return
			}
		}
	})
	defer reader.Wait() // lines are the caller's again
	defer close(free)
	defer close(stop)
	for {
		if err := c.judge(ctx, p, visit); err != nil || p.err != nil {
			return err
		}
		free <- p
		p = <-pieces
	}
}

// judge adds the commits of a piece.
func (c *chain) judge(ctx context.Context, p *piece, visit func(*Entry) error) error {
	i := 0
	for _, end := range p.ends {
		for ; i < end.entries; i++ {
			e := &p.entries[i]
			if e.Kind == KindCharge && e.Relation != c.genesis.relation {
				return damaged("entry %d is for neighbours = %q, but the ledger for %q", e.Seq,
					e.Relation.Name(), c.genesis.relation.Name())
			}
			if err := c.book.verify(e); err != nil {
				return damaged("entry %d: %w", e.Seq, err)
			}
			c.book.add(e)
			c.clients.add(&e.Entry)
			if visit != nil {
				if err := visit(&e.Entry); err != nil {
					return err
				}
			}
		}
		if !end.after.spent.Within(c.genesis.budget) {
			return damaged("%v is spent of a budget of %v", end.after.spent, c.genesis.budget)
		}
		c.end(end.after, end.size)
	}
	switch {
	case p.err == nil:
		return ctx.Err()
	case p.err == io.EOF:
		c.rest = nil
	case errors.Is(p.err, errLine):
		c.rest = p.err
	default:
		return p.err
	}
	return nil
}

const (
	blockBytes = 256 << 10
	blocks     = 16 // as many bytes as a store may return at a time
)

// ahead reads what a goroutine has read before, so that the store works while lines are decoded.
type ahead struct {
	full, free chan []byte
	now, rest  []byte // the block that is read, and what is left of it
	err        error  // why no block follows, once full is closed
}

// readAhead reads r in a goroutine of w, until its first error or until stop is closed.
func readAhead(r io.Reader, stop <-chan struct{}, w *sync.WaitGroup) io.Reader {
	a := &ahead{full: make(chan []byte, blocks), free: make(chan []byte, blocks),
		err: io.ErrClosedPipe}
	for range blocks {
		a.free <- nil // made when it is first used
	}
	w.Go(func() {
		defer close(a.full)
		for {
			var b []byte
			select {
			case b = <-a.free:
			case <-stop:
				return
			}
			if b == nil {
				b = make([]byte, blockBytes)
			}
			n, err := r.Read(b[:blockBytes])
			a.full <- b[:n] // has room for all blocks
			if err != nil {
				a.err = err
				return
			}
		}
	})
	return a
}

func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.now != nil {
			a.free <- a.now // has room for all blocks
		}
		if a.now = <-a.full; a.now == nil {
			return 0, a.err
		}
		a.rest = a.now
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

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

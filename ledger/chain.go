package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxLine is more than the longest line of a ledger: an event of MaxEvent bytes, and some names
// of at most MaxID bytes, of which JSON makes at most twice as many.
const maxLine = 2 * MaxEvent

// chain holds what was read of a ledger's file, up to its last whole commit.
type chain struct {
	genesis     genesis
	start       Digest // hash of the genesis record
	before, now state  // after the last commit but one, and after the last
	book        *book  // the entries, for the rules
	clients     shares // what each spent
	line        []byte // the line that ends it, as it is in the file
	size        int64  // where it ends
	rest        error  // why what follows is not a commit; nil where nothing follows
	course      course // how the budget was spent
}

// errLine marks what is no line of a ledger, or not the one that must come.
var errLine = errors.New("not a commit")

// errForeign marks a file that nothing shows to be a ledger.
var errForeign = errors.New("its beginning is not that of a ledger")

// content supplies the stored lines; a [Tx] implements it.
type content interface {
	Lines(from int64) io.Reader
}

// readChain reads a ledger from its beginning. visit sees every entry; where it is nil, times
// and events are not looked into.
func readChain(ctx context.Context, r content, visit func(*Entry) error) (*chain, error) {
	lines := newLines(r, 0)
	line, err := lines.next()
	if err != nil && err != io.EOF && !errors.Is(err, errLine) {
		return nil, err
	}
	g, decodeErr := decodeGenesis(line)
	switch {
	case err == nil && decodeErr == nil:
	case !startsAsLedger(line):
		return nil, damaged("%w", errForeign)
	default:
		return nil, damaged("genesis record: %w", errors.Join(err, decodeErr))
	}
	start := state{head: Head{Hash: genesisHash(line)}}
	c := &chain{genesis: g, start: start.head.Hash, before: start, now: start, book: newBook(),
		clients: shares{}, line: bytes.Clone(line), size: lines.at}
	return c, c.readOn(ctx, lines, visit)
}

// extend reads what was written after c. What c ends with must still be there.
func (c *chain) extend(ctx context.Context, r content) error {
	lines := newLines(r, c.size-int64(len(c.line))-1)
	line, err := lines.next()
	switch {
	case err == nil && bytes.Equal(line, c.line):
		return c.readOn(ctx, lines, nil)
	case err == nil, err == io.EOF, errors.Is(err, errLine):
		return rolledBack("the ledger does not contain %v, which was seen before", c.now.head)
	}
	return err
}

// end moves the end of c past a commit.
func (c *chain) end(next state, size int64) {
	c.before, c.now, c.size, c.rest = c.now, next, size, nil
	c.course.add(next)
	c.line = next.appendTo(c.line[:0])
}

func badLine(at int64, err error) error {
	return fmt.Errorf("%w: line at byte %d: %w", errLine, at, err)
}

// lines reads lines and counts bytes.
type lines struct {
	r       *bufio.Reader
	at      int64 // where the next line begins
	scratch [256]byte
}

func newLines(r content, at int64) *lines {
	return &lines{r: bufio.NewReaderSize(r.Lines(at), maxLine), at: at}
}

// next returns the next line without its line feed, until the next call; io.EOF at the end.
// An errLine comes with what there is of a line.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	switch {
	case err == nil:
		l.at += int64(len(line))
		return line[:len(line)-1], nil
	case err == bufio.ErrBufferFull, err == io.EOF && len(line) > 0:
		return line, badLine(l.at, errors.New("it does not end"))
	}
	return nil, err
}

// entryAt reads again the entry that c names.
func entryAt(r content, c *located) (Entry, error) { return newLines(r, c.at).entry(c) }

// entry reads on to the entry that c names, and reads it again.
func (l *lines) entry(c *located) (e Entry, err error) {
	var line []byte
	for here := false; err == nil && !here; {
		here = l.at >= c.at
		line, err = l.next()
	}
	if err != nil && err != io.EOF && !errors.Is(err, errLine) {
		return Entry{}, err
	}
	if err == nil {
		e, err = decodeEntry(line)
	}
	if err != nil || e.Seq != c.Seq || e.ID != c.ID {
		return Entry{}, damaged("entry %d was changed after it was read (%v)", c.Seq, err)
	}
	return e, nil
}

// checkAnchor compares the file with its anchor. A charge is written to the file, then to the
// anchor, and only then acknowledged. So the file is level with its anchor, or, after a crash,
// one commit ahead; and what follows the anchor's commit without being a whole one was
// never acknowledged. All else means damage, or that one of the two is an older copy. In a
// store that writes both as one they are level.
func (c *chain) checkAnchor(a *anchor, atomic bool) error {
	switch {
	case a == nil && c.now.commit == 0 && c.rest == nil:
		return nil // Create makes the file first
	case a == nil:
		return damaged("the anchor file is missing, and the ledger has %d entries: "+
			"it can be adopted (budget adopt) with a head that was kept elsewhere", c.now.head.Seq)
	case a.id != c.genesis.id:
		return damaged("the anchor file belongs to ledger %v, the file is of ledger %v", a.id,
			c.genesis.id)
	case a.state == c.now && !(atomic && c.rest != nil), a.state == c.before && c.rest == nil &&
		!atomic:
		return nil
	case c.rest != nil:
		return damaged("after entry %d: %w", c.now.head.Seq, c.rest)
	case a.commit > c.now.commit:
		return rolledBack("the ledger is at commit %d, but its anchor was at %d", c.now.commit, a.commit)
	case a.commit < c.now.commit && atomic:
		return rolledBack("the anchor is at commit %d, but the ledger is at %d: they are written as one",
			a.commit, c.now.commit)
	case a.commit+1 < c.now.commit:
		return rolledBack("the anchor is at commit %d, but the ledger is at %d: a crash leaves one "+
			"commit between them at most", a.commit, c.now.commit)
	}
	return damaged("ledger and anchor disagree about commit %d", a.commit)
}

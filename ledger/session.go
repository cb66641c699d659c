package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/darrm/darrm/internal/atomicfile"
)

// lock opens the ledger's file and locks it, exclusively or shared, waiting as long as
// ctx allows.
func lock(ctx context.Context, path string, exclusive bool) (*os.File, error) {
	flag := os.O_RDONLY
	if exclusive {
		flag = os.O_RDWR
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := openRegular(path, flag)
		switch {
		case exclusive && !errors.Is(err, fs.ErrNotExist):
			err = writeError(err)
		case errors.Is(err, errNotRegular):
			err = fmt.Errorf("%w: %w", ErrNotLedger, err)
		}
		if err != nil {
			return nil, err
		}
		if err := lockFile(ctx, f, exclusive); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// While this waited, another file may have taken the name. Its lock
		// would be another one.
		same, err := sameFile(f, path)
		if err == nil && same {
			return f, nil
		}
		unlock(f)
		if err != nil {
			return nil, err
		}
	}
}

// waits bounds the waits in the kernel, which go on after their callers gave up.
// Each holds a thread, and a process that collects 10,000 of them is ended by the
// runtime.
var waits = make(chan struct{}, 64)

// lockFile locks f, or closes it. It waits in the kernel, which serves waiters in their
// order. A wait that ctx cuts short goes on in the background until it can give the lock back.
func lockFile(ctx context.Context, f *os.File, exclusive bool) error {
	select {
	case waits <- struct{}{}:
	case <-ctx.Done():
		f.Close()
		return ctx.Err()
	}
	got := make(chan error, 1)
	go func() {
		got <- flock(f, exclusive)
		<-waits
	}()
	select {
	case err := <-got:
		if err != nil {
			f.Close()
		}
		return err
	case <-ctx.Done():
		go func() {
			<-got
			unlock(f)
		}()
		return ctx.Err()
	}
}

func sameFile(f *os.File, path string) (bool, error) {
	a, err := f.Stat()
	if err != nil {
		return false, err
	}
	b, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return os.SameFile(a, b), nil
}

// session is one locked look at the files.
type session struct {
	*chain
	file    *os.File
	content io.ReaderAt // the lines: file, or what was made of an old database
	old     []byte      // the content, if it was made of a database
	anchor  *anchor
	group   *group // what is to be written
}

// begin locks the ledger, reads what is new in it, and compares it with the anchor. The
// caller unlocks session.file. For writing, an old database is replaced by lines first.
func (l *Ledger) begin(ctx context.Context, exclusive bool) (*session, error) {
	for {
		f, err := lock(ctx, l.path, exclusive)
		if err != nil {
			return nil, err
		}
		s, err := l.look(ctx, f)
		if err == nil && (!exclusive || s.old == nil) {
			return s, nil
		}
		if err == nil {
			err = migrate(l.path, s.old)
		}
		unlock(f) // after a migration the name is of another file, which has another lock
		switch {
		case errors.Is(err, ErrNotLedger):
			return nil, fmt.Errorf("%s is %w", l.path, err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", l.path, err)
		}
	}
}

// migrate replaces a database by its lines, at once and durably. The anchor of the database
// says the same of both, so that a crash in between leaves a whole ledger.
func migrate(path string, lines []byte) error {
	return writeError(atomicfile.Write(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(lines)
		return err
	}))
}

func (l *Ledger) look(ctx context.Context, f *os.File) (s *session, err error) {
	s = &session{file: f, chain: l.chain, group: &group{book: newBook()}}
	if s.anchor, err = readAnchor(l.path + AnchorSuffix); err != nil {
		return nil, err
	}
	if err = s.readFile(); err == nil {
		if s.chain == nil {
			s.chain, err = readChain(ctx, s.content, nil)
		} else {
			err = s.extend(ctx, s.content)
		}
	}
	if errors.Is(err, errForeign) && s.anchor == nil && l.chain == nil {
		// Nothing says that a ledger was ever here.
		return nil, fmt.Errorf("%w: %w", ErrNotLedger, errForeign)
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkAnchor(s.anchor); err != nil {
		return nil, err
	}
	if s.anchor != nil && s.anchor.commit != s.now.commit {
		// Left by a process that was killed, perhaps before the commit was forced
		// to disk. Neither the anchor nor a head that is kept elsewhere may get
		// ahead of the disk.
		if err := f.Sync(); err != nil {
			return nil, writeError(err)
		}
	}
	return s, nil
}

// readFile finds out what the file holds.
func (s *session) readFile() error {
	s.content = s.file
	is, err := isDatabase(s.file)
	if err != nil || !is {
		return err
	}
	b, err := io.ReadAll(io.NewSectionReader(s.file, 0, maxDatabase+1))
	switch {
	case err != nil:
		return err
	case len(b) > maxDatabase:
		return damaged("database of an old ledger: more than %d bytes", maxDatabase)
	}
	if s.old, err = linesOfDatabase(b); err != nil {
		return damaged("database of an old ledger: %w", err)
	}
	s.content = bytes.NewReader(s.old)
	return nil
}

// commit writes entries, durably: to the file, then to the anchor. An error leaves it open
// whether they are there; the receipt is withheld, so at worst budget is spent
// without a release.
func (l *Ledger) commit(s *session, entries []*Entry) error {
	next, lines, at, err := s.encode(entries)
	if err != nil {
		return err
	}
	if err := l.levelAnchor(s); err != nil {
		return err
	}
	if s.rest != nil {
		// A write that was cut short, of a charge that nobody got a receipt for. It is
		// removed for good first: else its end could come to stand behind this commit.
		if err := errors.Join(s.file.Truncate(s.size), s.file.Sync()); err != nil {
			return err
		}
	}
	if _, err := s.file.WriteAt(lines, s.size); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	if err := writeAnchor(l.path+AnchorSuffix, &anchor{s.genesis.id, next}); err != nil {
		return err
	}
	// A charge to a file that has lost its name meanwhile is lost with it: the file that
	// has the name now may be a copy without it, locked and charged by another process
	// before the anchor said so.
	same, err := sameFile(s.file, l.path)
	if err != nil {
		return err
	}
	if !same {
		return damaged("another file has taken the place of the ledger while it was written")
	}
	for i, e := range entries {
		s.book.add(e.charged(at[i]))
	}
	s.end(next, next.appendTo(nil), s.size+int64(len(lines)))
	l.anchored = next
	return nil
}

// encode numbers entries and returns the lines of their commit, where each begins in the
// file, and the state after them.
func (s *session) encode(entries []*Entry) (next state, lines []byte, at []int64, err error) {
	next = s.now
	for _, e := range entries {
		e.Seq, e.Commit, e.Previous = next.head.Seq+1, s.now.commit+1, next.head.Hash
		line, err := e.encode()
		if err != nil {
			return next, nil, nil, err
		}
		// Reading back what is about to be stored makes sure that the next Open accepts it.
		stored, err := decodeEntry(line)
		if err != nil {
			return next, nil, nil, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		e.Hash = stored.Hash
		if next, err = next.follow(e); err != nil {
			return next, nil, nil, err
		}
		at = append(at, s.size+int64(len(lines)))
		lines = append(append(lines, line...), '\n')
	}
	return next, append(next.appendTo(lines), '\n'), at, nil
}

// levelAnchor makes sure that the anchor on disk is level with the file. It comes before the
// next commit, so that the two never differ by more than one, whatever a loss of power
// takes back. An anchor that another process wrote need not be on disk: that process
// may have been killed before it knew.
func (l *Ledger) levelAnchor(s *session) error {
	if s.anchor != nil && s.anchor.state == s.now && l.anchored == s.now {
		return nil
	}
	err := writeAnchor(l.path+AnchorSuffix, &anchor{s.genesis.id, s.now})
	if err == nil {
		l.anchored = s.now
	}
	return err
}

package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

// lock opens the database and locks it, exclusively or shared, waiting as long
// as ctx allows.
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

// lockFile locks f, or closes it. It waits in the kernel, which serves waiters in
// their order, or looks again from time to time where too many wait there.
func lockFile(ctx context.Context, f *os.File, exclusive bool) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		ok, err := tryFlock(f, exclusive)
		if ok {
			return nil
		}
		if err != nil {
			f.Close()
			return err
		}
		select {
		case waits <- struct{}{}:
			return waitForLock(ctx, f, exclusive)
		case <-ctx.Done():
			f.Close()
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// waitForLock is lockFile in the kernel. A wait that ctx cuts short goes on in the
// background until it can give the lock back.
func waitForLock(ctx context.Context, f *os.File, exclusive bool) error {
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
	*snapshot
	db     *os.File
	anchor *anchor
}

// begin locks the ledger, reads it and compares it with the anchor and with what
// this handle saw last. The caller unlocks session.db.
func (l *Ledger) begin(ctx context.Context, exclusive bool) (*session, error) {
	f, err := lock(ctx, l.path, exclusive)
	if err != nil {
		return nil, err
	}
	s, err := l.look(ctx, f)
	if err != nil {
		unlock(f)
		if errors.Is(err, ErrNotLedger) {
			return nil, fmt.Errorf("%s is %w", l.path, err)
		}
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	return s, nil
}

func (l *Ledger) look(ctx context.Context, f *os.File) (*session, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &session{db: f}
	if s.anchor, err = readAnchor(l.path + AnchorSuffix); err != nil {
		return nil, err
	}
	s.snapshot, err = readSnapshot(f, info.Size())
	if errors.Is(err, errForeign) && s.anchor == nil && l.known == nil {
		// Nothing says that a ledger was ever here.
		return nil, fmt.Errorf("%w: %w", ErrNotLedger, errForeign)
	}
	if err != nil {
		return nil, err
	}
	if l.known != nil && s.genesis != l.genesis {
		return nil, damaged("another ledger has taken the place of this one")
	}
	if err := s.checkAnchor(s.anchor); err != nil {
		return nil, err
	}
	if s.anchor != nil && s.anchor.commit != s.state.commit {
		// Left by a process that was killed, perhaps before the commit was forced
		// to disk. Neither the anchor nor a head that is kept elsewhere may get
		// ahead of the disk.
		if err := syncData(f); err != nil {
			return nil, writeError(err)
		}
	}
	if l.known == nil {
		return s, nil
	}
	if err := s.follow(ctx, *l.known, nil); err != nil {
		return nil, err
	}
	known := s.state
	l.known = &known
	return s, nil
}

// levelAnchor makes sure that the anchor on disk is level with the database. It
// comes before the next commit, so that the two never differ by more than one.
func (l *Ledger) levelAnchor(s *session) error {
	now := &anchor{id: s.genesis.id, state: s.state}
	path := l.path + AnchorSuffix
	switch {
	case s.anchor == nil:
		return createAnchor(path, now)
	case s.anchor.commit == s.state.commit && s.anchor.durable:
		return nil
	}
	// A process was killed before it was done with the anchor.
	if err := syncDir(filepath.Dir(path)); err != nil {
		return err
	}
	return writeAnchor(path, now)
}

// commit writes the entries after s.state, durably: database, then anchor. It
// closes s.db. An error leaves it open whether the entries are in the file; the
// receipt is withheld, so at worst budget is spent without a release.
func (l *Ledger) commit(s *session, entries []*Entry) (next state, err error) {
	if s.file.pages > maxPages/2 {
		return next, fmt.Errorf("ledger is full: its database has %d pages, at most %d can be read", s.file.pages, maxPages)
	}
	if err := l.levelAnchor(s); err != nil {
		return next, err
	}
	// bbolt maps the file. Should the disk fail under it, the fault becomes a
	// panic of this goroutine and here an error.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			// The database may hold its own locks: it is given up, not closed.
			err = errors.Join(damaged("writing failed: %v", p), unlock(s.db))
		}
	}()
	db, err := bolt.Open(l.path, 0o600, &bolt.Options{
		// The file that is locked and was checked, not what has the name now.
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { return s.db, nil },
		Timeout:  time.Second,
		PageSize: boltPageSize,
	})
	if err != nil {
		return next, err
	}
	if next, err = put(db, s, entries); err == nil {
		err = writeAnchor(l.path+AnchorSuffix, &anchor{id: s.genesis.id, state: next})
	}
	if err == nil {
		// A charge to a file that has lost its name meanwhile is lost with it: the
		// file that has the name now may be a copy without it, locked and charged
		// by another process before the anchor said so.
		var same bool
		if same, err = sameFile(s.db, l.path); err == nil && !same {
			err = damaged("another file has taken the place of the database while it was written")
		}
	}
	return next, errors.Join(err, db.Close())
}

// put commits to the database. bbolt's Commit returns after fdatasync of the
// pages and again of the meta page that makes them current.
func put(db *bolt.DB, s *session, entries []*Entry) (state, error) {
	next := s.state
	tx, err := db.Begin(true)
	if err != nil {
		return next, err
	}
	if uint64(tx.ID()) != s.file.tx+1 {
		return next, errors.Join(damaged("bbolt and the reader see different transactions"), tx.Rollback())
	}
	rollback := func(err error) (state, error) { return next, errors.Join(err, tx.Rollback()) }
	for _, e := range entries {
		e.Seq, e.Commit, e.Previous = next.head.Seq+1, s.state.commit+1, next.head.Hash
		encoded, err := e.encode()
		if err != nil {
			return rollback(err)
		}
		// Reading back what is about to be stored makes sure that the next
		// Open accepts it.
		stored, err := decodeEntry(encoded)
		if err != nil {
			return rollback(fmt.Errorf("entry %d: %w", e.Seq, err))
		}
		e.Hash = stored.Hash
		if next, err = next.follow(e); err != nil {
			return rollback(err)
		}
		bucket := tx.Bucket([]byte(bucketEntries))
		bucket.FillPercent = 1 // keys only grow
		if err := bucket.Put(seqKey(e.Seq), encoded); err != nil {
			return rollback(err)
		}
		for _, k := range e.keys() {
			index := tx.Bucket([]byte(k.index))
			if index.Get([]byte(k.key)) != nil {
				continue // of an earlier entry
			}
			if err := index.Put([]byte(k.key), seqKey(e.Seq)); err != nil {
				return rollback(err)
			}
		}
	}
	encoded, err := next.encode()
	if err != nil {
		return rollback(err)
	}
	if err := tx.Bucket([]byte(bucketLedger)).Put([]byte(keyHead), encoded); err != nil {
		return rollback(err)
	}
	return next, tx.Commit()
}

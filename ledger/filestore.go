package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/filelock"
)

// fileStore keeps a ledger in a file of lines, with the anchor and the secret beside it.
type fileStore struct {
	path   string // links resolved
	forced []byte // the anchor that this store forced to disk
}

func newFileStore(path string) (*fileStore, error) {
	real, err := filepath.EvalSymlinks(path) // the anchor is beside the file, not the link
	if errors.Is(err, fs.ErrNotExist) {
		real, err = filepath.EvalSymlinks(filepath.Dir(path))
		real = filepath.Join(real, filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	return &fileStore{path: real}, nil
}

func (s *fileStore) Location() string            { return s.path }
func (s *fileStore) SecretPath() (string, error) { return s.path + SecretSuffix, nil }

// Create makes the file, which replaces nothing that another process made meanwhile. What has its
// own name is complete. An anchor without a ledger is refused: a deleted ledger must not come
// back with a fresh budget.
func (s *fileStore) Create(_ context.Context, first func() ([]byte, error)) error {
	if _, err := os.Lstat(s.path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%w, and is never replaced: it records what was spent, so charge every release "+
				"about these people to it", fs.ErrExist) // Create names the place
		}
		return err
	}
	switch _, err := os.Lstat(s.path + AnchorSuffix); {
	case err == nil:
		return fmt.Errorf("the anchor of an earlier ledger is there, so the ledger is missing: %w",
			fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	line, err := first()
	if err != nil {
		return err
	}
	return writeError(atomicfile.WriteNew(s.path, 0o600, atomicfile.Bytes(line)))
}

// Begin opens and locks the file.
func (s *fileStore) Begin(ctx context.Context, exclusive bool) (Tx, error) {
	f, err := lock(ctx, s.path, exclusive)
	if err != nil {
		return nil, err
	}
	return &fileTx{store: s, file: f}, nil
}

// fileTx is the locked file.
type fileTx struct {
	store  *fileStore
	file   *os.File
	anchor []byte // what Anchor returned
}

func (t *fileTx) Anchor() (b []byte, err error) {
	t.anchor, err = readAnchor(t.store.path + AnchorSuffix)
	return t.anchor, err
}

func (t *fileTx) Lines(from int64) io.Reader {
	return io.NewSectionReader(t.file, from, math.MaxInt64-from)
}

func (t *fileTx) Sync() error { return filelock.Sync(t.file) }

func (t *fileTx) Atomic() bool { return false }

func (t *fileTx) Close() error { return filelock.Unlock(t.file) }

// Commit writes to the file, then to the anchor.
func (t *fileTx) Commit(at int64, lines, before, after []byte) error {
	if err := t.level(before); err != nil {
		return err
	}
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > at {
		// A write that was cut short, of a charge that nobody got a receipt for. It is
		// removed for good first: else its end could come to stand behind this commit.
		if err := errors.Join(t.file.Truncate(at), t.file.Sync()); err != nil {
			return err
		}
	}
	if _, err := t.file.WriteAt(lines, at); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	if err := t.SetAnchor(after); err != nil {
		return err
	}
	// A charge to a file that has lost its name meanwhile is lost with it: the file that
	// has the name now may be a copy without it, locked and charged by another process
	// before the anchor said so.
	same, err := sameFile(t.file, t.store.path)
	if err != nil {
		return err
	}
	if !same {
		return damaged("another file has taken the place of the ledger while it was written")
	}
	return nil
}

// level makes sure that the anchor on disk is level with the file. It comes before the
// next commit, so that the two never differ by more than one, whatever a loss of power
// takes back. An anchor that another process wrote need not be on disk: that process
// may have been killed before it knew.
func (t *fileTx) level(anchor []byte) error {
	if bytes.Equal(t.anchor, anchor) && bytes.Equal(t.store.forced, anchor) {
		return nil
	}
	return t.SetAnchor(anchor)
}

// SetAnchor replaces the anchor, durably.
func (t *fileTx) SetAnchor(anchor []byte) error {
	err := writeAnchor(t.store.path+AnchorSuffix, anchor)
	if err == nil {
		t.store.forced = anchor
	}
	return err
}

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
		if err := filelock.Lock(ctx, f, exclusive); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// While this waited, another file may have taken the name. Its lock
		// would be another one.
		same, err := sameFile(f, path)
		if err == nil && same {
			return f, nil
		}
		filelock.Unlock(f)
		if err != nil {
			return nil, err
		}
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

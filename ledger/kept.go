package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/readfile"
)

// KeptSuffix ends the name of a folder beside the ledger's file: that of the documents that the ledger
// keeps by name ([Ledger.Keep]).
const KeptSuffix = ".tables"

// ErrKept: the store keeps nothing of that name, or may not keep it. Nothing was consumed, and the
// handle is good.
var ErrKept = errors.New("not kept beside the ledger")

// Keep stores content beside the ledger under a name, so that it survives any crash once Keep
// returned. Content that is there under the name stays as it is. It is no part of the ledger: no
// hash covers it, and whoever reads it must judge it. What a charge names is kept before the
// charge.
func (l *Ledger) Keep(ctx context.Context, name Digest, content []byte) error {
	return l.inTurn(ctx, func() error {
		if err := l.store.Keep(ctx, name, content); err != nil {
			return fmt.Errorf("%s: keep %.8v…: %w", l.Path(), name, err)
		}
		return nil
	})
}

// Kept returns what is kept under a name, an [ErrKept] where nothing is.
func (l *Ledger) Kept(ctx context.Context, name Digest) (content []byte, err error) {
	err = l.inTurn(ctx, func() error {
		content, err = l.store.Kept(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %.8v…: %w", l.Path(), name, ErrKept)
		}
		return err
	})
	return content, err
}

// keptPath is the file of what is kept under a name.
func (s *fileStore) keptPath(name Digest) string {
	return filepath.Join(s.path+KeptSuffix, name.String()+".json")
}

// Keep implements [Store].
func (s *fileStore) Keep(ctx context.Context, name Digest, content []byte) error {
	path := s.keptPath(name)
	if err := atomicfile.Folder(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil // whole, since it got its name
	}
	err := atomicfile.WriteNew(path, 0o600, atomicfile.Bytes(content))
	if errors.Is(err, fs.ErrExist) { // another process was first
		err = atomicfile.Folder(filepath.Dir(path), 0o700)
	}
	return err
}

// Kept implements [Store].
func (s *fileStore) Kept(ctx context.Context, name Digest) ([]byte, error) {
	return readfile.Whole(ctx, s.keptPath(name), math.MaxInt64)
}

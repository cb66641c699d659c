package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Dir is a temporary directory that nobody else may look into, for files that must not be
// seen before they are complete.
type Dir struct {
	path string
	lock *lock
}

// MakeDir makes a directory, permissions 0700, in the directory dir, or among the system's
// temporary files for "". Its name has the purpose in it. If the process is killed, the next one
// that makes such a directory or writes a file beside it removes it: see [Sweep]. It must hold
// regular files only, and every Dir must end in [Dir.Remove].
func MakeDir(dir, name string) (*Dir, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	sweepOnce(dir)
	for range maxTries {
		path := filepath.Join(dir, tempName(name, rand.Text()))
		err := os.Mkdir(path, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("make temporary directory: %w", err)
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept, as below
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make temporary directory: %w", err), os.Remove(path))
		}
		l, ok := lockNew(f, path)
		f.Close() // only the lock is needed
		if ok {
			return &Dir{path, l}, nil
		}
	}
	return nil, fmt.Errorf("no free name for a temporary directory in %s", dir)
}

// Path returns the directory's path.
func (d *Dir) Path() string { return d.path }

// Remove removes the directory with all that is in it. A second call does nothing.
func (d *Dir) Remove() error {
	defer d.lock.release()
	return os.RemoveAll(d.path)
}

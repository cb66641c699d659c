package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Sweep removes from a directory what processes that were killed left there, and returns how
// many things it removed. Something is removed if all of this holds:
//
//   - its name is one that this package gives to temporary files and directories;
//   - it is a regular file, or a directory that holds nothing but regular files;
//   - it belongs to the user of this process;
//   - no process holds its lock: who writes it holds one, which the system takes back when
//     the process ends, however it ends.
//
// On a network file system whose locks are seen by one machine only, another's files look
// like leftovers. Where the system has no such locks nothing is removed.
//
// The package calls it by itself before a process first writes a file of the directory. What
// cannot be removed costs room only: errors are there to be told, and may be ignored.
func Sweep(dir string) (n int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, e := range entries {
		if _, ok := tempTarget(e.Name()); !ok {
			continue
		}
		removed, err := removeLeft(filepath.Join(dir, e.Name()))
		if removed {
			n++
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return n, errors.Join(errs...)
}

// maxTries is the number of attempts at a temporary name. A name is lost to a sweep that comes
// between the making and the lock, which several in a row do only by chance.
const maxTries = 100

// swept are the directories that this process has swept.
var swept sync.Map

// sweepOnce sweeps a directory unless this process did so before: a large one takes time to
// look through, and a file may be written every second.
func sweepOnce(dir string) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return
	}
	if _, done := swept.LoadOrStore(abs, true); !done {
		_, _ = Sweep(dir) // costs room only
	}
}

// remove removes a file, or a directory that holds nothing but regular files.
func remove(path string, isDir bool) error {
	if !isDir {
		return os.Remove(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			return &fs.PathError{Op: "sweep", Path: filepath.Join(path, e.Name()),
				Err: errors.New("not a regular file")}
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(path, e.Name())); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(path)
}

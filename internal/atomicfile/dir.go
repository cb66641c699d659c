package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// Folder makes the directory at path unless it is there, and forces its name, and the names in it,
// to disk: what another process made there before it was killed survives a power failure too.
func Folder(path string, perm fs.FileMode) error {
	if err := os.Mkdir(path, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(syncDir(path), syncDir(filepath.Dir(path)))
}

const (
	tempInfix     = ".tmp-"
	tempRandomLen = 26  // length of crypto/rand.Text
	maxTempBase   = 200 // leaves room below the usual limit of 255 bytes for a name
)

// tempName returns the name of a temporary file for the file called base:
//
//	.<base>.tmp-<26 random characters>
func tempName(base, random string) string {
	if len(base) > maxTempBase {
		base = base[:maxTempBase]
	}
	return "." + base + tempInfix + random
}

// tempTarget reports whether name (a name in a directory, not a path) has the
// form of a temporary file of this package, and for which file it was made. A
// target longer than 200 bytes is cut to 200.
func tempTarget(name string) (target string, ok bool) {
	i := strings.LastIndex(name, tempInfix)
	if i < 2 || name[0] != '.' {
		return "", false
	}
	random := name[i+len(tempInfix):]
	if len(random) != tempRandomLen {
		return "", false
	}
	for _, c := range []byte(random) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') { // base32 alphabet
			return "", false
		}
	}
	return name[1:i], true
}

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

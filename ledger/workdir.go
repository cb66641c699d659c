package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/darrm/darrm/internal/atomicfile"
)

// A new ledger is built in a directory .ledger-NUMBER beside it. Its maker holds the lock of
// the directory, and a process that ends, however it ends, gives its locks back: a directory
// whose lock is free was left behind.
const (
	workPrefix   = ".ledger-"
	workDatabase = "new"
	workSecret   = "secret"
)

type workDir struct {
	path string
	held *os.File
}

func newWorkDir(dir string) (*workDir, error) {
	for {
		path, err := os.MkdirTemp(dir, workPrefix+"*")
		if err != nil {
			return nil, err
		}
		held, err := os.Open(path)
		if err == nil {
			var ok, same bool
			if ok, err = tryFlock(held, true); ok {
				same, err = sameFile(held, path)
			}
			if ok && same {
				return &workDir{path, held}, nil
			}
			held.Close()
		}
		// Somebody may have swept it before it was locked.
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, os.Remove(path))
		}
	}
}

func (w *workDir) file(name string) string { return filepath.Join(w.path, name) }

func (w *workDir) remove() error { return errors.Join(os.RemoveAll(w.path), unlock(w.held)) }

// sweep removes what killed processes left in dir. It removes the files that this package
// makes and no others, and a directory only if it is empty then. What it may not remove
// stays: that keeps nobody from making a ledger.
func sweep(dir string) {
	root, err := os.OpenRoot(dir) // by which a link leads nowhere else
	if err != nil {
		return
	}
	defer root.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if number, ok := strings.CutPrefix(e.Name(), workPrefix); ok && e.IsDir() && number != "" && strings.Trim(number, "0123456789") == "" {
			sweepWork(root, e.Name())
		}
		if target, ok := atomicfile.TempTarget(e.Name()); ok && e.Type().IsRegular() {
			if book, ok := strings.CutSuffix(target, AnchorSuffix); ok {
				sweepAnchor(root, e.Name(), book)
			}
		}
	}
}

// sweepAnchor removes a temporary file of the anchor of a ledger that nobody holds: whoever
// writes an anchor has the ledger's lock.
func sweepAnchor(root *os.Root, name, book string) {
	info, err := root.Stat(book)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait
		return
	}
	f, err := root.Open(book)
	if err == nil {
		defer unlock(f)
		var ok bool
		if ok, err = tryFlock(f, true); err == nil && !ok {
			return
		}
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		root.Remove(name)
	}
}

func sweepWork(root *os.Root, name string) {
	held, err := root.Open(name)
	if err != nil {
		return
	}
	defer unlock(held)
	if ok, err := tryFlock(held, true); !ok || err != nil {
		return
	}
	for _, file := range []string{workDatabase, workSecret} {
		root.Remove(filepath.Join(name, file))
	}
	root.Remove(name)
}

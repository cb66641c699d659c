package release

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/ledger"
)

// A Draft is a result that is complete before anybody can see it: its digest is known only
// then, and must be in the ledger before the result can be seen. It is a file in a directory
// that nobody else may read, beside the output, or among the temporary files where the
// output is a device, a pipe or stdout. A run that is killed leaves it behind, and the next
// that writes there removes it.
type Draft struct {
	path   string // of the output; "-" for stdout
	stdout io.Writer
	dir    *atomicfile.Dir
	file   string           // of the draft, in dir
	place  *atomicfile.File // where the draft goes; nil for stdout
}

// NewDraft makes the directory for a result that goes to path, "" or "-" for stdout. The
// error is an [OutputError].
func NewDraft(path string, stdout io.Writer) (_ *Draft, err error) {
	d := &Draft{path: path, stdout: stdout}
	base, name := "", "labels"
	if path != "" && path != "-" {
		if d.place, err = atomicfile.Create(path); err != nil {
			return nil, OutputError{err}
		}
		base, name = beside(path), filepath.Base(path)
	}
	if d.dir, err = atomicfile.MakeDir(base, "darrm-labels"); err != nil {
		d.Abort()
		return nil, OutputError{err}
	}
	d.file = filepath.Join(d.dir.Path(), name)
	return d, nil
}

// Path returns where the result is to be written: a file of the output's own name, by
// which its form goes.
func (d *Draft) Path() string { return d.file }

// Publish lets the result be seen, whole. note is called before, with its digest; its
// error stops the publication. Errors of writing are [OutputError]s.
func (d *Draft) Publish(note func(ledger.Digest) error) error {
	f, err := os.Open(d.file)
	if err != nil {
		return OutputError{err}
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return OutputError{err}
	}
	if err := note(ledger.Digest(digest.Sum(nil))); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return OutputError{err}
	}
	if err := d.copyOut(f); err != nil {
		return OutputError{fmt.Errorf("%s: %w", d.path, err)}
	}
	return nil
}

func (d *Draft) copyOut(f io.Reader) error {
	if d.place == nil {
		_, err := io.Copy(d.stdout, f)
		return err
	}
	if _, err := io.Copy(d.place, f); err != nil {
		return err
	}
	return d.place.Commit()
}

// Abort gives up what was not published, and removes the draft of what was. What cannot be
// removed is paid for, and nobody else may read it.
func (d *Draft) Abort() {
	if d.place != nil {
		_ = d.place.Abort() // only what was given up already
	}
	if d.dir != nil {
		_ = d.dir.Remove()
	}
}

package release

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/votes"
)

// A labelFile is a file of labels that is complete before anybody can see it. It is written
// in a directory that nobody else may read, beside the output, or among the temporary files
// where the output is a device, a pipe or stdout. A run that is killed leaves it behind, and
// the next that writes there removes it.
type labelFile struct {
	FileOutput
	options votes.LabelOptions // with a class for abstentions, the last one, where there are any
	dir     *atomicfile.Dir
	file    *votes.LabelFile
}

// Check makes the file too.
func (f *labelFile) Check(charged bool) (err error) {
	if err = f.FileOutput.Check(charged); err != nil {
		return err
	}
	dir := ""
	if !f.toStdout() {
		dir = beside(f.Path)
	}
	if f.dir, err = atomicfile.MakeDir(dir, "darrm-labels"); err != nil {
		return OutputError{err}
	}
	f.file, err = votes.CreateLabels(f.draft(), f.options)
	var system *fs.PathError
	switch {
	case errors.As(err, &system):
		return OutputError{err}
	case err != nil:
		return UsageError{err}
	}
	return nil
}

// draft has the output's own name, by which its form goes.
func (f *labelFile) draft() string {
	name := "labels"
	if !f.toStdout() {
		name = filepath.Base(f.Path)
	}
	return filepath.Join(f.dir.Path(), name)
}

func (f *labelFile) add(b *votes.Batch, answers []int) error {
	for i, class := range answers {
		if class == ensemble.Abstained {
			answers[i] = len(f.options.Classes) - 1
		}
	}
	return f.failure(f.file.WriteBatch(b, answers))
}

// encode gives the file, which is complete.
func (f *labelFile) encode(w io.Writer) error {
	draft, err := os.Open(f.draft())
	if err != nil {
		return err
	}
	defer draft.Close() // only read from
	_, err = io.Copy(w, draft)
	return err
}

func (f *labelFile) failure(err error) error {
	if err == nil {
		return nil
	}
	name := f.Path
	if f.toStdout() {
		name = "stdout"
	}
	return OutputError{fmt.Errorf("%s: %w", name, err)}
}

// remove removes what is not published, or was. What cannot be removed is paid for, and
// nobody else may read it.
func (f *labelFile) remove() {
	if f.file != nil {
		_ = f.file.Abort()
	}
	if f.dir != nil {
		_ = f.dir.Remove()
	}
}

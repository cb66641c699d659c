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
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/votes"
)

// A labelFile is an output that gets the draft of a file of labels: beside it, or among the
// temporary files where the output is a device, a pipe or stdout.
type labelFile struct {
	FileOutput
	options votes.LabelOptions // with a class for abstentions, the last one, where there are any
	file    *LabelDraft
}

// Check begins the draft too.
func (f *labelFile) Check(charged bool) (err error) {
	if err = f.FileOutput.Check(charged); err != nil {
		return err
	}
	dir, name := "", "labels"
	if !f.toStdout() {
		dir, name = beside(f.Path), filepath.Base(f.Path)
	}
	f.file, err = NewLabelDraft(dir, name, f.options)
	return err
}

func (f *labelFile) add(b *votes.Batch, answers []int) error {
	for i, class := range answers {
		if class == ensemble.Abstained {
			answers[i] = len(f.options.Classes) - 1
		}
	}
	return f.failure(f.file.WriteBatch(b, answers))
}

func (f *labelFile) encode(w io.Writer) error { return f.file.Encode(w) }

func (f *labelFile) failure(err error) error {
	if err == nil {
		return nil
	}
	name := f.Path
	if f.toStdout() {
		name = "stdout"
	}
	return &OutputError{fmt.Errorf("%s: %w", name, err)}
}

func (f *labelFile) remove() {
	if f.file != nil {
		f.file.Remove()
	}
}

// LabelDraft is a file of labels that is complete before anybody can see it: in a directory that
// nobody else may read. A run that is killed leaves it behind, and the next that writes there
// removes it.
type LabelDraft struct {
	dir  *atomicfile.Dir
	path string
	*votes.LabelFile
}

// NewLabelDraft begins the draft of a file of this name, by which its form goes, in a directory of
// its own within the folder, or among the temporary files for "". It must end in Remove. What the
// name or the options cannot have is a [UsageError], what cannot be written an [OutputError].
func NewLabelDraft(folder, name string, o votes.LabelOptions) (*LabelDraft, error) {
	dir, err := atomicfile.MakeDir(folder, "darrm-labels")
	if err != nil {
		return nil, &OutputError{err}
	}
	d := &LabelDraft{dir: dir, path: filepath.Join(dir.Path(), name)}
	if d.LabelFile, err = votes.CreateLabels(d.path, o); err == nil {
		return d, nil
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		err = &OutputError{err}
	} else {
		err = &UsageError{err}
	}
	return nil, errors.Join(err, dir.Remove())
}

// Encode gives the file, which is committed.
func (d *LabelDraft) Encode(w io.Writer) error {
	d = handle.Made(d)
	draft, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer draft.Close() // only read from
	_, err = io.Copy(w, draft)
	return err
}

// Remove removes what is not published, or was. What cannot be removed is paid for, and
// nobody else may read it.
func (d *LabelDraft) Remove() {
	d = handle.Made(d)
	_ = d.Abort()
	if d.dir != nil {
		_ = d.dir.Remove()
	}
}

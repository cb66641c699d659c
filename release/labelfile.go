package release

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/darrm/darrm/ensemble"
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

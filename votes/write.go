package votes

import (
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/internal/handle"
)

// A LabelWriter writes released answers to two classes as CSV with the header
// query,label, one row at a time. Output is buffered: nothing is certain to be
// written before Flush returns nil. It is not safe for concurrent use. For other
// formats and classes, and for files, there is [LabelFile].
type LabelWriter struct {
	enc     *csvLabels
	classes int
	err     error // sticky
}

// NewLabelWriter returns a writer to w of classes with these names, nil for 0 and 1. The
// header is written with the first row or by Flush, so a run that fails before leaves no
// output. The error names the rule of Options.Classes that the names break.
func NewLabelWriter(w io.Writer, names []string) (*LabelWriter, error) {
	classes, err := newClassList(names, nil)
	if err != nil {
		return nil, err
	}
	return &LabelWriter{enc: newCSVLabels(w, ',', labelsOf("", classes, "label")), classes: classes.len()}, nil
}

// Write writes one row. A class that is none, and an id that would not be read back as it
// is, are errors. After an error it returns the same error again.
func (w *LabelWriter) Write(id string, class int) error {
	w = handle.Made(w)
	if w.err != nil {
		return w.err
	}
	if rule := idRule(id); rule != "" {
		w.err = errors.New("write labels: " + rule)
	} else if class < 0 || class >= w.classes {
		w.err = fmt.Errorf("write labels: query %s has the class %d, want 0 to %d", quote(id), class,
			w.classes-1)
	} else if err := w.enc.Row([]byte(id), []int{class}); err != nil {
		w.err = fmt.Errorf("write labels: %w", err)
	}
	return w.err
}

// Flush passes everything on to the underlying writer and returns the first
// error of all. It must be called at the end.
func (w *LabelWriter) Flush() error {
	if w == nil || w.enc == nil {
		return errors.New("write labels: the writer was not made by NewLabelWriter")
	}
	if w.err != nil {
		w.enc.buf.Flush() // the rows before it
	} else if err := w.enc.End(); err != nil {
		w.err = fmt.Errorf("write labels: %w", err)
	}
	return w.err
}

package votes

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A LabelWriter writes released answers to two classes as CSV with the header
// query,label, one row at a time. Output is buffered: nothing is certain to be
// written before Flush returns nil. It is not safe for concurrent use. For other
// formats and classes, and for files, there is [LabelFile].
type LabelWriter struct {
	buf *bufio.Writer
	enc *csvLabels
	err error // sticky
}

// NewLabelWriter returns a writer to w. The header is written with the first
// row or by Flush, so a run that fails before leaves no output.
func NewLabelWriter(w io.Writer) *LabelWriter {
	classes, err := newClassList(nil)
	if err != nil {
		panic(err) // the default is a constant
	}
	buf := bufio.NewWriter(w)
	return &LabelWriter{buf: buf, enc: newCSVLabels(buf, ',', "label", classes)}
}

// Write writes one row. A NoLabel, and an id that would not be read back as it
// is, are errors. After an error it returns the same error again.
func (w *LabelWriter) Write(id string, label Label) error {
	if w.err != nil {
		return w.err
	}
	if rule := idRule(id); rule != "" {
		w.err = errors.New("write labels: " + rule)
	} else if bit, ok := label.Value(); !ok {
		w.err = fmt.Errorf("query %s has no label (%d), want 0 or 1", quote(id), label)
	} else if err := w.enc.row([]byte(id), bit); err != nil {
		w.err = fmt.Errorf("write labels: %w", err)
	}
	return w.err
}

// Flush passes everything on to the underlying writer and returns the first
// error of all. It must be called at the end.
func (w *LabelWriter) Flush() error {
	if w.err == nil {
		w.err = w.enc.end()
	}
	if err := w.buf.Flush(); err != nil && w.err == nil {
		w.err = fmt.Errorf("write labels: %w", err)
	}
	return w.err
}

// WriteLabels writes all of labels under the ids of the same index, as
// [LabelWriter] does.
func WriteLabels(w io.Writer, ids []string, labels []Label) error {
	if len(ids) != len(labels) {
		return fmt.Errorf("write labels: %d ids and %d labels, want as many", len(ids), len(labels))
	}
	lw := NewLabelWriter(w)
	for i, id := range ids {
		if err := lw.Write(id, labels[i]); err != nil {
			return err
		}
	}
	return lw.Flush()
}

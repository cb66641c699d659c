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

// Write writes one row. A class that is neither 0 nor 1, and an id that would not
// be read back as it is, are errors. After an error it returns the same error again.
func (w *LabelWriter) Write(id string, class int) error {
	if w.err != nil {
		return w.err
	}
	if rule := idRule(id); rule != "" {
		w.err = errors.New("write labels: " + rule)
	} else if class != 0 && class != 1 {
		w.err = fmt.Errorf("write labels: query %s has the class %d, want 0 or 1", quote(id), class)
	} else if err := w.enc.row([]byte(id), class); err != nil {
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

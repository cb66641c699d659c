package votes

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
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
func NewLabelWriter(w io.Writer) *LabelWriter { return newLabelWriter(w, "label") }

func newLabelWriter(w io.Writer, column string) *LabelWriter {
	classes, err := newClassList(nil)
	if err != nil {
		panic(err) // the default is a constant
	}
	buf := bufio.NewWriter(w)
	return &LabelWriter{buf: buf, enc: newCSVLabels(buf, ',', column, classes)}
}

// Write writes one row. A NoLabel, and an id that [ReadCSV] would not read back
// as it is, are errors. After an error it returns the same error again.
func (w *LabelWriter) Write(id string, label Label) error {
	if w.err == nil {
		w.err = w.write(id, label)
	}
	return w.err
}

func (w *LabelWriter) write(id string, label Label) error {
	if err := checkID(id); err != nil {
		return err
	}
	bit, ok := label.Value()
	if !ok {
		return fmt.Errorf("query %s has no label (%d), want 0 or 1", quote(id), label)
	}
	if err := w.enc.row([]byte(id), bit); err != nil {
		return fmt.Errorf("write labels: %w", err)
	}
	return nil
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
	return NewLabelWriter(w).writeAll(ids, labels)
}

// WriteSimulatedLabels is WriteLabels for answers that are not private: their
// column is called simulated_label, so that no one takes them for released ones.
func WriteSimulatedLabels(w io.Writer, ids []string, labels []Label) error {
	return newLabelWriter(w, simulatedColumn).writeAll(ids, labels)
}

func (w *LabelWriter) writeAll(ids []string, labels []Label) error {
	if len(ids) != len(labels) {
		return fmt.Errorf("write labels: %d ids and %d labels, want as many", len(ids), len(labels))
	}
	for i, id := range ids {
		if err := w.Write(id, labels[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}

// WriteCounts writes t in the layout of counts, with the columns query and label
// where t has them. [ReadCSV] with LayoutCounts reads an equal table back.
func WriteCounts(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return fmt.Errorf("write votes: %w", err)
	}
	cw := csv.NewWriter(w)
	var row []string
	add := func(cell string, present bool) {
		if present {
			row = append(row, cell)
		}
	}
	add("query", t.IDs != nil)
	row = append(row, "zeros", "ones")
	add("label", t.Labels != nil)
	if err := cw.Write(row); err != nil {
		return fmt.Errorf("write votes: %w", err)
	}
	for q := range t.All() {
		row = row[:0]
		add(q.ID, t.IDs != nil)
		row = append(row, strconv.Itoa(q.K-q.Ones), strconv.Itoa(q.Ones))
		add(q.Label.String(), t.Labels != nil)
		if err := cw.Write(row); err != nil {
			return fmt.Errorf("write votes: %w", err)
		}
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("write votes: %w", err)
	}
	return nil
}

// check refuses a table that no file could hold.
func (t *Table) check() error {
	if t.K < 1 || t.K > MaxTeachers {
		return fmt.Errorf("K = %d, want 1 ≤ K ≤ %d", t.K, MaxTeachers)
	}
	if t.IDs != nil && len(t.IDs) != len(t.Ones) || t.Labels != nil && len(t.Labels) != len(t.Ones) {
		return fmt.Errorf("%d counts, %d ids and %d labels, want as many or none", len(t.Ones), len(t.IDs), len(t.Labels))
	}
	var seen map[string]int
	if t.IDs != nil {
		seen = make(map[string]int, len(t.IDs))
	}
	for i, ones := range t.Ones {
		if ones < 0 || ones > t.K {
			return fmt.Errorf("query %d has %d ones, want 0 ≤ ones ≤ K = %d", i, ones, t.K)
		}
		if t.Labels != nil {
			if _, ok := t.Labels[i].Value(); !ok {
				return fmt.Errorf("query %d has no label (%d), want 0 or 1", i, t.Labels[i])
			}
		}
		if t.IDs == nil {
			continue
		}
		if err := checkID(t.IDs[i]); err != nil {
			return err
		}
		if first, ok := seen[t.IDs[i]]; ok {
			return fmt.Errorf("queries %d and %d have the same id %s", first, i, quote(t.IDs[i]))
		}
		seen[t.IDs[i]] = i
	}
	return nil
}

// checkID accepts the ids that a CSVReader can return.
func checkID(id string) error {
	switch {
	case id == "":
		return errors.New("query id is empty")
	case len(id) > MaxIDBytes:
		return fmt.Errorf("query id %s, want at most %d bytes", quote(id), MaxIDBytes)
	case !utf8.ValidString(id):
		return fmt.Errorf("query id %s is not valid UTF-8", quote(id))
	case strings.ContainsAny(id, "\x00\r\ufeff"):
		return fmt.Errorf("query id %s contains a NUL byte, a carriage return or a byte order mark", quote(id))
	}
	return nil
}

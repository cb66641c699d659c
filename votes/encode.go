package votes

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/internal/tempfile"
	"github.com/darrm/darrm/votes/format"
)

// labelsOf describes a file of labels to the encoder of its format.
func labelsOf(id string, classes *classList, columns ...string) format.Labels {
	for _, name := range []string{id, "query", "id", "question id"} {
		if id = name; id != "" && !isUsual(id, columns...) {
			break
		}
	}
	l := format.Labels{ID: id, Columns: columns, Classes: classes.names}
	for _, name := range classes.names {
		n, ok := canonicalInt(name)
		if !ok {
			l.Integers = nil
			return l
		}
		l.Integers = append(l.Integers, n)
	}
	return l
}

func encodeCSV(comma byte) func(*LabelFile, io.Writer, format.Labels) (format.Encoder, error) {
	return func(_ *LabelFile, w io.Writer, l format.Labels) (format.Encoder, error) {
		return newCSVLabels(w, comma, l), nil
	}
}

// csvLabels writes id and label. Most ids need no quotes and take a short cut; the
// others go through encoding/csv.
type csvLabels struct {
	w     io.Writer
	csv   *csv.Writer
	comma byte
	names []string // of the classes, with comma before
	head  string
	line  []byte
	cell  bytes.Buffer
}

func newCSVLabels(w io.Writer, comma byte, l format.Labels) *csvLabels {
	e := &csvLabels{w: w, comma: comma}
	e.csv = csv.NewWriter(&e.cell)
	e.csv.Comma = rune(comma)
	e.head = string(e.quoted(append([]string{l.ID}, l.Columns...)...))
	for _, name := range l.Classes {
		e.names = append(e.names, e.cellOf(name))
	}
	return e
}

// quoted returns a row as encoding/csv writes it.
func (e *csvLabels) quoted(cells ...string) []byte {
	e.cell.Reset()
	e.csv.Write(cells)
	e.csv.Flush() // into memory, it cannot fail
	return e.cell.Bytes()
}

// cellOf returns a cell with the comma before it. The first cell of the row is only there to have the second
// quoted as it must be.
func (e *csvLabels) cellOf(text string) string {
	row := e.quoted("x", text)
	return string(row[1 : len(row)-1])
}

func (e *csvLabels) Row(id []byte, classes []int) error {
	e.begin(id)
	for _, class := range classes {
		e.line = append(e.line, e.names[class]...)
	}
	return e.end()
}

// begin begins a row with its id, end ends it.
func (e *csvLabels) begin(id []byte) {
	e.line = append(e.line[:0], e.head...) // once
	e.head = ""
	if simple(id) {
		e.line = append(e.line, id...)
	} else {
		row := e.quoted(string(id), "x")
		e.line = append(e.line, row[:len(row)-3]...) // less the comma, the x and the line end
	}
}

func (e *csvLabels) end() error {
	e.line = append(e.line, '\n')
	_, err := e.w.Write(e.line)
	return err
}

// simple reports whether an id needs no quotes in any dialect.
func simple(id []byte) bool {
	for _, c := range id {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' ||
			c == '_' || c == '.' || c == '/') {
			return false
		}
	}
	return true
}

func (e *csvLabels) End() error {
	_, err := io.WriteString(e.w, e.head)
	e.head = ""
	return err
}

// jsonLabels writes {"query":…,"label":…}, the first being the ids' name. Classes that are integers
// are numbers.
type jsonLabels struct {
	w       io.Writer
	id      []byte   // everything before the id
	columns []string // each with everything before its class
	names   []string // of the classes
	line    []byte
}

func newJSONLabels(w io.Writer, l format.Labels) *jsonLabels {
	e := &jsonLabels{w: w, id: append(append([]byte{'{'}, jsonString(l.ID)...), ':')}
	for _, name := range l.Classes {
		value := jsonString(name)
		if _, ok := canonicalInt(name); ok {
			value = []byte(name)
		}
		e.names = append(e.names, string(value))
	}
	for _, name := range l.Columns {
		e.columns = append(e.columns, ","+string(jsonString(name))+":")
	}
	return e
}

// jsonString quotes valid UTF-8 for JSON and leaves < > & as they are.
func jsonString(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), newline)
}

func (e *jsonLabels) Row(id []byte, classes []int) error {
	e.begin(id)
	for i, class := range classes {
		e.line = append(append(e.line, e.columns[i]...), e.names[class]...)
	}
	return e.end()
}

// begin begins a line with its id, end ends it.
func (e *jsonLabels) begin(id []byte) {
	e.line = append(e.line[:0], e.id...)
	if simple(id) {
		e.line = append(e.line, '"')
		e.line = append(e.line, id...)
		e.line = append(e.line, '"')
	} else {
		e.line = append(e.line, jsonString(string(id))...)
	}
}

func (e *jsonLabels) end() error {
	e.line = append(e.line, "}\n"...)
	_, err := e.w.Write(e.line)
	return err
}

func (e *jsonLabels) End() error { return nil }

// npyLabels writes an array. The header holds the number of labels, so they wait
// in a temporary file.
type npyLabels struct {
	w     io.Writer
	spool *tempfile.File
	buf   *bufio.Writer
	cells [][]byte // the classes as elements
	descr string
	width []int64 // of a row of several labels
	n     int64
}

// encodeNPY keeps the labels in a temporary file of f.
func encodeNPY(f *LabelFile, w io.Writer, l format.Labels) (format.Encoder, error) {
	spool, err := f.newTemp()
	if err != nil {
		return nil, err
	}
	e := &npyLabels{w: w, spool: spool, buf: bufio.NewWriterSize(spool, 64<<10)}
	e.descr, e.cells = npyClasses(l)
	several := ""
	if len(l.Columns) > 1 {
		e.width, several = []int64{int64(len(l.Columns))}, fmt.Sprintf(", (%d,)", len(l.Columns))
	}
	if f.opts.Simulated {
		e.descr = fmt.Sprintf("[('%s', %s%s)]", simulatedColumn, e.descr, several)
		e.width = nil
	}
	return e, nil
}

// npyClasses returns the element type that holds the classes' names, and the
// names as elements.
func npyClasses(l format.Labels) (descr string, cells [][]byte) {
	integers := l.Integers != nil
	small := integers && slices.Min(l.Integers) >= 0 && slices.Max(l.Integers) <= 255
	longest := 0
	for _, name := range l.Classes {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	for i, name := range l.Classes {
		switch {
		case small:
			descr = "'|u1'"
			cells = append(cells, []byte{byte(l.Integers[i])})
		case integers:
			descr = "'<i8'"
			cells = append(cells, binary.LittleEndian.AppendUint64(nil, uint64(l.Integers[i])))
		default:
			descr = fmt.Sprintf("'<U%d'", longest)
			cell := make([]byte, 0, 4*longest)
			for _, r := range name {
				cell = binary.LittleEndian.AppendUint32(cell, uint32(r))
			}
			cells = append(cells, cell[:4*longest])
		}
	}
	return descr, cells
}

func (e *npyLabels) Row(_ []byte, classes []int) (err error) {
	e.n++
	for _, class := range classes {
		_, err = e.buf.Write(e.cells[class]) // of a buffer an error stays
	}
	return err
}

func (e *npyLabels) End() error {
	if err := e.buf.Flush(); err != nil {
		return err
	}
	if _, err := e.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := e.w.Write(npy.Head(e.descr, append([]int64{e.n}, e.width...)...)); err != nil {
		return err
	}
	_, err := io.Copy(e.w, e.spool)
	return err
}

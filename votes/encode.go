package votes

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

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

// csvLabels writes a header, then an id and names in each row.
type csvLabels struct {
	csv   *csv.Writer
	names []string // of the classes
	head  []string // until it is written
	cells []string // of a row
}

func newCSVLabels(w io.Writer, comma byte, l format.Labels) *csvLabels {
	e := &csvLabels{csv: csv.NewWriter(w), names: l.Classes, head: append([]string{l.ID}, l.Columns...)}
	e.csv.Comma = rune(comma)
	return e
}

func (e *csvLabels) Row(id []byte, classes []int) error {
	e.cells = append(e.cells[:0], string(id))
	for _, class := range classes {
		e.cells = append(e.cells, e.names[class])
	}
	return e.write(e.cells...)
}

// write writes a row.
func (e *csvLabels) write(row ...string) error {
	if err := e.begin(); err != nil {
		return err
	}
	return e.csv.Write(row)
}

// begin writes the header, once.
func (e *csvLabels) begin() (err error) {
	if e.head != nil {
		err = e.csv.Write(e.head)
	}
	e.head = nil
	return err
}

func (e *csvLabels) End() error {
	err := e.begin()
	e.csv.Flush()
	return cmp.Or(err, e.csv.Error())
}

// jsonLabels writes {"query":…,"label":…}, the first being the ids' name. Classes that are integers
// are numbers.
type jsonLabels struct {
	json    *jsontext.Encoder
	id      jsontext.Token
	columns []jsontext.Token
	classes []jsontext.Token
}

func newJSONLabels(w io.Writer, l format.Labels) *jsonLabels {
	e := &jsonLabels{json: jsontext.NewEncoder(w, jsontext.EscapeForJS(true)), id: jsontext.String(l.ID)}
	for _, name := range l.Classes {
		class := jsontext.String(name)
		if n, ok := canonicalInt(name); ok {
			class = jsontext.Int(n)
		}
		e.classes = append(e.classes, class)
	}
	for _, name := range l.Columns {
		e.columns = append(e.columns, jsontext.String(name))
	}
	return e
}

func (e *jsonLabels) Row(id []byte, classes []int) error {
	var labels []jsontext.Token
	for i, class := range classes {
		labels = append(labels, e.columns[i], e.classes[class])
	}
	return e.write(id, labels...)
}

// set writes a line with a list of names.
func (e *jsonLabels) set(id []byte, names []string) error {
	labels := []jsontext.Token{e.columns[0], jsontext.BeginArray}
	for _, name := range names {
		labels = append(labels, jsontext.String(name))
	}
	return e.write(id, append(labels, jsontext.EndArray)...)
}

// write writes a line.
func (e *jsonLabels) write(id []byte, labels ...jsontext.Token) error {
	line := append([]jsontext.Token{jsontext.BeginObject, e.id, jsontext.String(string(id))}, labels...)
	for _, token := range append(line, jsontext.EndObject) {
		if err := e.json.WriteToken(token); err != nil {
			return err
		}
	}
	return nil
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

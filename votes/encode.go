package votes

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
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

// csvLabels writes a header, then an id and names in each row. encoding/csv writes what may need quotes.
type csvLabels struct {
	buf   *bufio.Writer
	csv   *csv.Writer // into buf
	names []string    // of the classes
	plain []string    // the same with the comma before them; nil where one may need quotes
	head  []string    // until it is written
	row   []string
	line  []byte
}

func newCSVLabels(w io.Writer, comma byte, l format.Labels) *csvLabels {
	e := &csvLabels{buf: bufio.NewWriter(w), names: l.Classes, head: append([]string{l.ID}, l.Columns...)}
	for _, name := range l.Classes {
		e.plain = append(e.plain, string(comma)+name)
	}
	if slices.ContainsFunc(l.Classes, func(name string) bool { return !needsNoQuotes(name) }) {
		e.plain = nil
	}
	e.csv = csv.NewWriter(e.buf)
	e.csv.Comma = rune(comma)
	return e
}

func (e *csvLabels) Row(id []byte, classes []int) error {
	if e.plain == nil || !needsNoQuotes(id) || e.head != nil {
		e.row = append(e.row[:0], string(id))
		for _, class := range classes {
			e.row = append(e.row, e.names[class])
		}
		return e.write(e.row...)
	}
	e.line = append(e.line[:0], id...)
	for _, class := range classes {
		e.line = append(e.line, e.plain[class]...)
	}
	e.line = append(e.line, '\n')
	_, err := e.buf.Write(e.line)
	return err
}

// needsNoQuotes reports whether a text needs none in any dialect, whatever its place.
func needsNoQuotes[T string | []byte](text T) bool {
	for i := range len(text) {
		c := text[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_' ||
			c == '.' || c == '/') {
			return false
		}
	}
	return true
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

func (e *csvLabels) End() error { return cmp.Or(e.begin(), e.buf.Flush()) }

// jsonLabels writes {"query":…,"label":…}, the first being the ids' name. Classes that are integers
// are numbers.
type jsonLabels struct {
	w       io.Writer
	id      string   // everything before the id
	columns []string // each with everything before its class
	names   []string // of the classes
	line    []byte
}

func newJSONLabels(w io.Writer, l format.Labels) *jsonLabels {
	e := &jsonLabels{w: w, id: "{" + jsonString(l.ID) + ":"}
	for _, name := range l.Classes {
		value := jsonString(name)
		if _, ok := canonicalInt(name); ok {
			value = name
		}
		e.names = append(e.names, value)
	}
	for _, name := range l.Columns {
		e.columns = append(e.columns, ","+jsonString(name)+":")
	}
	return e
}

// forJavaScript escapes what JSON allows in strings and JavaScript did not.
var forJavaScript = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)

// jsonString quotes valid UTF-8 for JSON and leaves < > & as they are.
func jsonString(s string) string {
	quoted, _ := jsontext.AppendQuote(nil, s)
	return forJavaScript.Replace(string(quoted))
}

func (e *jsonLabels) Row(id []byte, classes []int) error {
	e.begin(id)
	for i, class := range classes {
		e.line = append(append(e.line, e.columns[i]...), e.names[class]...)
	}
	return e.end()
}

// set writes a line with a list of names.
func (e *jsonLabels) set(id []byte, names []string) error {
	e.begin(id)
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = jsonString(name)
	}
	e.line = append(e.line, e.columns[0]+"["+strings.Join(quoted, ",")+"]"...)
	return e.end()
}

// begin begins a line with its id, end ends it.
func (e *jsonLabels) begin(id []byte) {
	e.line = append(e.line[:0], e.id...)
	if needsNoQuotes(id) {
		e.line = append(append(append(e.line, '"'), id...), '"')
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

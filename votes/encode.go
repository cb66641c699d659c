package votes

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/darrm/darrm/internal/npy"
)

// csvLabels writes query,label. Most ids need no quotes and take a short cut; the
// others go through encoding/csv.
type csvLabels struct {
	w     io.Writer
	csv   *csv.Writer
	comma byte
	names []string // of the classes, with comma before and line end behind
	head  string
	line  []byte
	cell  bytes.Buffer
}

func newCSVLabels(w io.Writer, comma byte, column string, classes *classList) *csvLabels {
	e := &csvLabels{w: w, comma: comma}
	e.csv = csv.NewWriter(&e.cell)
	e.csv.Comma = rune(comma)
	e.head = "query" + string(comma) + column + "\n"
	for _, name := range classes.names {
		// The first cell is only there to have the second quoted as it must be.
		e.names = append(e.names, string(e.quoted("x", name)[1:]))
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

func (e *csvLabels) row(id []byte, class int) error {
	e.line = append(e.line[:0], e.head...) // once
	e.head = ""
	if simple(id) {
		e.line = append(e.line, id...)
	} else {
		row := e.quoted(string(id), "x")
		e.line = append(e.line, row[:len(row)-3]...) // less the comma, the x and the line end
	}
	e.line = append(e.line, e.names[class]...)
	_, err := e.w.Write(e.line)
	return err
}

// simple reports whether an id needs no quotes in any dialect.
func simple(id []byte) bool {
	for _, c := range id {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_' || c == '.' || c == '/') {
			return false
		}
	}
	return true
}

func (e *csvLabels) end() error {
	_, err := io.WriteString(e.w, e.head)
	e.head = ""
	return err
}

// jsonLabels writes {"query":…,"label":…}. Classes that are integers are numbers.
type jsonLabels struct {
	w     io.Writer
	names []string // with everything behind the id
	line  []byte
}

func newJSONLabels(w io.Writer, column string, classes *classList) *jsonLabels {
	e := &jsonLabels{w: w}
	for _, name := range classes.names {
		value := jsonString(name)
		if _, ok := canonicalInt(name); ok {
			value = []byte(name)
		}
		e.names = append(e.names, fmt.Sprintf(",%q:%s}\n", column, value))
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

func (e *jsonLabels) row(id []byte, class int) error {
	e.line = append(e.line[:0], `{"query":`...)
	if simple(id) {
		e.line = append(e.line, '"')
		e.line = append(e.line, id...)
		e.line = append(e.line, '"')
	} else {
		e.line = append(e.line, jsonString(string(id))...)
	}
	e.line = append(e.line, e.names[class]...)
	_, err := e.w.Write(e.line)
	return err
}

func (e *jsonLabels) end() error { return nil }

// npyLabels writes an array. The header holds the number of labels, so they wait
// in a temporary file.
type npyLabels struct {
	w     io.Writer
	spool *tempFile
	buf   *bufio.Writer
	cells [][]byte // the classes as elements
	descr string
	n     int64
}

func newNPYLabels(w io.Writer, spool *tempFile, simulated bool, classes *classList) *npyLabels {
	e := &npyLabels{w: w, spool: spool, buf: bufio.NewWriterSize(spool, 64<<10)}
	e.descr, e.cells = npyClasses(classes)
	if simulated {
		e.descr = fmt.Sprintf("[('%s', %s)]", simulatedColumn, e.descr)
	}
	return e
}

// npyClasses returns the element type that holds the classes' names, and the
// names as elements.
func npyClasses(classes *classList) (descr string, cells [][]byte) {
	integers, small := true, true
	longest := 0
	for _, name := range classes.names {
		v, ok := canonicalInt(name)
		integers = integers && ok
		small = small && v >= 0 && v <= 255
		longest = max(longest, utf8.RuneCountInString(name))
	}
	for _, name := range classes.names {
		v, _ := canonicalInt(name)
		switch {
		case integers && small:
			descr = "'|u1'"
			cells = append(cells, []byte{byte(v)})
		case integers:
			descr = "'<i8'"
			cells = append(cells, binary.LittleEndian.AppendUint64(nil, uint64(v)))
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

func (e *npyLabels) row(_ []byte, class int) error {
	e.n++
	_, err := e.buf.Write(e.cells[class])
	return err
}

func (e *npyLabels) end() error {
	if err := e.buf.Flush(); err != nil {
		return err
	}
	if _, err := e.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := e.w.Write(npy.Head(e.descr, e.n)); err != nil {
		return err
	}
	_, err := io.Copy(e.w, e.spool)
	return err
}

// parquetLabels writes the columns query and label.
type parquetLabels struct {
	w     *parquet.GenericWriter[any]
	names []parquet.Value
	rows  []parquet.Row
	cells []parquet.Value
}

// parquetLabelRows is how many rows a row group has: they wait in memory.
const parquetLabelRows = 1 << 17

func newParquetLabels(w io.Writer, column string, classes *classList) *parquetLabels {
	e := &parquetLabels{}
	integers := true
	for _, name := range classes.names {
		_, ok := canonicalInt(name)
		integers = integers && ok
	}
	for _, name := range classes.names {
		v := parquet.ByteArrayValue([]byte(name))
		if integers {
			n, _ := canonicalInt(name)
			v = parquet.Int64Value(n)
		}
		e.names = append(e.names, v.Level(0, 0, 1))
	}
	label, tag := reflect.TypeFor[string](), column+",dict"
	if integers {
		label, tag = reflect.TypeFor[int64](), column
	}
	// Fields of a struct keep their order, those of a parquet.Group do not.
	row := reflect.StructOf([]reflect.StructField{
		{Name: "Query", Type: reflect.TypeFor[string](), Tag: `parquet:"query"`},
		{Name: "Label", Type: label, Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag))},
	})
	schema := parquet.SchemaOf(reflect.New(row).Interface())
	e.w = parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(parquetLabelRows),
		parquet.CreatedBy("darrm", "", ""))
	return e
}

func (e *parquetLabels) row(id []byte, class int) error {
	if len(e.rows) == 1024 {
		if err := e.flush(); err != nil {
			return err
		}
	}
	e.cells = append(e.cells, parquet.ByteArrayValue(bytes.Clone(id)).Level(0, 0, 0), e.names[class])
	e.rows = append(e.rows, nil) // set by flush: cells may move until then
	return nil
}

func (e *parquetLabels) flush() error {
	for i := range e.rows {
		e.rows[i] = e.cells[2*i : 2*i+2]
	}
	_, err := e.w.WriteRows(e.rows)
	e.rows, e.cells = e.rows[:0], e.cells[:0]
	return err
}

func (e *parquetLabels) end() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}

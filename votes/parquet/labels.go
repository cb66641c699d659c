package parquet

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/darrm/darrm/votes/format"
)

// labels writes the ids and the columns of labels.
type labels struct {
	w     *parquet.GenericWriter[any]
	names []parquet.Value
	width int // cells of a row
	rows  []parquet.Row
	cells []parquet.Value
}

// groupRows is the number of rows of a row group: they wait in memory.
const groupRows = 1 << 17

func newLabels(w io.Writer, l format.Labels) format.Encoder {
	e := &labels{width: 1 + len(l.Columns)}
	for i, name := range l.Classes {
		v := parquet.ByteArrayValue([]byte(name))
		if l.Integers != nil {
			v = parquet.Int64Value(l.Integers[i])
		}
		e.names = append(e.names, v)
	}
	label, options := reflect.TypeFor[string](), ",dict"
	if l.Integers != nil {
		label, options = reflect.TypeFor[int64](), ""
	}
	query := l.ID
	if query == "-" || strings.Contains(query, ",") { // a tag has no such name
		query = "query"
	}
	// Fields of a struct keep their order, those of a parquet.Group do not.
	fields := []reflect.StructField{{Name: "Query", Type: reflect.TypeFor[string](),
		Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", query))}}
	for i, name := range l.Columns {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("Label%d", i), Type: label,
			Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", name+options))})
	}
	row := reflect.StructOf(fields)
	schema := parquet.SchemaOf(reflect.New(row).Interface())
	e.w = parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(groupRows),
		parquet.CreatedBy("darrm", "", ""))
	return e
}

func (e *labels) Row(id []byte, classes []int) error {
	if len(e.rows) == 1024 {
		if err := e.flush(); err != nil {
			return err
		}
	}
	e.cells = append(e.cells, parquet.ByteArrayValue(bytes.Clone(id)).Level(0, 0, 0))
	for i, class := range classes {
		e.cells = append(e.cells, e.names[class].Level(0, 0, i+1))
	}
	e.rows = append(e.rows, nil) // set by flush: cells may move until then
	return nil
}

func (e *labels) flush() error {
	for i := range e.rows {
		e.rows[i] = e.cells[e.width*i : e.width*(i+1)]
	}
	_, err := e.w.WriteRows(e.rows)
	e.rows, e.cells = e.rows[:0], e.cells[:0]
	return err
}

func (e *labels) End() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}

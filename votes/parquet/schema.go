package parquet

import (
	"fmt"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/darrm/darrm/votes/format"
)

// column is a column of the file: a field of its schema.
type column struct {
	name     string
	leaf     int // number of its values' column among all leaves of the schema
	kind     parquetformat.Type
	what     string // its type, for messages
	fault    string // why its values are not read, "" if they are
	unsigned bool
	text     func(*parquet.Value) string // of values that are shown as text; nil for others

	list bool // each row has a list of values
	item int  // definition level of an item: below it a row has none

	pages   parquet.Pages       // of the row group
	values  parquet.ValueReader // of the page; nil between pages
	pending []parquet.Value     // of lists: read, in no row yet
}

// leaf is a column of values, as row groups have them.
type leaf struct {
	column int // whose values they are
	path   []string
}

// describe returns what package votes needs to know of the column.
func (c *column) describe() format.Column {
	kind := format.Text
	switch {
	case c.text != nil:
	case c.kind == parquetformat.Boolean:
		kind = format.Boolean
	case c.kind == parquetformat.Int32 || c.kind == parquetformat.Int64:
		kind = format.Integer
	case c.kind == parquetformat.Float || c.kind == parquetformat.Double:
		kind = format.Float
	}
	return format.Column{Name: c.name, Kind: kind, Type: c.what, List: c.list, Fault: c.fault}
}

// readSchema takes the columns. What it does not know is the fault of a column, not of the file.
func (f *file) readSchema() ([]leaf, error) {
	elements := f.file.Metadata().Schema[1:]
	var leaves []leaf
	for at := 0; at < len(elements); {
		c := column{name: elements[at].Name, leaf: len(leaves)}
		from := at
		var err error
		if at, err = f.takeLeaves(elements, at, nil, &leaves); err != nil {
			return nil, err
		}
		c.readNode(elements[from:at])
		f.schema = append(f.schema, c)
	}
	return leaves, nil
}

// takeLeaves appends the leaves of the element there, and returns where the next one stands.
func (f *file) takeLeaves(elements []parquetformat.SchemaElement, at int, path []string,
	leaves *[]leaf) (int, error) {
	const deepest = 64
	if at >= len(elements) || len(path) > deepest {
		return 0, damaged(fmt.Errorf("the schema has fewer columns than it claims, or more than %d levels",
			deepest))
	}
	e := &elements[at]
	path = append(path[:len(path):len(path)], e.Name)
	at++
	if e.NumChildren.V <= 0 {
		*leaves = append(*leaves, leaf{len(f.schema), path})
		return at, nil
	}
	for range e.NumChildren.V {
		var err error
		if at, err = f.takeLeaves(elements, at, path, leaves); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// readNode takes a column's type from its element of the schema, and those below it: a value, or a
// list of values in one of the three ways that writers have.
func (c *column) readNode(elements []parquetformat.SchemaElement) {
	value := &elements[0]
	switch len(elements) {
	case 1:
		if repeated(value) {
			c.list, c.item = true, 1
		}
	case 2, 3:
		inner := elements[1]
		_, logical := value.LogicalType.Value.(*parquetformat.ListType)
		if old := value.ConvertedType; !logical && !(old.Valid && old.V == deprecated.List) ||
			!repeated(&inner) || repeated(value) || inner.NumChildren.V != int32(len(elements)-2) {
			break
		}
		value = &elements[len(elements)-1]
		if c.list, c.item = true, 1; optional(&elements[0]) {
			c.item = 2
		}
		if len(elements) == 3 && repeated(value) {
			c.list = false
		}
	}
	if c.kind = value.Type.V; !value.Type.Valid || value.NumChildren.V > 0 ||
		len(elements) > 1 && !c.list {
		c.fault = fmt.Sprintf("column %s is nested: want one flat column for each teacher, or a list of "+
			"votes", format.Quote(c.name))
		return
	}
	var ok bool
	if c.what, ok = c.readType(value); !ok {
		c.fault = fmt.Sprintf("column %s has the type %s: want booleans, integers, floats, text, or of "+
			"ids dates, timestamps or UUIDs", format.Quote(c.name), c.what)
	}
	if !utf8.ValidString(c.name) {
		c.fault = fmt.Sprintf("the name of column %s is not valid UTF-8", format.Quote(c.name))
	}
}

func repeated(e *parquetformat.SchemaElement) bool {
	return e.RepetitionType.Valid && e.RepetitionType.V == parquetformat.Repeated
}

func optional(e *parquetformat.SchemaElement) bool {
	return e.RepetitionType.Valid && e.RepetitionType.V == parquetformat.Optional
}

// readType reports whether the column holds what is read, and what it holds.
func (c *column) readType(e *parquetformat.SchemaElement) (what string, ok bool) {
	what = c.kind.String()
	logical, old := e.LogicalType.Value, e.ConvertedType
	if logical != nil {
		what += " (" + logical.String() + ")"
	} else if old.Valid {
		what += fmt.Sprintf(" (converted type %d)", old.V)
	}
	converted := func(from, to deprecated.ConvertedType) bool {
		return logical == nil && old.Valid && from <= old.V && old.V <= to
	}
	switch c.kind {
	case parquetformat.Boolean, parquetformat.Float, parquetformat.Double:
		return what, true
	case parquetformat.Int32, parquetformat.Int64:
		if c.text = timeText(c.kind, e); c.text != nil {
			return what, true
		}
		if t, isInt := logical.(*parquetformat.IntType); isInt {
			c.unsigned = !t.IsSigned
			return what, true
		}
		c.unsigned = old.Valid && old.V >= deprecated.Uint8 && old.V <= deprecated.Uint64
		return what, logical == nil && (!old.Valid || c.unsigned) ||
			converted(deprecated.Int8, deprecated.Int64)
	case parquetformat.Int96:
		c.text = int96Text
		return what, logical == nil && !old.Valid
	case parquetformat.FixedLenByteArray:
		if _, ok = logical.(*parquetformat.UUIDType); ok && e.TypeLength.V == 16 {
			c.text = uuidText
		}
		return what, c.text != nil
	case parquetformat.ByteArray:
		switch logical.(type) {
		case *parquetformat.StringType, *parquetformat.EnumType:
			return what, true
		}
		return what, logical == nil && (!old.Valid || old.V == deprecated.UTF8 ||
			old.V == deprecated.Enum)
	}
	return what, false
}

// Package parquet adds files of Parquet with flat columns to package votes. A program that
// reads or writes them imports it for its effect. The pages are read by parquet-go.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/darrm/darrm/votes/format"
)

func init() {
	format.Register(format.Format{
		Name: "parquet", Title: "Parquet", Endings: []string{"parquet", "pq"},
		Magic: "PAR1", Start: wrongStart, Open: open, Encode: newLabels,
	})
}

// wrongStart returns what is wrong with the first four bytes of a file.
func wrongStart(head []byte) string {
	switch string(head) {
	case "PARE":
		return "the Parquet file is encrypted"
	case "PAR1":
		return ""
	}
	return fmt.Sprintf("the file does not begin as a Parquet file does: %s, want \"PAR1\"",
		format.Quote(string(head)))
}

// file reads the columns of a Parquet file side by side, one row group after the other.
type file struct {
	file   *parquet.File
	schema []column
	rows   int64
	read   []column // the columns that are read
	group  int      // next row group
	left   int64    // rows of the group before it
}

// column is a column of the file.
type column struct {
	index    int // in the schema
	name     string
	kind     parquetformat.Type
	unsigned bool
	pages    parquet.Pages       // of the row group
	values   parquet.ValueReader // of the page; nil between pages
}

func open(r io.ReaderAt, size int64) (format.File, error) {
	f := &file{}
	if err := f.open(r, size); err != nil {
		return nil, err
	}
	if err := f.readSchema(); err != nil {
		return nil, err
	}
	if err := f.checkGroups(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *file) Rows() int64 { return f.rows }

func (f *file) Columns() []format.Column {
	var columns []format.Column
	for _, c := range f.schema {
		kind := format.Text
		switch c.kind {
		case parquetformat.Boolean:
			kind = format.Boolean
		case parquetformat.Int32, parquetformat.Int64:
			kind = format.Integer
		case parquetformat.Float, parquetformat.Double:
			kind = format.Float
		}
		columns = append(columns, format.Column{Name: c.name, Kind: kind, Type: c.kind.String()})
	}
	return columns
}

// open reads the metadata at the end of the file.
func (f *file) open(r io.ReaderAt, size int64) error {
	if size < 12 {
		return format.Errorf("%d bytes are too few for a Parquet file", size)
	}
	var head [4]byte
	var tail [8]byte
	if n, err := r.ReadAt(head[:], 0); n < len(head) {
		return err
	}
	if n, err := r.ReadAt(tail[:], size-8); n < len(tail) {
		return err
	}
	if rule := wrongStart(head[:]); rule != "" {
		return format.Errorf("%s", rule)
	}
	switch magic := string(tail[4:]); magic {
	case "PAR1":
	case "PARE":
		return format.Errorf("the Parquet file is encrypted")
	default:
		return format.Errorf(
			"the file does not end as a Parquet file does: %s, want \"PAR1\"; is it cut off?",
			format.Quote(magic))
	}
	// parquet-go would make room for it
	if length := int64(binary.LittleEndian.Uint32(tail[:])); length > size-12 {
		return format.Errorf("the metadata claim %d bytes, but the file has %d", length, size)
	}
	return damaged(recovered(func() (err error) {
		f.file, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true),
			parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
		return err
	}))
}

// recovered turns a panic of parquet-go, which takes some things of a file for
// granted, into an error.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it makes no sense: %v", p)
		}
	}()
	return f()
}

// damaged is the error of a file that contradicts itself, or that parquet-go cannot read.
func damaged(err error) error {
	if err == nil {
		return nil
	}
	return &format.Error{Rule: fmt.Sprintf("the Parquet file is damaged: %v", err), Err: err}
}

// readSchema takes the columns: the schema must be flat.
func (f *file) readSchema() error {
	seen := make(map[string]int)
	for i, e := range f.file.Metadata().Schema[1:] {
		if first, ok := seen[e.Name]; ok {
			return format.Errorf("column %d: the file has the column %s twice, first as column %d", i+1,
				format.Quote(e.Name), first+1)
		}
		seen[e.Name] = i
		repeated := e.RepetitionType.Valid && e.RepetitionType.V == parquetformat.Repeated
		switch {
		case e.NumChildren.V > 0 || !e.Type.Valid:
			return format.Errorf("column %s is nested: want one flat column for each teacher",
				format.Quote(e.Name))
		case !utf8.ValidString(e.Name):
			return format.Errorf("column %d: its name is not valid UTF-8", i+1)
		case repeated:
			return format.Errorf(
				"column %s holds a list in every row: want one flat column for each teacher",
				format.Quote(e.Name))
		}
		c := column{index: i, name: e.Name, kind: e.Type.V}
		what, ok := c.readType(&e)
		if !ok {
			return format.Errorf("column %s has the type %s: want booleans, integers, floats or text",
				format.Quote(e.Name), what)
		}
		f.schema = append(f.schema, c)
	}
	return nil
}

// readType reports whether the column holds booleans, integers, floats or text,
// and what it holds.
func (c *column) readType(e *parquetformat.SchemaElement) (what string, ok bool) {
	what = c.kind.String()
	logical, old := e.LogicalType.Value, e.ConvertedType
	if logical != nil {
		what += " (" + logical.String() + ")"
	} else if old.Valid {
		what += fmt.Sprintf(" (converted type %d)", old.V)
	}
	switch c.kind {
	case parquetformat.Boolean, parquetformat.Float, parquetformat.Double:
		return what, true
	case parquetformat.Int32, parquetformat.Int64:
		if t, isInt := logical.(*parquetformat.IntType); isInt {
			c.unsigned = !t.IsSigned
			return what, true
		}
		c.unsigned = old.Valid && old.V >= deprecated.Uint8 && old.V <= deprecated.Uint64
		return what, logical == nil && (!old.Valid || c.unsigned || old.V >= deprecated.Int8 &&
			old.V <= deprecated.Int64)
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

// checkGroups refuses row groups whose columns stand elsewhere than parquet-go
// looks for them.
func (f *file) checkGroups() error {
	meta := f.file.Metadata()
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if g.NumRows < 0 || len(g.Columns) != len(meta.Schema)-1 {
			return damaged(fmt.Errorf("row group %d has %d rows and %d columns, the schema %d columns", i,
				g.NumRows, len(g.Columns), len(meta.Schema)-1))
		}
		f.rows += g.NumRows
		for j := range g.Columns {
			c, name := &g.Columns[j], meta.Schema[j+1].Name
			switch {
			case c.FilePath != "":
				return format.Errorf("column %s is in another file, %s", format.Quote(name),
					format.Quote(c.FilePath))
			case len(c.EncryptedColumnMetadata) > 0 || c.CryptoMetadata.Value != nil:
				return format.Errorf("column %s is encrypted", format.Quote(name))
			case c.MetaData.Codec == parquetformat.Lz4Raw:
				// parquet-go 0.32 drops the buffer that its LZ4 decoder returns where a page
				// compresses to more than a third, and reads zeros or an older page instead
				// (its issue 608). No wrong vote: refused until that is fixed.
				return format.Errorf(
					"column %s is compressed with LZ4_RAW, which is not read yet: write the file with zstd "+
						"or snappy", format.Quote(name))
			case len(c.MetaData.PathInSchema) != 1 || c.MetaData.PathInSchema[0] != name:
				return damaged(fmt.Errorf("row group %d does not have the schema's columns", i))
			}
		}
	}
	switch {
	case f.rows != meta.NumRows:
		return damaged(fmt.Errorf("the row groups have %d rows, the file claims %d", f.rows,
			meta.NumRows))
	case f.rows == 0:
		return format.Errorf("the file has no rows")
	}
	return nil
}

func (f *file) Next(columns []int, n int) (format.Chunk, int, error) {
	if f.read == nil {
		for _, i := range columns {
			f.read = append(f.read, f.schema[i])
		}
	}
	for f.left == 0 {
		if err := f.nextGroup(); err != nil {
			return nil, 0, err
		}
	}
	rows := int(min(f.left, int64(n)))
	c := &chunk{f.read, make([][]parquet.Value, len(f.read))}
	for i := range f.read {
		from := &f.read[i]
		err := recovered(func() (err error) {
			c.values[i], err = from.next(rows)
			return err
		})
		if err != nil {
			return nil, 0, f.columnError(from, err)
		}
	}
	f.left -= int64(rows)
	return c, rows, nil
}

// nextGroup opens the columns of the next row group, once those of the last are
// at their end.
func (f *file) nextGroup() error {
	groups := f.file.RowGroups()
	for i := range f.read {
		c := &f.read[i]
		err := recovered(func() error {
			if c.pages != nil {
				if more, err := c.next(1); err == nil {
					return fmt.Errorf("%d value more than rows", len(more))
				} else if err != io.ErrUnexpectedEOF {
					return err
				}
				if err := c.pages.Close(); err != nil {
					return err
				}
			}
			if f.group < len(groups) {
				c.pages, c.values = groups[f.group].ColumnChunks()[c.index].Pages(), nil
			}
			return nil
		})
		if err != nil {
			return f.columnError(c, err)
		}
	}
	if f.group == len(groups) {
		return io.EOF
	}
	f.left = groups[f.group].NumRows()
	f.group++
	return nil
}

func (f *file) columnError(c *column, err error) error {
	var path interface{ Timeout() bool } // of the file itself
	if errors.As(err, &path) {
		return err
	}
	return damaged(fmt.Errorf("row group %d, column %s: %w", max(0, f.group-1), format.Quote(c.name),
		err))
}

// next returns the next n values of the row group, one for each row.
func (c *column) next(n int) ([]parquet.Value, error) {
	values := make([]parquet.Value, n)
	for got := 0; got < n; {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return nil, io.ErrUnexpectedEOF
			}
			if err != nil {
				return nil, err
			}
			c.values = page.Values() // the page is not released: its values are still to be read
		}
		m, err := c.values.ReadValues(values[got:])
		got += m
		if err == io.EOF || m == 0 {
			c.values = nil
		} else if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// chunk is some rows, column by column.
type chunk struct {
	columns []column
	values  [][]parquet.Value
}

func (c *chunk) Value(at, row int) format.Value {
	v := &c.values[at][row]
	switch of := &c.columns[at]; {
	case v.IsNull():
		return format.Value{}
	case of.kind == parquetformat.Boolean:
		if v.Boolean() {
			return format.Value{Kind: format.Boolean, Int: 1}
		}
		return format.Value{Kind: format.Boolean}
	case of.kind == parquetformat.Int32 && of.unsigned:
		return format.Value{Kind: format.Unsigned, Int: int64(v.Uint32())}
	case of.kind == parquetformat.Int32:
		return format.Value{Kind: format.Integer, Int: int64(v.Int32())}
	case of.kind == parquetformat.Int64 && of.unsigned:
		return format.Value{Kind: format.Unsigned, Int: v.Int64()}
	case of.kind == parquetformat.Int64:
		return format.Value{Kind: format.Integer, Int: v.Int64()}
	case of.kind == parquetformat.Float:
		return format.Value{Kind: format.Float, Float: float64(v.Float())}
	case of.kind == parquetformat.Double:
		return format.Value{Kind: format.Float, Float: v.Double()}
	}
	return format.Value{Kind: format.Text, Text: v.ByteArray()}
}

package votes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// parquetDecoder reads the columns of a Parquet file side by side, one row group
// after the other, and leaves to its tasks what the values mean. The pages are
// read by parquet-go.
type parquetDecoder struct {
	*fileInfo
	src     *source
	file    *parquet.File
	columns []parquetColumn // that are read: votes in their order, then label and id
	cols    columns
	perTask int64
	group   int   // next row group
	left    int64 // rows of the group before it
	row     int64 // next, in the file
}

// parquetColumn is a column that is read.
type parquetColumn struct {
	index    int // in the schema
	name     string
	kind     format.Type
	unsigned bool
	pages    parquet.Pages       // of the row group
	values   parquet.ValueReader // of the page; nil between pages
}

func openParquet(ctx context.Context, info *fileInfo, s *source) (_ decoder, err error) {
	info.rows = true
	at, size, err := s.seekable(ctx, info)
	if err != nil {
		return nil, err
	}
	d := &parquetDecoder{fileInfo: info, src: s}
	if err := d.open(at, size); err != nil {
		return nil, err
	}
	schema, err := d.readSchema()
	if err != nil {
		return nil, err
	}
	if err := d.checkGroups(); err != nil {
		return nil, err
	}
	if err := d.resolveColumns(schema); err != nil {
		return nil, err
	}
	d.perTask = int64(min(d.batchRows(len(d.columns)), 1<<13))
	if d.opts.chunkBytes > 0 { // of tests
		d.perTask = int64(max(1, d.opts.chunkBytes/len(d.columns)))
	}
	return d, nil
}

// open reads the metadata at the end of the file.
func (d *parquetDecoder) open(at io.ReaderAt, size int64) error {
	if size < 12 {
		return d.errorf("%d bytes are too few for a Parquet file", size)
	}
	var head [4]byte
	var tail [8]byte
	if n, err := at.ReadAt(head[:], 0); n < 4 {
		return d.sourceError(err, 0)
	}
	if n, err := at.ReadAt(tail[:], size-8); n < 8 {
		return d.sourceError(err, 0)
	}
	switch magic, rule := string(tail[4:]), FormatParquet.wrongStart(head[:]); {
	case magic == "PARE":
		return d.errorf("the Parquet file is encrypted")
	case rule != "":
		return d.errorf("%s", rule)
	case magic != "PAR1":
		return d.errorf("the file does not end as a Parquet file does: %s, want \"PAR1\"; is it cut off?", quote(magic))
	}
	if length := int64(binary.LittleEndian.Uint32(tail[:])); length > size-12 { // parquet-go would make room for it
		return d.errorf("the metadata claim %d bytes, but the file has %d", length, size)
	}
	return d.damaged(recovered(func() (err error) {
		d.file, err = parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
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

// damaged is a file that contradicts itself, or that parquet-go cannot read.
func (d *parquetDecoder) damaged(err error) error {
	if err == nil {
		return nil
	}
	return &ParseError{File: d.name, Rule: fmt.Sprintf("the Parquet file is damaged: %v", err), Err: err}
}

// readSchema takes the columns: the schema must be flat.
func (d *parquetDecoder) readSchema() ([]parquetColumn, error) {
	var columns []parquetColumn
	seen := make(map[string]int)
	for i, e := range d.file.Metadata().Schema[1:] {
		if first, ok := seen[e.Name]; ok {
			return nil, d.errorf("column %d: the file has the column %s twice, first as column %d", i+1, quote(e.Name), first+1)
		}
		seen[e.Name] = i
		repeated := e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated
		switch {
		case e.NumChildren.V > 0 || !e.Type.Valid:
			return nil, d.errorf("column %s is nested: want one flat column for each teacher", quote(e.Name))
		case !utf8.ValidString(e.Name):
			return nil, d.errorf("column %d: its name is not valid UTF-8", i+1)
		case repeated:
			return nil, d.errorf("column %s holds a list in every row: want one flat column for each teacher", quote(e.Name))
		}
		c := parquetColumn{index: i, name: e.Name, kind: e.Type.V}
		what, ok := c.readType(&e)
		if !ok {
			return nil, d.errorf("column %s has the type %s: want booleans, integers, floats or text", quote(e.Name), what)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// readType reports whether the column holds booleans, integers, floats or text,
// and what it holds.
func (c *parquetColumn) readType(e *format.SchemaElement) (what string, ok bool) {
	what = c.kind.String()
	logical, old := e.LogicalType.Value, e.ConvertedType
	if logical != nil {
		what += " (" + logical.String() + ")"
	} else if old.Valid {
		what += fmt.Sprintf(" (converted type %d)", old.V)
	}
	switch c.kind {
	case format.Boolean, format.Float, format.Double:
		return what, true
	case format.Int32, format.Int64:
		if t, isInt := logical.(*format.IntType); isInt {
			c.unsigned = !t.IsSigned
			return what, true
		}
		c.unsigned = old.Valid && old.V >= deprecated.Uint8 && old.V <= deprecated.Uint64
		return what, logical == nil && (!old.Valid || c.unsigned || old.V >= deprecated.Int8 && old.V <= deprecated.Int64)
	case format.ByteArray:
		switch logical.(type) {
		case *format.StringType, *format.EnumType:
			return what, true
		}
		return what, logical == nil && (!old.Valid || old.V == deprecated.UTF8 || old.V == deprecated.Enum)
	}
	return what, false
}

// checkGroups refuses row groups whose columns stand elsewhere than parquet-go
// looks for them.
func (d *parquetDecoder) checkGroups() error {
	meta := d.file.Metadata()
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if g.NumRows < 0 || len(g.Columns) != len(meta.Schema)-1 {
			return d.damaged(fmt.Errorf("row group %d has %d rows and %d columns, the schema %d columns", i, g.NumRows, len(g.Columns), len(meta.Schema)-1))
		}
		d.total += g.NumRows
		for j := range g.Columns {
			c, name := &g.Columns[j], meta.Schema[j+1].Name
			switch {
			case c.FilePath != "":
				return d.errorf("column %s is in another file, %s", quote(name), quote(c.FilePath))
			case len(c.EncryptedColumnMetadata) > 0 || c.CryptoMetadata.Value != nil:
				return d.errorf("column %s is encrypted", quote(name))
			case c.MetaData.Codec == format.Lz4Raw:
				// parquet-go 0.32 drops the buffer that its LZ4 decoder returns where a page
				// compresses to more than a third, and reads zeros or an older page instead
				// (its issue 608). No wrong vote: refused until that is fixed.
				return d.errorf("column %s is compressed with LZ4_RAW, which is not read yet: write the file with zstd or snappy", quote(name))
			case len(c.MetaData.PathInSchema) != 1 || c.MetaData.PathInSchema[0] != name:
				return d.damaged(fmt.Errorf("row group %d does not have the schema's columns", i))
			}
		}
	}
	switch {
	case d.total != meta.NumRows:
		return d.damaged(fmt.Errorf("the row groups have %d rows, the file claims %d", d.total, meta.NumRows))
	case d.total == 0:
		return d.errorf("the file has no rows")
	}
	return nil
}

// resolveColumns says which column holds what.
func (d *parquetDecoder) resolveColumns(schema []parquetColumn) error {
	set := &columnSet{what: "column", n: len(schema)}
	for _, c := range schema {
		set.names = append(set.names, c.name)
	}
	wrong := (*fault)(nil)
	if d.cols, wrong = d.assign(set); wrong != nil {
		e := &ParseError{File: d.name, Rule: wrong.rule}
		if wrong.at >= 0 {
			e.Column, e.ColumnName = wrong.at+1, set.names[wrong.at]
		}
		return e
	}
	for _, at := range d.cols.votes {
		c := schema[at]
		if d.layout == LayoutCounts && (c.kind == format.ByteArray || c.kind == format.Boolean) {
			return d.errorf("column %s: counts have the type %s, want integers", quote(c.name), c.kind)
		}
		d.columns = append(d.columns, c)
	}
	if d.labels {
		d.columns = append(d.columns, schema[d.cols.label])
	}
	if d.ids {
		c := schema[d.cols.id]
		if c.kind == format.Boolean || c.kind == format.Float || c.kind == format.Double {
			return d.errorf("column %s: query ids have the type %s, want integers or text", quote(c.name), c.kind)
		}
		d.columns = append(d.columns, c)
	}
	return nil
}

func (d *parquetDecoder) next() (task, error) {
	for d.left == 0 {
		if err := d.nextGroup(); err != nil {
			return nil, err
		}
	}
	first, rows := d.row, int(min(d.left, d.perTask))
	values := make([][]parquet.Value, len(d.columns))
	for i := range d.columns {
		c := &d.columns[i]
		err := recovered(func() (err error) {
			values[i], err = c.read(rows)
			return err
		})
		if err != nil {
			return nil, d.columnError(c, err)
		}
	}
	d.row += int64(rows)
	d.left -= int64(rows)
	d.src.progress(d.row, d.total)
	return func(b *Batch) error { return d.parse(int(first), values, b) }, nil
}

// nextGroup opens the columns of the next row group, once those of the last are
// at their end.
func (d *parquetDecoder) nextGroup() error {
	groups := d.file.RowGroups()
	for i := range d.columns {
		c := &d.columns[i]
		err := recovered(func() error {
			if c.pages != nil {
				if more, err := c.read(1); err == nil {
					return fmt.Errorf("%d value more than rows", len(more))
				} else if err != io.ErrUnexpectedEOF {
					return err
				}
				if err := c.pages.Close(); err != nil {
					return err
				}
			}
			if d.group < len(groups) {
				c.pages, c.values = groups[d.group].ColumnChunks()[c.index].Pages(), nil
			}
			return nil
		})
		if err != nil {
			return d.columnError(c, err)
		}
	}
	if d.group == len(groups) {
		return io.EOF
	}
	d.left = groups[d.group].NumRows()
	d.group++
	return nil
}

func (d *parquetDecoder) columnError(c *parquetColumn, err error) error {
	var path interface{ Timeout() bool } // of the file itself
	if errors.As(err, &path) {
		return d.sourceError(err, 0)
	}
	return d.damaged(fmt.Errorf("row group %d, column %s: %w", max(0, d.group-1), quote(c.name), err))
}

// read returns the next n values of the row group, one for each row.
func (c *parquetColumn) read(n int) ([]parquet.Value, error) {
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

// parse turns values into a batch. On an error it holds the rows before the fault.
func (d *parquetDecoder) parse(first int, values [][]parquet.Value, b *Batch) error {
	rec := record{votes: make([]cell, len(d.cols.votes))}
	others := d.columns[len(rec.votes):]
	for i := range values[0] {
		rec.place = first + i
		for t := range rec.votes {
			d.columns[t].cell(&values[t][i], d.classes, &rec.votes[t])
		}
		for j := range others {
			to := &rec.id
			if d.labels && j == 0 {
				to = &rec.label
			}
			others[j].cell(&values[len(rec.votes)+j][i], d.classes, to)
		}
		if wrong := d.add(b, &rec); wrong != nil {
			column, name := wholeRow, ""
			switch at := wrong.at; {
			case at >= 0:
				column, name = d.columns[at].index, d.columns[at].name
			case at == labelCell:
				column, name = d.cols.label, others[0].name
			case at == idCell:
				column, name = d.cols.id, d.idName
			}
			return d.errorAt(rec.place, column, name, wrong.rule)
		}
	}
	return nil
}

// cell reads a value into to.
func (c *parquetColumn) cell(v *parquet.Value, classes *classList, to *cell) {
	switch {
	case v.IsNull():
		to.kind = nullCell
	case c.kind == format.Boolean:
		to.setBool(v.Boolean())
	case c.kind == format.Int32 && c.unsigned:
		to.setUint(uint64(v.Uint32()))
	case c.kind == format.Int32:
		to.setInt(int64(v.Int32()))
	case c.kind == format.Int64 && c.unsigned:
		to.setUint(v.Uint64())
	case c.kind == format.Int64:
		to.setInt(v.Int64())
	case c.kind == format.Float:
		to.setFloat(float64(v.Float()))
	case c.kind == format.Double:
		to.setFloat(v.Double())
	case utf8.Valid(v.ByteArray()):
		to.setText(textCell, classes.text(v.ByteArray()))
	default:
		to.kind = brokenCell
	}
}

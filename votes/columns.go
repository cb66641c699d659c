package votes

import (
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/darrm/darrm/votes/format"
)

// columnDecoder cuts a file of typed columns into tasks. The format finds the columns and
// their values; which column is what, and what a value means, is decided here for all of them.
type columnDecoder struct {
	*fileInfo
	src     *source
	file    format.File
	all     []format.Column
	read    []int // indices of the columns that are read: votes in their order, then label and id
	cols    columns
	perTask int
	row     int64 // next, in the file

	head     format.Chunk // of sample
	headRows int
}

// openColumns returns the opener of a registered format, for its row of formats.
func openColumns(f *format.Format) opener {
	return func(ctx context.Context, info *fileInfo, s *source) (decoder, error) {
		info.rows = true
		at, size, err := s.seekable(ctx, info)
		if err != nil {
			return nil, err
		}
		file, err := f.Open(at, size)
		if err != nil {
			return nil, info.columnsError(err)
		}
		d := &columnDecoder{fileInfo: info, src: s, file: file, all: file.Columns()}
		d.total = file.Rows()
		if err := d.resolveColumns(); err != nil {
			return nil, err
		}
		d.perTask = min(d.batchRows(len(d.read)), 1<<13)
		if d.opts.chunkBytes > 0 { // of tests
			d.perTask = max(1, d.opts.chunkBytes/len(d.read))
		}
		return d, nil
	}
}

// columnsError names the file in an error of a format.
func (f *fileInfo) columnsError(err error) error {
	var fault *format.Error
	if errors.As(err, &fault) {
		return &ParseError{File: f.name, Rule: fault.Rule, Err: fault.Err}
	}
	return f.sourceError(err, 0)
}

// resolveColumns decides which column holds what.
func (d *columnDecoder) resolveColumns() error {
	set := &columnSet{what: "column", n: len(d.all), sample: d.sample}
	for _, c := range d.all {
		set.names = append(set.names, c.Name)
	}
	wrong := (*fault)(nil)
	if d.cols, wrong = d.assign(set); wrong != nil {
		e := d.parseError(wrong)
		if wrong.at >= 0 {
			e.Column, e.ColumnName = wrong.at+1, set.names[wrong.at]
		}
		return e
	}
	for _, at := range d.cols.votes {
		c := &d.all[at]
		if d.layout == LayoutCounts && (c.Kind == format.Text || c.Kind == format.Boolean) {
			return d.errorf("column %s: counts have the type %s, want integers", quote(c.Name), c.Type)
		}
		d.read = append(d.read, at)
	}
	if d.labels {
		d.read = append(d.read, d.cols.label)
	}
	if d.ids {
		c := &d.all[d.cols.id]
		if c.Kind == format.Boolean || c.Kind == format.Float {
			return d.errorf("column %s: query ids have the type %s, want integers or text", quote(c.Name),
				c.Type)
		}
		d.read = append(d.read, d.cols.id)
	}
	if d.layout == LayoutLong { // before the id, which is the last
		d.read = slices.Insert(d.read, len(d.read)-1, d.cols.teacher)
	}
	return nil
}

// sample returns some first cells of a column, of a file that is then read no further.
func (d *columnDecoder) sample(column int) []cell {
	if d.head == nil {
		all := make([]int, len(d.all))
		for i := range all {
			all[i] = i
		}
		d.head, d.headRows, _ = d.file.Next(all, sampled)
	}
	cells := make([]cell, d.headRows)
	for i := range cells {
		cells[i].setValue(d.head.Value(column, i), d.classes)
	}
	return cells
}

func (d *columnDecoder) next() (task, error) {
	chunk, rows, err := d.file.Next(d.read, d.perTask)
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, d.columnsError(err)
	}
	first := int(d.row)
	d.row += int64(rows)
	d.src.progress(d.row, d.total)
	return func(b *Batch) error { return d.parse(first, chunk, rows, b) }, nil
}

// parse turns values into a batch. On an error it holds the rows before the fault.
func (d *columnDecoder) parse(first int, chunk format.Chunk, rows int, b *Batch) error {
	rec := record{votes: make([]cell, len(d.cols.votes))}
	behind := len(rec.votes) // of the votes: label, then id
	for i := range rows {
		rec.place = first + i
		for t := range rec.votes {
			rec.votes[t].setValue(chunk.Value(t, i), d.classes)
		}
		if d.labels {
			rec.label.setValue(chunk.Value(behind, i), d.classes)
		}
		if d.ids {
			rec.id.setValue(chunk.Value(len(d.read)-1, i), d.classes)
		}
		if d.layout == LayoutLong {
			rec.teacher.setValue(chunk.Value(len(d.read)-2, i), d.classes)
		}
		if wrong := d.add(b, &rec); wrong != nil {
			column, name := wholeRow, ""
			switch at := wrong.at; at {
			case wholeRow:
			case labelCell:
				column = d.cols.label
			case idCell:
				column = d.cols.id
			case teacherCell:
				column = d.cols.teacher
			default:
				column = d.read[at]
			}
			if column >= 0 {
				name = d.all[column].Name
			}
			return d.faultAt(rec.place, column, name, wrong)
		}
	}
	return nil
}

// setValue reads a value of a typed column.
func (c *cell) setValue(v format.Value, classes *classList) {
	switch v.Kind {
	case format.Missing:
		c.kind = nullCell
	case format.Boolean:
		c.setBool(v.Int != 0)
	case format.Integer:
		c.setInt(v.Int)
	case format.Unsigned:
		c.setUint(uint64(v.Int))
	case format.Float:
		c.setFloat(v.Float)
	default:
		if !utf8.Valid(v.Text) {
			c.kind = brokenCell
			return
		}
		c.setText(textCell, classes.text(v.Text))
	}
}

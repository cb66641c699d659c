package votes

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// columnDecoder cuts a file of typed columns into tasks. The format finds the columns and
// their values; the roles of columns, and the meaning of values, are decided here for all of them.
type columnDecoder struct {
	*fileInfo
	src     *source
	file    format.File
	all     []format.Column
	cols    columns
	read    []readColumn
	perTask int
	row     int64 // next, in the file

	reopen func() (format.File, error)
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
			return nil, info.arrayError(err, "")
		}
		d := &columnDecoder{fileInfo: info, src: s, file: file, all: file.Columns(),
			reopen: func() (format.File, error) { return f.Open(at, size) }}
		d.total = file.Rows()
		if err := d.resolveColumns(); err != nil {
			return nil, err
		}
		d.perTask = min(d.batchRows(max(d.roles.Width, len(d.read))), 1<<13)
		if d.opts.chunkBytes > 0 { // of tests
			d.perTask = max(1, d.opts.chunkBytes/len(d.read))
		}
		return d, nil
	}
}

// resolveColumns decides which column holds what.
func (d *columnDecoder) resolveColumns() error {
	var failed error
	set := &columnSet{what: "column", n: len(d.all), sample: d.sample,
		isList: func(at int) bool { return d.all[at].List },
		items: func(at int) (n int) {
			n, failed = d.firstItems(at)
			return n
		}}
	for i := range d.all {
		d.all[i].Name = strings.TrimSpace(d.all[i].Name)
		set.names = append(set.names, d.all[i].Name)
	}
	wrong := set.namesFault(nil)
	if wrong == nil || d.opts.listed() {
		d.cols, wrong = d.assignLists(set)
	}
	if failed != nil {
		return d.arrayError(failed, "")
	}
	if wrong == nil {
		d.read = d.cols.read()
		wrong = d.readFault(set)
	}
	if wrong != nil {
		e := d.parseError(wrong)
		if wrong.at >= 0 {
			e.Column, e.ColumnName = wrong.at+1, set.names[wrong.at]
		}
		return e
	}
	return nil
}

// head returns the first rows of a column. It opens the file once more, whose rows are still to be read.
func (d *columnDecoder) head(column, n int) (format.Chunk, int, error) {
	file, err := d.reopen()
	if err != nil {
		return nil, 0, err
	}
	return file.Next([]int{column}, n)
}

// firstItems returns the number of items of a list in the first row.
func (d *columnDecoder) firstItems(column int) (int, error) {
	if fault := d.all[column].Fault; fault != "" {
		return 0, format.Errorf("%s", fault)
	}
	chunk, _, err := d.head(column, 1)
	if err != nil {
		return 0, err
	}
	return len(chunk.Items(0, 0)), nil
}

// readFault returns the fault of a column that is read.
func (d *columnDecoder) readFault(set *columnSet) *fault {
	if wrong := set.namesFault(d.read); wrong != nil {
		return wrong
	}
	for _, r := range d.read {
		c := &d.all[r.at]
		switch {
		case c.Fault != "":
			return faultf(wholeRow, "%s", c.Fault)
		case c.List && r.cell != listCell:
			return faultf(r.at, "it holds a list in every row: want one value, or the list of all votes (%s)",
				pVotesColumn)
		case (r.cell >= 0 || r.cell == listCell) && d.layout == LayoutCounts &&
			(c.Kind == format.Text || c.Kind == format.Boolean):
			return faultf(wholeRow, "column %s: counts have the type %s, want integers", quote(c.Name), c.Type)
		case r.cell == idCell && (c.Kind == format.Boolean || c.Kind == format.Float):
			return faultf(wholeRow, "column %s: query ids have the type %s, want integers or text",
				quote(c.Name), c.Type)
		}
	}
	return nil
}

// sample returns some first cells of a column, none of one that cannot be read.
func (d *columnDecoder) sample(column int) []cell {
	cells := []cell{}
	if d.all[column].Fault != "" || d.all[column].List { // neither a vote nor an id
		return []cell{{kind: otherCell}, {kind: otherCell}}
	}
	head, rows, err := d.head(column, sampled)
	if err != nil {
		return nil
	}
	for i := range rows {
		var c cell
		c.setValue(head.Value(0, i), d.classes)
		cells = append(cells, c)
	}
	return cells
}

func (d *columnDecoder) next() (task, error) {
	at := make([]int, len(d.read))
	for i, r := range d.read {
		at[i] = r.at
	}
	chunk, rows, err := d.file.Next(at, d.perTask)
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, d.arrayError(err, "")
	}
	first := int(d.row)
	d.row += int64(rows)
	d.src.progress(d.row, d.total)
	return func(b *Batch) error { return d.parse(first, chunk, rows, b) }, nil
}

// parse turns values into a batch. On an error it holds the rows before the fault.
func (d *columnDecoder) parse(first int, chunk format.Chunk, rows int, b *Batch) error {
	rec := record{votes: make([]cell, d.roles.Width)}
	for i := range rows {
		rec.place = first + i
		for j, r := range d.read {
			if r.cell != listCell {
				rec.cell(r.cell).setValue(chunk.Value(j, i), d.classes)
				continue
			}
			items := chunk.Items(j, i)
			if rule := d.listFault(len(items)); rule != "" {
				return d.errorAt(rec.place, r.at, d.all[r.at].Name, rule)
			}
			for t := range rec.votes {
				rec.votes[t].setValue(items[t], d.classes)
			}
		}
		if wrong := d.add(b, &rec); wrong != nil {
			column, name := d.cols.of(wrong.at), ""
			if column >= 0 {
				name = d.all[column].Name
			}
			if column >= 0 && column == d.cols.list {
				wrong.rule = check.Named("item %d: %s", wrong.at+1, wrong.rule)
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

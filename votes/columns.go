package votes

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
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
	list    int // the column of the list of all votes or counts, or -1
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
			return nil, info.columnsError(err)
		}
		d := &columnDecoder{fileInfo: info, src: s, file: file, all: file.Columns(),
			reopen: func() (format.File, error) { return f.Open(at, size) }}
		d.total = file.Rows()
		if err := d.resolveColumns(d.reopen); err != nil {
			return nil, err
		}
		d.perTask = min(d.batchRows(max(d.roles.Width, len(d.read))), 1<<13)
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

// resolveColumns decides which column holds what. again opens the file once more, to look into it.
func (d *columnDecoder) resolveColumns(again func() (format.File, error)) error {
	set := &columnSet{what: "column", n: len(d.all), sample: d.sample}
	for i := range d.all {
		d.all[i].Name = strings.TrimSpace(d.all[i].Name)
		set.names = append(set.names, d.all[i].Name)
	}
	var failed error
	wrong := set.namesFault(nil)
	if d.list = -1; wrong == nil || d.opts.listed() {
		d.list, d.cols, wrong = d.assignLists(set, lists{
			func(at int) bool { return d.all[at].List },
			func(at int) (n int) {
				n, failed = firstItems(again, at)
				return n
			},
		})
	}
	if failed != nil {
		return d.columnsError(failed)
	}
	if wrong == nil {
		wrong = d.readFault(set)
	}
	if wrong != nil {
		e := d.parseError(wrong)
		if wrong.at >= 0 {
			e.Column, e.ColumnName = wrong.at+1, set.names[wrong.at]
		}
		return e
	}
	if d.list >= 0 {
		d.read = []int{d.list}
	}
	d.read = append(d.read, d.cols.votes...)
	if d.labels {
		d.read = append(d.read, d.cols.label)
	}
	if d.layout == LayoutLong { // before the id, which is the last
		d.read = append(d.read, d.cols.teacher)
	}
	if d.ids {
		d.read = append(d.read, d.cols.id)
	}
	return nil
}

// firstItems returns the number of items of a list in the first row of a file.
func firstItems(again func() (format.File, error), at int) (int, error) {
	file, err := again()
	if err != nil {
		return 0, err
	}
	if fault := file.Columns()[at].Fault; fault != "" {
		return 0, format.Errorf("%s", fault)
	}
	chunk, _, err := file.Next([]int{at}, 1)
	if err != nil {
		return 0, err
	}
	return len(chunk.Items(0, 0)), nil
}

// readFault returns the fault of a column that is read.
func (d *columnDecoder) readFault(set *columnSet) *fault {
	read := d.cols.read(d.layout)
	if d.list >= 0 {
		read = append([]int{d.list, d.cols.id, d.cols.label}, d.cols.votes...)
		read = slices.DeleteFunc(read, func(at int) bool { return at < 0 })
	}
	if wrong := set.namesFault(read); wrong != nil {
		return wrong
	}
	votes := d.cols.votes
	if d.list >= 0 {
		votes = []int{d.list}
	}
	for _, at := range read {
		c := &d.all[at]
		switch {
		case c.Fault != "":
			return faultf(wholeRow, "%s", c.Fault)
		case c.List && at != d.list:
			return faultf(at, "it holds a list in every row: want one value, or the list of all votes (%s)",
				pVotesColumn)
		case slices.Contains(votes, at) && d.layout == LayoutCounts &&
			(c.Kind == format.Text || c.Kind == format.Boolean):
			return faultf(wholeRow, "column %s: counts have the type %s, want integers", quote(c.Name), c.Type)
		case at == d.cols.id && (c.Kind == format.Boolean || c.Kind == format.Float):
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
	file, err := d.reopen() // whose rows are still to be read
	if err != nil {
		return nil
	}
	head, rows, err := file.Next([]int{column}, sampled)
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
	if d.list >= 0 {
		rec.votes, behind = make([]cell, d.roles.Width), 1
	}
	for i := range rows {
		rec.place = first + i
		if d.list >= 0 {
			items := chunk.Items(0, i)
			if rule := d.listFault(len(items)); rule != "" {
				return d.errorAt(rec.place, d.list, d.all[d.list].Name, rule)
			}
			for t := range rec.votes {
				rec.votes[t].setValue(items[t], d.classes)
			}
		} else {
			for t := range rec.votes {
				rec.votes[t].setValue(chunk.Value(t, i), d.classes)
			}
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
				if column = d.list; column < 0 {
					column = d.read[at]
				} else {
					wrong.rule = check.Named("item %d: %s", at+1, wrong.rule)
				}
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

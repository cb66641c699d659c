package votes

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
)

// FirstRows returns the first rows of a stream of CSV, TSV or JSON Lines as text, cell by cell, at most most of
// them: for a person who says what the columns are. A first row with names is one of them. Of JSON Lines the first
// row has the keys of the first line, and the others have its values as JSON. The rows need not be votes. They are
// not private. The errors are those of reading.
func FirstRows(ctx context.Context, r io.Reader, o Options, most int) ([][]string, error) {
	if r == nil {
		return nil, errNoReader
	}
	o, classes, err := o.resolve()
	if err != nil {
		return nil, err
	}
	info := &fileInfo{name: o.Name, opts: &o, classes: classes, layout: LayoutWide}
	switch o.Format {
	case FormatJSONL:
		return firstLines(info, r, most)
	case FormatAuto, FormatCSV, FormatTSV:
	default:
		return nil, fmt.Errorf("read %s: rows of %s are not shown", o.Name, o.Format)
	}
	comma := byte(',')
	if o.Format == FormatTSV {
		comma = '\t'
	}
	d, ch, err := startCSV(info, r, comma)
	if err != nil {
		return nil, err
	}
	rows, err := d.rows(ch).firstRows(most)
	return rows, cmp.Or(err, ctx.Err())
}

// firstLines is FirstRows of JSON Lines.
func firstLines(info *fileInfo, r io.Reader, most int) (rows [][]string, err error) {
	ch, err := newLineChunks(info, r, false).next()
	if err == io.EOF {
		return nil, info.errorf("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	p := jsonParser{jsonDecoder: &jsonDecoder{fileInfo: info}, rec: record{place: ch.Line}}
	var keys []string
	for line := range bytes.Lines(ch.Data) {
		if len(rows) >= most {
			break
		}
		var names []string
		values := make(map[string]string)
		if err := p.members(line, func(raw []byte) error {
			name := nameOf(raw)
			value, err := p.dec.ReadValue()
			if err != nil {
				return err
			}
			text := string(value)
			if value.Kind() == '"' {
				text = textOf(value)
			}
			if _, twice := values[name]; !twice {
				values[name] = text
			}
			names = append(names, name)
			return nil
		}); err != nil {
			return rows, err
		}
		if keys == nil {
			keys = names
			rows = append(rows, keys)
		}
		cells := make([]string, len(keys))
		for i, key := range keys {
			cells[i] = values[key]
		}
		rows = append(rows, cells)
		p.rec.place++
	}
	return rows[:min(len(rows), most)], nil
}

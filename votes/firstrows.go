package votes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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
	rows, out := d.rows(ch), [][]string(nil)
	for len(out) < most && ctx.Err() == nil {
		row, err := rows.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return out, err
		}
		var cells []string
		for _, cell := range row {
			cells = append(cells, strings.Clone(cell))
		}
		out = append(out, cells)
	}
	return out, ctx.Err()
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
	var keys []string
	line := ch.Line
	for text := range bytes.Lines(ch.Data) {
		if len(rows) >= most {
			break
		}
		names, values, err := membersOf(text)
		if err != nil {
			return rows, info.errorAt(line, -1, "", err.Error())
		}
		if keys == nil {
			keys = names
			rows = append(rows, keys)
		}
		cells := make([]string, len(keys))
		for i, key := range keys {
			if at := slices.Index(names, key); at >= 0 {
				cells[i] = values[at]
			}
		}
		rows, line = append(rows, cells), line+1
	}
	return rows[:min(len(rows), most)], nil
}

// membersOf returns the keys of an object in their order, and its values: texts as they are, others as JSON.
func membersOf(line []byte) (keys, values []string, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != '{' {
		return nil, nil, errors.New("the line is no JSON object")
	}
	if _, err = d.ReadToken(); err != nil {
		return nil, nil, err
	}
	for d.PeekKind() != '}' {
		key, err := d.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, strings.TrimSpace(textOf(key)))
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		text := string(value)
		if value.Kind() == '"' {
			text = textOf(value)
		}
		values = append(values, text)
	}
	return keys, values, nil
}

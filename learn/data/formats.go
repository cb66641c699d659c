package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/darrm/darrm/votes/format"
)

// NewJSONL returns the table of a file of JSON Lines: an object for each row. The first names the
// columns; where one is absent later, the cell is blank, as null is. true is 1 and false is 0. A
// value within a value, and a name that the first object does not have, are errors.
func NewJSONL(r io.Reader) (*Table, error) {
	scan := bufio.NewScanner(given(r))
	scan.Buffer(make([]byte, 64<<10), MaxLine)
	t := &Table{Named: true}
	line := 0
	numbers := map[string]int{} // of the columns
	var row []string
	var decoder jsontext.Decoder
	next := func() ([]string, int, error) {
		for scan.Scan() {
			if line++; len(bytes.TrimSpace(scan.Bytes())) == 0 {
				continue
			}
			clear(row)
			decoder.Reset(bytes.NewReader(bytes.TrimPrefix(scan.Bytes(), []byte("\ufeff"))))
			err := readObject(&decoder, func(name, cell string) error {
				i, ok := numbers[name]
				if !ok && t.Columns != nil {
					return fmt.Errorf("column %q is not in the first line", name)
				}
				if !ok {
					i, numbers[name], row = len(row), len(row), append(row, "")
				}
				row[i] = cell
				return nil
			})
			if err != nil {
				return nil, 0, fmt.Errorf("line %d: %w", line, err)
			}
			return row, line, nil
		}
		if errors.Is(scan.Err(), bufio.ErrTooLong) {
			return nil, 0, fmt.Errorf("line %d is longer than %d bytes", line+1, MaxLine)
		}
		if scan.Err() != nil {
			return nil, 0, scan.Err()
		}
		return nil, 0, io.EOF
	}
	first, at, err := next()
	if err == io.EOF {
		return nil, errors.New("no records")
	}
	if err != nil {
		return nil, err
	}
	t.Columns = make([]string, len(numbers))
	for name, i := range numbers {
		t.Columns[i] = name
	}
	t.first, t.line, t.next = append([]string{}, first...), at, next
	return t, nil
}

// readObject calls visit for each name of an object with its value as a cell.
func readObject(d *jsontext.Decoder, visit func(name, cell string) error) error {
	token, err := d.ReadToken()
	if err != nil {
		return errors.New("no JSON")
	}
	if token.Kind() != '{' {
		return errors.New("no JSON object")
	}
	for {
		token, err := d.ReadToken()
		if err != nil {
			return fmt.Errorf("no JSON: %w", errors.Unwrap(err))
		}
		if token.Kind() == '}' {
			break
		}
		name := token.String()
		if token, err = d.ReadToken(); err != nil {
			return fmt.Errorf("column %q: no JSON", name)
		}
		cell := ""
		switch token.Kind() {
		case 'n':
		case 't':
			cell = "1"
		case 'f':
			cell = "0"
		case '"', '0':
			cell = token.String()
		default:
			return fmt.Errorf("column %q: a value within a value, but it must be a number, text, true, "+
				"false or null", name)
		}
		if err := visit(name, cell); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errors.New("more than one JSON object")
	}
	return nil
}

// Unpack returns the data of a stream inside a compression that the program links (votes/format),
// "gzip" or "zstd". What is damaged, cut off or something else has an error that says so.
func Unpack(r io.Reader, compression string) (io.Reader, error) {
	c := format.FindCompression(compression)
	if c == nil {
		return nil, fmt.Errorf("files inside %s are not read by this program", compression)
	}
	u := &unpacker{kind: c, source: &source{r: r}}
	var err error
	if u.r, err = c.NewReader(bufio.NewReaderSize(u.source, 64<<10)); err != nil {
		return nil, u.fault(err)
	}
	return u, nil
}

// source remembers the error that ended it.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

type unpacker struct {
	kind   *format.Compression
	source *source
	r      io.Reader
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = u.fault(err)
	}
	return n, err
}

// fault returns the error of the source where that failed, and otherwise the error of damaged data.
func (u *unpacker) fault(err error) error {
	if e := u.source.err; e != nil && e != io.EOF {
		return e
	}
	rule := u.kind.Fault(err)
	switch {
	case rule != "":
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		rule = fmt.Sprintf("the %s data are cut off", u.kind.Name)
	default:
		rule = fmt.Sprintf("the %s data are damaged", u.kind.Name)
	}
	return errors.New(rule)
}

// chunkRows is the number of rows of typed columns that are held at once.
const chunkRows = 1024

// NewColumns returns the table of a file of typed columns, such as Parquet. A boolean is 1 or 0.
func NewColumns(f format.File) (*Table, error) {
	if f == nil {
		return nil, errors.New("file must be given")
	}
	t := &Table{Named: true, Kinds: map[string]format.Kind{}}
	var all []int
	for i, c := range f.Columns() {
		if c.List && c.Fault == "" {
			c.Fault = "column " + format.Quote(c.Name) + " holds a list in every row: want one value"
		}
		if c.Fault != "" {
			return nil, errors.New(c.Fault)
		}
		t.Kinds[c.Name] = c.Kind
		t.Columns, all = append(t.Columns, c.Name), append(all, i)
	}
	if len(all) == 0 {
		return nil, errors.New("no columns")
	}
	row := make([]string, len(all))
	var chunk format.Chunk
	at, rows, read := 0, 0, 0
	t.next = func() ([]string, int, error) {
		if at == rows {
			var err error
			if chunk, rows, err = f.Next(all, chunkRows); err != nil {
				return nil, 0, err
			}
			at = 0
		}
		for i := range row {
			row[i] = textOf(chunk.Value(i, at))
		}
		at, read = at+1, read+1
		return row, read, nil
	}
	return t, t.distinct()
}

// textOf returns a value as a cell of text, "" for none.
func textOf(v format.Value) string {
	switch v.Kind {
	case format.Boolean, format.Integer:
		return strconv.FormatInt(v.Int, 10)
	case format.Unsigned:
		return strconv.FormatUint(uint64(v.Int), 10)
	case format.Float:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case format.Text:
		return string(v.Text)
	}
	return ""
}

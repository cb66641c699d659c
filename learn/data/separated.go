package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/textrows"
	"github.com/darrm/darrm/votes/format"
)

// NewCSV returns the table of a CSV file, whose first row decides what is between the cells
// ([format.Separator]). With header the first line names the columns. It refuses
// names that occur twice, and a header of numbers, since it may be a record, which a model would
// publish.
func NewCSV(r io.Reader, header bool) (*Table, error) {
	r, separator := format.PeekSeparator(r)
	return newSeparated(r, byte(separator), header)
}

// NewTSV is NewCSV for a file with tabs between cells.
func NewTSV(r io.Reader, header bool) (*Table, error) { return newSeparated(given(r), '\t', header) }

func newSeparated(r io.Reader, comma byte, header bool) (*Table, error) {
	t := &Table{Named: header}
	s := &separated{r: bufio.NewReaderSize(r, 64<<10), comma: comma}
	first, err := s.firstRow()
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(first.Data) && (header || bytes.HasPrefix(first.Data, []byte("\xff\xfe")) || bytes.HasPrefix(first.Data, []byte("\xfe\xff"))) {
		return nil, errors.New("line 1: not UTF-8, as an older spreadsheet writes it: convert the file (iconv -f LATIN1 -t UTF-8, or -f UTF-16)")
	}
	rows := s.rows(first)
	row, line, err := rows.next()
	switch {
	case err == io.EOF && !header:
		return t, nil
	case err == io.EOF:
		return nil, errors.New("no records")
	case errors.Is(err, csv.ErrBareQuote) || errors.Is(err, csv.ErrQuote):
		return nil, fmt.Errorf("%w: between cells are commas, semicolons or tabs", err)
	case err != nil:
		return nil, err
	}
	row = slices.Clone(row)
	s.lines, s.width = bytes.Count(first.Data, []byte("\n")), len(row)
	t.split = s.split
	t.next = func() ([]string, int, error) {
		rows = s.rest()
		t.next, t.split = rows.next, nil
		return rows.next()
	}
	if !header {
		t.first, t.line = row, line
		for i := range row {
			t.Columns = append(t.Columns, strconv.Itoa(i+1))
		}
		return t, nil
	}
	if isRecord(row) {
		return nil, check.SettledBy(errors.New(
			"line 1: only numbers, but it must be the names of the columns: a record there would be "+
				"published as names; with no header say so"), "header")
	}
	t.Columns = row
	return t, t.distinct()
}

// separated is a text of rows with something between their cells, encoding/csv's. Its first row has been read, and
// nothing behind it.
type separated struct {
	r     *bufio.Reader
	comma byte
	width int // of the first row
	lines int // that it ends with
}

// firstRow reads to the end of the first row that is not blank, without a byte order mark.
func (s *separated) firstRow() (textrows.Chunk, error) {
	var row []byte
	quoted := false // a doubled quote changes it twice
	for {
		line, err := s.r.ReadSlice('\n')
		row = append(row, line...)
		quoted = quoted != (bytes.Count(line, []byte{'"'})%2 == 1)
		switch {
		case len(row) > MaxLine:
			return textrows.Chunk{}, tooLong(1)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF, err == nil && !quoted && len(bytes.Trim(row, "\r\n")) > 0:
			return textrows.Chunk{Data: bytes.TrimPrefix(row, []byte("\ufeff")), Line: 1}, nil
		case err != nil:
			return textrows.Chunk{}, err
		}
	}
}

// rest returns the rows behind the first.
func (s *separated) rest() *csvRows { return s.csv(s.r, s.lines+1) }

// csv returns the rows of a text whose first line has this number. encoding/csv says what they mean.
func (s *separated) csv(r io.Reader, line int) *csvRows {
	guarded := &lineGuard{r: r, line: line}
	c := &csvRows{reader: csv.NewReader(guarded), before: line - 1}
	c.reader.ReuseRecord = true
	c.reader.FieldsPerRecord = s.width // 0 is the width of the first
	c.reader.Comma = rune(s.comma)
	c.reader.TrimLeadingSpace = s.comma != '\t' // else an empty cell would be trimmed away
	return c
}

// rowReader hands out rows: the cells, which are good until the next row, and the line.
type rowReader interface {
	next() (cells []string, line int, err error)
}

// rows returns the rows of a chunk: cut at once where it has no quotes and no long line, else by encoding/csv,
// which would find the same.
func (s *separated) rows(ch textrows.Chunk) rowReader {
	if s.width == 0 || len(ch.Data) > MaxLine || bytes.IndexByte(ch.Data, '"') >= 0 {
		return s.csv(bytes.NewReader(ch.Data), ch.Line)
	}
	return &plainRows{separated: s, text: string(ch.Data), line: ch.Line - 1}
}

// split hands out chunks of the rows behind the first.
func (s *separated) split() func() (func() Table, error) {
	chunks := textrows.Chunks{R: s.r, Size: partBytes, Most: MaxLine + 1, Quotes: true, First: s.lines + 1}
	return func() (func() Table, error) {
		ch, err := chunks.Next()
		if err == textrows.ErrTooLong {
			err = tooLong(chunks.Line())
		}
		return func() Table { return Table{next: s.rows(ch).next} }, err
	}
}

// csvRows are rows that encoding/csv reads.
type csvRows struct {
	reader *csv.Reader
	before int // lines before the text
}

func (c *csvRows) next() ([]string, int, error) {
	row, err := c.reader.Read()
	var wrong *csv.ParseError
	switch {
	case errors.As(err, &wrong) && errors.Is(err, csv.ErrFieldCount):
		return nil, 0, wrongWidth(c.before+wrong.StartLine, len(row), c.reader.FieldsPerRecord)
	case errors.As(err, &wrong):
		wrong.StartLine += c.before
		wrong.Line += c.before
		return nil, 0, wrong
	case err != nil:
		return nil, 0, err // it names the line
	}
	line, _ := c.reader.FieldPos(0)
	return row, c.before + line, nil
}

// plainRows are rows without quotes.
type plainRows struct {
	*separated
	text  string
	line  int // that was read last
	cells []string
}

func (p *plainRows) next() ([]string, int, error) {
	for p.text != "" {
		var row string
		row, p.text, _ = strings.Cut(p.text, "\n")
		p.line++
		if row = strings.TrimSuffix(row, "\r"); row == "" {
			continue
		}
		p.cells = p.cells[:0]
		for end := 0; end >= 0; {
			cell := row
			if end = strings.IndexByte(row, p.comma); end >= 0 {
				cell, row = row[:end], row[end+1:]
			}
			if p.comma != '\t' && cell != "" && (cell[0] <= ' ' || cell[0] >= utf8.RuneSelf) {
				cell = strings.TrimLeftFunc(cell, unicode.IsSpace)
			}
			p.cells = append(p.cells, cell)
		}
		if len(p.cells) != p.width {
			return nil, 0, wrongWidth(p.line, len(p.cells), p.width)
		}
		return p.cells, p.line, nil
	}
	return nil, 0, io.EOF
}

func wrongWidth(line, cells, width int) error {
	return fmt.Errorf("line %d: cells = %d, but they must be %d, as in the first row", line, cells, width)
}

func tooLong(line int) error { return fmt.Errorf("line %d is longer than %d bytes", line, MaxLine) }

// NewCSVReader returns a reader of CSV whose lines are at most MaxLine bytes long. A row is
// good until the next is read.
func NewCSVReader(r io.Reader) *csv.Reader {
	cr := csv.NewReader(&lineGuard{r: given(r), line: 1})
	cr.ReuseRecord = true
	return cr
}

// lineGuard passes a stream on while its lines are at most MaxLine bytes. Lines inside
// quotes are one: encoding/csv keeps them together.
type lineGuard struct {
	r      io.Reader
	line   int
	length int
	quoted bool
}

func (g *lineGuard) Read(p []byte) (int, error) {
	if len(p) > 1<<16 {
		p = p[:1<<16]
	}
	n, err := g.r.Read(p)
	for _, b := range p[:n] {
		g.length++
		switch {
		case b == '"':
			g.quoted = !g.quoted // a doubled quote is none: it changes twice
		case b == '\n':
			g.line++
			if !g.quoted {
				g.length = 0
			}
		}
		if g.length > MaxLine {
			return 0, tooLong(g.line)
		}
	}
	return n, err
}

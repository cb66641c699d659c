package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// Limits of every reader.
const (
	MaxLine   = 16 << 20 // bytes in a line
	maxValues = 1 << 27  // numbers in a file, a gigabyte of float64s
	// MaxBytes is the most that is read of a file, 5 GiB. A number written out in full, with
	// its index and a space, has at most 35 bytes: so a file has 2²⁷ numbers first.
	MaxBytes = 40 * maxValues
)

// Table hands out the rows of a file of columns, as text. Package prepare makes records of them.
// Memory is that of one row. It is for one goroutine at a time.
type Table struct {
	// Columns are the names of the columns; without a header their numbers from 1, and nil where
	// the file has no row.
	Columns []string
	// Kinds are the types of columns that the file's format declares, by name; nil for a format of
	// text.
	Kinds map[string]format.Kind
	// Named is true of names that the file has: models publish them.
	Named bool

	next  func() (cells []string, line int, err error)
	first []string // a row that was read to count the columns
	line  int      // of first
}

// NewCSV returns the table of a CSV file, whose first row decides what is between the cells
// ([format.Separator]). With header the first line names the columns. It refuses
// names that occur twice, and a header of numbers, since it may be a record, which a model would
// publish.
func NewCSV(r io.Reader, header bool) (*Table, error) {
	r, separator := format.PeekSeparator(r)
	cr := NewCSVReader(r)
	cr.Comma = separator
	cr.TrimLeadingSpace = separator != '\t' // else an empty cell would be trimmed away
	return newSeparated(cr, header)
}

// NewTSV is NewCSV for a file with tabs between cells.
func NewTSV(r io.Reader, header bool) (*Table, error) {
	cr := NewCSVReader(r)
	cr.Comma = '\t'
	return newSeparated(cr, header)
}

func newSeparated(cr *csv.Reader, header bool) (*Table, error) {
	t := &Table{Named: header}
	t.next = func() ([]string, int, error) {
		row, err := cr.Read()
		if err != nil {
			return nil, 0, err // it names the line
		}
		line, _ := cr.FieldPos(0)
		return row, line, nil
	}
	row, line, err := t.next()
	switch {
	case err == io.EOF && !header:
		return t, nil
	case err == io.EOF:
		return nil, errors.New("no records")
	case err != nil:
		return nil, err
	}
	row = slices.Clone(row)
	row[0] = strings.TrimPrefix(row[0], "\ufeff")
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

// distinct refuses a name that occurs twice.
func (t *Table) distinct() error {
	seen := make(map[string]bool, len(t.Columns))
	for _, name := range t.Columns {
		if seen[name] {
			return check.SettledBy(fmt.Errorf("line 1: column %q occurs twice; with no header say so", name),
				"header")
		}
		seen[name] = true
	}
	return nil
}

// Next returns the next row, one cell for each column, and its line. The cells are good until the
// row after it. The error is io.EOF after the last.
func (t *Table) Next() (cells []string, line int, err error) {
	if t.first != nil {
		cells, line, t.first = t.first, t.line, nil
		return cells, line, nil
	}
	return t.next()
}

// isRecord reports whether the first line is a record where a header is expected: all its entries
// are numbers. Three or more numbers that count up from 0 or 1 are no record, since some programs
// write such numbers as the names of columns.
func isRecord(header []string) bool {
	first, counts := 0.0, len(header) >= 3
	for i, name := range header {
		v, err := ParseNumber(name)
		if err != nil {
			return false
		}
		if i == 0 {
			first = v
		}
		counts = counts && v == first+float64(i)
	}
	return !counts || first != 0 && first != 1
}

// ParseNumber parses a finite decimal.
func ParseNumber(field string) (float64, error) {
	field = strings.TrimSpace(field)
	v, err := strconv.ParseFloat(field, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, &check.Error{Name: "value", Value: Shorten(field), Rule: "a finite number"}
	}
	return v, nil
}

// Shorten quotes a field for an error message.
func Shorten(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}

// NewCSVReader returns a reader of CSV whose lines are at most MaxLine bytes long. A row is
// good until the next is read.
func NewCSVReader(r io.Reader) *csv.Reader {
	cr := csv.NewReader(&lineGuard{r: r, line: 1})
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
			return 0, fmt.Errorf("line %d is longer than %d bytes", g.line, MaxLine)
		}
	}
	return n, err
}

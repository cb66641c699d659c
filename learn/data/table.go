package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/textrows"
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
	// DecimalComma is true of a text whose numbers have a comma where others have a point; it is stated, never found.
	DecimalComma bool
	// Named is true of names that the file has: models publish them.
	Named bool

	next func() (cells []string, line int, err error)
	// split returns what hands out parts of the rows that are left, nil for a table that is one part. It is
	// called once, and then nothing else is read.
	split func() func() (part func() Table, err error)
	// numbers hands out rows of a format of numbers, NaN where one is missing; next has them as text.
	numbers func() (row []float64, record int, err error)
	first   []string // a row that was read to count the columns
	line    int      // of first
}

// distinct refuses a name that occurs twice.
func (t *Table) distinct() error {
	seen := make(map[string]bool, len(t.Columns))
	for _, name := range t.Columns {
		if seen[name] {
			return check.SettledBy(fmt.Errorf("line 1: column %q occurs twice: give it another name, or with no header say so", name),
				"header")
		}
		seen[name] = true
	}
	return nil
}

// Next returns the next row, one cell for each column, and its line. The cells are good until the
// row after it. The error is io.EOF after the last.
func (t *Table) Next() (cells []string, line int, err error) {
	t = handle.Made(t)
	if t.first != nil {
		cells, line, t.first = t.first, t.line, nil
		return cells, line, nil
	}
	if t.next == nil {
		return nil, 0, io.EOF
	}
	return t.next()
}

// Numbers returns the next row of a table whose HasNumbers is true, good until the row after it, and its number from
// 1. NaN is a missing number. The error is io.EOF after the last.
func (t *Table) Numbers() (row []float64, record int, err error) {
	t = handle.Made(t)
	if t.numbers == nil {
		return nil, 0, errors.New("the table has cells of text")
	}
	return t.numbers()
}

// HasNumbers reports whether the rows are of numbers, as of an array.
func (t *Table) HasNumbers() bool { return handle.Made(t).numbers != nil }

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

// Shorten quotes a field for an error message.
func Shorten(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}

// given returns r, and for nil a reader whose error says so.
func given(r io.Reader) io.Reader {
	if r == nil {
		return noReader{}
	}
	return r
}

type noReader struct{}

func (noReader) Read([]byte) (int, error) { return 0, errors.New("reader must be given") }

// partBytes is the size of a part of a text.
const partBytes = 1 << 19

// Parts calls read with tables of the rows that are left, part by part, on several goroutines, and take with what it
// returns, in the order of the rows and from one goroutine. A text of separated cells and an array have many parts, any
// other table is one. The first error in that order ends it.
func Parts[R any](t *Table, read func(part *Table) (R, error), take func(R) error) error {
	t = handle.Made(t)
	if t.split == nil {
		r, err := read(t)
		if err != nil {
			return err
		}
		return take(r)
	}
	type result struct {
		r   R
		err error
	}
	parse := func(part Table) (out result) {
		part.Columns, part.Kinds, part.Named, part.DecimalComma = t.Columns, t.Kinds, t.Named, t.DecimalComma
		out.r, out.err = read(&part)
		return out
	}
	if t.first != nil {
		first := parse(Table{first: t.first, line: t.line})
		if t.first = nil; first.err != nil {
			return first.err
		}
		if err := take(first.r); err != nil {
			return err
		}
	}
	next := t.split()
	t.next, t.split = nil, nil
	ctx, cancel := context.WithCancel(context.Background())
	p := textrows.InOrder(ctx, runtime.GOMAXPROCS(0), next,
		func(part func() Table) result { return parse(part()) },
		func(err error) result { return result{err: err} })
	defer func() {
		cancel()
		<-p.Done // the source is not read any more
	}()
	for {
		out, err := p.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case out.err != nil:
			return out.err
		}
		if err := take(out.r); err != nil {
			return err
		}
	}
}

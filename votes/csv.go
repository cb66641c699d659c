package votes

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// csvShape is what all rows of a CSV or TSV file have in common. It is
// read-only once the first row has been read.
type csvShape struct {
	*fileInfo
	comma  byte
	header []string // trimmed; nil without a header
	cols   columns
	cellOf []int // of every column, the teacher or the class whose cell it is; else -1
	others []int // the columns that are neither
	roles  Roles
	width  int // columns of every row
	k      int
	kLine  int // the row that gave k, LayoutCounts
}

// A rowReader reads rows with encoding/csv, from a piece of a file that begins
// with a row. It is the reference for what a file means: the fast parser takes
// the rows that it understands at once and leaves all others, and every fault,
// to a rowReader.
type rowReader struct {
	*csvShape
	csv      *csv.Reader
	guard    *guard
	base     int      // lines before the piece
	firstRow []string // until the columns are known
	line     int      // first line of the current row
	lastEnd  int      // last line of the row before it
}

// newRowReader reads a piece whose first line is base+1. The row before it ended
// on line lastEnd.
func newRowReader(s *csvShape, r io.Reader, base, lastEnd int, ends lineEnds) *rowReader {
	rr := &rowReader{csvShape: s, base: base, line: base, lastEnd: lastEnd}
	rr.guard = newGuard(r, s.name, s.comma, base+1, ends)
	rr.csv = csv.NewReader(bufio.NewReaderSize(rr.guard, 64<<10))
	rr.csv.Comma = rune(s.comma)
	rr.csv.ReuseRecord = true
	rr.csv.FieldsPerRecord = -1 // checked here, for a message with both widths
	return rr
}

// start reads the header, if any, and the first row of votes into b, and fixes
// the shape.
func (r *rowReader) start(b *Batch) error {
	row, err := r.read()
	if err == io.EOF {
		return &ParseError{File: r.name, Rule: "the file is empty"}
	}
	if err != nil {
		return err
	}
	r.width = len(row)
	r.firstRow = row
	header := r.opts.Header == HeaderYes
	if r.opts.Header == HeaderAuto {
		if header, err = r.looksLikeHeader(row); err != nil {
			return err
		}
	}
	if header {
		r.header = slices.Clone(row)
		for i := range r.header {
			r.header[i] = strings.TrimSpace(r.header[i])
		}
	}
	if err := r.resolveColumns(len(row)); err != nil {
		return err
	}
	r.firstRow = nil
	if header {
		if row, err = r.read(); err == io.EOF {
			return &ParseError{File: r.name, Line: r.line, Rule: "the file has a header and no votes"}
		}
		if err != nil {
			return err
		}
	}
	if r.layout == LayoutCounts {
		if err := r.fixCountsK(row); err != nil {
			return err
		}
	}
	r.prepare(b)
	return r.parse(row, b)
}

// prepare makes b ready for the file's rows.
func (r *rowReader) prepare(b *Batch) {
	b.reset(r.k, r.classes.len())
	b.file = r.fileInfo
}

// fill appends rows to b until it has most of them, and returns io.EOF when
// there are no more. On another error b holds the rows before the fault.
func (r *rowReader) fill(b *Batch, most int) error {
	for b.n < most {
		row, err := r.read()
		if err != nil {
			return err
		}
		if err := r.parse(row, b); err != nil {
			return err
		}
	}
	return nil
}

// read returns the next row and keeps track of the lines. The row is valid
// until the next call.
func (r *rowReader) read() ([]string, error) {
	row, err := r.csv.Read()
	if err != nil {
		return nil, r.readError(err)
	}
	start, _ := r.fieldPos(0)
	// The csv package skips blank lines. At the end of a file they mean nothing;
	// between rows one can be a missing vote.
	if start > r.lastEnd+1 {
		return nil, &ParseError{File: r.name, Line: r.lastEnd + 1, Rule: "blank line before a row"}
	}
	r.line = start
	last := len(row) - 1
	r.lastEnd, _ = r.fieldPos(last)
	if len(row[last]) > 1 {
		r.lastEnd += strings.Count(row[last], "\n")
	}
	return row, nil
}

func (r *rowReader) fieldPos(i int) (line, column int) {
	line, column = r.csv.FieldPos(i)
	return r.base + line, column
}

// readError classifies an error of the csv package.
func (r *rowReader) readError(err error) error {
	if err == io.EOF {
		return err
	}
	var c *csv.ParseError
	if errors.As(err, &c) {
		rule := fmt.Sprintf("%v (byte %d of the line)", c.Err, c.Column)
		if c.StartLine != c.Line {
			rule += fmt.Sprintf(", in the row that starts on line %d", r.base+c.StartLine)
		}
		return &ParseError{File: r.name, Line: r.base + c.Line, Rule: rule, Err: err}
	}
	return r.sourceError(err, r.lastEnd)
}

// errorAt reports a fault in field column (from 0) of the current row, or in
// the row as a whole if column is -1.
func (r *rowReader) errorAt(column int, rule string) error {
	e := &ParseError{File: r.name, Line: r.line, Rule: rule}
	if column >= 0 {
		e.Column = column + 1
		if column < len(r.header) {
			e.ColumnName = r.header[column]
		}
		// The row the csv package read last is the current one; a field after a
		// quoted line end is on a later line.
		e.Line, _ = r.fieldPos(column)
	}
	return e
}

// parse appends a row to b. On error b is as before.
func (r *rowReader) parse(row []string, b *Batch) error {
	if len(row) != r.width {
		first := "the first row"
		if r.header != nil {
			first = "the header"
		}
		return r.errorAt(-1, fmt.Sprintf("the row has %d columns, but %s has %d", len(row), first, r.width))
	}
	undo := *b
	if err := r.parseInto(row, b); err != nil {
		b.n, b.Counts, b.Missing, b.Votes = undo.n, undo.Counts, undo.Missing, undo.Votes
		b.IDs, b.Labels, b.lines = undo.IDs, undo.Labels, undo.lines
		return err
	}
	return nil
}

func (r *rowReader) parseInto(row []string, b *Batch) error {
	b.addLine(r.line)
	counts := b.addRow()
	var err error
	if r.layout == LayoutCounts {
		err = r.readCounts(row, counts)
	} else {
		err = r.countWide(row, counts, b)
	}
	if err != nil {
		return err
	}
	if i := r.cols.label; i >= 0 {
		c := r.classes.of(row[i])
		if c < 0 {
			return r.errorAt(i, "label "+quote(row[i])+" "+r.classes.rule())
		}
		b.Labels = append(b.Labels, c)
	}
	if i := r.cols.id; i >= 0 {
		if rule := idRule(row[i]); rule != "" {
			return r.errorAt(i, rule)
		}
		b.IDs = append(b.IDs, strings.Clone(row[i])) // not the whole row's memory
	}
	return nil
}

// countWide counts the votes of a row in the wide layout.
func (r *rowReader) countWide(row []string, counts []int, b *Batch) error {
	votes := len(b.Votes)
	if r.opts.KeepVotes {
		b.Votes = growZero(b.Votes, r.k)
	}
	for i, cell := range row {
		teacher := r.cellOf[i]
		if teacher < 0 {
			continue
		}
		c := r.classes.of(cell)
		switch {
		case c >= 0:
			counts[c]++
		case r.opts.Missing == MissingCoin && isMissing(cell):
			b.addMissing(b.n - 1)
		default:
			return r.errorAt(i, voteRule(cell, r.classes))
		}
		if r.opts.KeepVotes {
			b.Votes[votes+teacher] = c
		}
	}
	return nil
}

// fixCountsK takes K from the first row of counts.
func (r *rowReader) fixCountsK(row []string) error {
	if len(row) != r.width {
		return nil // parse says so
	}
	counts := make([]int, r.classes.len())
	k, err := r.sumCounts(row, counts)
	if err != nil {
		return err
	}
	if k > 0 {
		r.kLine, r.k = r.line, k
		if rule := r.kRule(k, fmt.Sprintf("%s sum to %d", r.countsName(), k)); rule != "" {
			return r.errorAt(-1, rule)
		}
	}
	return nil
}

// readCounts reads a row in the layout of counts.
func (r *rowReader) readCounts(row []string, counts []int) error {
	k, err := r.sumCounts(row, counts)
	switch {
	case err != nil:
		return err
	case k == 0 && r.classes.len() == 2:
		return r.errorAt(-1, r.countsName()+" are both 0: there are no votes")
	case k == 0:
		return r.errorAt(-1, r.countsName()+" are all 0: there are no votes")
	case k != r.k:
		return r.errorAt(-1, fmt.Sprintf("%s sum to K = %d, but to K = %d in line %d", r.countsName(), k, r.k, r.kLine))
	}
	return nil
}

func (r *rowReader) sumCounts(row []string, counts []int) (k int, err error) {
	for c, i := range r.cols.votes {
		if counts[c], err = r.readCount(row, i); err != nil {
			return 0, err
		}
		k += counts[c] // at most MaxClasses × MaxTeachers
	}
	return k, nil
}

// countsName is what messages call the columns of counts.
func (s *csvShape) countsName() string { return countsName(s.classes) }

func countsName(c *classList) string {
	if c.len() == 2 {
		return "zeros and ones"
	}
	return "the counts"
}

func (r *rowReader) readCount(row []string, i int) (int, error) {
	cell := row[i]
	if cell == "" {
		return 0, r.errorAt(i, "the count is missing")
	}
	if !isCount(cell) {
		return 0, r.errorAt(i, "count "+quote(cell)+" is not a whole number ≥ 0 in digits")
	}
	n, err := strconv.Atoi(cell)
	if err != nil || n > MaxTeachers {
		return 0, r.errorAt(i, fmt.Sprintf("count %s, want at most %d", quote(cell), MaxTeachers))
	}
	return n, nil
}

// idRule says what is wrong with a query id, if anything.
func idRule(id string) string {
	if id == "" {
		return "the query id is empty"
	}
	if len(id) > MaxIDBytes {
		return fmt.Sprintf("query id %s, want at most %d bytes", quote(id), MaxIDBytes)
	}
	return ""
}

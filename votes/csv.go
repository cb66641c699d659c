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

// A CSVReader reads queries one by one. Memory does not grow with the file,
// except for about 100 bytes per id where ids do not count up by one. It is not
// safe for concurrent use.
type CSVReader struct {
	opts CSVOptions
	csv  *csv.Reader

	header   []string // trimmed; nil without a header
	firstRow []string // until the columns are known
	cols     columns
	width    int // columns of every row
	k        int // 0 until known
	kLine    int // the row that gave k, LayoutCounts

	row     int // rows read, header not counted
	line    int // first line of the current row
	lastEnd int // last line of the row before it
	ids     idSet

	noRowIDs bool // leave Query.ID empty where it would be the row number

	next    Query // read ahead by NewCSVReader
	pending bool
	err     error // sticky
}

// ReadCSV reads a whole file. The memory is proportional to the number of rows.
func ReadCSV(r io.Reader, opts CSVOptions) (*Table, error) {
	cr, err := NewCSVReader(r, opts)
	if err != nil {
		return nil, err
	}
	cr.noRowIDs = true // Table.Query makes them
	t := &Table{K: cr.K()}
	for {
		q, err := cr.Next()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		t.Ones = append(t.Ones, q.Ones)
		if cr.HasIDs() {
			t.IDs = append(t.IDs, strings.Clone(q.ID)) // not the whole row's memory
		}
		if cr.HasLabels() {
			t.Labels = append(t.Labels, q.Label)
		}
	}
}

// NewCSVReader reads the header and the first row, so that a file that cannot
// be read at all, an empty one included, is reported at once. Faults of the
// file are [*ParseError]s; a failing reader's error is wrapped.
func NewCSVReader(r io.Reader, opts CSVOptions) (*CSVReader, error) {
	if opts.Name == "" {
		opts.Name = "votes"
	}
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("read %s: %w", opts.Name, err)
	}
	cr := &CSVReader{opts: opts}
	cr.csv = csv.NewReader(bufio.NewReaderSize(newGuard(r, opts.Name), 64<<10))
	cr.csv.ReuseRecord = true
	cr.csv.FieldsPerRecord = -1 // checked here, for a message with both widths
	if err := cr.start(); err != nil {
		return nil, err
	}
	return cr, nil
}

// start reads the header, if any, and the first row of votes.
func (r *CSVReader) start() error {
	row, err := r.read()
	if err == io.EOF {
		return &ParseError{File: r.opts.Name, Rule: "the file is empty"}
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
			return &ParseError{File: r.opts.Name, Line: r.line, Rule: "the file has a header and no votes"}
		}
		if err != nil {
			return err
		}
	}
	if r.next, err = r.parse(row); err != nil {
		return err
	}
	r.pending = true
	return nil
}

// K returns the number of teachers.
func (r *CSVReader) K() int { return r.k }

// HasIDs reports whether ids come from the file; otherwise they are row numbers.
func (r *CSVReader) HasIDs() bool { return r.cols.id >= 0 }

// HasLabels reports whether the file has true answers.
func (r *CSVReader) HasLabels() bool { return r.cols.label >= 0 }

// Next returns the next query, and io.EOF after the last. After an error it
// returns the same error again.
func (r *CSVReader) Next() (Query, error) {
	if r.err != nil {
		return Query{}, r.err
	}
	if r.pending {
		r.pending = false
		q := r.next
		r.next = Query{}
		return q, nil
	}
	row, err := r.read()
	if err != nil {
		r.err = err
		return Query{}, err
	}
	q, err := r.parse(row)
	if err != nil {
		r.err = err
		return Query{}, err
	}
	return q, nil
}

// read returns the next row and keeps track of the lines. The row is valid
// until the next call.
func (r *CSVReader) read() ([]string, error) {
	row, err := r.csv.Read()
	if err != nil {
		return nil, r.readError(err)
	}
	start, _ := r.csv.FieldPos(0)
	// The csv package skips blank lines. At the end of a file they mean nothing;
	// between rows one can be a missing vote.
	if start > r.lastEnd+1 {
		return nil, &ParseError{File: r.opts.Name, Line: r.lastEnd + 1, Rule: "blank line before a row"}
	}
	r.line = start
	last := len(row) - 1
	r.lastEnd, _ = r.csv.FieldPos(last)
	if len(row[last]) > 1 {
		r.lastEnd += strings.Count(row[last], "\n")
	}
	return row, nil
}

// readError classifies an error of the csv package.
func (r *CSVReader) readError(err error) error {
	if err == io.EOF {
		return err
	}
	var p *ParseError // from the guard
	if errors.As(err, &p) {
		return p
	}
	var c *csv.ParseError
	if errors.As(err, &c) {
		rule := fmt.Sprintf("%v (byte %d of the line)", c.Err, c.Column)
		if c.StartLine != c.Line {
			rule += fmt.Sprintf(", in the row that starts on line %d", c.StartLine)
		}
		return &ParseError{File: r.opts.Name, Line: c.Line, Rule: rule, Err: err}
	}
	return fmt.Errorf("read %s after line %d: %w", r.opts.Name, r.lastEnd, err)
}

// errorAt reports a fault in field column (from 0) of the current row, or in
// the row as a whole if column is -1.
func (r *CSVReader) errorAt(column int, rule string) error {
	e := &ParseError{File: r.opts.Name, Line: r.line, Rule: rule}
	if column >= 0 {
		e.Column = column + 1
		if column < len(r.header) {
			e.ColumnName = r.header[column]
		}
		// The row the csv package read last is the current one; a field after a
		// quoted line end is on a later line.
		e.Line, _ = r.csv.FieldPos(column)
	}
	return e
}

// parse turns a row into a query.
func (r *CSVReader) parse(row []string) (Query, error) {
	if len(row) != r.width {
		first := "the first row"
		if r.header != nil {
			first = "the header"
		}
		return Query{}, r.errorAt(-1, fmt.Sprintf("the row has %d columns, but %s has %d", len(row), first, r.width))
	}
	q := Query{}
	var err error
	if r.opts.Layout == LayoutWide {
		q.K = r.k
		q.Ones, err = r.countWide(row)
	} else {
		q.K, q.Ones, err = r.readCounts(row)
	}
	if err != nil {
		return Query{}, err
	}
	if i := r.cols.label; i >= 0 {
		switch row[i] {
		case "0":
			q.Label = Label0
		case "1":
			q.Label = Label1
		default:
			return Query{}, r.errorAt(i, "label "+quote(row[i])+" is not 0 or 1")
		}
	}
	if q.ID, err = r.readID(row); err != nil {
		return Query{}, err
	}
	r.row++
	return q, nil
}

// countWide counts the ones of a row in the wide layout.
func (r *CSVReader) countWide(row []string) (ones int, err error) {
	id, label := r.cols.id, r.cols.label
	for i, cell := range row {
		if i == id || i == label {
			continue
		}
		if len(cell) != 1 || cell[0]&^1 != '0' { // '0' and '1' differ in the lowest bit
			return 0, r.errorAt(i, voteRule(cell))
		}
		ones += int(cell[0] & 1)
	}
	return ones, nil
}

func voteRule(cell string) string {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "":
		return "the vote is missing (" + quote(cell) + "): every teacher must answer every query"
	case "nan", "na", "n/a", "null", "none", "?":
		return "the vote is missing (" + quote(cell) + "), want 0 or 1: every teacher must answer every query"
	}
	return "vote " + quote(cell) + " is not 0 or 1"
}

// readCounts reads a row in the layout of counts.
func (r *CSVReader) readCounts(row []string) (k, ones int, err error) {
	zeros, err := r.readCount(row, r.cols.zeros)
	if err != nil {
		return 0, 0, err
	}
	if ones, err = r.readCount(row, r.cols.ones); err != nil {
		return 0, 0, err
	}
	k = zeros + ones
	switch {
	case k == 0:
		return 0, 0, r.errorAt(-1, "zeros and ones are both 0: there are no votes")
	case r.k == 0:
		r.kLine = r.line
		err = r.setK(k, fmt.Sprintf("zeros and ones sum to %d", k))
	case k != r.k:
		err = r.errorAt(-1, fmt.Sprintf("zeros and ones sum to K = %d, but to K = %d in line %d", k, r.k, r.kLine))
	}
	return k, ones, err
}

func (r *CSVReader) readCount(row []string, i int) (int, error) {
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

// readID returns the id of the current row and refuses one seen before.
func (r *CSVReader) readID(row []string) (string, error) {
	i := r.cols.id
	if i < 0 {
		if r.noRowIDs {
			return "", nil
		}
		return strconv.Itoa(r.row), nil
	}
	id := row[i]
	if id == "" {
		return "", r.errorAt(i, "the query id is empty")
	}
	if len(id) > MaxIDBytes {
		return "", r.errorAt(i, fmt.Sprintf("query id %s, want at most %d bytes", quote(id), MaxIDBytes))
	}
	if earlier, repeated := r.ids.add(id, r.line); repeated {
		return "", r.errorAt(i, fmt.Sprintf("query id %s is already in line %d", quote(id), earlier))
	}
	return id, nil
}

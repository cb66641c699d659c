package votes

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/votes/format"
)

// csvDecoder cuts a CSV or TSV file into tasks. The first row of a CSV decides on the separator of its
// cells. encoding/csv defines the meaning of a row. csvFast
// parses the chunks that it understands and leaves all others, and every fault, to encoding/csv.
type csvDecoder struct {
	*fileInfo
	comma  byte
	lines  *lineChunks
	ends   lineEnds
	header []string // trimmed; nil without a header
	width  int      // columns of every row
	cols   columns
	cellOf []int // of every column, the cell of a record that it holds
	any    bool  // there is a row of votes
	stated bool  // a first line says what is between the cells
}

// openCSV reads the first row and finds the columns.
func openCSV(info *fileInfo, r io.Reader, comma byte) (decoder, error) {
	d, ch, err := startCSV(info, r, comma)
	if err != nil {
		return nil, err
	}
	rows := d.rows(ch)
	row, err := rows.read()
	if err != nil {
		return nil, err
	}
	if t := info.opts.tally; t != nil && rows.blankBefore(len(row)) {
		t.trimmed.Store(true)
	}
	d.ends, d.width = endOf(ch.Data[:rows.end]), len(row)
	header := d.opts.Header != HeaderNo
	if d.opts.Header == HeaderAuto && d.layout != LayoutLong {
		if header, err = rows.looksLikeHeader(row); err != nil {
			return nil, err
		}
	}
	from := 0
	if header {
		from = rows.end
		for _, name := range row {
			d.header = append(d.header, strings.TrimSpace(name))
		}
	}
	if err := rows.resolveColumns(row); err != nil {
		return nil, err
	}
	d.lines.Unread(ch, from)
	d.lines.Size = info.chunkBytes(d.k)
	return d, nil
}

// startCSV returns the first rows, and finds the separator of their cells.
func startCSV(info *fileInfo, r io.Reader, comma byte) (*csvDecoder, chunk, error) {
	d := &csvDecoder{fileInfo: info, comma: comma, cols: noColumns, lines: newLineChunks(info, r, true)}
	ch, err := d.lines.next()
	if err == io.EOF {
		return nil, ch, info.errorf("the file is empty")
	}
	if err != nil {
		return nil, ch, err
	}
	if ch, err = d.skipSeparatorLine(ch); err == io.EOF {
		return nil, ch, info.errorf("the file has one line, which says what is between its cells")
	}
	if err != nil {
		return nil, ch, err
	}
	if comma == ',' && !d.stated {
		d.comma = format.Separator(ch.Data)
	}
	if row, err := d.rows(ch).read(); err != nil || len(row) > 1 {
		return d, ch, nil // whoever reads the row reports its error
	}
	d.lines.Unread(ch, 0)
	d.lines.Enough = d.lines.enough
	ch, err = d.lines.next()
	d.lines.Enough = nil
	return d, ch, err
}

func (d *csvDecoder) next() (task, error) {
	ch, err := d.lines.next()
	if err == io.EOF && !d.any {
		return nil, d.errorAt(d.lines.Line()-1, -1, "", "the file has a header and no votes")
	}
	if err != nil {
		return nil, err
	}
	d.any = true
	return func(b *Batch) error {
		if d.k > 0 && !d.opts.slow && d.opts.tally == nil && d.sets == nil && d.layout != LayoutLong && d.parseFast(ch, b) {
			return nil
		}
		b.reset(d.fileInfo)
		return d.rows(ch).fill(b)
	}, nil
}

// A rowReader reads the rows of a chunk with encoding/csv.
type rowReader struct {
	*csvDecoder
	csv   *csv.Reader
	ch    chunk
	begin int // of the row that was read last, in the chunk
	end   int
	next  int // line behind it
}

func (d *csvDecoder) rows(ch chunk) *rowReader {
	r := csv.NewReader(bytes.NewReader(ch.Data))
	r.Comma = rune(d.comma)
	r.ReuseRecord = true
	r.TrimLeadingSpace = d.comma != '\t' // a quote may stand behind blanks
	r.FieldsPerRecord = -1               // checked here, for a message with both widths
	return &rowReader{csvDecoder: d, csv: r, ch: ch, next: ch.Line}
}

// fill appends all rows to b. On an error b holds the rows before the fault.
func (r *rowReader) fill(b *Batch) error {
	rec, read := record{votes: make([]cell, r.roles.Width)}, r.cols.read()
	for {
		row, err := r.read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(row) != r.width {
			first := "the first row"
			if r.header != nil {
				first = "the header"
			}
			return r.fault(faultf(-1, "the row has %d columns, but %s has %d%s", len(row), first, r.width,
				r.widthAdvice(row)))
		}
		if t := r.opts.tally; t != nil && r.blankBefore(len(row)) {
			t.trimmed.Store(true)
		}
		rec.place = r.cellLine(0)
		for _, c := range read {
			rec.cell(c.cell).text = row[c.at]
		}
		rec.id.text = strings.Clone(rec.id.text) // not the whole row's memory
		if wrong := r.add(b, &rec); wrong != nil {
			if wrong.at == idCell && strings.TrimSpace(strings.Join(row, "")) == "" {
				wrong = faultf(wholeRow, "every cell of the row is blank: leave such rows out, which spreadsheets add")
			}
			wrong.at = r.cols.of(wrong.at)
			return r.fault(wrong)
		}
	}
}

// widthAdvice says what a row that is one cell longer than the header may be.
func (r *rowReader) widthAdvice(row []string) string {
	switch {
	case r.header == nil || len(row) != r.width+1:
		return ""
	case strings.TrimSpace(row[len(row)-1]) == "":
		return ": it ends with a separator, and the header does not"
	}
	return ": if rows begin with a name that the header leaves out, as R's write.table does, write col.names=NA"
}

// read returns the next row, which is valid until the next call.
func (r *rowReader) read() ([]string, error) {
	row, err := r.csv.Read()
	if err == io.EOF {
		return nil, err
	}
	first := r.next
	r.begin, r.end = r.end, int(r.csv.InputOffset())
	if r.end-r.begin > maxRecordBytes {
		return nil, r.errorAt(first, -1, "", tooLong+neverClosed)
	}
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		base := r.ch.Line - 1
		rule := fmt.Sprintf("%v (byte %d of the line)", syntax.Err, syntax.Column)
		if line, _, _ := bytes.Cut(r.ch.Data[r.begin:], newline); bytes.Contains(line, []byte(`" "`)) {
			rule += ": are cells separated by blanks? Write commas, semicolons or tabs between them"
		}
		if syntax.StartLine != syntax.Line {
			rule += fmt.Sprintf(", in the row that starts on line %d", base+syntax.StartLine)
		}
		return nil, &ParseError{File: r.name, Line: base + syntax.Line, Rule: rule, Err: err}
	}
	if err != nil {
		return nil, err // of a reader in memory: there is none
	}
	// encoding/csv skips blank lines. Between rows one can be a missing vote.
	if r.cellLine(0) > first {
		return nil, r.errorAt(first, -1, "", blankLine)
	}
	raw := r.ch.Data[r.begin:r.end]
	r.next += bytes.Count(raw, newline)
	text := raw
	if r.opts.listed() && !utf8.Valid(raw) && r.readsText(row) {
		text = bytes.ToValidUTF8(raw, []byte("?"))
	}
	if at, rule := textFault(text); rule != "" {
		return nil, r.errorAt(first+bytes.Count(text[:at], newline), -1, "", rule)
	}
	if rule := r.ends.rule(endOf(raw)); rule != "" && r.ends != endsUnknown {
		return nil, r.errorAt(r.next-1, -1, "", rule)
	}
	return row, nil
}

// readsText reports whether the cells that are read are in UTF-8. Which they are is not known of the
// first row: its names are judged when they are looked for.
func (r *rowReader) readsText(row []string) bool {
	for _, c := range r.cols.read() {
		if c.at < len(row) && !utf8.ValidString(row[c.at]) {
			return false
		}
	}
	return true
}

// blankBefore reports whether a blank stands before one of the cells of the row that was read last, in
// its first line. The reader leaves it out.
func (r *rowReader) blankBefore(cells int) bool {
	line, _ := r.csv.FieldPos(0)
	for at := range cells {
		if on, byte1 := r.csv.FieldPos(at); on == line && byte1 > 1 && r.ch.Data[r.begin+byte1-2] == ' ' {
			return true
		}
	}
	return false
}

// cellLine returns the line of a cell of the row that was read last: a quoted line
// end in front of it puts it on a later one.
func (r *rowReader) cellLine(column int) int {
	line, _ := r.csv.FieldPos(column)
	return r.ch.Line - 1 + line
}

// fault reports a fault, in a column from 0 or in no one, of the row that was read last.
func (r *rowReader) fault(wrong *fault) error {
	name := ""
	if wrong.at >= 0 && wrong.at < len(r.header) {
		name = r.header[wrong.at]
	}
	return r.faultAt(r.cellLine(max(0, wrong.at)), wrong.at, name, wrong)
}

// resolveColumns finds the columns in the first row.
func (r *rowReader) resolveColumns(first []string) error {
	d, n := r.csvDecoder, len(first)
	if n == 1 && d.comma == '\t' && strings.ContainsAny(first[0], ",;") {
		return r.fault(faultf(-1, "the row has no tab, but %q: the columns must be separated by tabs",
			format.Separator([]byte(first[0]))))
	}
	if n == 1 {
		if rule := r.rowsRule(); rule != "" {
			return r.fault(faultf(-1, "%s", rule))
		}
	}
	if d.header != nil && n > 2 && !d.opts.listed() && oneName(first) {
		return r.fault(faultf(-1, "the row has one name for %d columns: is the line a title? Leave it out", n))
	}
	set := &columnSet{what: "column", names: d.header, n: n, sample: r.sample}
	wrong := set.namesFault(nil)
	if wrong == nil || d.opts.listed() {
		d.cols, wrong = d.assign(set)
	}
	if wrong == nil {
		wrong = set.namesFault(d.cols.read())
	}
	if wrong != nil && d.opts.found != nil { // the columns may be unclear because of it
		// No row of votes can have the fault of one of the first rows.
		if _, err := r.firstRows(sampled + 1); err != nil {
			return err
		}
	}
	if wrong != nil {
		return r.fault(wrong)
	}
	d.cellOf = slices.Repeat([]int{noCell}, n)
	for _, c := range d.cols.read() {
		d.cellOf[c.at] = c.cell
	}
	return nil
}

// oneName reports whether one cell alone of a row has a text.
func oneName(row []string) bool {
	filled := 0
	for _, cell := range row {
		if strings.TrimSpace(cell) != "" {
			filled++
		}
	}
	return filled == 1
}

// sampled is the number of rows that a proposal looks at.
const sampled = 100

// firstRows returns the first rows of the chunk, and the error behind them where they are fewer than n.
func (r *rowReader) firstRows(n int) (first [][]string, err error) {
	rows := r.rows(r.ch)
	for len(first) < n {
		row, err := rows.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return first, err
		}
		first = append(first, slices.Clone(row))
	}
	return first, nil
}

// sample returns some first cells of a column behind the header.
func (r *rowReader) sample(column int) (cells []cell) {
	rows, _ := r.firstRows(sampled + 1)
	for _, row := range rows {
		if len(row) <= column {
			break
		}
		cells = append(cells, cell{text: row[column]})
	}
	return cells[min(1, len(cells)):]
}

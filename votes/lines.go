package votes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/textrows"
)

// lineChunks cuts a text file into chunks that can be parsed apart.
type lineChunks struct {
	*fileInfo
	textrows.Chunks
}

// maxLine is the most bytes that are read to find a row's end.
const maxLine = maxRecordBytes + 4<<10

// chunk is some rows. Their parser may keep data.
type chunk = textrows.Chunk

func newLineChunks(info *fileInfo, r io.Reader, quotes bool) *lineChunks {
	c := &lineChunks{fileInfo: info, Chunks: textrows.Chunks{R: r, Size: info.chunkBytes(1), Most: maxLine,
		Quotes: quotes}}
	c.Begin = c.begin
	if !quotes {
		c.Enough = c.enoughLines
	}
	return c
}

// next returns a chunk with at least one row, and io.EOF at the end.
func (c *lineChunks) next() (chunk, error) {
	ch, err := c.Next()
	var wrong *ParseError
	switch {
	case err == nil, err == io.EOF, errors.As(err, &wrong): // of begin
		return ch, err
	case err == textrows.ErrTooLong:
		rule := tooLong
		if c.Quotes {
			rule += neverClosed
		}
		return chunk{}, c.errorAt(c.Line(), -1, "", rule)
	}
	return chunk{}, c.sourceError(err, c.Line()-1)
}

// begin refuses data that are no text, or of another format.
func (c *lineChunks) begin(head []byte) ([]byte, error) {
	if rule, is := whyNotText(head); rule != "" {
		return nil, c.misnamedError(rule, is)
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if c.Quotes {
		if rule, is := whyJSON(head); rule != "" {
			return nil, c.misnamedError(rule, is)
		}
	}
	return head, nil
}

// enoughLines is [lineChunks.enough] for the first chunk of lines, where the first has no separator.
func (c *lineChunks) enoughLines(data []byte, at int) bool {
	first, _, _ := bytes.Cut(data, newline)
	return at > 1 || bytes.ContainsAny(first, ",;\t") || c.enough(data, at)
}

// enough reports whether a chunk has the rows that a fault of the file's first row looks at: what an
// error says may not depend on the size of chunks.
func (c *lineChunks) enough(data []byte, _ int) bool {
	rows, quoted := 0, false
	for line := range bytes.Lines(data) {
		if c.Quotes && bytes.Count(line, quotes)%2 == 1 {
			quoted = !quoted
		}
		if !quoted && len(bytes.TrimRight(line, "\r\n")) > 0 {
			rows++
		}
	}
	return rows >= sampled
}

var tooLong = fmt.Sprintf("record longer than %d bytes", maxRecordBytes)

const neverClosed = " (a quote that is never closed?)" // added where there are quotes

var newline, quotes = []byte{'\n'}, []byte{'"'}

// lineEnds is the kind of line ends of a file. A file that mixes both ways was pasted together, or
// damaged on its way, and is refused.
type lineEnds int

const (
	endsUnknown lineEnds = iota // of a last row without line end
	endsLF
	endsCRLF
)

func (e lineEnds) String() string { return [...]string{"", "LF", "CRLF"}[e] }

// endOf returns the line end of a row.
func endOf(row []byte) lineEnds {
	switch {
	case bytes.HasSuffix(row, []byte("\r\n")):
		return endsCRLF
	case bytes.HasSuffix(row, newline):
		return endsLF
	}
	return endsUnknown
}

// rule returns the rule that a row with the line end now breaks, or "".
func (e lineEnds) rule(now lineEnds) string {
	if now == endsUnknown || now == e {
		return ""
	}
	return "the line ends with " + now.String() + ", but the lines before end with " + e.String() +
		": convert the file to one of them"
}

// whyNotText returns why a file that begins so is not text, "" for one that may be, and what it is.
func whyNotText(head []byte) (rule string, is misnamed) {
	for _, f := range []struct {
		magic, rule string
		misnamed
	}{
		{"\x1f\x8b", "the file is compressed with gzip: decompress it first (gunzip), or say so by its " +
			"name (.gz) or the compression", misnamed{compression: CompressionGzip}},
		{"\x28\xb5\x2f\xfd",
			"the file is compressed with zstd: decompress it first, or say so by its name (.zst) or the " +
				"compression", misnamed{compression: CompressionZstd}},
		{"\xff\xfe", utf16 + " (iconv -f UTF-16 -t UTF-8)", misnamed{}},
		{"\xfe\xff", utf16 + " (iconv -f UTF-16 -t UTF-8)", misnamed{}},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.rule, f.misnamed
		}
	}
	for _, row := range formats() {
		if row.magic != "" && bytes.HasPrefix(head, []byte(row.magic)) {
			return row.isAt, misnamed{format: row.Name}
		}
	}
	return "", misnamed{}
}

const utf16 = "the file is in UTF-16 (it begins with that byte order mark): convert it to UTF-8"

// whyJSON returns why a file that begins so is no CSV but JSON: no cell of a CSV file may begin so.
func whyJSON(head []byte) (rule string, is misnamed) {
	list, isList := bytes.CutPrefix(head, []byte("["))
	switch {
	case bytes.HasPrefix(head, []byte(`{"`)):
		return "the file is of JSON Lines: say so by its name (.jsonl) or the format", misnamed{format: FormatJSONL}
	case isList && bytes.HasPrefix(bytes.TrimLeft(list, " \t\r\n"), []byte(`{"`)):
		return "the file begins " + jsonList, misnamed{}
	}
	return "", misnamed{}
}

// blankLine is the rule against a blank line, which between rows can be a missing vote.
const blankLine = "blank line before a row: leave blank lines out"

// jsonList is the advice for objects in one list.
const jsonList = "a list in JSON: JSON Lines have one object on each line (jq -c '.[]' makes them of it)"

// misnamed is the cause of the error of a file that is in another format than its name says, or in
// another compression. A survey reads it so.
type misnamed struct {
	format      Format
	compression Compression
}

func (m *misnamed) Error() string { return "another format or compression than the name says" }

// misnamedError is the error of a file whose first bytes break the rule and tell what it is.
func (f *fileInfo) misnamedError(rule string, is misnamed) error {
	err := f.faultAt(1, -1, "", faultf(wholeRow, "%s", rule))
	var wrong *ParseError
	if is != (misnamed{}) && errors.As(err, &wrong) {
		wrong.Err = &is
	}
	return err
}

// textFault finds the first byte that no row of a text file may contain.
func textFault(row []byte) (at int, rule string) {
	for at < len(row) {
		size := 1
		switch c := row[at]; {
		case c == 0:
			return at, "NUL byte: this is not a text file, or it is in UTF-16"
		case c == '\r' && at+1 < len(row) && row[at+1] != '\n':
			return at, "carriage return without line feed: convert the line ends to LF or CRLF"
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRune(row[at:]); r == utf8.RuneError && size == 1 {
				return at, fmt.Sprintf("byte 0x%02x is not valid UTF-8: convert the file to UTF-8 "+
					"(iconv -f WINDOWS-1252 -t UTF-8, if it is of a Windows program)", c)
			}
			if r == '\ufeff' {
				return at, "byte order mark behind the beginning: were files joined?"
			}
		}
		at += size
	}
	return 0, ""
}

// separatorLine returns what a first line "sep=;" says is between the cells, as spreadsheets write
// it, and the length of that line; 0 where there is none.
func separatorLine(text []byte) (separator byte, length int) {
	line, _, whole := bytes.Cut(text, newline)
	if !whole {
		return 0, 0
	}
	length = len(line) + 1
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) != len("sep=;") || !bytes.EqualFold(line[:4], []byte("sep=")) ||
		!strings.ContainsRune(",;\t|:", rune(line[4])) {
		return 0, 0
	}
	return line[4], length
}

// skipSeparatorLine reads the next chunk where ch begins with a line that says what is between the
// cells.
func (d *csvDecoder) skipSeparatorLine(ch chunk) (chunk, error) {
	separator, length := separatorLine(ch.Data)
	if length == 0 {
		return ch, nil
	}
	d.stated, d.comma = true, separator
	d.told = append(d.told, fmt.Sprintf("cells are separated by %q, as the first line says", separator))
	d.lines.Unread(ch, length)
	return d.lines.next()
}

// rowsRule returns the rule that a file breaks whose first row is one cell. Either some later row has
// several: then what is before it is a title, or a comment. Or each row is one cell with something between
// what may be cells: a sign or blanks, as many in each row. "" where neither is so, or where the second
// row is a vote as it stands.
func (r *rowReader) rowsRule() string {
	rows := r.rows(r.ch)
	var cells []string
	for len(cells) < sampled {
		row, err := rows.read()
		if err != nil || len(row) == 0 {
			break
		}
		if len(row) > 1 {
			return fmt.Sprintf("the row has one cell, but that on line %d has %d: are the lines before it a title or "+
				"a comment? Leave them out", rows.cellLine(0), len(row))
		}
		cells = append(cells, row[0])
	}
	if r.comma != ',' || r.stated || len(cells) < 2 || r.classes.of(cells[1]) >= 0 ||
		r.classes.isMissingText(cells[1]) {
		return ""
	}
	for _, s := range []struct{ between, name string }{{"|", "'|'"}, {" ", "blanks"}, {":", "':'"}} {
		n := parts(cells[0], s.between)
		if n > 1 && !slices.ContainsFunc(cells, func(text string) bool { return parts(text, s.between) != n }) {
			return fmt.Sprintf("one column only; are cells separated by %s? Write commas, semicolons or tabs "+
				"between them", s.name)
		}
	}
	return ""
}

// parts returns how many cells a text is, if a separator, or any number of blanks, stands between them.
func parts(text, separator string) int {
	if separator == " " {
		return len(strings.Fields(text))
	}
	return strings.Count(text, separator) + 1
}

package votes

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/readfile"
)

// lineChunks cuts a text file into chunks that can be parsed apart: each begins
// with a row, and all but the last end with a row's line feed. The last line of a
// chunk is never blank, so blank lines at the end of the file belong to none.
type lineChunks struct {
	*fileInfo
	r      io.Reader
	size   int  // bytes to aim for
	quotes bool // a line feed between quotes ends no row

	rest    []byte // read, but in no chunk yet
	line    int    // number of its first line, from 1
	err     error  // of r
	started bool   // the beginning of the file is behind
}

// maxLine is the most bytes that are read to find a row's end.
const maxLine = maxRecordBytes + 4<<10

// chunk is some rows. Their parser may keep data.
type chunk struct {
	data []byte
	line int // number of the first line
}

func newLineChunks(info *fileInfo, r io.Reader, quotes bool) *lineChunks {
	return &lineChunks{fileInfo: info, r: r, size: info.chunkBytes(1), quotes: quotes, line: 1}
}

// next returns a chunk with at least one row, and io.EOF at the end. An error of
// the source comes behind the whole rows before it: a part of a row could be taken
// for a whole one.
func (c *lineChunks) next() (chunk, error) {
	buf := append(make([]byte, 0, max(c.size, 4)+len(c.rest)), c.rest...)
	for {
		if c.err == nil {
			var n int
			n, c.err = readfile.Full(c.r, buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
		}
		if !c.started {
			c.started = true
			if rule := whyNotText(buf); rule != "" {
				return chunk{}, c.errorAt(1, -1, "", rule)
			}
			buf = bytes.TrimPrefix(buf, []byte("\xef\xbb\xbf"))
			if c.quotes && bytes.HasPrefix(buf, []byte(`{"`)) { // no cell of a CSV file may begin so
				return chunk{}, c.errorAt(1, -1, "", "the file is of JSON Lines: say so by its name (.jsonl) "+
					"or the format")
			}
		}
		end := c.lastRow(buf)
		switch {
		case c.err == io.EOF:
			if end = len(buf) - trailingBlank(buf); end == 0 {
				c.rest = nil
				return chunk{}, io.EOF
			}
		case end > 0:
		case c.err != nil:
			c.rest = nil
			return chunk{}, c.sourceError(c.err, c.line-1)
		case len(buf) > maxLine:
			rule := tooLong
			if c.quotes {
				rule += neverClosed
			}
			return chunk{}, c.errorAt(c.line, -1, "", rule)
		default:
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
			continue
		}
		ch := chunk{buf[:end:end], c.line}
		c.rest = buf[end:]
		c.line += bytes.Count(ch.data, newline)
		return ch, nil
	}
}

var tooLong = fmt.Sprintf("record longer than %d bytes", maxRecordBytes)

const neverClosed = " (a quote that is never closed?)" // added where there are quotes

// unread puts back the last chunk from the given offset on.
func (c *lineChunks) unread(ch chunk, from int) {
	data := ch.data[from:]
	c.line -= bytes.Count(data, newline)
	c.rest = append(data, c.rest...)
}

// lastRow returns where the last row of data that is not blank ends, 0 if none
// does. With quotes, a row ends at a line feed that has an even number of them
// before it: within a quoted cell it is odd, since a quote in it is doubled. What
// breaks that rule is an error of the row where it does, which begins a chunk.
func (c *lineChunks) lastRow(data []byte) int {
	odd := c.quotes && bytes.Count(data, quotes)%2 == 1
	for end := len(data); ; {
		i := bytes.LastIndexByte(data[:end], '\n')
		if i < 0 {
			return 0
		}
		if c.quotes && bytes.Count(data[i:end], quotes)%2 == 1 {
			odd = !odd
		}
		if blank := i == 0 || data[i-1] == '\n' || data[i-1] == '\r' &&
			(i == 1 || data[i-2] == '\n'); !odd && !blank {
			return i + 1
		}
		end = i
	}
}

// trailingBlank returns how many bytes at the end of a file are blank lines. A carriage return that
// is all of the last line is one, as for encoding/csv.
func trailingBlank(data []byte) int {
	n := len(data)
	if n > 0 && data[n-1] == '\r' && (n == 1 || data[n-2] == '\n') {
		n--
	}
	for n > 0 && data[n-1] == '\n' {
		line := n - 1
		if line > 0 && data[line-1] == '\r' {
			line--
		}
		if line > 0 && data[line-1] != '\n' {
			break
		}
		n = line
	}
	return len(data) - n
}

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

// whyNotText returns why a file with such first bytes is not text in UTF-8; "" if it is.
func whyNotText(head []byte) string {
	for _, f := range []struct{ magic, rule string }{
		{"\x1f\x8b", "the file is compressed with gzip: decompress it first (gunzip), or say so by its " +
			"name (.gz) or the compression"},
		{"\x28\xb5\x2f\xfd",
			"the file is compressed with zstd: decompress it first, or say so by its name (.zst) or the " +
				"compression"},
		{"\xff\xfe", "the file is in UTF-16 (it begins with that byte order mark): convert it to UTF-8"},
		{"\xfe\xff", "the file is in UTF-16 (it begins with that byte order mark): convert it to UTF-8"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.rule
		}
	}
	for _, row := range formats() {
		if row.magic != "" && bytes.HasPrefix(head, []byte(row.magic)) {
			return row.isAt
		}
	}
	return ""
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
				return at, fmt.Sprintf("byte 0x%02x is not valid UTF-8", c)
			}
			if r == '\ufeff' {
				return at, "byte order mark behind the beginning: were files joined?"
			}
		}
		at += size
	}
	return 0, ""
}

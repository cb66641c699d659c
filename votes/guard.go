package votes

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// guard sits below encoding/csv, which reads a record of any length, and stops
// the stream at the first byte that no file of votes may contain or that makes
// a record too long. The bytes before it are passed on first, so faults are
// reported in the order of the file.
type guard struct {
	r     io.Reader
	name  string
	comma byte
	ends  lineEnds // of the rows so far

	buf        []byte
	start, end int // checked bytes, not yet passed on
	fill       int // end of what was read; [end,fill) waits for its next byte
	err        error
	started    bool // the beginning of the file is behind

	line    int  // of the byte at end, from 1
	record  int  // bytes of the record so far
	columns int  // of the record so far
	quoted  bool // inside a quoted field; an escaped quote "" flips it twice
}

// newGuard guards a piece of a file that begins with a row, on the given line.
func newGuard(r io.Reader, name string, comma byte, line int, ends lineEnds) *guard {
	return &guard{r: r, name: name, comma: comma, ends: ends, buf: make([]byte, 64<<10), line: line, columns: 1, started: line > 1}
}

// lineEnds says how the rows of a file end. A file that mixes both ways was
// pasted together, or damaged on its way, and is refused.
type lineEnds int

const (
	endsUnknown lineEnds = iota // until the first line end
	endsLF
	endsCRLF
)

func (e lineEnds) String() string { return [...]string{"", "LF", "CRLF"}[e] }

// rule says that a line ends in another way than those before.
func (e lineEnds) rule(now lineEnds) string {
	return "the line ends with " + now.String() + ", but the lines before end with " + e.String() + ": convert the file to one of them"
}

func (g *guard) Read(p []byte) (int, error) {
	for g.start == g.end {
		if g.err != nil {
			return 0, g.err
		}
		g.more()
	}
	n := copy(p, g.buf[g.start:g.end])
	g.start += n
	return n, nil
}

// more reads once and checks what it got.
func (g *guard) more() {
	g.fill = copy(g.buf, g.buf[g.end:g.fill])
	g.start, g.end = 0, 0
	want := g.fill + 1 // at least one byte more than the last scan left
	if !g.started {
		want = 4 // enough to know the file by its first bytes
	}
	var err error
	for empty := 0; g.fill < want && err == nil; {
		var n int
		n, err = g.r.Read(g.buf[g.fill:])
		g.fill += n
		if n == 0 {
			if empty++; empty == 100 && err == nil {
				err = io.ErrNoProgress
			}
		}
	}
	g.err = err
	if !g.started {
		g.started = true
		if e := g.sniff(); e != nil {
			g.fill, g.err = 0, e
			return
		}
	}
	if e := g.scan(err == io.EOF); e != nil {
		g.err = e
	}
}

// sniff recognises files that are not text in UTF-8 by their first bytes, and
// skips a byte order mark.
func (g *guard) sniff() error {
	head := g.buf[:g.fill]
	var rule string
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		g.fill = copy(g.buf, g.buf[3:g.fill])
		return nil
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		rule = "the file is compressed with gzip: decompress it first (gunzip), or say so by its name (.gz) or the compression"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		rule = "the file is compressed with zstd: decompress it first, or say so by its name (.zst) or the compression"
	case bytes.HasPrefix(head, []byte("PAR1")):
		rule = "the file is in the format Parquet: say so by its name (.parquet) or the format"
	case bytes.HasPrefix(head, []byte(npyMagic[:4])):
		rule = "the file is a NumPy array: say so by its name (.npy) or the format"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		rule = "the file is a zip archive or a spreadsheet: export it as CSV (NumPy archives are named .npz)"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		rule = "the file is in UTF-16 (it begins with that byte order mark): convert it to UTF-8"
	default:
		return nil
	}
	return &ParseError{File: g.name, Line: 1, Rule: rule}
}

// scan checks the bytes from end on and moves end behind the good ones. A
// character that is not complete yet is left for the next call, unless final.
func (g *guard) scan(final bool) error {
	buf := g.buf[:g.fill]
	i := 0
	defer func() { g.end = i }()
	for i < len(buf) {
		size := 1
		switch c := buf[i]; {
		case c == '\n':
			g.line++
			if !g.quoted {
				now := endsLF
				if i > 0 && buf[i-1] == '\r' { // both are passed on together
					now = endsCRLF
				}
				if g.ends != endsUnknown && g.ends != now {
					g.line-- // the line that ends here
					return g.fail(g.ends.rule(now))
				}
				g.ends = now
				g.record, g.columns = -1, 1 // -1: the line end itself is counted below
			}
		case c == g.comma:
			if !g.quoted {
				if g.columns++; g.columns > MaxColumns {
					return g.fail(fmt.Sprintf("more than %d columns", MaxColumns))
				}
			}
		case c == '"':
			g.quoted = !g.quoted
		case c == 0:
			return g.fail("NUL byte: this is not a text file, or it is in UTF-16")
		case c == '\r':
			if i+1 == len(buf) {
				if !final {
					return nil
				}
			} else if buf[i+1] != '\n' {
				return g.fail("carriage return without line feed: convert the line ends to LF or CRLF")
			}
		case c >= utf8.RuneSelf:
			if !final && !utf8.FullRune(buf[i:]) {
				return nil
			}
			var r rune
			if r, size = utf8.DecodeRune(buf[i:]); r == utf8.RuneError && size == 1 {
				return g.fail(fmt.Sprintf("byte 0x%02x is not valid UTF-8", c))
			}
			if r == '\ufeff' {
				return g.fail("byte order mark behind the beginning: were files joined?")
			}
		}
		i += size
		if g.record += size; g.record > MaxRecordBytes {
			return g.fail(fmt.Sprintf("record longer than %d bytes (a quote that is never closed?)", MaxRecordBytes))
		}
	}
	return nil
}

func (g *guard) fail(rule string) error {
	return &ParseError{File: g.name, Line: g.line, Rule: rule}
}

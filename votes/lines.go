package votes

import (
	"bytes"
	"io"
)

// lineChunks cuts a stream of lines into chunks that can be parsed apart: each
// begins with a line, and all but the last end with a line feed. One line may
// be as long as maxLine, a longer one is cut, so that whoever parses the chunk
// finds it too long.
type lineChunks struct {
	r    io.Reader
	size int    // bytes to aim for
	rest []byte // the beginning of a line
	line int    // number of the next chunk's first line, from 1
	end  int    // number of the last line before it that is not blank
	err  error  // of r, once nothing is left
}

// maxLine is beyond what any parser takes.
const maxLine = MaxRecordBytes + 4<<10

// chunk is some lines. Their parser may keep data.
type chunk struct {
	data []byte
	line int // number of the first
	end  int // number of the last line before them that is not blank
}

func newLineChunks(r io.Reader, size int) *lineChunks {
	return &lineChunks{r: r, size: size, line: 1}
}

// next returns a chunk with at least lines lines, unless one is too long or the
// stream ends. At the end it returns io.EOF; an error of the stream comes behind
// the whole lines before it. buf is used for the data if it is large enough.
func (c *lineChunks) next(buf []byte, lines int) (chunk, error) {
	if c.err != nil {
		return chunk{}, c.err
	}
	if cap(buf) < len(c.rest)+c.size {
		buf = make([]byte, 0, len(c.rest)+c.size)
	}
	buf = append(buf[:0], c.rest...)
	c.rest = c.rest[:0]
	cut := 0 // behind the last line feed
	for {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		from := len(buf)
		n, err := readFull(c.r, buf[from:cap(buf)])
		buf = buf[:from+n]
		if i := bytes.LastIndexByte(buf[from:], '\n'); i >= 0 {
			cut = from + i + 1
		}
		long := len(buf)-cut > maxLine
		switch {
		case err == io.EOF:
			c.err = io.EOF
			return c.take(buf, len(buf))
		case err != nil:
			c.err = err
			return c.take(buf, cut) // a part of a line could be taken for a whole one
		case long && (cut == 0 || lines > 1):
			return c.take(buf, len(buf))
		case !long && (cut == 0 || lines > 1 && bytes.Count(buf[:cut], newline) < lines):
			continue
		}
		return c.take(buf, cut)
	}
}

// remainder returns everything from ch on as a stream: ch was the last that
// next returned.
func (c *lineChunks) remainder(ch chunk) io.Reader {
	var tail io.Reader = c.r
	if c.err != nil {
		tail = failing{c.err}
	}
	return io.MultiReader(bytes.NewReader(ch.data), bytes.NewReader(c.rest), tail)
}

// failing is a reader at its end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// readFull reads until p is full or r fails. Unlike io.ReadFull it passes r's
// error on as it is: a source that breaks off with io.ErrUnexpectedEOF must not
// look like one that ends. An error can come with a full p.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var m int
		m, err = r.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; empty == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

var newline = []byte{'\n'}

// take returns the first n bytes as a chunk and keeps the others.
func (c *lineChunks) take(buf []byte, n int) (chunk, error) {
	c.rest = append(c.rest, buf[n:]...)
	data := buf[:n]
	if n == 0 {
		if c.err != nil {
			return chunk{}, c.err
		}
		return chunk{}, io.EOF
	}
	out := chunk{data, c.line, c.end}
	c.line += bytes.Count(data, newline)
	if blank := trailingBlank(data); blank < len(data) {
		// The last line that is not blank ends in front of the blank ones.
		c.end = c.line - 1 - bytes.Count(data[len(data)-blank:], newline)
	}
	return out, nil
}

// trailingBlank returns how many bytes at the end of data are blank lines.
func trailingBlank(data []byte) int {
	n := len(data)
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

// Package textrows cuts a text of rows, one a line, into chunks of whole rows that can be parsed apart, and does
// jobs on several goroutines in their order. It knows no format beyond what ends a row.
package textrows

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/darrm/darrm/internal/readfile"
	"golang.org/x/sync/errgroup"
)

// Chunks cuts a text into chunks: each begins with a row, and all but the last end with a row's line feed. The last
// line of a chunk is never blank, so blank lines at the end of the text belong to none. It is for one goroutine
// at a time.
type Chunks struct {
	R      io.Reader
	Size   int  // bytes to aim for
	Most   int  // bytes that are read to find a row's end
	Quotes bool // a line feed between quotes ends no row
	First  int  // number of the first line, 0 for 1
	// Begin takes the first bytes and returns them without what is no row; nil takes them as they are.
	Begin func(head []byte) ([]byte, error)
	// Enough reports whether a chunk, whose first line has this number, need not grow; nil is always.
	Enough func(data []byte, line int) bool

	rest    []byte // read, but in no chunk yet
	line    int    // lines of R before rest
	err     error  // of R
	started bool   // the beginning of the text is behind
}

// Chunk is some rows. Their parser may keep Data.
type Chunk struct {
	Data []byte
	Line int // number of the first line, from 1
}

// ErrTooLong is the error for a row that is longer than Chunks.Most.
var ErrTooLong = errors.New("a row is too long")

// Line returns the number of the first line that is in no chunk yet, from 1.
func (c *Chunks) Line() int { return c.line + max(c.First, 1) }

// Next returns a chunk with at least one row, and io.EOF at the end. An error of the source comes behind the whole
// rows before it: a part of a row could be taken for a whole one.
func (c *Chunks) Next() (Chunk, error) {
	buf := append(make([]byte, 0, max(c.Size, 4)+len(c.rest)), c.rest...)
	for {
		if c.err == nil {
			var n int
			n, c.err = readfile.Full(c.R, buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
		}
		if !c.started {
			c.started = true
			if c.Begin != nil {
				var err error
				if buf, err = c.Begin(buf); err != nil {
					return Chunk{}, err
				}
			}
		}
		end := LastRow(buf, c.Quotes)
		switch {
		case c.err == io.EOF:
			if end = len(buf) - TrailingBlank(buf); end == 0 {
				c.rest = nil
				return Chunk{}, io.EOF
			}
		case end > 0 && (c.err != nil || len(buf) > c.Most || c.Enough == nil || c.Enough(buf[:end], c.Line())):
		case c.err != nil:
			c.rest = nil
			return Chunk{}, c.err
		case len(buf) > c.Most:
			return Chunk{}, ErrTooLong
		default:
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
			continue
		}
		ch := Chunk{buf[:end:end], c.Line()}
		c.rest = buf[end:]
		c.line += bytes.Count(ch.Data, newline)
		return ch, nil
	}
}

// Unread puts back the last chunk from the given offset on.
func (c *Chunks) Unread(ch Chunk, from int) {
	data := ch.Data[from:]
	c.line -= bytes.Count(data, newline)
	c.rest = append(data, c.rest...)
}

// LastRow returns where the last row of data that is not blank ends, 0 if none does. With quotes, a row ends at a
// line feed that has an even number of them before it: within a quoted cell it is odd, since a quote in it is
// doubled. What breaks that rule is an error of the row where it does, which begins a chunk.
func LastRow(data []byte, quoted bool) int {
	odd := quoted && bytes.Count(data, quotes)%2 == 1
	for end := len(data); ; {
		i := bytes.LastIndexByte(data[:end], '\n')
		if i < 0 {
			return 0
		}
		if quoted && bytes.Count(data[i:end], quotes)%2 == 1 {
			odd = !odd
		}
		if blank := i == 0 || data[i-1] == '\n' || data[i-1] == '\r' &&
			(i == 1 || data[i-2] == '\n'); !odd && !blank {
			return i + 1
		}
		end = i
	}
}

// TrailingBlank returns how many bytes at the end of a text are blank lines. A carriage return that is all of the
// last line is one, as for encoding/csv.
func TrailingBlank(data []byte) int {
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

// A Pipeline does jobs on several goroutines and returns the results in the order
// of the jobs.
type Pipeline[R any] struct {
	ctx   context.Context
	order chan chan R   // in the order of the jobs; some more than workers, to keep them busy
	Done  chan struct{} // nothing is under way any more
}

// InOrder takes jobs from next, which returns io.EOF behind the last, and does
// them. An error of next is turned into the last result by fail. ctx ends it all.
func InOrder[J, R any](ctx context.Context, workers int, next func() (J, error), do func(J) R,
	fail func(error) R) *Pipeline[R] {
	p := &Pipeline[R]{ctx: ctx, order: make(chan chan R, workers+2), Done: make(chan struct{})}
	var group errgroup.Group
	group.SetLimit(workers)
	go func() {
		defer close(p.Done)
		defer group.Wait() // its functions return no error
		defer close(p.order)
		for {
			job, err := next()
			if err == io.EOF {
				return
			}
			slot := make(chan R, 1)
			select {
			case p.order <- slot:
			case <-ctx.Done():
				return
			}
			if err != nil {
				slot <- fail(err)
				return
			}
			group.Go(func() error {
				slot <- do(job)
				return nil
			})
		}
	}()
	return p
}

// Next returns the next result, io.EOF behind the last, and at once an error when
// the context is done: a stream that was stopped must not look like one at its end.
func (p *Pipeline[R]) Next() (result R, err error) {
	select {
	case slot, ok := <-p.order:
		if err := context.Cause(p.ctx); err != nil {
			return result, err
		}
		if !ok {
			return result, io.EOF
		}
		select {
		case result = <-slot:
			return result, nil
		case <-p.ctx.Done():
		}
	case <-p.ctx.Done():
	}
	return result, context.Cause(p.ctx)
}

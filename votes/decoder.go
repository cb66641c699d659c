package votes

import (
	"errors"
	"fmt"
)

// A decoder cuts one file into tasks, in order, in one goroutine.
type decoder interface {
	// about is known as soon as the decoder is.
	about() about
	// next returns the task of reading the next rows, and io.EOF at the end.
	next() (task, error)
	// close frees what the decoder opened itself, never the source.
	close() error
}

// about is what a file says of itself at the beginning.
type about struct {
	k           int
	ids, labels bool
	rows        int64 // 0 if it does not say
	roles       Roles
}

// A task reads some rows into a batch, which it resets. Tasks of one file may
// run at once and in any order. On an error the batch holds the rows before the
// fault.
type task func(*Batch) error

// fileInfo is what everything that reads a file, or speaks of it, has to know.
type fileInfo struct {
	name    string
	opts    *Options
	classes *classList
	layout  Layout // never LayoutDefault, except for arrays before it is refused

	rows     bool // places are rows of an array from 0, not lines from 1
	idColumn int  // for messages, from 0
	idName   string
}

// chunkBytes is how much text, or how many bytes of an array, a task gets, so
// that the counts of a batch stay within bounds. A row has at least two bytes
// for each of k cells.
func (f *fileInfo) chunkBytes(k int) int {
	size := f.opts.chunkBytes
	if size == 0 {
		size = defaultChunkBytes
	}
	if f.layout == LayoutCounts { // a row has as many cells as counts
		return size
	}
	per := f.classes.len()
	if f.opts.KeepVotes {
		per += k
	}
	return min(size, max(64, f.batchCells()/per*2*k))
}

func (f *fileInfo) batchCells() int {
	if f.opts.batchCells > 0 {
		return f.opts.batchCells
	}
	return defaultBatchCells
}

// batchRows is how many rows a batch gets where that can be chosen.
func (f *fileInfo) batchRows(k int) int {
	per := f.classes.len()
	if f.opts.KeepVotes {
		per += k
	}
	return max(1, min(f.batchCells()/per, 1<<16))
}

// errorf is a fault of the file as a whole.
func (f *fileInfo) errorf(format string, args ...any) error {
	return &ParseError{File: f.name, Rule: fmt.Sprintf(format, args...)}
}

// sourceError is about a source that failed behind the given line or row.
func (f *fileInfo) sourceError(err error, after int) error {
	var p *ParseError
	if errors.As(err, &p) { // of the guard, or of what decompresses
		if p.Line == 0 && !f.rows && after > 0 {
			q := *p
			q.Line = after
			q.Rule += " (behind this line)"
			return &q
		}
		return p
	}
	if f.rows {
		return fmt.Errorf("read %s: %w", f.name, err)
	}
	return fmt.Errorf("read %s after line %d: %w", f.name, after, err)
}

// bufferPool keeps byte buffers for reuse.
type bufferPool struct{ free chan []byte }

func newBufferPool(n int) *bufferPool { return &bufferPool{make(chan []byte, n)} }

// get returns a buffer of any capacity, perhaps none.
func (p *bufferPool) get() []byte {
	select {
	case b := <-p.free:
		return b[:0]
	default:
		return nil
	}
}

func (p *bufferPool) put(b []byte) {
	if cap(b) > 2*defaultChunkBytes {
		return // of a long line
	}
	select {
	case p.free <- b:
	default:
	}
}

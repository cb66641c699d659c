package votes

import (
	"errors"
	"fmt"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/votes/format"
)

// A decoder cuts one file into tasks, in order, in one goroutine.
type decoder interface {
	// next returns the task of reading the next rows, and io.EOF at the end.
	next() (task, error)
}

// A task reads some rows into a batch that is empty. Tasks of one file may run at
// once and in any order. On an error the batch holds the rows before the fault.
type task func(*Batch) error

// fileInfo holds the facts of a file that its readers, and messages about it, need.
type fileInfo struct {
	name    string
	opts    *Options
	classes *classList
	sets    *labelSet // of Options.Labels; nil for none
	vectors bool      // a vote is a number for each label
	layout  Layout    // never LayoutDefault, except for arrays before it is refused
	rows    bool      // places are rows from 0, not lines from 1

	// Known once the file is open.
	k           int
	kPlace      int // the row that gave k, with LayoutCounts
	ids, labels bool
	total       int64 // rows; 0 if the file does not say
	roles       Roles
	idColumn    int      // for messages, from 0; -1 if it has no number
	told        []string // how the file was read that is not to be seen in its columns
	idName      string
}

// chunkBytes returns the number of bytes of text, or of an array, for one task. It bounds the
// counts of a batch. A row has at least two bytes for each of k cells.
func (f *fileInfo) chunkBytes(k int) int {
	size := f.opts.chunkBytes
	if size == 0 {
		size = defaultChunkBytes
	}
	if f.layout == LayoutCounts { // a row has as many cells as counts
		return size
	}
	return min(size, max(64, f.batchRows(k)*2*k))
}

// batchRows returns the number of rows of a batch, for formats that can choose it.
func (f *fileInfo) batchRows(k int) int {
	per := f.classes.len()
	if f.opts.KeepVotes {
		per += k
	}
	if f.sets != nil {
		per *= f.sets.list.len()
	}
	return max(1, defaultBatchCells/per)
}

// errorf is a fault of the file as a whole.
func (f *fileInfo) errorf(format string, args ...any) error {
	return f.parseError(faultf(wholeRow, format, args...))
}

// parseError is a fault without its place. Its cause names the parameters of the rule, and what
// would settle it.
func (f *fileInfo) parseError(wrong *fault) *ParseError {
	e := &ParseError{File: f.name, Rule: wrong.rule.String(), Value: wrong.value}
	if named := check.Namedf("%s", wrong.rule); wrong.err != nil {
		wrong.err.cause, e.Err = named, wrong.err
	} else if wrong.rule.Names() {
		e.Err = named
	}
	return e
}

// errorAt is a fault at a place, and there in a column (from 0, or -1).
func (f *fileInfo) errorAt(place, column int, name, rule string) error {
	return f.faultAt(place, column, name, faultf(column, "%s", rule))
}

// faultAt is errorAt of a fault.
func (f *fileInfo) faultAt(place, column int, name string, wrong *fault) error {
	e := f.parseError(wrong)
	e.Column, e.ColumnName = column+1, name
	if f.rows {
		e.Row, e.HasRow = int64(place), true
	} else {
		e.Line = place
	}
	return e
}

// placeName names a place in a message.
func (f *fileInfo) placeName(place int) string {
	if f.rows {
		return fmt.Sprintf("row %d", place)
	}
	return fmt.Sprintf("line %d", place)
}

// sourceError is about a source that failed behind the given line.
func (f *fileInfo) sourceError(err error, after int) error {
	var p *ParseError
	if errors.As(err, &p) { // of what decompresses
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

// arrayError puts the file's name, and that of a member of an archive, on a fault of an array or of columns.
func (f *fileInfo) arrayError(err error, member string) error {
	var header *npy.Error
	var wrong *format.Error
	if errors.As(err, &header) {
		wrong = &format.Error{Rule: header.Rule}
	} else if !errors.As(err, &wrong) {
		return f.sourceError(err, 0)
	}
	rule := wrong.Rule
	if member != "" {
		rule = "array " + quote(member) + ": " + rule
	}
	return &ParseError{File: f.name, Rule: rule, Err: wrong.Err}
}

package votes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
)

// A Label is an answer to a query: 0, 1 or none.
type Label int8

const (
	NoLabel Label = iota // there is none; the zero value
	Label0
	Label1
)

// LabelOf returns Label1 for true and Label0 for false.
func LabelOf(one bool) Label {
	if one {
		return Label1
	}
	return Label0
}

// Value returns 0 or 1, and whether there is a label at all.
func (l Label) Value() (bit int, ok bool) {
	switch l {
	case Label0:
		return 0, true
	case Label1:
		return 1, true
	}
	return 0, false
}

// String returns "0", "1", or "" without a label.
func (l Label) String() string {
	if bit, ok := l.Value(); ok {
		return strconv.Itoa(bit)
	}
	return ""
}

// A Query is one row of a file of votes.
type Query struct {
	ID   string // from the file, or the number of the row from 0
	K    int    // teachers, at least 1
	Ones int    // teachers that answered 1
	// Label is the true answer if the file has one. It serves scoring only: a
	// mechanism must not see it.
	Label Label
}

// Majority returns what more than half of the teachers answered, and NoLabel on
// a tie.
func (q Query) Majority() Label {
	switch zeros := q.K - q.Ones; {
	case q.Ones > zeros:
		return Label1
	case q.Ones < zeros:
		return Label0
	}
	return NoLabel
}

// A Table holds all queries of a file, column by column.
type Table struct {
	K      int
	Ones   []int    // per query
	IDs    []string // per query; nil if the file has no ids
	Labels []Label  // per query; nil if the file has no labels
}

// Len returns the number of queries.
func (t *Table) Len() int { return len(t.Ones) }

// Query returns query i, 0 ≤ i < Len. It panics outside that range.
func (t *Table) Query(i int) Query {
	q := Query{K: t.K, Ones: t.Ones[i]}
	if t.IDs != nil {
		q.ID = t.IDs[i]
	} else {
		q.ID = strconv.Itoa(i)
	}
	if t.Labels != nil {
		q.Label = t.Labels[i]
	}
	return q
}

// All yields the queries in the order of the file.
func (t *Table) All() iter.Seq[Query] {
	return func(yield func(Query) bool) {
		for i := range t.Len() {
			if !yield(t.Query(i)) {
				return
			}
		}
	}
}

// CSVOptions are the options of [ReadCSV].
type CSVOptions = Options

// ReadCSV reads a whole stream of votes of two classes. The memory is
// proportional to the number of rows. Faults of the file are [*ParseError]s; a
// failing reader's error is wrapped.
func ReadCSV(r io.Reader, opts CSVOptions) (*Table, error) {
	opts.allIDs = true // they are kept in the table too
	rd, err := NewReader(context.Background(), r, opts)
	if err != nil {
		return nil, err
	}
	t, err := rd.table()
	return t, errors.Join(err, rd.Close())
}

func (r *Reader) table() (*Table, error) {
	if n := r.classes.len(); n != 2 {
		return nil, fmt.Errorf("a table holds votes of two classes, not of %d", n)
	}
	t := &Table{K: r.K()}
	for b, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		for i := range b.Len() {
			if b.Missing != nil && b.Missing[i] > 0 {
				return nil, fmt.Errorf("query %s: %d votes are missing, a table holds none that is",
					quote(b.ID(i)), b.Missing[i])
			}
			t.Ones = append(t.Ones, b.Ones(i))
		}
		for _, id := range b.IDs {
			t.IDs = append(t.IDs, strings.Clone(id)) // not the whole batch's memory
		}
		for _, c := range b.Labels {
			label := NoLabel
			if c >= 0 {
				label = LabelOf(c == 1)
			}
			t.Labels = append(t.Labels, label)
		}
		b.Release()
	}
	return t, nil
}

// WriteLabels writes all of labels under the ids of the same index.
func WriteLabels(w io.Writer, ids []string, labels []Label) error {
	lw, _ := NewLabelWriter(w, nil)
	for i, id := range ids {
		class, ok := labels[i].Value()
		if !ok {
			class = -1
		}
		if err := lw.Write(id, class); err != nil {
			return err
		}
	}
	return lw.Flush()
}

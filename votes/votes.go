// Package votes reads and writes files of teachers' votes: K teachers answer
// each query with 0 or 1, and the mechanisms of this module need the number of
// ones per query.
//
// [ReadCSV] reads a whole file into a [Table]; [NewCSVReader] yields one [Query]
// after the other in bounded memory. [WriteLabels] writes released answers,
// [WriteCounts] the counts of a table.
//
//	symbol   Go name       meaning
//	K        Query.K       number of teachers, the same for every query
//	L        Query.Ones    number of teachers that answer 1, 0 ≤ L ≤ K
//
// # Files
//
// Comma-separated values as in RFC 4180, UTF-8, with or without a byte order
// mark, lines ended by LF or CRLF. Two layouts:
//
//	query,t1,t2,t3,label      wide: one column of 0 and 1 per teacher
//	q17,0,1,1,1
//
//	query,zeros,ones,label    counts: only how many teachers gave which answer
//	q17,1,2,1
//
// The columns query and label and the header are optional; see [CSVOptions].
//
// # Strictness
//
// A vote that is read wrongly can change what is released and to whom a privacy
// claim applies, so nothing is guessed: a missing vote, a row of another width,
// a blank line between rows, a repeated query, a column that fits nowhere and
// any text other than exactly 0 or 1 is a [*ParseError] that names the place.
// Record lengths, columns, teachers and names are bounded, so a hostile file
// cannot exhaust the memory by one row.
package votes

import (
	"iter"
	"strconv"
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
// a tie. It is not private.
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

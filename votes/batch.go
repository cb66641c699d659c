package votes

import (
	"fmt"
	"strconv"
)

// A Batch is some consecutive queries of a stream, column by column.
type Batch struct {
	First   int64 // number of the first query, from 0, over all files
	K       int   // teachers
	Classes int   // C, at least 2

	// Counts holds Len×C counts, a query's C counts side by side: how many
	// teachers answered each class. They sum to K less the missing votes.
	Counts []int
	// Missing holds the number of missing votes per query. It is nil if none is
	// missing; only MissingCoin lets any be.
	Missing []int
	// Votes holds Len×K votes, a query's K votes side by side in the teachers' order,
	// each a class or -1 for a missing one; ResolveMissing leaves it as it is. It is
	// nil unless Options.KeepVotes asked for it, which LayoutCounts does not allow.
	Votes []int
	// IDs are the queries' ids, nil if the file has none.
	IDs []string
	// Labels are the true classes, nil if the file has none. They serve scoring
	// only: a mechanism must not see them.
	Labels []int

	n     int
	file  *fileInfo
	line  int   // place of the first query: its line, or its row in the file
	lines []int // place of every query; nil if they are consecutive
	pool  *batchPool

	ids    []string // room for IDs and Labels, kept where a file has none
	labels []int
}

// Len returns the number of queries.
func (b *Batch) Len() int { return b.n }

// Row returns the counts of query i, 0 ≤ i < Len, one per class.
func (b *Batch) Row(i int) []int { return b.Counts[i*b.Classes : (i+1)*b.Classes : (i+1)*b.Classes] }

// Ones returns how many teachers answered the second of two classes in query i.
// It panics unless there are two classes and their counts sum to K: with missing votes
// K less the ones would not be the zeros.
func (b *Batch) Ones(i int) int {
	if b.Classes != 2 {
		panic(fmt.Sprintf("votes: Ones of %d classes, want 2", b.Classes))
	}
	zeros, ones := b.Counts[2*i], b.Counts[2*i+1]
	if zeros+ones != b.K {
		panic(fmt.Sprintf("votes: Ones of a query with %d of K = %d votes: call ResolveMissing before", zeros+ones, b.K))
	}
	return ones
}

// ClassRanks returns, for each class, the place of its name among all names in the order
// of bytes. It does not depend on the order in which the classes are listed. It must not be
// changed. It panics for a Batch that no Reader returned.
func (b *Batch) ClassRanks() []int { return b.file.classes.ranks }

// ID returns the id of query i: from the file, or its number from 0 over all files.
func (b *Batch) ID(i int) string {
	if b.IDs != nil {
		return b.IDs[i]
	}
	return strconv.FormatInt(b.First+int64(i), 10)
}

// Majority returns the class with the most votes in query i, and -1 if several
// have most. Missing votes do not count. It is not private.
func (b *Batch) Majority(i int) int {
	best, most, tie := -1, -1, false
	for c, n := range b.Row(i) {
		if n > most {
			best, most, tie = c, n, false
		} else if n == most {
			tie = true
		}
	}
	if tie {
		return -1
	}
	return best
}

// ResolveMissing gives every missing vote the class that draw returns, which
// must be independent and uniform on {0, …, classes-1} (see [MissingPolicy]).
// Afterwards no vote is missing in Counts; Votes is left as the file has it. An
// error of draw leaves the batch unusable.
func (b *Batch) ResolveMissing(draw func(classes int) (int, error)) error {
	for i, missing := range b.Missing {
		row := b.Row(i)
		for range missing {
			c, err := draw(b.Classes)
			if err != nil {
				return fmt.Errorf("draw a missing vote of query %s: %w", quote(b.ID(i)), err)
			}
			if c < 0 || c >= b.Classes {
				return fmt.Errorf("draw a missing vote of query %s: class %d, want 0 to %d", quote(b.ID(i)), c, b.Classes-1)
			}
			row[c]++
		}
		b.Missing[i] = 0
	}
	b.Missing = nil
	return nil
}

// Release gives the batch's memory back for later batches of the same Reader.
// It may be left out; after it the batch and its slices must not be used.
func (b *Batch) Release() {
	if p := b.pool; p != nil {
		b.pool = nil
		p.put(b)
	}
}

// reset empties b for k teachers and classes classes.
func (b *Batch) reset(k, classes int) {
	*b = Batch{
		K: k, Classes: classes, Counts: b.Counts[:0], Votes: b.Votes[:0], pool: b.pool,
		ids: larger(b.ids, b.IDs), labels: larger(b.labels, b.Labels),
	}
}

// larger returns the one with more room, emptied.
func larger[T any](a, b []T) []T {
	if cap(b) > cap(a) {
		a = b
	}
	return a[:0]
}

// addLine notes the place of the query that is added next.
func (b *Batch) addLine(line int) {
	switch {
	case b.n == 0:
		b.line = line
	case b.lines == nil && line != b.line+b.n:
		for i := range b.n {
			b.lines = append(b.lines, b.line+i)
		}
	}
	if b.lines != nil {
		b.lines = append(b.lines, line)
	}
}

// place returns the place of query i.
func (b *Batch) place(i int) int {
	if b.lines != nil {
		return b.lines[i]
	}
	return b.line + i
}

// addRow makes room for one query without votes and returns its counts.
func (b *Batch) addRow() []int {
	b.n++
	for range b.Classes {
		b.Counts = append(b.Counts, 0)
	}
	if b.Missing != nil {
		b.Missing = append(b.Missing, 0)
	}
	return b.Counts[len(b.Counts)-b.Classes:]
}

// addRows makes room for n queries without votes and returns their counts.
func (b *Batch) addRows(n int) []int {
	from := len(b.Counts)
	b.n += n
	b.Counts = growZero(b.Counts, n*b.Classes)
	if b.Missing != nil {
		b.Missing = growZero(b.Missing, n)
	}
	return b.Counts[from:]
}

func growZero(s []int, n int) []int {
	from := len(s)
	if cap(s) < from+n {
		t := make([]int, from, max(from+n, 2*cap(s)))
		copy(t, s)
		s = t
	}
	s = s[:from+n]
	clear(s[from:])
	return s
}

// addMissing notes a missing vote of query i.
func (b *Batch) addMissing(i int) {
	if b.Missing == nil {
		b.Missing = make([]int, b.n, max(b.n, cap(b.Counts)/b.Classes))
	}
	b.Missing[i]++
}

// batchPool keeps batches for reuse, so that a long stream makes no garbage. It
// holds at most as many as its channel has room for.
type batchPool struct{ free chan *Batch }

func newBatchPool(n int) *batchPool { return &batchPool{make(chan *Batch, n)} }

func (p *batchPool) get(k, classes int) *Batch {
	var b *Batch
	select {
	case b = <-p.free:
	default:
		b = new(Batch)
	}
	b.reset(k, classes)
	b.pool = p
	return b
}

func (p *batchPool) put(b *Batch) {
	select {
	case p.free <- b:
	default:
	}
}

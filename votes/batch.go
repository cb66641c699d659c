package votes

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/darrm/darrm/internal/handle"
)

// A Batch is some consecutive queries of a stream, column by column. It is for one goroutine at a
// time, and for none after Release.
type Batch struct {
	First   int64 // number of the first query, from 0, over all files
	K       int   // teachers
	Classes int   // C, at least 2

	// Counts holds Len×C counts, a query's C counts side by side: how many
	// teachers answered each class. They sum to K less the missing votes; with Options.YesFrom they have
	// public votes besides.
	Counts []int
	// Missing holds the number of missing votes per query. It is nil if none is
	// missing; MissingError lets none be.
	Missing []int
	// Votes holds Len×K votes, a query's K votes side by side in the teachers' order,
	// each a class or -1 for a missing one. It is
	// nil unless Options.KeepVotes asked for it, which LayoutCounts does not allow.
	Votes []int
	// IDs are the queries' ids, nil if the file has none.
	IDs []string
	// Labels are the true classes, -1 where one is not known, nil if the file has none or nobody needs
	// them. They serve scoring only: a mechanism must not see them.
	Labels []int

	teachers []string // of LayoutLong, before its rows become queries: whose vote each row is

	places []int // of every query: its line from 1, or its row in the file from 0
	file   *fileInfo
	pool   *sync.Pool // of the Reader's batches
}

// Len returns the number of queries.
func (b *Batch) Len() int { return len(handle.Made(b).places) }

// Row returns the counts of query i, 0 ≤ i < Len, one per class.
func (b *Batch) Row(i int) []int {
	b = handle.Made(b)
	return b.Counts[i*b.Classes : (i+1)*b.Classes : (i+1)*b.Classes]
}

// Public returns how many votes of each query's Counts are public ones, for the first and the second class
// (Options.YesFrom): they are no teacher's.
func (b *Batch) Public() (no, yes int) {
	b = handle.Made(b)
	no, yes, _ = b.file.public(b.K)
	return no, yes
}

// Ones returns how many votes there are for the second of two classes in query i.
// It panics unless there are two classes and their counts have no missing vote: with missing votes
// K less the ones would not be the zeros.
func (b *Batch) Ones(i int) int {
	if b == nil || b.Classes == 0 { // it is of no file
		return 0
	}
	if b.Classes != 2 {
		panic(fmt.Sprintf("votes: Ones of %d classes, want 2", b.Classes))
	}
	zeros, ones := b.Counts[2*i], b.Counts[2*i+1]
	no, yes := b.Public()
	if zeros+ones != b.K+no+yes {
		panic(fmt.Sprintf("votes: Ones of a query with %d of K = %d votes: some are missing", zeros+ones,
			b.K))
	}
	return ones
}

// ClassRanks returns, for each class, the place of its name among all names in the order
// of bytes. It does not depend on the order in which the classes are listed. It must not be
// changed. A Batch that no Reader returned has none.
func (b *Batch) ClassRanks() []int {
	return slices.Clone(handle.Made(handle.Made(handle.Made(b).file).classes).ranks)
}

// ID returns the id of query i: from the file, or its number from 0 over all files.
func (b *Batch) ID(i int) string {
	b = handle.Made(b)
	if b.IDs != nil {
		return b.IDs[i]
	}
	return strconv.FormatInt(b.First+int64(i), 10)
}

// Truth returns the true class of query i, -1 where it is not known.
func (b *Batch) Truth(i int) int {
	if labels := handle.Made(b).Labels; labels != nil {
		return labels[i]
	}
	return -1
}

// Majority returns the class with the most votes in query i, and -1 if several
// have most. Missing votes do not count. It is not private.
func (b *Batch) Majority(i int) int {
	b = handle.Made(b)
	best, row := -1, b.Row(i)
	for c, n := range row {
		if best < 0 || n > row[best] {
			best = c
		}
	}
	if best >= 0 && slices.Contains(row[best+1:], row[best]) {
		return -1
	}
	return best
}

// Release gives the batch's memory back for later batches of the same Reader.
// It may be left out; after it the batch and its slices must not be used.
func (b *Batch) Release() {
	b = handle.Made(b)
	if p := b.pool; p != nil {
		b.pool = nil
		p.Put(b)
	}
}

// reset empties b for a file and keeps its memory.
func (b *Batch) reset(f *fileInfo) {
	labels := b.Labels[:0]
	if !f.labels { // of the files of a stream, some may have them
		labels = nil
	}
	*b = Batch{
		K: f.k, Classes: f.classes.len(), Counts: b.Counts[:0], Votes: b.Votes[:0],
		IDs: b.IDs[:0], teachers: b.teachers[:0], Labels: labels, places: b.places[:0], file: f,
		pool: b.pool,
	}
}

// growZero appends n zeros.
func growZero(s []int, n int) []int {
	from := len(s)
	s = slices.Grow(s, n)[:from+n]
	clear(s[from:])
	return s
}

// addMissing notes n missing votes of the query that is added next, or on each of its labels.
func (b *Batch) addMissing(n, labels int) {
	if n > 0 && b.Missing == nil {
		b.Missing = make([]int, b.Len()*labels, max(64, 2*(b.Len()+1)*labels))
	}
	for range labels {
		if b.Missing != nil {
			b.Missing = append(b.Missing, n)
		}
	}
}

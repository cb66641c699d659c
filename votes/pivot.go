package votes

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// pivot turns rows of single votes into queries.
type pivot struct {
	r        *Reader
	wide     fileInfo // a made-up file in LayoutWide, whose records are the queries
	k        int
	ids      []string // of all queries
	index    map[string]int
	fixed    bool // the ids are given
	teachers map[string]int
	names    []string  // of teachers, as they came
	place    []int     // of each teacher among the sorted names; nil with streamed
	rows     [][]int16 // of each query, by teacher: a class, noVote or noRow
	sets     [][]int32 // instead of rows, of each query with several labels: see mark
	streamed bool      // rows come in the order of the ids, and one query is in rows at a time
	votes    int64     // in rows, or in sets
	most     int64     // of them in memory
	rec      record    // of the query that is finished

	raw  *Batch // rows that were read
	at   int    // the next row of raw
	done int    // queries that were yielded, and with streamed whose rows are behind
	end  bool
}

const (
	noVote = -1 // a row without a vote
	noRow  = -2
)

// startLong decides how the rows are gathered. Where K is not stated, the teachers who voted at all
// are counted first, which reads everything.
func (r *Reader) startLong() error {
	l := &pivot{r: r, wide: *r.first, k: r.opts.K, ids: r.opts.QueryIDs, fixed: r.opts.QueryIDs != nil,
		index: make(map[string]int, len(r.opts.QueryIDs)), teachers: make(map[string]int), most: maxLongVotes}
	for i, id := range l.ids {
		if _, twice := l.index[id]; twice || idRule(id) != "" {
			return check.Want(string(pQueryIDs), quote(id),
				"ids that differ, 1 to "+fmt.Sprint(maxIDBytes)+" bytes of text each")
		}
		l.index[id] = i
	}
	if r.opts.longVotes > 0 { // of tests
		l.most = r.opts.longVotes
	}
	l.streamed = l.fixed && l.k > 0 && int64(len(l.ids))*int64(l.k) > l.most
	if l.streamed && r.opts.KeepVotes {
		return check.Namedf("%d queries of K = %d teachers: single votes of more than %d are not kept",
			len(l.ids), l.k, l.most)
	}
	l.rows, l.sets = make([][]int16, len(l.ids)), make([][]int32, len(l.ids))
	if l.k == 0 {
		if err := l.gather(); err != nil {
			return err
		}
		if err := check.Teachers(len(l.names)); err != nil {
			return err
		}
		l.k = len(l.names)
	}
	l.wide.layout, l.wide.k = LayoutWide, l.k
	if l.wide.sets != nil {
		l.rec.sets = make([][]int, l.k)
	} else {
		l.rec.votes = make([]cell, l.k)
	}
	r.long = l
	return nil
}

// gather reads all rows.
func (l *pivot) gather() error {
	for !l.end {
		if err := l.pull(); err != nil {
			return err
		}
		for ; l.at < l.left(); l.at++ {
			if err := l.take(); err != nil {
				return err
			}
		}
	}
	return nil
}

// teacherNames returns the names of the teachers in the order of Batch.Votes, as far as they have
// any, of a reader that has read everything.
func (r *Reader) teacherNames() []string {
	if l := r.long; l != nil {
		return slices.Sorted(slices.Values(l.names))
	}
	if r.first.roles.In == "columns" && r.first.layout != LayoutCounts {
		return r.first.roles.Votes
	}
	return nil
}

// left returns the number of rows of raw.
func (l *pivot) left() int {
	if l.raw == nil {
		return 0
	}
	return l.raw.Len()
}

// pull makes raw hold a row that is not taken yet, or end true.
func (l *pivot) pull() error {
	for !l.end && l.at == l.left() {
		if l.raw != nil {
			l.raw.Release()
			l.raw, l.at = nil, 0
		}
		b, err := l.r.nextBatch()
		switch {
		case err == io.EOF:
			l.end = true
		case err != nil:
			return err
		default:
			l.raw, l.at = b, 0
		}
	}
	return nil
}

// take enters the next row.
func (l *pivot) take() error {
	b, i := l.raw, l.at
	fail := func(format string, args ...any) error {
		f := b.file
		return f.faultAt(b.places[i], f.idColumn, f.idName, faultf(wholeRow, format, args...))
	}
	failTeacher := func(format string, args ...any) error { // no fault of the id
		return b.file.faultAt(b.places[i], -1, "", faultf(wholeRow, format, args...))
	}
	query, known := l.index[b.IDs[i]]
	switch {
	case !known && l.fixed:
		return fail("query id %s is not among the %d that are answered (%s)", quote(b.IDs[i]),
			len(l.ids), pQueryIDs)
	case !known && len(l.ids) == maxQueryIDs:
		return fail("there are more than %d queries", maxQueryIDs)
	case !known:
		id := strings.Clone(b.IDs[i])
		query = len(l.ids)
		l.index[id], l.ids, l.rows, l.sets = query, append(l.ids, id), append(l.rows, nil), append(l.sets, nil)
	case query < l.done:
		return fail("the rows of query %s are not together, or not in the order of %s: so many votes "+
			"(%d queries of K = %d teachers) are not sorted in memory", quote(b.IDs[i]), pQueryIDs,
			len(l.ids), l.k)
	}
	teacher, known := l.teachers[b.teachers[i]]
	if !known {
		if l.k > 0 && len(l.names) == l.k {
			return failTeacher("teacher %s is one more than K = %d (%s)", quote(b.teachers[i]), l.k, pK)
		}
		name := strings.Clone(b.teachers[i])
		teacher = len(l.names)
		l.teachers[name], l.names = teacher, append(l.names, name)
	}
	tooMany := func() error {
		if l.votes++; l.streamed || l.votes <= l.most {
			return nil
		}
		return fail("more than %d votes are not sorted in memory: sort the rows by id, and give "+
			"all ids in that order (%s) and the number of teachers (%s)", l.most, pQueryIDs, pK)
	}
	if l.r.opts.sets != nil {
		l.sets[query] = append(l.sets[query], l.mark(teacher, b.Votes[i]))
		return tooMany()
	}
	row := l.rows[query]
	for len(row) <= teacher {
		row = append(row, noRow)
		if err := tooMany(); err != nil {
			return err
		}
	}
	if row[teacher] != noRow {
		return failTeacher("teacher %s votes twice on query %s", quote(b.teachers[i]), quote(b.IDs[i]))
	}
	row[teacher] = int16(b.Votes[i])
	l.rows[query] = row
	return nil
}

// next yields the next queries.
func (l *pivot) next() (*Batch, error) {
	if !l.streamed && !l.end {
		if err := l.gather(); err != nil {
			return nil, err
		}
	}
	if !l.streamed && l.place == nil {
		sorted := slices.Sorted(slices.Values(l.names))
		for _, name := range l.names {
			at, _ := slices.BinarySearch(sorted, name)
			l.place = append(l.place, at)
		}
	}
	b := l.r.pool.Get().(*Batch)
	b.reset(&l.wide)
	b.First, b.pool = l.r.longNext, &l.r.pool
	if !l.r.opts.KeepVotes { // its memory is of a batch of rows
		b.Votes = nil
	}
	for full := l.wide.batchRows(l.k); b.Len() < full && l.done < len(l.ids); l.done++ {
		if l.streamed {
			if err := l.rowsOf(l.done); err != nil {
				return nil, err
			}
		}
		if err := l.finish(b, l.done); err != nil {
			return nil, err
		}
		l.rows[l.done], l.sets[l.done] = nil, nil
	}
	l.r.longNext += int64(b.Len())
	if b.Len() == 0 {
		return nil, io.EOF
	}
	if l.r.opts.sets != nil {
		b.perLabel(l.r.opts.Labels)
	}
	return b, nil
}

// rowsOf reads rows up to the first that belongs to a later query.
func (l *pivot) rowsOf(query int) error {
	for {
		if err := l.pull(); err != nil || l.end {
			return err
		}
		if at, known := l.index[l.raw.IDs[l.at]]; known && at > query {
			return nil
		}
		if err := l.take(); err != nil {
			return err
		}
		l.at++
	}
}

// finish appends a query to b, as a row of a file in LayoutWide.
func (l *pivot) finish(b *Batch, query int) error {
	l.rec.place = query
	l.rec.id.setText(textCell, l.ids[query])
	votes, has, hint, err := 0, "%d of K = %d votes", "", error(nil)
	if l.wide.sets == nil {
		votes = l.takeRow(query)
	} else if votes, err = l.takeSets(query); err != nil {
		return err
	} else {
		has, hint = "labels of %d of K = %d teachers", " (no: no to every label)"
	}
	if votes < l.k && l.r.opts.Missing == MissingError {
		return l.wide.errorf("query %s has "+has+": every teacher must answer every query, unless %s says what a missing "+
			"vote is"+hint, quote(l.ids[query]), votes, l.k, pMissing)
	}
	if wrong := l.wide.add(b, &l.rec); wrong != nil {
		return l.wide.errorf("query %s: %v", quote(l.ids[query]), wrong.rule)
	}
	return nil
}

// placeOf returns the place of a teacher in the record, from the one in rows or sets.
func (l *pivot) placeOf(teacher int) int {
	if l.place != nil {
		return l.place[teacher]
	}
	return teacher
}

// takeRow enters the votes of a query into the record, and returns how many teachers have one.
func (l *pivot) takeRow(query int) (votes int) {
	for i := range l.rec.votes {
		l.rec.votes[i].kind = nullCell
	}
	for teacher, class := range l.rows[query] {
		if class >= 0 {
			l.rec.votes[l.placeOf(teacher)].setClass(int(class))
			votes++
		}
	}
	return votes
}

// mark is the row of a teacher for a label of a query, or for none (-1), as a number: rows of one teacher
// are side by side when they are sorted, and by the order of the labels.
func (l *pivot) mark(teacher, label int) int32 {
	labels := l.r.opts.sets.list.len()
	if label < 0 {
		label = labels
	}
	return int32(teacher*(labels+1) + label) // at most check.MaxTeachers·(check.MaxClasses+1)
}

// takeSets is takeRow of a query with several labels.
func (l *pivot) takeSets(query int) (votes int, err error) {
	s, marks := l.wide.sets, l.sets[query]
	clear(l.rec.sets)
	per := int32(s.list.len() + 1)
	slices.Sort(marks)
	for i, mark := range marks {
		teacher, label := int(mark/per), int(mark%per)
		again, blank, what := i > 0 && marks[i-1]/per == mark/per, label == s.list.len(), ""
		switch {
		case !again && blank:
			continue
		case !again:
			votes++
		case blank:
			what = "a blank beside labels"
		case marks[i-1] == mark:
			what = quote(s.list.names[label]) + " twice"
		}
		if what != "" {
			return 0, l.wide.errorf("teacher %s has %s on query %s", quote(l.names[teacher]), what, quote(l.ids[query]))
		}
		set := &l.rec.sets[l.placeOf(teacher)]
		*set = append(*set, label)
	}
	return votes, nil
}

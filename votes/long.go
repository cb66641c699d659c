package votes

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// Limits of LayoutLong: queries, whose ids are in memory; and votes that wait in memory, two bytes
// each. Where QueryIDs and K are given and there are more votes, the rows must come in the order of
// the ids, and only one query waits.
const (
	maxQueryIDs  = 1 << 22
	maxLongVotes = 1 << 26
)

// checkLong validates what goes with LayoutLong, and refuses it elsewhere.
func (o *Options) checkLong() error {
	if o.Layout != LayoutLong {
		for _, x := range []struct {
			given bool
			p     check.Parameter
		}{{o.VoteColumn != "", pVoteColumn}, {o.TeacherColumn != "", pTeacherColumn},
			{o.QueryIDs != nil, pQueryIDs}} {
			if x.given {
				return check.Namedf("%s goes with %s long", x.p, pLayout)
			}
		}
		return nil
	}
	for _, x := range []struct {
		given bool
		p     check.Parameter
	}{{len(o.VoteColumns) > 0, pVoteColumns}, {o.VotesColumn != "", pVotesColumn},
		{o.LabelColumn != "" && o.LabelColumn != NoColumn, pLabelColumn}} {
		if x.given {
			return check.Namedf("%s goes without %s long, whose rows are an id, a teacher and a vote", x.p,
				pLayout)
		}
	}
	if o.QueryIDs != nil && len(o.QueryIDs) == 0 || len(o.QueryIDs) > maxQueryIDs {
		return check.Wantf(string(pQueryIDs), len(o.QueryIDs), "between 1 and %d", maxQueryIDs)
	}
	return nil
}

// ReadQueryIDs reads the ids of the queries of a file in LayoutLong: a CSV or a text of lines. The
// ids are in the column of the name that the header has, else in the only column, whose first line
// is an id too. name is the file's name for messages; faults of the file are [*ParseError]s.
func ReadQueryIDs(r io.Reader, name, column string) ([]string, error) {
	name = shownName(name)
	r, separator := format.PeekSeparator(r)
	in := csv.NewReader(r)
	in.Comma, in.ReuseRecord = separator, true
	var ids []string
	seen := make(map[string]bool)
	at, width := 0, 0
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		var syntax *csv.ParseError
		switch {
		case errors.As(err, &syntax):
			return nil, &ParseError{File: name, Line: syntax.Line, Rule: syntax.Err.Error(), Err: err}
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if width == 0 {
			width = len(row)
			row[0] = strings.TrimPrefix(row[0], "\ufeff")
			if at = slices.IndexFunc(row, func(cell string) bool {
				cell = strings.TrimSpace(cell)
				return cell == column || column == "" && isUsual(cell, idNames...)
			}); at >= 0 {
				continue
			}
			if at = 0; width > 1 {
				return nil, &ParseError{File: name, Line: 1,
					Rule: fmt.Sprintf("of %d columns none has the name %s of the ids", width, quote(column))}
			}
		}
		id := strings.Clone(strings.TrimSpace(row[at]))
		line, _ := in.FieldPos(at)
		switch rule := idRule(id); {
		case rule != "":
			return nil, &ParseError{File: name, Line: line, Rule: rule}
		case seen[id]:
			return nil, &ParseError{File: name, Line: line,
				Rule: "query id " + quote(id) + " appears twice"}
		case len(ids) == maxQueryIDs:
			return nil, &ParseError{File: name, Line: line,
				Rule: fmt.Sprintf("there are more than %d query ids", maxQueryIDs)}
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if ids == nil {
		return nil, &ParseError{File: name, Rule: "there is no query id in the file"}
	}
	return ids, nil
}

// assignLong finds the columns of LayoutLong, of which c has the id.
func (f *fileInfo) assignLong(s *columnSet, c columns) (columns, *fault) {
	if c.id < 0 {
		return c, faultf(wholeRow, "there is no %s of query ids: name it (%s)", s.what, pIDColumn)
	}
	vote, wrong := s.find("the vote", f.opts.VoteColumn, "vote")
	if wrong == nil && vote < 0 {
		wrong = faultf(wholeRow, "there is no %s of votes: name it (%s)", s.what, pVoteColumn)
	}
	if wrong != nil {
		return c, wrong
	}
	if c.teacher, wrong = s.find("teacher", f.opts.TeacherColumn, "teacher"); wrong == nil &&
		c.teacher < 0 {
		wrong = faultf(wholeRow, "there is no %s of teachers' names: name it (%s)", s.what,
			pTeacherColumn)
	}
	if wrong != nil {
		return c, wrong
	}
	c.votes, f.k = []int{vote}, 1
	c.unused = s.unassigned()
	f.setRoles(s, &c)
	return c, nil
}

// addLong appends the vote of one teacher on one query.
func (f *fileInfo) addLong(b *Batch, r *record) *fault {
	classes := f.classes
	if f.sets != nil {
		classes = f.sets.list
	}
	class := r.votes[0].class(classes)
	switch missing := class < 0 && classes.isMissing(&r.votes[0]); {
	case class >= 0 || missing && f.opts.Missing != MissingError:
	case f.sets == nil:
		return r.votes[0].voteFault(0, classes)
	case missing:
		return &fault{at: 0, rule: f.sets.missingRule(&r.votes[0])}
	default:
		return faultf(0, "vote %s %s", &r.votes[0], f.sets.list.noneOf("labels"))
	}
	id, wrong := r.queryID()
	if wrong != nil {
		return wrong
	}
	teacher, wrong := r.teacherName()
	if wrong != nil {
		return wrong
	}
	b.IDs, b.teachers = append(b.IDs, id), append(b.teachers, teacher)
	b.Votes, b.places = append(b.Votes, class), append(b.places, r.place)
	return nil
}

// pivot turns rows of single votes into queries.
type pivot struct {
	r        *Reader
	k        int
	ids      []string // of all queries
	index    map[string]int
	fixed    bool // the ids are given
	teachers map[string]int
	names    []string  // of teachers, as they came
	order    []int     // of teachers, by their names
	rows     [][]int16 // of each query, by teacher: a class, noVote or noRow
	sets     [][]int32 // instead of rows, of each query with several labels: see mark
	streamed bool      // rows come in the order of the ids, and one query is in rows at a time
	votes    int64     // in rows, or in sets

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
	l := &pivot{r: r, k: r.opts.K, ids: r.opts.QueryIDs, fixed: r.opts.QueryIDs != nil,
		index: make(map[string]int, len(r.opts.QueryIDs)), teachers: make(map[string]int)}
	for i, id := range l.ids {
		if _, twice := l.index[id]; twice || idRule(id) != "" {
			return check.Want(string(pQueryIDs), quote(id),
				"ids that differ, 1 to "+fmt.Sprint(maxIDBytes)+" bytes of text each")
		}
		l.index[id] = i
	}
	most := int64(maxLongVotes)
	if r.opts.longVotes > 0 { // of tests
		most = r.opts.longVotes
	}
	l.streamed = l.fixed && l.k > 0 && int64(len(l.ids))*int64(l.k) > most
	if l.streamed && r.opts.KeepVotes {
		return check.Namedf("%d queries of K = %d teachers: single votes of more than %d are not kept",
			len(l.ids), l.k, most)
	}
	l.rows, l.sets = make([][]int16, len(l.ids)), make([][]int32, len(l.ids))
	if l.k == 0 {
		if err := l.gather(most); err != nil {
			return err
		}
		if err := check.Teachers(len(l.names)); err != nil {
			return err
		}
		l.k = len(l.names)
	}
	r.long = l
	return nil
}

// gather reads all rows.
func (l *pivot) gather(most int64) error {
	for !l.end {
		if err := l.pull(); err != nil {
			return err
		}
		for ; l.at < l.left(); l.at++ {
			if err := l.take(most); err != nil {
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
func (l *pivot) take(most int64) error {
	b, i := l.raw, l.at
	fail := func(format string, args ...any) error {
		f := b.file
		return f.faultAt(b.places[i], f.idColumn, f.idName, faultf(wholeRow, format, args...))
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
			return fail("teacher %s is one more than K = %d (%s)", quote(b.teachers[i]), l.k, pK)
		}
		name := strings.Clone(b.teachers[i])
		teacher = len(l.names)
		l.teachers[name], l.names = teacher, append(l.names, name)
	}
	tooMany := func() error {
		if l.votes++; l.streamed || l.votes <= most {
			return nil
		}
		return fail("more than %d votes are not sorted in memory: sort the rows by id, and give "+
			"all ids in that order (%s) and the number of teachers (%s)", most, pQueryIDs, pK)
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
		return fail("teacher %s votes twice on query %s", quote(b.teachers[i]), quote(b.IDs[i]))
	}
	row[teacher] = int16(b.Votes[i])
	l.rows[query] = row
	return nil
}

// next yields the next queries.
func (l *pivot) next() (*Batch, error) {
	most := int64(maxLongVotes)
	if l.r.opts.longVotes > 0 {
		most = l.r.opts.longVotes
	}
	if !l.streamed && !l.end {
		if err := l.gather(most); err != nil {
			return nil, err
		}
	}
	if l.order == nil {
		l.order = make([]int, len(l.names))
		for i := range l.order {
			l.order[i] = i
		}
		slices.SortFunc(l.order, func(a, b int) int { return strings.Compare(l.names[a], l.names[b]) })
	}
	f := l.r.first
	b := l.r.pool.Get().(*Batch)
	b.reset(f)
	b.K, b.First, b.pool = l.k, l.r.longNext, &l.r.pool
	if !l.r.opts.KeepVotes { // its memory is of a batch of rows
		b.Votes = nil
	}
	for full := f.batchRows(l.k); b.Len() < full && l.done < len(l.ids); l.done++ {
		if l.streamed {
			if err := l.rowsOf(l.done, most); err != nil {
				return nil, err
			}
		}
		finish := l.finish
		if l.r.opts.sets != nil {
			finish = l.finishSets
		}
		if err := finish(b, l.done); err != nil {
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
func (l *pivot) rowsOf(query int, most int64) error {
	for {
		if err := l.pull(); err != nil || l.end {
			return err
		}
		if at, known := l.index[l.raw.IDs[l.at]]; known && at > query {
			return nil
		}
		if err := l.take(most); err != nil {
			return err
		}
		l.at++
	}
}

// finish appends a query to b.
func (l *pivot) finish(b *Batch, query int) error {
	row := l.rows[query]
	counts := len(b.Counts)
	b.Counts = growZero(b.Counts, b.Classes)
	votes := 0
	for _, class := range row {
		if class >= 0 {
			b.Counts[counts+int(class)]++
			votes++
		}
	}
	if votes < l.k && l.r.opts.Missing == MissingError {
		return l.r.first.errorf("query %s has %d of K = %d votes: every teacher must answer every query, "+
			"unless %s says what a missing vote is", quote(l.ids[query]), votes, l.k, pMissing)
	}
	if l.r.opts.KeepVotes {
		for _, teacher := range l.order {
			class := -1
			if teacher < len(row) {
				class = max(-1, int(row[teacher]))
			}
			b.Votes = append(b.Votes, class)
		}
		for range l.k - len(l.order) { // who never votes
			b.Votes = append(b.Votes, -1)
		}
	}
	if wrong := l.r.first.addPublic(b.Counts[counts:], l.k); wrong != nil {
		return l.r.first.errorf("query %s: %v", quote(l.ids[query]), wrong.rule)
	}
	b.addMissing(l.k - votes)
	b.IDs, b.places = append(b.IDs, l.ids[query]), append(b.places, query)
	return nil
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

// finishSets is finish of a query with several labels.
func (l *pivot) finishSets(b *Batch, query int) error {
	f, s := l.r.first, l.r.opts.sets
	labels := s.list.len()
	counts, votes := len(b.Counts), len(b.Votes)
	b.Counts = growZero(b.Counts, 2*labels)
	row, kept := b.Counts[counts:], []int(nil)
	silent := 0 // on each label
	if l.r.opts.Missing != MissingNo {
		silent = -1
	}
	if l.r.opts.KeepVotes {
		b.Votes = growZero(b.Votes, labels*l.k)
		kept = b.Votes[votes:]
		for i := range kept {
			kept[i] = silent
		}
	}
	place := make([]int, len(l.names)) // of each teacher among the votes that are kept
	for at, teacher := range l.order {
		place[teacher] = at
	}
	marks := l.sets[query]
	slices.Sort(marks)
	voters := 0
	for len(marks) > 0 {
		teacher := int(marks[0]) / (labels + 1)
		yes, blank := []int(nil), false
		for len(marks) > 0 && int(marks[0])/(labels+1) == teacher {
			label := int(marks[0]) % (labels + 1)
			if blank = label == labels; blank && len(yes) > 0 || len(marks) > 1 && marks[0] == marks[1] {
				what := "a blank beside labels"
				if !blank {
					what = quote(s.list.names[label]) + " twice"
				}
				return f.errorf("teacher %s has %s on query %s", quote(l.names[teacher]), what, quote(l.ids[query]))
			}
			if marks = marks[1:]; !blank {
				yes = append(yes, label)
			}
		}
		if blank {
			continue
		}
		voters++
		for at := range labels {
			if len(kept) > 0 {
				kept[at*l.k+place[teacher]] = 0
			}
		}
		s.count(yes, place[teacher], l.k, row, kept)
	}
	if voters < l.k && l.r.opts.Missing == MissingError {
		return f.errorf("query %s has labels of %d of K = %d teachers: every teacher must answer every query, unless "+
			"%s says what a missing vote is (no: no to every label)", quote(l.ids[query]), voters, l.k, pMissing)
	}
	if l.r.opts.Missing == MissingNo {
		voters = l.k
	}
	for at := range labels {
		row[2*at] = voters - row[2*at+1]
	}
	if wrong := f.addPublic(row, l.k); wrong != nil {
		return f.errorf("query %s: %v", quote(l.ids[query]), wrong.rule)
	}
	b.addMissings(l.k-voters, labels)
	b.IDs, b.places = append(b.IDs, l.ids[query]), append(b.places, query)
	return nil
}

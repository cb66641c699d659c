package votes

import (
	"fmt"
	"slices"
	"strings"
)

// askCounts asks whether the votes that were tallied are counts of votes for each class, and reports
// whether there is such a reading of the files. The sums of all rows say so (rowSums). Teachers whose
// names are numbered may have equal sums by chance in a few rows.
func (l *look) askCounts() bool {
	s, columns := &l.survey, l.survey.Columns
	one := len(s.Values) == 1
	if l.counts = nil; columns.Layout != LayoutWide.String() || s.K < 2 || one && l.sums.rows > 1 {
		return false
	}
	stem, named := "", columns.In == "columns"
	if by := number(columns.Votes); named && by.order() != nil {
		stem, named = by.stems[0], false
	}
	counted := slices.Contains(countWords, strings.TrimRight(strings.ToLower(stem), "_- ."))
	if !l.sums.areCounts(s.K) || !named && !counted && l.sums.rows < 5 {
		if counted && !l.sums.failed && l.sums.most > 1 {
			s.Asked = append(s.Asked, "are these counts of votes for each class? Their sums differ: where votes are "+
				"missing, only you know the number of teachers, and the layout counts states it")
		}
		return false
	}
	l.counts = l.tryCounts(classesOfCounts(columns))
	if l.counts == nil {
		return false
	}
	s.Queries = l.counts.Description.Queries
	l.presume("these are votes of teachers")
	s.Asked = append([]string{fmt.Sprintf("are these counts of votes for each class? In each row they sum to %d",
		l.sums.sum)}, s.Asked...)
	return true
}

// countWords are stems of the names of counts, in small letters.
var countWords = []string{"n", "num", "count", "counts", "freq"}

// classesOfCounts returns the classes that columns of counts are named after: their names less a common
// prefix or suffix at a sign, as in votes_cat and votes_dog; numbers where they have no names.
func classesOfCounts(columns Roles) []string {
	names := columns.Votes
	if columns.In != "columns" {
		return IntegerClasses(columns.Width)
	}
	by := number(names)
	if slices.Contains(countWords, strings.ToLower(by.stems[0])) && by.order() != nil {
		return by.numbers
	}
	before, behind := names[0], names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, before) {
			before = before[:len(before)-1]
		}
		for !strings.HasSuffix(name, behind) {
			behind = behind[1:]
		}
	}
	const signs = "_-. :/"
	before = before[:strings.LastIndexAny(before, signs)+1]
	if at := strings.IndexAny(behind, signs); at >= 0 {
		behind = behind[at:]
	} else {
		behind = ""
	}
	classes := make([]string, len(names))
	for i, name := range names {
		classes[i] = strings.TrimSuffix(strings.TrimPrefix(name, before), behind)
	}
	if CheckClasses(classes, nil) != nil {
		return names
	}
	return classes
}

// tryCounts returns the shortest reading of the files as counts for these classes, nil where there is
// none.
func (l *look) tryCounts(classes []string) *Reading {
	columns, ways := l.survey.Columns, [][]string{l.stated.VoteColumns}
	if columns.In == "columns" {
		ways = append(ways, columns.Votes)
	}
	for o := range l.candidates(ways) {
		o.Layout, o.Classes, o.KeepVotes = LayoutCounts, classes, false
		if columns.In == "list" {
			o.VotesColumn = columns.Votes[0]
		}
		l.stateTruth(&o)
		d, err := l.readStated(o)
		if err == nil && int64(d.K) == l.sums.sum && (l.survey.Queries == 0 || d.Queries == l.survey.Queries) {
			return &Reading{Answer: "these are counts", Options: o, Description: d}
		}
	}
	return nil
}

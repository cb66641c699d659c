package votes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// foundColumns has the roles that a survey finds for columns without a statement. It is made of the first
// file and holds for all.
type foundColumns struct {
	done      bool
	id        string     // as IDColumn states it, "" for none
	votes     [][]string // ways to state the votes as VoteColumns, the shortest first; nil for none
	noID      bool       // no id is to be proposed
	long      bool       // in LayoutLong
	counts    bool       // in LayoutCounts
	told      []string
	questions []string
	answer    string // what the command presumes, where something is asked

	header HeaderMode // that was found; HeaderAuto where nobody looked
	array  bool       // of which the layout is not stated
}

// discover proposes roles for columns that names and statements do not settle; c has the known ones. It changes
// the options of all files that are still to be opened, and reports whether they settle the columns now. No
// release rests on a proposal: there the columns must be stated.
func (f *fileInfo) discover(s *columnSet, c columns, wrong *fault) bool {
	found, o := f.opts.found, f.opts
	if found.done || wrong.err == nil && s.names != nil || f.layout != LayoutWide || len(o.VoteColumns) > 0 {
		return false
	}
	found.done = true
	free := s.unassigned()
	if s.names != nil && len(free) == 2 && isUsual(s.names[free[0]], "zeros") &&
		isUsual(s.names[free[1]], "ones") {
		o.Layout, f.layout, found.counts = LayoutCounts, LayoutCounts, true
		return true
	}
	kinds := s.kinds(free, f.classes)
	if o.tally != nil {
		kinds = s.sharing(free)
	}
	names := s.namesOf(free)
	by := number(names)
	var votes, others []int // of free
	id := -1
	for i := range free {
		usual := s.names != nil && (isNameless(names[i]) || namesNoTeacher(names[i], names) &&
			(by.numbers[i] == "" || by.groups[by.stems[i]] < 3))
		switch {
		case kinds[i].canVote && !usual:
			votes = append(votes, i)
		case kinds[i].id && id < 0 && c.id < 0 && o.IDColumn == "" && !found.noID:
			id = i
		default:
			others = append(others, i)
		}
	}
	if s.names != nil {
		if e := wrong.err; e.long && e.teacher != "" && o.K == 0 {
			o.Layout, f.layout, found.long = LayoutLong, LayoutLong, true
			o.IDColumn, o.TeacherColumn, o.VoteColumn = e.id, e.teacher, e.vote
			found.id = e.id
			found.answer = "each row is one vote"
			found.questions = append(found.questions, "is each row one vote? No two columns have a value in common")
			return true
		}
	}
	if counts := s.sameSums(free, id); len(counts) > max(1, len(votes)) { // they need no value in common
		votes = counts
		others = slices.DeleteFunc(others, func(i int) bool { return slices.Contains(votes, i) })
	}
	if len(votes) < 2 {
		wrong.err = nil // no command fits
		wrong.at, wrong.rule = -1, check.Named("no two columns that could be votes have a value in common: "+
			"list the columns of votes (%s), say that each row is one vote (%s long) or, where each file has the votes "+
			"of one teacher, put them side by side in one file, a column for each", pVoteColumns, pLayout)
		return false
	}
	numbered := false
	if s.names != nil {
		if alike := by.alike(votes); len(alike) > 1 && 2*len(alike) > len(votes) &&
			len(alike) == by.groups[by.stems[alike[0]]] {
			for _, i := range votes {
				if !slices.Contains(alike, i) {
					others = append(others, i)
				}
			}
			numbered, votes = true, alike
		}
	}
	if c.label < 0 && o.LabelColumn == "" && s.names != nil {
		others = s.proposeTruth(found, o, free, votes, others, kinds)
	}
	if id >= 0 {
		found.id = stated(s, free[id])
		o.IDColumn, s.used[free[id]] = found.id, "id"
		found.told = append(found.told, proposedID(found.id))
		if s.names != nil && usualLong(found.id) == "teacher" {
			found.answer = "each row is a query"
			found.questions = append(found.questions, fmt.Sprintf("is each row a query? Column %s may name teachers: "+
				"where each row is a teacher, rows and columns are to be exchanged", quoteUnlessPlain(found.id)))
		}
	}
	at := make([]int, len(votes))
	for j, i := range votes {
		at[j] = free[i]
	}
	found.votes = s.waysToState(at)
	if numbered && len(others) == 0 {
		found.votes = append([][]string{nil}, found.votes...) // the id settles it
		return true
	}
	o.VoteColumns = found.votes[len(found.votes)-1]
	if !numbered {
		found.questions = append(found.questions, fmt.Sprintf("are all %d columns teachers, and none a truth or a "+
			"covariate? The command states them; where they are not, list the columns of the teachers alone", len(votes)))
		found.answer = strings.TrimPrefix(found.answer+", all are teachers", ", ")
	}
	return true
}

// proposeTruth proposes the only one of the other columns that has a usual name of a truth and shares
// a value with the votes. It returns the others that are left.
func (s *columnSet) proposeTruth(found *foundColumns, o *Options, free, votes, others []int,
	kinds []columnKind) []int {
	truth := -1
	for at, i := range others {
		shares := slices.ContainsFunc(votes, func(j int) bool { return haveCommon(kinds[i].values, kinds[j].values) })
		if !shares || !namesTruth(s.names[free[i]]) {
			continue
		}
		if truth >= 0 {
			return others
		}
		truth = at
	}
	if truth < 0 {
		return others
	}
	at := free[others[truth]]
	o.LabelColumn, s.used[at] = stated(s, at), "label"
	found.told = append(found.told, fmt.Sprintf("truth %s is proposed: by its name, and votes have its values too",
		quoteUnlessPlain(s.names[at])))
	return slices.Delete(slices.Clone(others), truth, truth+1)
}

// sameSums returns those of the free columns, without that of the id, that hold whole numbers from 0
// on with one sum in every row, as counts for each class do: one that votes of 0 and 1 cannot have. It is
// nil where there are none, or one row.
func (s *columnSet) sameSums(free []int, id int) (columns []int) {
	if s.names == nil || s.sample == nil {
		return nil
	}
	var sums []int64
	for i, at := range free {
		cells, counts := s.sample(at), true
		for j := range cells {
			n, whole := cells[j].whole()
			counts = counts && whole && n >= 0
		}
		if i == id || !counts || namesTruth(s.names[at]) {
			continue
		}
		columns = append(columns, i)
		for j := range cells {
			if n, _ := cells[j].whole(); j < len(sums) {
				sums[j] += n
			} else {
				sums = append(sums, n)
			}
		}
	}
	if len(sums) < 2 || len(columns) < 2 || len(slices.Compact(sums)) != 1 || sums[0] <= int64(len(columns)) {
		return nil
	}
	return columns
}

func proposedID(id string) string {
	return fmt.Sprintf("id %s is proposed: it shares no value with votes and repeats none", quoteUnlessPlain(id))
}

// stated returns how a column is stated: by its name, or by its place where that is clearer.
func stated(s *columnSet, at int) string {
	if s.names == nil || s.what != "key" && (s.names[at] != Nameless && s.names[at] == "" ||
		strings.TrimSpace(s.names[at]) != s.names[at] || s.names[at] == NoColumn) {
		return fmt.Sprintf("#%d", at+1)
	}
	return s.names[at]
}

// waysToState returns the ways to state columns of votes in this order, the shortest first.
func (s *columnSet) waysToState(at []int) (ways [][]string) {
	list, named := make([]string, len(at)), s.names != nil // which always fits
	for i := range at {
		list[i] = stated(s, at[i])
	}
	if names := s.namesOf(at); named {
		if by := number(names); len(at) > 2 && by.order() != nil {
			if stem := by.stems[0]; stem != "" {
				ways = append(ways, []string{stem + "*"})
			}
			ways = append(ways, []string{names[0] + ".." + names[len(names)-1]})
		}
	}
	inOrder := slices.IsSorted(at) && at[len(at)-1]-at[0] == len(at)-1
	if s.what != "key" && inOrder && len(at) > 2 {
		ways = append(ways, []string{fmt.Sprintf("#%d..#%d", at[0]+1, at[len(at)-1]+1)})
	}
	if named && len(at) <= 8 { // names say more than places
		ways = append([][]string{list}, ways...)
		if len(ways) > 1 && strings.HasSuffix(ways[1][0], "*") {
			ways[0], ways[1] = ways[1], ways[0]
		}
	}
	ways = slices.DeleteFunc(ways, func(way []string) bool {
		if len(way) > 1 {
			return false
		}
		states, wrong := s.several(way[0])
		return wrong != nil || !slices.Equal(states, at) || slices.Contains(s.names, way[0])
	})
	return append(ways, list)
}

// sharing returns the kinds of columns of unknown classes: those can hold votes that have values in
// common with most others. A column without any value can, too.
func (s *columnSet) sharing(columns []int) []columnKind {
	kinds := s.kinds(columns, unknownClasses())
	set := largestSharing(kinds)
	if set == nil { // confidences beside votes have values in common, too
		votes := make([]columnKind, len(kinds))
		for i, k := range kinds {
			if !k.measures() {
				votes[i] = k
			}
		}
		set = largestSharing(votes)
	}
	binary := func(k columnKind) bool {
		for value := range k.values {
			if value != "0" && value != "1" {
				return false
			}
		}
		return k.rows > 0
	}
	bits := !slices.ContainsFunc(set, func(i int) bool { return !binary(kinds[i]) })
	for i := range kinds {
		k := &kinds[i]
		if bits && binary(*k) && !slices.Contains(set, i) { // a teacher may always answer 0
			set = append(set, i)
		}
		k.canVote = len(k.values) == 0 && k.rows > 0 || slices.Contains(set, i)
		k.id = k.id && !slices.Contains(set, i)
	}
	return kinds
}

// measures reports whether the column has numbers that are not whole, more than two.
func (k columnKind) measures() bool {
	fractions := 0
	for value := range k.values {
		if x, ok := rational(value); ok && !x.IsInt() {
			fractions++
		}
	}
	return fractions > 2
}

// unknownClasses returns a list of no vote's classes.
func unknownClasses() *classList {
	c, err := newClassList([]string{"\uF8FF0", "\uF8FF1"}, nil) // private-use characters
	if err != nil {
		panic(err)
	}
	return c
}

// discoverList proposes the only list as that of all votes.
func (f *fileInfo) discoverList(s *columnSet) {
	if f.opts.found == nil || f.layout == LayoutLong || f.opts.listed() || slices.Contains(s.names, f.listName()) {
		return
	}
	list := -1
	for i := range s.names {
		if s.isList(i) && !f.opts.isTruth(s.names[i]) {
			if list >= 0 {
				return
			}
			list = i
		}
	}
	if list >= 0 && number(s.names).largest() < 2 {
		f.opts.VotesColumn = s.names[list]
	}
}

// discoverID proposes the id beside a list of votes.
func (f *fileInfo) discoverID(s *columnSet, c *columns) {
	unknown := unknownClasses()
	for _, at := range s.unassigned() {
		if s.kind(at, unknown).id {
			c.id, s.used[at] = at, "id"
			f.opts.found.id, f.opts.IDColumn = stated(s, at), stated(s, at)
			f.opts.found.told = append(f.opts.found.told, proposedID(f.opts.found.id))
			return
		}
	}
}

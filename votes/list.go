package votes

import (
	"fmt"
	"slices"
)

// lists says of a file's columns which hold a list in every row, and how many items that of the
// first row has.
type lists struct {
	is     func(at int) bool
	length func(at int) int
}

// assignLists is assign where columns may hold lists: all votes or counts of a query, at list, or
// what nobody reads.
func (f *fileInfo) assignLists(s *columnSet, l lists) (list int, c columns, wrong *fault) {
	f.discoverList(s, l)
	if list, wrong = f.findList(s, l); wrong != nil {
		return list, c, wrong
	}
	if list >= 0 {
		c, wrong = f.assignList(s, list, l.length(list))
		return list, c, wrong
	}
	for i, name := range s.names {
		if l.is(i) && !f.opts.listed() && !f.opts.isTruth(name) && number(s.names).largest() < 2 {
			return list, c, faultf(wholeRow, "the %s %s holds a list; which %s holds the list of %s (%s)?",
				s.what, quote(name), s.what, f.listName(), pVotesColumn)
		}
	}
	c, wrong = f.assign(s)
	return list, c, wrong
}

// listName is the usual name of a list.
func (f *fileInfo) listName() string {
	if f.layout == LayoutCounts {
		return "counts"
	}
	return "votes"
}

// findList returns the column that holds the list of all votes or counts, or -1.
func (f *fileInfo) findList(s *columnSet, l lists) (int, *fault) {
	spec, name := f.opts.VotesColumn, f.listName()
	usual := slices.Index(s.names, name)
	if len(f.opts.VoteColumns) > 0 || spec == NoColumn || spec == "" && (usual < 0 || !l.is(usual)) ||
		f.layout == LayoutLong {
		return -1, nil
	}
	s.used = make(map[int]string)
	at, wrong := s.find("list of "+name, spec, name)
	if wrong == nil && at >= 0 && !l.is(at) {
		return -1, faultf(at, "not a list")
	}
	return at, wrong
}

// assignList is assign where one column holds the list of all n votes or counts.
func (f *fileInfo) assignList(s *columnSet, list, n int) (c columns, wrong *fault) {
	if c.id, wrong = s.find("id", f.opts.IDColumn, idNames...); wrong != nil {
		return c, wrong
	}
	if c.label, wrong = f.findTruth(s); wrong != nil {
		return c, wrong
	}
	name := s.names[list]
	if found := f.opts.found; found != nil && !found.noID && c.id < 0 && f.opts.IDColumn == "" {
		f.discoverID(s, &c)
	}
	if free := s.unassigned(); f.opts.VotesColumn != "" {
		c.unused = free
	} else if len(free) > 0 {
		return c, faultf(free[0], "it is neither id, label nor %s; name the true labels (%s) and the ids "+
			"(%s), or the list (%s)", quote(name), pLabelColumn, pIDColumn, pVotesColumn)
	}
	switch {
	case f.layout == LayoutCounts:
		n = f.classes.len()
	case n == 0:
		return c, faultf(wholeRow, "there is no vote: want a list \"votes\", or a %s for each teacher",
			s.what)
	default:
		f.k = n
		if wrong := f.teachersFault(n, fmt.Sprintf("%d votes", n)); wrong != nil {
			return c, wrong
		}
	}
	f.setRoles(s, &c)
	f.roles.In, f.roles.Votes, f.roles.Width = "list", []string{name}, n
	return c, nil
}

// listFault returns the rule that a list of so many items breaks, or "".
func (f *fileInfo) listFault(items int) string {
	switch want := f.roles.Width; {
	case items == want:
		return ""
	case f.layout == LayoutCounts:
		return fmt.Sprintf("%d counts, want %d, one for each class", items, want)
	default:
		first := "the first line"
		if f.rows {
			first = "the first row"
		}
		return fmt.Sprintf("%d votes, but %s has %d", items, first, want)
	}
}

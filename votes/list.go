package votes

import (
	"fmt"
	"slices"
)

// assignLists is assign where columns may hold lists: all votes or counts of a query, or values that are not read.
func (f *fileInfo) assignLists(s *columnSet) (columns, *fault) {
	f.discoverList(s)
	list, wrong := f.findList(s)
	if wrong != nil {
		return noColumns, wrong
	}
	if list >= 0 {
		return f.assignList(s, list)
	}
	for i, name := range s.names {
		if s.isList(i) && !f.opts.listed() && !f.opts.isTruth(name) && number(s.names).largest() < 2 {
			return noColumns, faultf(wholeRow, "the %s %s holds a list; which %s holds the list of %s (%s)?",
				s.what, quote(name), s.what, f.listName(), pVotesColumn)
		}
	}
	return f.assign(s)
}

// listName is the usual name of a list.
func (f *fileInfo) listName() string {
	if f.layout == LayoutCounts {
		return "counts"
	}
	return "votes"
}

// findList returns the column that holds the list of all votes or counts, or -1.
func (f *fileInfo) findList(s *columnSet) (int, *fault) {
	spec, name := f.opts.VotesColumn, f.listName()
	usual := slices.Index(s.names, name)
	if len(f.opts.VoteColumns) > 0 || spec == NoColumn || spec == "" && (usual < 0 || !s.isList(usual)) ||
		f.layout == LayoutLong {
		return -1, nil
	}
	s.used = make(map[int]string)
	at, wrong := s.find("list of "+name, spec, name)
	if wrong == nil && at >= 0 && !s.isList(at) {
		return -1, faultf(at, "not a list")
	}
	return at, wrong
}

// assignList is assign where one column holds the list of all votes or counts.
func (f *fileInfo) assignList(s *columnSet, list int) (c columns, wrong *fault) {
	c, n := noColumns, s.items(list)
	c.list = list
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

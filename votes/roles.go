package votes

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
)

// columns has the roles of a file's columns, by index from 0, -1 for none.
type columns struct {
	id, label int
	teacher   int   // of LayoutLong
	list      int   // of all votes or counts
	votes     []int // of each teacher, or with LayoutCounts of each class; nil with a list
	unused    []int // neither; only where VoteColumns lists the votes
}

// noColumns are the roles before any is known.
var noColumns = columns{id: -1, label: -1, teacher: -1, list: -1}

// A readColumn is a column that is read, and the cell of a record that it holds.
type readColumn struct{ at, cell int }

// read returns the columns that are read.
func (c *columns) read() []readColumn {
	var read []readColumn
	for i, at := range c.votes {
		read = append(read, readColumn{at, i})
	}
	for _, one := range []readColumn{{c.list, listCell}, {c.id, idCell}, {c.label, labelCell}, {c.teacher, teacherCell}} {
		if one.at >= 0 {
			read = append(read, one)
		}
	}
	return read
}

// of returns the column of a cell, -1 where it has none.
func (c *columns) of(cell int) int {
	for _, r := range c.read() {
		if r.cell == cell || r.cell == listCell && cell >= 0 {
			return r.at
		}
	}
	return -1
}

// columnSet lists the columns that a file has, or the keys of its objects.
type columnSet struct {
	what  string   // "column" or "key", for messages
	names []string // nil without names
	n     int
	used  map[int]string

	// sample returns some first cells of a column, none where they are not known. It may read on in
	// the file: it is for a file that is refused.
	sample func(at int) []cell

	// isList reports whether a column holds a list in every row, and items how many items that of the first
	// row has; nil in a format without lists.
	isList func(at int) bool
	items  func(at int) int
}

// assign gives every column its role. It is the one rule for all formats with columns
// or keys. A column is a teacher in three cases only:
//
//   - Options.VoteColumns lists it;
//   - the names say so: all columns but id and label have one stem and different numbers;
//   - Options.K is as large as the number of columns but id and label, and the names do
//     not contradict it (see numbering.allowsTeachers), or every column has a name, IDColumn is
//     stated, and LabelColumn too where most of the names are numbered alike.
//
// Anything else is a fault. A column that was taken for a teacher by mistake, such as
// the true labels, would be a vote that promises nothing. A survey proposes what would settle it.
func (f *fileInfo) assign(s *columnSet) (columns, *fault) {
	c, wrong := f.assignStated(s)
	if wrong != nil && f.opts.found != nil && f.discover(s, c, wrong) {
		c, wrong = f.assignStated(s)
	}
	if wrong != nil {
		return noColumns, wrong
	}
	return c, nil
}

// assignStated is assign by names and statements alone.
func (f *fileInfo) assignStated(s *columnSet) (c columns, wrong *fault) {
	c, s.used = noColumns, make(map[int]string)
	if c.id, wrong = s.find("id", f.opts.IDColumn, idNames...); wrong != nil {
		return c, wrong
	}
	if f.layout == LayoutLong {
		return f.assignLong(s, c)
	}
	if s.isIndex(0) && len(f.opts.VoteColumns) == 0 {
		if c.id < 0 && f.opts.IDColumn == "" {
			c.id = 0
		}
		if s.used[0] = "id"; c.id != 0 {
			s.used[0], c.unused = "an index without a name", []int{0}
		}
	} else if s.isIndex(0) && c.id < 0 && f.opts.IDColumn == "" {
		c.id, s.used[0] = 0, "id"
	}
	if c.label, wrong = f.findTruth(s); wrong != nil {
		return c, wrong
	}
	switch counts := f.layout == LayoutCounts; {
	case len(f.opts.VoteColumns) > 0:
		c.votes, wrong = s.listed(f.opts.VoteColumns, counts, f.classes)
		c.unused = s.unassigned()
	case counts:
		c.votes, wrong = s.counts(f.opts.K, f.classes)
	default:
		c.votes, wrong = s.teachers(f.opts, f.classes)
	}
	if wrong != nil {
		return c, wrong
	}
	if f.layout != LayoutCounts {
		f.k = len(c.votes)
		if wrong := f.teachersFault(f.k, fmt.Sprintf("%d columns of votes", f.k)); wrong != nil {
			return c, wrong
		}
	}
	f.setRoles(s, &c)
	return c, nil
}

// namesFault returns the fault of a name that no name can be, or that two columns have.
// Of columns that are listed, those in use alone count; nil takes all.
func (s *columnSet) namesFault(used []readColumn) *fault {
	isUsed := func(at int) bool {
		return used == nil || slices.ContainsFunc(used, func(r readColumn) bool { return r.at == at })
	}
	seen := make(map[string]int, len(s.names))
	for i, name := range s.names {
		first, twice := seen[name]
		switch {
		case !isUsed(i) && !(twice && isUsed(first)):
		case twice && name != "":
			return faultf(i, "the file has the name %s twice, first in column %d: give each column a name of "+
				"its own, in one row of names", quote(name), first+1)
		case !utf8.ValidString(name):
			return faultf(i, "the name %s is not valid UTF-8", quote(name))
		}
		if !twice {
			seen[name] = i
		}
	}
	return nil
}

// findTruth finds the column of true labels. Where nobody needs them and the votes are listed, it is
// a column like all others that are not read, whatever they are called.
func (f *fileInfo) findTruth(s *columnSet) (int, *fault) {
	if o := f.opts; o.NoTruth && (o.LabelColumn == "" && o.listed() ||
		o.LabelColumn != "" && s.what == "key" && !slices.Contains(s.names, strings.TrimSpace(o.LabelColumn))) {
		return -1, nil
	}
	return s.find("label", f.opts.LabelColumn, truthNames...)
}

// truthNames are the usual names of the column of true labels, in any case; idNames those of the ids.
var (
	truthNames = []string{"label", "truth"}
	idNames    = []string{"query", "id"}
)

// setRoles remembers the roles of the file's columns. True labels that nobody needs have none.
func (f *fileInfo) setRoles(s *columnSet, c *columns) {
	if f.opts.NoTruth && c.label >= 0 {
		at, _ := slices.BinarySearch(c.unused, c.label)
		c.unused, c.label = slices.Insert(c.unused, at, c.label), -1
	}
	f.ids, f.labels, f.roles = c.id >= 0, c.label >= 0, s.roles(f, *c)
	if f.idColumn = c.id; f.ids && s.names != nil {
		f.idName = s.names[c.id]
	}
}

// teachersFault returns the rule that K = k teachers break, or nil. source names the origin of k
// for the message.
func (f *fileInfo) teachersFault(k int, source string) *fault {
	switch {
	case k > check.MaxTeachers:
		return faultf(wholeRow, "K = %d teachers, want at most %d", k, check.MaxTeachers)
	case f.opts.K != 0 && f.opts.K != k:
		return faultf(wholeRow, "%s, but K = %d teachers are expected (%s, or the table's)", source,
			f.opts.K, pK)
	}
	return nil
}

// find returns the column that spec or, without one, a usual name gives; -1 if there is
// none.
func (s *columnSet) find(role, spec string, usual ...string) (int, *fault) {
	switch spec {
	case NoColumn:
		return -1, nil
	case "":
		found := -1
		for i, name := range s.names {
			if !isUsual(name, usual...) {
				continue
			}
			if found >= 0 {
				return 0, faultf(i, "%s could be the %s too; say which it is (%s)", quote(s.names[found]), role,
					parameterOf(role))
			}
			found = i
		}
		return found, s.setRole(found, role)
	}
	at, wrong := s.at(role, spec)
	if wrong != nil {
		return 0, wrong
	}
	if at < 0 {
		hint := ""
		if _, place := placeOf(spec, false); place && s.what != "key" {
			hint = ": a place is written #" + strings.TrimPrefix(spec, "#")
		} else if parameterOf(role) == pVoteColumns && (strings.Contains(spec, "..") || strings.ContainsAny(spec, "-[:")) {
			hint = ": a range has the names of two columns, as in t1..t9, and a pattern is t*"
		}
		return 0, faultf(-1, "there is no %s %s for the %s (%s)%s", s.what, quote(spec),
			strings.TrimPrefix(role, "the "), parameterOf(role), hint)
	}
	return at, s.setRole(at, role)
}

func parameterOf(role string) check.Parameter {
	switch role {
	case "id":
		return pIDColumn
	case "label":
		return pLabelColumn
	case "the vote":
		return pVoteColumn
	case "teacher":
		return pTeacherColumn
	}
	return pVoteColumns
}

// setRole notes a column's role. A column has one.
func (s *columnSet) setRole(at int, role string) *fault {
	if at < 0 {
		return nil
	}
	if other, ok := s.used[at]; ok {
		return faultf(at, "the %s cannot be %s and %s at once", s.what, other, role)
	}
	s.used[at] = role
	return nil
}

// unassigned returns the columns without a role.
func (s *columnSet) unassigned() []int {
	var free []int
	for i := range s.n {
		if s.used[i] == "" {
			free = append(free, i)
		}
	}
	return free
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return strings.Join(quoted, ", ")
}

// isUsual reports whether a name is one of these, in any case of ASCII letters.
func isUsual(name string, usual ...string) bool {
	lower := func(s string) string {
		b := []byte(s)
		for i, c := range b {
			if 'A' <= c && c <= 'Z' {
				b[i] += 'a' - 'A'
			}
		}
		return string(b)
	}
	return slices.ContainsFunc(usual, func(u string) bool { return lower(u) == lower(name) })
}

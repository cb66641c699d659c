package votes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/votes/format"
)

// Roles names the columns of a file by their roles. The names come from the file and may hold
// anything; String quotes the unusual ones.
type Roles struct {
	// Layout is the meaning of a column of votes: "wide", "counts", "long" or "teachers".
	Layout string `json:"layout"`
	// In is the kind of name in Votes, ID and Truth: "columns" by their names, "positions" of
	// columns without names, from 1, a "list" (the key of a JSON list), or an "array".
	In string `json:"in"`
	// Votes has a name for each teacher, in the order of Batch.Votes; with LayoutCounts
	// for each class. It has one for a list or an array, and none for an array without a
	// name.
	Votes []string `json:"votes"`
	// Width is the number of teachers, or with LayoutCounts of classes.
	Width int `json:"width"`
	// Teacher is the column of the teachers' names, with LayoutLong.
	Teacher string `json:"teacher,omitempty"`
	// ID and Truth are "" where there is none.
	ID    string `json:"id"`
	Truth string `json:"truth"`
	// Unused columns are neither. There are none unless Options.VoteColumns lists the
	// columns of votes.
	Unused []string `json:"unused,omitempty"`

	namelessPlace int // from 1, of the id if it is Nameless; else 0
}

// SameVotes reports whether two files have the same columns of votes, as far as both have
// names. All files of a stream must: what is a teacher in one and another thing in the
// next, with K stated, would go unseen. Columns of counts may be named in two ways.
func (r Roles) SameVotes(other Roles) bool {
	return r.In != "columns" || other.In != "columns" || r.Layout == LayoutCounts.String() ||
		slices.Equal(r.Votes, other.Votes)
}

// IDName returns the name of the column of ids, "" where it has none.
func (r Roles) IDName() string {
	if (r.In == "columns" || r.In == "list") && r.ID != Nameless {
		return r.ID
	}
	return ""
}

// String returns one line, such as
//
//	votes: t1 … t11 (11 columns); id: query; truth: label
func (r Roles) String() string {
	what := "votes"
	if r.Layout == LayoutCounts.String() {
		what = "counts"
	}
	var b strings.Builder
	switch r.In {
	case "columns":
		of := "column"
		if r.Layout == LayoutLong.String() {
			of = "teacher"
		}
		fmt.Fprintf(&b, "%s: %s (%s)", what, abbreviate(r.Votes), num.Count(r.Width, of))
	case "positions":
		fmt.Fprintf(&b, "%s: column %s (%s without names)", what, abbreviate(r.Votes),
			num.Count(r.Width, "column"))
	case "list":
		fmt.Fprintf(&b, "%s: %s (a list of %d)", what, quoteUnlessPlain(r.Votes[0]), r.Width)
	default:
		side := "column"
		if r.Layout == LayoutTeachers.String() {
			side = "row"
		}
		b.WriteString(what + ": ")
		for _, name := range r.Votes {
			b.WriteString(quoteUnlessPlain(name) + " ")
		}
		fmt.Fprintf(&b, "(an array of %s)", num.Count(r.Width, side))
	}
	column := func(role, name string) {
		switch {
		case name == "":
			name = "none"
		case name == Nameless && r.namelessPlace > 0:
			name = fmt.Sprintf(`"" (column %d)`, r.namelessPlace)
		case r.In == "positions":
			name = "column " + name
		default:
			name = quoteUnlessPlain(name)
		}
		b.WriteString("; " + role + ": " + name)
	}
	if r.Teacher != "" {
		column("teacher", r.Teacher)
	}
	column("id", r.ID)
	column("truth", r.Truth)
	if len(r.Unused) > 0 {
		b.WriteString("; not read: " + abbreviate(r.Unused))
	}
	return b.String()
}

// abbreviate lists names, and of names that count up the first and the last.
func abbreviate(names []string) string {
	const most = 50
	var parts []string
	for i := 0; i < len(names); {
		if len(parts) == most {
			parts = append(parts, fmt.Sprintf("… and %d more", len(names)-i))
			break
		}
		end := i + 1
		for end < len(names) && isNextName(names[end-1], names[end]) {
			end++
		}
		switch end - i {
		case 1:
			parts = append(parts, quoteUnlessPlain(names[i]))
		case 2:
			parts = append(parts, quoteUnlessPlain(names[i]), quoteUnlessPlain(names[i+1]))
		default:
			parts = append(parts, quoteUnlessPlain(names[i])+" … "+quoteUnlessPlain(names[end-1]))
		}
		i = end
	}
	return strings.Join(parts, ", ")
}

// isNextName reports whether b is a with the next number.
func isNextName(a, b string) bool {
	x, y := number([]string{a}), number([]string{b})
	if x.stems[0] != y.stems[0] {
		return false
	}
	m, err := strconv.ParseUint(x.numbers[0], 10, 62)
	n, err2 := strconv.ParseUint(y.numbers[0], 10, 62)
	return err == nil && err2 == nil && n == m+1
}

// quoteUnlessPlain is a name as it stands where it is plain, and quoted where it could be
// misread, or change what a terminal shows.
func quoteUnlessPlain(name string) string {
	if name == Nameless {
		return name
	}
	for _, c := range name {
		if !strconv.IsPrint(c) || strings.ContainsRune("\"',;:() …\ufffd", c) {
			return quote(name)
		}
	}
	if name == "" || len(name) > format.MaxQuoted {
		return quote(name)
	}
	return name
}

// roles describes columns by their names.
func (s *columnSet) roles(f *fileInfo, c columns) Roles {
	r := Roles{Layout: f.layout.String(), In: "columns", Width: len(c.votes)}
	name := func(i int) string { return cmp.Or(s.names[i], Nameless) }
	if s.names == nil {
		r.In, name = "positions", func(i int) string { return strconv.Itoa(i + 1) }
	}
	for _, i := range c.votes {
		r.Votes = append(r.Votes, name(i))
	}
	for _, i := range c.unused {
		r.Unused = append(r.Unused, name(i))
	}
	if c.id >= 0 {
		if r.ID = name(c.id); r.ID == Nameless {
			r.namelessPlace = c.id + 1
		}
	}
	if c.teacher >= 0 {
		r.Teacher = name(c.teacher)
	}
	if c.label >= 0 {
		r.Truth = name(c.label)
	}
	return r
}

package votes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// A column is stated by one of these, the first that fits:
//
//	t1                 its name
//	""                 the first column without a name (Nameless)
//	#2                 its place, from 1
//	2                  the same where columns have no names
//	#2..#25            a range of places, of votes only
//	site_01..site_24   a range of names, of votes only: of one stem by their numbers, else by their places
//	site_*             a pattern, of votes only

// placeOf returns the place from 0 that a text such as #2 states, or 2 where columns have no names.
func placeOf(spec string, named bool) (at int, ok bool) {
	digits, marked := strings.CutPrefix(spec, "#")
	if !marked && named {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n - 1, err == nil
}

// placesOf returns the places from 0 that a statement of votes is about, of those that are places.
func placesOf(spec string) (places []int) {
	if at, ok := placeOf(spec, false); ok {
		return []int{at}
	}
	from, to, _ := strings.Cut(spec, "..")
	first, ok := placeOf(from, true)
	last, ok2 := placeOf(to, true)
	for at := first; ok && ok2 && at <= last && len(places) <= check.MaxTeachers; at++ {
		places = append(places, at)
	}
	return places
}

// at returns the column that spec states alone, -1 where none has that name or place. The fault is
// that of a place beyond the columns.
func (s *columnSet) at(role, spec string) (int, *fault) {
	spec = strings.TrimSpace(spec)
	if i := slices.Index(s.names, spec); i >= 0 {
		return i, nil
	}
	if spec == Nameless {
		return slices.Index(s.names, ""), nil
	}
	if s.what == "key" { // whose order means nothing
		return -1, nil
	}
	i, ok := placeOf(spec, s.names != nil)
	switch {
	case !ok:
		return -1, nil
	case i < 0 || i >= s.n:
		return -1, faultf(-1, "%s column %d, want a position from 1 to %d, the number of columns (%s)", role,
			i+1, s.n, parameterOf(role))
	}
	return i, nil
}

// several returns the columns that a range or a pattern of votes states, nil where spec is neither.
// It takes no column that has a role, or a name of ids or truths.
func (s *columnSet) several(spec string) ([]int, *fault) {
	var among []int // in the order of their places
	if from, to, ok := strings.Cut(spec, ".."); ok {
		first, wrong := s.at("vote", from)
		if wrong != nil {
			return nil, wrong
		}
		last, wrong := s.at("vote", to)
		if wrong != nil {
			return nil, wrong
		}
		if first >= 0 && last >= 0 {
			if from, to = strings.TrimSpace(from), strings.TrimSpace(to); slices.Contains(s.names, from) &&
				slices.Contains(s.names, to) {
				among = s.numbered(from, to)
			}
			if among == nil {
				for at := first; at <= last; at++ {
					among = append(among, at)
				}
			}
			if len(among) == 0 {
				return nil, faultf(-1, "%s: the range ends before it begins (%s)", quote(spec), pVoteColumns)
			}
		}
	}
	if among == nil && strings.Contains(spec, "*") && s.names != nil {
		parts := strings.Split(strings.TrimSpace(spec), "*")
		for at, name := range s.names {
			if matches(name, parts) {
				among = append(among, at)
			}
		}
		if order := number(s.namesOf(among)).order(); len(order) > 0 {
			places := slices.Clone(among)
			for i, of := range order {
				among[i] = places[of]
			}
		}
	}
	if among == nil {
		return nil, nil
	}
	free := slices.DeleteFunc(among, func(at int) bool { return s.used[at] != "" || s.names != nil && s.isNoVote(at) })
	if len(free) == 0 {
		return nil, faultf(-1, "%s: no %s of votes is among these (%s)", quote(spec), s.what, pVoteColumns)
	}
	return free, nil
}

// namesOf returns the names of columns, #1 for the first of those without names.
func (s *columnSet) namesOf(columns []int) []string {
	names := make([]string, len(columns))
	for i, at := range columns {
		if names[i] = fmt.Sprintf("#%d", at+1); s.names != nil {
			names[i] = s.names[at]
		}
	}
	return names
}

// numbered returns the columns of one stem from one name's number to another's, in that order; nil
// where the names have no stem in common.
func (s *columnSet) numbered(from, to string) []int {
	ends := number([]string{from, to})
	if ends.order() == nil {
		return nil
	}
	by := number(s.names)
	var among []int
	for at := range s.names {
		if by.numbers[at] != "" && by.stems[at] == ends.stems[0] &&
			compareNumbers(by.numbers[at], ends.numbers[0]) >= 0 &&
			compareNumbers(by.numbers[at], ends.numbers[1]) <= 0 {
			among = append(among, at)
		}
	}
	slices.SortStableFunc(among, func(i, j int) int { return compareNumbers(by.numbers[i], by.numbers[j]) })
	if among == nil {
		return []int{}
	}
	return among
}

// isNoVote reports whether a column's name is one of ids or truths, so that it must be stated to be a
// vote.
func (s *columnSet) isNoVote(at int) bool {
	return s.isIndex(at) || isUsual(s.names[at], slices.Concat(idNames, truthNames)...)
}

// isIndex reports whether a column is an index that nobody named, as pandas writes it: the first
// column, whose name is empty or what pandas calls an empty one.
func (s *columnSet) isIndex(at int) bool {
	return at == 0 && s.what == "column" && s.names != nil && (s.names[0] == "" || s.names[0] == "Unnamed: 0")
}

// matches reports whether a name has a pattern's parts, at least two, in their order, with any texts between.
// Package regexp would be 113 kB of the 3 MiB that the page in web may have.
func matches(name string, parts []string) bool {
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(name, parts[0])
	for _, part := range parts[1:last] {
		if ok {
			_, rest, ok = strings.Cut(rest, part)
		}
	}
	return ok && strings.HasSuffix(rest, parts[last])
}

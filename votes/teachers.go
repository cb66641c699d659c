package votes

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// A ColumnsError is the cause of a [ParseError] about a file of which nothing says which columns
// are votes. It proposes Options that would settle it, as far as names and first rows tell. It
// proposes no column as a vote but those that are numbered alike, or those that can hold votes if
// they are as many as Options.K: an id, a truth or a covariate that votes would be a teacher that
// promises nothing.
type ColumnsError struct {
	IDColumn    string   // holds different values, none of which is a class; "" for none
	VoteColumns []string // in the teachers' order; nil where only their reader knows
	K           bool     // Options.K alone is missing: all columns but IDColumn can hold votes

	cause error
}

func (e *ColumnsError) Error() string { return e.cause.Error() }
func (e *ColumnsError) Unwrap() error { return e.cause }

// teachers finds the columns of votes where nobody lists them.
func (s *columnSet) teachers(o *Options, classes *classList, c columns) ([]int, *fault) {
	how := check.Named("name the true labels (%s) and the ids (%s), or list the votes (%s)",
		pLabelColumn, pIDColumn, pVoteColumns)
	free, k := s.unassigned(), o.K
	if len(free) == 0 {
		return nil, faultf(-1, "there is no %s of votes", s.what)
	}
	if s.names == nil {
		switch k {
		case 0:
			return nil, faultf(-1,
				"the columns have no names, and nothing says which of the %d are votes: state the number of "+
					"teachers (%s), or %s", s.n, pK, how)
		case len(free):
			return free, nil
		}
		return nil, faultf(-1, "%d columns of votes, but K = %d teachers are expected: %s", len(free), k,
			how)
	}
	names := make([]string, len(free))
	for i, at := range free {
		names[i] = s.names[at]
	}
	by := number(names)
	if order := by.order(); order != nil {
		at := make([]int, len(free))
		for teacher, i := range order {
			at[teacher] = free[i]
		}
		return at, nil
	}
	if k == len(free) && (by.allowsTeachers() || o.IDColumn != "" && !by.anyNameless() &&
		(o.LabelColumn != "" || 2*by.largest() < len(free))) {
		return free, nil
	}
	odd := by.outliers()
	var list []string
	for _, i := range odd {
		if len(list) == 4 {
			list = append(list, fmt.Sprintf("… (%d columns)", len(odd)))
			break
		}
		list = append(list, quote(names[i]))
	}
	rule := "not named as a vote, by one stem and a number as t1, t2, t3"
	if len(odd) < len(free) {
		rule = fmt.Sprintf("not named as the other %d, by one stem and a number", len(free)-len(odd))
	}
	if len(odd) > 1 || names[odd[0]] == "" {
		rule = strings.Join(list, ", ") + ": " + rule
	}
	wrong := &fault{at: free[odd[0]], err: s.propose(o, classes, c, by, free)}
	switch {
	case k == 0 && wrong.err.VoteColumns == nil:
		wrong.rule = check.Named("%s; %s; state the number of teachers (%s) where all the rest are votes",
			rule, how, pK)
	case k == 0 || k == len(free):
		wrong.rule = check.Named("%s; %s (%s does not settle it where most names are numbered and others "+
			"are not alike, unless %s and %s are stated too)", rule, how, pK, pIDColumn, pLabelColumn)
	default:
		wrong.rule = check.Named("%d columns could be votes, but K = %d teachers are expected; %s; %s",
			len(free), k, rule, how)
	}
	return nil, wrong
}

// propose returns what would settle which of the free columns are votes.
func (s *columnSet) propose(o *Options, classes *classList, c columns, by *numbering,
	free []int) *ColumnsError {
	e := &ColumnsError{}
	var votes []int // of free
	others := 0     // neither votes nor the id
	for i, at := range free {
		canVote, id := s.kind(at, classes)
		switch {
		case id && c.id < 0 && o.IDColumn == "" && e.IDColumn == "":
			e.IDColumn = s.names[at]
		case canVote && !isNameless(by.names[i]) && !namesNoTeacher(by.names[i]):
			votes = append(votes, i)
		default:
			others++
		}
	}
	if alike := by.alike(votes); len(alike) > 1 &&
		(o.K == 0 && 2*len(alike) > len(votes) || o.K == len(alike)) {
		votes = alike
	} else if o.K == 0 || o.K != len(votes) {
		e.K = o.K == 0 && others == 0 && len(votes) > 0
		return e
	}
	for _, i := range votes {
		e.VoteColumns = append(e.VoteColumns, by.names[i])
	}
	return e
}

// kind reports, by some first cells of a column, whether it can hold votes, and whether it can hold
// ids and nothing else. A column of which no cell is known can hold votes.
func (s *columnSet) kind(at int, classes *classList) (canVote, id bool) {
	if s.sample == nil {
		return true, false
	}
	cells := s.sample(at)
	seen := make(map[string]bool, len(cells))
	canVote, id = true, len(cells) > 1
	for i := range cells {
		c := &cells[i]
		if class := c.class(classes) >= 0; class {
			id = false
		} else if !c.missing() {
			canVote = false
		}
		name, rule := c.id()
		id = id && rule == "" && !seen[name]
		seen[name] = true
	}
	return canVote, id
}

// namesNoTeacher reports whether a name is a usual one of a truth, an id or a covariate. No
// promise rests on it: it keeps such a column from being proposed.
func namesNoTeacher(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return !('a' <= c && c <= 'z')
	})
	for _, w := range words {
		switch w {
		case "y", "id", "ids", "index", "idx", "key", "query", "queries", "row", "uid", "uuid",
			"label", "labels", "truth", "true", "gold", "golden", "target", "class", "answer", "outcome",
			"diagnosis", "reference", "ref", "consensus", "majority", "correct", "actual", "expected",
			"ground", "groundtruth", "result", "response",
			"sex", "gender", "age", "race", "ethnicity", "weight", "height", "bmi", "smoker", "group",
			"split", "fold", "site", "date", "time", "year", "count", "counts", "train", "test":
			return true
		}
	}
	return false
}

// largest returns how many names the largest group of one stem and numbers has.
func (by *numbering) largest() (n int) {
	for _, size := range by.groups {
		n = max(n, size)
	}
	return n
}

// anyNameless reports whether a column has no name.
func (by *numbering) anyNameless() bool {
	for _, name := range by.names {
		if isNameless(name) {
			return true
		}
	}
	return false
}

// alike returns those of these names that are in the largest group of one stem and numbers, in the
// order of the numbers; nil where two groups are as large, or a number stands there twice.
func (by *numbering) alike(of []int) []int {
	groups := make(map[string][]int)
	for _, i := range of {
		if by.numbers[i] != "" {
			groups[by.stems[i]] = append(groups[by.stems[i]], i)
		}
	}
	var largest []int
	equal := false
	for _, g := range groups {
		if len(g) == len(largest) {
			equal = true
		} else if len(g) > len(largest) {
			largest, equal = g, false
		}
	}
	if equal || len(largest) == 0 {
		return nil
	}
	sub := &numbering{groups: by.groups}
	for _, i := range largest {
		sub.names, sub.numbers = append(sub.names, by.names[i]), append(sub.numbers, by.numbers[i])
		sub.stems = append(sub.stems, by.stems[i])
	}
	order := sub.order()
	for j, i := range order {
		order[j] = largest[i]
	}
	return order
}

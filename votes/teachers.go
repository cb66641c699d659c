package votes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// A ColumnsError is the cause of a [ParseError] about a file of which nothing says which columns
// are votes. [Look] proposes what would settle it.
type ColumnsError struct {
	// long reports that no two columns have a value in common, so that each row may be one vote
	// (LayoutLong). The columns are those that names tell, all three "" where names do not.
	long              bool
	id, teacher, vote string

	cause error
}

func (e *ColumnsError) Error() string { return fmt.Sprint(e.cause) }
func (e *ColumnsError) Unwrap() error { return e.cause }

// teachers finds the columns of votes where nobody lists them.
func (s *columnSet) teachers(o *Options, classes *classList) ([]int, *fault) {
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
	names := s.namesOf(free)
	by := number(names)
	if order := by.order(); order != nil {
		at := make([]int, len(free))
		for teacher, i := range order {
			at[teacher] = free[i]
		}
		return at, nil
	}
	if k == len(free) && (by.allowsTeachers() || o.IDColumn != "" && !slices.ContainsFunc(names, isNameless) &&
		(o.LabelColumn != "" || 2*by.largest() < len(free))) {
		return free, nil
	}
	odd := by.outliers()
	var list []string
	for _, i := range odd {
		if len(list) == 12 {
			list = append(list, fmt.Sprintf("… (%d columns)", len(odd)))
			break
		}
		list = append(list, quote(names[i]))
	}
	rule := "not named like votes, which are one stem and a number: t1, t2, t3"
	if len(odd) < len(free) {
		rule = fmt.Sprintf("named unlike the other %d, which are one stem and a number", len(free)-len(odd))
	}
	if len(odd) > 1 || names[odd[0]] == "" {
		rule = strings.Join(list, ", ") + ": " + rule
	}
	wrong := &fault{at: free[odd[0]], err: &ColumnsError{}}
	if kinds := s.kinds(free, classes); s.looksLong(free, kinds) {
		wrong.err.long = true
		wrong.err.nameLong(s, o)
	}
	switch {
	case k == 0:
		wrong.rule = check.Named("%s; %s; state the number of teachers (%s) where all the rest are votes",
			rule, how, pK)
	case k == len(free):
		wrong.rule = check.Named("%s; %s (%s does not settle it where most names are numbered and others "+
			"are not alike, unless %s and %s are stated too)", rule, how, pK, pIDColumn, pLabelColumn)
	default:
		wrong.rule = check.Named("%d columns could be votes, but K = %d teachers are expected; %s; %s",
			len(free), k, rule, how)
	}
	return nil, wrong
}

// columnKind is the kind of a column, as its first cells show it.
type columnKind struct {
	canVote bool
	id      bool            // it can hold ids, and nothing else
	values  map[string]bool // that are not missing
	rows    int
}

// kinds returns the kinds of columns, by votes of these classes.
func (s *columnSet) kinds(columns []int, classes *classList) []columnKind {
	kinds := make([]columnKind, len(columns))
	for i, at := range columns {
		kinds[i] = s.kind(at, classes)
	}
	return kinds
}

// kind returns the kind of one column, with the votes of these classes.
func (s *columnSet) kind(at int, classes *classList) columnKind {
	if s.sample == nil {
		return columnKind{canVote: true}
	}
	cells := s.sample(at)
	k := columnKind{canVote: true, id: len(cells) > 1, values: make(map[string]bool), rows: len(cells)}
	seen := make(map[string]bool, len(cells))
	for i := range cells {
		c := &cells[i]
		if !classes.isMissing(c) {
			k.values[canonical(c.plain())] = true
		}
		if c.class(classes) >= 0 {
			k.id = false
		} else if !classes.isMissing(c) {
			k.canVote = false
		}
		name, rule := c.id()
		k.id = k.id && rule == "" && !seen[name]
		seen[name] = true
	}
	return k
}

// largestSharing returns the largest set of columns, at least two, that values which two of them
// have connect; nil where there is none, or two are as large.
func largestSharing(kinds []columnKind) []int {
	var sets [][]int
	var values []map[string]bool
	for i, k := range kinds {
		joined, of := []int{i}, maps.Clone(k.values)
		for j := len(sets) - 1; j >= 0; j-- {
			if !haveCommon(values[j], k.values) {
				continue
			}
			joined = append(joined, sets[j]...)
			maps.Copy(of, values[j])
			sets, values = slices.Delete(sets, j, j+1), slices.Delete(values, j, j+1)
		}
		sets, values = append(sets, joined), append(values, of)
	}
	slices.SortFunc(sets, func(a, b []int) int { return len(b) - len(a) })
	if len(sets) == 0 || len(sets[0]) < 2 || len(sets) > 1 && len(sets[1]) == len(sets[0]) {
		return nil
	}
	return sets[0]
}

func haveCommon(a, b map[string]bool) bool {
	for v := range a {
		if b[v] {
			return true
		}
	}
	return false
}

// looksLong reports whether each row may be one vote: at least three columns, no two of which have
// a value in common.
func (s *columnSet) looksLong(free []int, kinds []columnKind) bool {
	if s.n < 3 || len(free) < 2 {
		return false
	}
	for i := range kinds {
		if kinds[i].rows < 2 {
			return false
		}
		for j := range i {
			if haveCommon(kinds[i].values, kinds[j].values) {
				return false
			}
		}
	}
	return true
}

// usualLong returns the role of a column of LayoutLong that has a usual name of it, "" for another.
func usualLong(name string) string {
	word := strings.ToLower(name)
	if at := strings.LastIndexAny(word, ".:"); at >= 0 { // Answer.label
		word = word[at+1:]
	}
	stem, numbered := strings.CutSuffix(word, "id")
	word = strings.TrimRight(stem, "_ -")
	for role, usual := range map[string][]string{
		"teacher": {"teacher", "prompt", "model", "annotator", "worker", "rater", "judge", "hospital", "clinic", "coder",
			"labeler", "labeller", "reviewer", "expert", "labeling_function", "lf"},
		"vote": {"vote", "answer", "label", "class", "prediction", "response", "rating", "score", "judgement", "judgment",
			"annotation", "choice", "decision", "verdict", "category"},
		"id": {"query", "question", "task", "item", "ticket", "document", "doc", "example", "image", "hit", "instance",
			"sample", "sentence", "case", "unit", "record"},
	} {
		if slices.Contains(usual, word) && !(role == "vote" && numbered) { // annotation_id names a row
			return role
		}
	}
	return ""
}

// nameLong names the columns of LayoutLong, where each role has one column of a usual name. Of three
// columns the id may have any.
func (e *ColumnsError) nameLong(s *columnSet, o *Options) {
	columns := map[string]string{"id": o.IDColumn}
	if o.IDColumn == NoColumn {
		return
	}
	plain := "" // the column named id
	for _, name := range s.names {
		role := usualLong(name)
		if strings.EqualFold(name, "id") {
			plain = name
		}
		switch {
		case name == o.IDColumn:
			continue
		case role == "" && s.n > 3:
			continue
		case role == "":
			role = "id"
		}
		if columns[role] != "" {
			return
		}
		columns[role] = name
	}
	columns["id"] = cmp.Or(columns["id"], plain)
	if len(columns) == 3 && columns["id"] != "" {
		e.id, e.teacher, e.vote = columns["id"], columns["teacher"], columns["vote"]
	}
}

// truthLikeWords are words of names that say that a column holds true labels. A survey proposes such a
// column where its values are those of votes; a release wants it stated, if it reads it at all.
var truthLikeWords = []string{"y", "label", "labels", "truth", "true", "gold", "golden", "target", "class", "answer",
	"outcome", "diagnosis", "reference", "ref", "correct", "actual", "expected", "ground", "groundtruth", "gt"}

// namesTruth reports whether a name is a usual one of a truth.
func namesTruth(name string) bool {
	return slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(truthLikeWords, w) })
}

// wordsOf returns the words of a name, in small letters.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return !('a' <= c && c <= 'z') })
}

// namesNoTeacher reports whether a name is a usual one of a truth, an id or a covariate. No
// promise rests on it: it keeps such a column from being proposed. A word that at least three of the
// names have says nothing, as in a_label, b_label, c_label.
func namesNoTeacher(name string, names []string) bool {
	return slices.ContainsFunc(wordsOf(name), func(w string) bool {
		if !slices.Contains(truthLikeWords, w) && !slices.Contains(noTeacherWords, w) {
			return false
		}
		with := 0
		for _, other := range names {
			if slices.Contains(wordsOf(other), w) {
				with++
			}
		}
		return with < 3
	})
}

// noTeacherWords are words of names of ids, of covariates, and of what follows from votes.
var noTeacherWords = []string{"id", "ids", "index", "idx", "key", "query", "queries", "row", "uid", "uuid",
	"consensus", "majority", "result", "response",
	"sex", "gender", "age", "race", "ethnicity", "weight", "height", "bmi", "smoker", "group",
	"split", "fold", "site", "date", "time", "year", "count", "counts", "train", "test"}

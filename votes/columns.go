package votes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// columns says which field of a row is what; -1 means that there is none.
type columns struct {
	id, label int
	counts    []int // of each class; LayoutCounts only
	votes     int   // number of columns of votes; not LayoutCounts
}

// looksLikeHeader decides HeaderAuto for the first row.
func (r *rowReader) looksLikeHeader(row []string) (bool, error) {
	for _, c := range r.opts.columns() {
		if isName(c.spec) {
			return true, nil
		}
	}
	at := func(spec string) int {
		n, err := strconv.Atoi(spec)
		if err != nil {
			return -1
		}
		return n - 1
	}
	id, label := at(r.opts.IDColumn), at(r.opts.LabelColumn)
	zeros, ones := at(r.opts.ZerosColumn), at(r.opts.OnesColumn)
	isVote, what := func(cell string) bool {
		return r.classes.of(cell) >= 0 || r.opts.Missing == MissingCoin && isMissing(cell)
	}, r.classes.describe()
	if r.layout == LayoutCounts {
		isVote, what = isCount, "whole numbers"
	}
	cells, votes, odd := 0, 0, -1
	for i, cell := range row {
		if i == id || i == label || zeros >= 0 && i != zeros && i != ones {
			continue
		}
		cells++
		if isVote(cell) {
			votes++
		} else if odd < 0 {
			odd = i
		}
	}
	switch votes {
	case cells:
		return false, nil
	case 0:
		return true, nil
	}
	return false, r.errorAt(odd, fmt.Sprintf(
		"cannot tell whether this row is a header: %d of %d cells are %s, but this one is %s; say whether there is a header, and which columns hold ids and labels",
		votes, cells, what, quote(row[odd])))
}

func isCount(cell string) bool {
	return cell != "" && strings.Trim(cell, "0123456789") == ""
}

// resolveColumns finds the columns in a row of width n. The header is nil if
// there is none.
func (r *rowReader) resolveColumns(n int) error {
	if n == 1 {
		if err := r.checkSeparator(); err != nil {
			return err
		}
	}
	seen := make(map[string]int, len(r.header))
	for i, name := range r.header {
		if first, ok := seen[name]; ok {
			return r.errorAt(i, fmt.Sprintf("the header has the name %s twice, first in column %d", quote(name), first+1))
		}
		seen[name] = i
	}
	c := &r.cols
	var err error
	if c.id, err = r.findColumn("id", r.opts.IDColumn, n, "query", "id"); err != nil {
		return err
	}
	if c.label, err = r.findColumn("label", r.opts.LabelColumn, n, "label", "truth"); err != nil {
		return err
	}
	c.counts = nil
	if r.layout == LayoutCounts {
		if err := r.resolveCounts(n); err != nil {
			return err
		}
	}
	if err := r.checkRoles(n); err != nil {
		return err
	}
	if r.layout != LayoutCounts {
		c.votes = n
		for _, used := range []int{c.id, c.label} {
			if used >= 0 {
				c.votes--
			}
		}
		if c.votes == 0 {
			return r.errorAt(-1, "there is no column of votes")
		}
		return r.setK(c.votes, fmt.Sprintf("%d columns of votes", c.votes))
	}
	return nil
}

// checkSeparator explains a first row of one cell that holds another separator.
func (r *rowReader) checkSeparator() error {
	own, want := "comma", "commas"
	if r.comma == '\t' {
		own, want = "tab", "tabs"
	}
	for _, sep := range []struct{ char, name string }{{";", "semicolons"}, {"\t", "tabs"}, {",", "commas"}} {
		if sep.name != want && strings.Contains(r.firstRow[0], sep.char) {
			return r.errorAt(-1, "the row has no "+own+", but "+sep.name+": the columns must be separated by "+want)
		}
	}
	return nil
}

// findColumn returns the index of the column that spec gives or, if spec is
// empty, that one of the usual names gives.
func (r *rowReader) findColumn(role, spec string, n int, usual ...string) (int, error) {
	switch spec {
	case NoColumn:
		return -1, nil
	case "":
		found := -1
		for i, name := range r.header {
			if !slices.Contains(usual, strings.ToLower(name)) {
				continue
			}
			if found >= 0 {
				return 0, r.errorAt(i, fmt.Sprintf("column %d (%s) could be the %s column too; say which it is", found+1, quote(r.header[found]), role))
			}
			found = i
		}
		return found, nil
	}
	if i := slices.Index(r.header, strings.TrimSpace(spec)); i >= 0 {
		return i, nil
	}
	pos, err := strconv.Atoi(spec)
	if err != nil {
		return 0, r.errorAt(-1, fmt.Sprintf("the header has no column %s for the %s", quote(spec), role))
	}
	if pos < 1 || pos > n {
		return 0, r.errorAt(-1, fmt.Sprintf("%s column %d, want a position from 1 to %d, the number of columns", role, pos, n))
	}
	return pos - 1, nil
}

// resolveCounts finds the columns of counts.
func (r *rowReader) resolveCounts(n int) error {
	c := &r.cols
	classes := r.classes.len()
	if r.opts.ZerosColumn == "" && r.header == nil {
		var free []int
		for i := range n {
			if i != c.id && i != c.label {
				free = append(free, i)
			}
		}
		if len(free) != classes {
			if classes == 2 {
				return r.errorAt(-1, fmt.Sprintf("the row has %d columns besides id and label, want 2, zeros and ones; give their positions", len(free)))
			}
			return r.errorAt(-1, fmt.Sprintf("the row has %d columns besides id and label, want %d, one for each class", len(free), classes))
		}
		c.counts = free
		return nil
	}
	for i, name := range r.classes.names {
		usual := []string{strings.ToLower(name), "n" + strings.ToLower(name)}
		spec := ""
		role := "class " + name
		if classes == 2 {
			role = [...]string{"zeros", "ones"}[i]
			spec = [...]string{r.opts.ZerosColumn, r.opts.OnesColumn}[i]
			usual = append(usual, role)
			if r.classes.binary {
				usual = []string{role, "n" + name}
			}
		}
		if at := slices.Index(r.header, name); at >= 0 && spec == "" && !r.classes.binary {
			c.counts = append(c.counts, at) // names that differ in case only
			continue
		}
		at, err := r.findColumn(role, spec, n, usual...)
		if err != nil {
			return err
		}
		if at < 0 {
			if r.classes.binary {
				return r.errorAt(-1, "the header names no columns zeros and ones (or n0 and n1); give their names or positions")
			}
			return r.errorAt(-1, fmt.Sprintf("the header names no column of counts for the class %s (its name, or n and its name)", quote(name)))
		}
		c.counts = append(c.counts, at)
	}
	return nil
}

// checkRoles refuses a column with two roles and, with counts, one with none.
func (r *rowReader) checkRoles(n int) error {
	c := &r.cols
	role := make(map[int]string)
	type use struct {
		name string
		at   int
	}
	uses := []use{{"id", c.id}, {"label", c.label}}
	for i, at := range c.counts {
		name := "class " + r.classes.names[i]
		if r.classes.len() == 2 {
			name = [...]string{"zeros", "ones"}[i]
		}
		uses = append(uses, use{name, at})
	}
	for _, x := range uses {
		if x.at < 0 {
			continue
		}
		if other, ok := role[x.at]; ok {
			return r.errorAt(x.at, fmt.Sprintf("the column cannot be %s and %s at once", other, x.name))
		}
		role[x.at] = x.name
	}
	if r.layout == LayoutCounts {
		for i := range n {
			if role[i] == "" {
				if r.classes.len() == 2 {
					return r.errorAt(i, "the column is neither id, label, zeros nor ones")
				}
				return r.errorAt(i, "the column is neither id, label nor the counts of a class")
			}
		}
	}
	return nil
}

// setK fixes the number of teachers. source says where k comes from.
func (r *rowReader) setK(k int, source string) error {
	if k > MaxTeachers {
		return r.errorAt(-1, fmt.Sprintf("K = %d teachers, want at most %d", k, MaxTeachers))
	}
	if r.opts.K != 0 && r.opts.K != k {
		return r.errorAt(-1, fmt.Sprintf("%s, but K = %d teachers are expected", source, r.opts.K))
	}
	r.k = k
	return nil
}

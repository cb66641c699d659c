package votes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// columns says which field of a row is what; -1 means that there is none.
type columns struct {
	id, label   int
	zeros, ones int // LayoutCounts only
	votes       int // number of columns of votes, LayoutWide only
}

// looksLikeHeader decides HeaderAuto for the first row.
func (r *CSVReader) looksLikeHeader(row []string) (bool, error) {
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
	isVote, what := isBinary, "0 or 1"
	if r.opts.Layout == LayoutCounts {
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

func isBinary(cell string) bool { return cell == "0" || cell == "1" }

func isCount(cell string) bool {
	return cell != "" && strings.Trim(cell, "0123456789") == ""
}

// resolveColumns finds the columns in a row of width n. The header is nil if
// there is none.
func (r *CSVReader) resolveColumns(n int) error {
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
	c.zeros, c.ones = -1, -1
	if r.opts.Layout == LayoutCounts {
		if err := r.resolveCounts(n); err != nil {
			return err
		}
	}
	if err := r.checkRoles(n); err != nil {
		return err
	}
	if r.opts.Layout == LayoutWide {
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
func (r *CSVReader) checkSeparator() error {
	for _, sep := range []struct{ char, name string }{{";", "semicolons"}, {"\t", "tabs"}} {
		if strings.Contains(r.firstRow[0], sep.char) {
			return r.errorAt(-1, "the row has no comma, but "+sep.name+": the columns must be separated by commas")
		}
	}
	return nil
}

// findColumn returns the index of the column that spec gives or, if spec is
// empty, that one of the usual names gives.
func (r *CSVReader) findColumn(role, spec string, n int, usual ...string) (int, error) {
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

// resolveCounts finds the two columns of counts.
func (r *CSVReader) resolveCounts(n int) error {
	c := &r.cols
	var err error
	if r.opts.ZerosColumn == "" && r.header == nil {
		var free []int
		for i := range n {
			if i != c.id && i != c.label {
				free = append(free, i)
			}
		}
		if len(free) != 2 {
			return r.errorAt(-1, fmt.Sprintf("%d columns besides id and label, want 2, zeros and ones; give their positions", len(free)))
		}
		c.zeros, c.ones = free[0], free[1]
		return nil
	}
	if c.zeros, err = r.findColumn("zeros", r.opts.ZerosColumn, n, "zeros", "n0"); err != nil {
		return err
	}
	if c.ones, err = r.findColumn("ones", r.opts.OnesColumn, n, "ones", "n1"); err != nil {
		return err
	}
	if c.zeros < 0 || c.ones < 0 {
		return r.errorAt(-1, "the header names no columns zeros and ones (or n0 and n1); give their names or positions")
	}
	return nil
}

// checkRoles refuses a column with two roles and, with counts, one with none.
func (r *CSVReader) checkRoles(n int) error {
	c := &r.cols
	role := make(map[int]string)
	for _, x := range []struct {
		name string
		at   int
	}{{"id", c.id}, {"label", c.label}, {"zeros", c.zeros}, {"ones", c.ones}} {
		if x.at < 0 {
			continue
		}
		if other, ok := role[x.at]; ok {
			return r.errorAt(x.at, fmt.Sprintf("the column cannot be %s and %s at once", other, x.name))
		}
		role[x.at] = x.name
	}
	if r.opts.Layout == LayoutCounts {
		for i := range n {
			if role[i] == "" {
				return r.errorAt(i, "the column is neither id, label, zeros nor ones")
			}
		}
	}
	return nil
}

// setK fixes the number of teachers. source says where k comes from.
func (r *CSVReader) setK(k int, source string) error {
	if k > MaxTeachers {
		return r.errorAt(-1, fmt.Sprintf("K = %d teachers, want at most %d", k, MaxTeachers))
	}
	if r.opts.K != 0 && r.opts.K != k {
		return r.errorAt(-1, fmt.Sprintf("%s, but K = %d teachers are expected", source, r.opts.K))
	}
	r.k = k
	return nil
}

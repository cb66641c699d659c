package votes

import (
	"fmt"
	"strconv"
	"strings"
)

// looksLikeHeader decides HeaderAuto for the first row. A row of votes that could be
// names by the rule of numbering.order, such as 0,1 or of ten classes 3,1,4, is refused:
// as data it would add a query, as a header it would lose one.
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
	listed := make(map[int]bool)
	for _, spec := range r.opts.VoteColumns {
		listed[at(spec)] = true
	}
	isVote, what := func(cell string) bool {
		return r.classes.of(cell) >= 0 || r.opts.Missing == MissingCoin && isMissing(cell)
	}, r.classes.describe()
	if r.layout == LayoutCounts {
		isVote, what = isCount, "whole numbers"
	}
	var names []string
	cells, votes, odd := 0, 0, -1
	for i, cell := range row {
		if i == id || i == label || len(listed) > 0 && !listed[i] {
			continue
		}
		cells++
		names = append(names, cell)
		if isVote(cell) {
			votes++
		} else if odd < 0 {
			odd = i
		}
	}
	switch votes {
	case cells:
		if r.layout != LayoutCounts && cells > 0 && number(names).order() != nil {
			return false, r.errorAt(-1, "cannot tell whether this row is a header: its cells are votes, and could be names, too; say so with --header yes or --header no")
		}
		return false, nil
	case 0:
		return true, nil
	}
	return false, r.errorAt(odd, fmt.Sprintf(
		"cannot tell whether this row is a header: %d of %d cells are %s, but this one is %s; say whether there is a header (--header), and which columns hold ids (--id-column) and true labels (--label-column)",
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
		if first, ok := seen[name]; ok && name != "" {
			return r.errorAt(i, fmt.Sprintf("the header has the name %s twice, first in column %d", quote(name), first+1))
		}
		seen[name] = i
	}
	set := &columnSet{what: "column", names: r.header, n: n, positions: true}
	cols, fault := r.assign(set)
	if fault != nil {
		return r.errorAt(fault.at, fault.rule)
	}
	r.cols, r.roles = cols, set.roles(r.fileInfo, cols)
	r.cellOf = make([]int, n)
	for i := range r.cellOf {
		r.cellOf[i] = -1
	}
	for i, at := range cols.votes {
		r.cellOf[at] = i
	}
	r.others = nil
	for i, cell := range r.cellOf {
		if cell < 0 {
			r.others = append(r.others, i)
		}
	}
	if r.layout != LayoutCounts {
		r.k = len(cols.votes)
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

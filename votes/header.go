package votes

import (
	"slices"
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
	if r.opts.found != nil {
		if header, ok := r.discoverHeader(row); ok {
			return header, nil
		}
	}
	at := func(spec string) int {
		if at, ok := placeOf(spec, false); ok {
			return at
		}
		return -1
	}
	id, label := at(r.opts.IDColumn), at(r.opts.LabelColumn)
	listed := make(map[int]bool)
	for _, spec := range r.opts.VoteColumns {
		for _, at := range placesOf(spec) {
			listed[at] = true
		}
	}
	isVote, what := func(text string) bool {
		return r.classes.of(text) >= 0 || r.opts.Missing != MissingError && r.classes.isMissingText(text)
	}, r.classes.zeroOrOne("names of classes")
	if r.sets != nil {
		isVote, what = func(text string) bool {
			_, missing, rule := r.sets.parse(&cell{text: text}, nil)
			return rule.String() == "" && (!missing || r.opts.Missing != MissingError)
		}, "sets of labels"
	}
	if r.layout == LayoutCounts {
		isVote, what = isCount, "whole numbers"
	}
	var names []string
	cells, votes, odd := 0, 0, -1
	for i, text := range row {
		if i == id || i == label || len(listed) > 0 && !listed[i] {
			continue
		}
		if i == 0 && len(row) > 1 && strings.TrimSpace(text) == "" {
			continue // a missing vote, or an index without a name: the other cells tell
		}
		cells++
		names = append(names, strings.TrimSpace(text))
		if isVote(text) {
			votes++
		} else if odd < 0 {
			odd = i
		}
	}
	switch votes {
	case cells:
		if r.layout != LayoutCounts && cells > 0 && number(names).order() != nil {
			return false, r.fault(faultf(-1, "cannot tell whether this row is a header: its cells are "+
				"votes, and could be names, too; say so with %s yes or %s no", pHeader, pHeader))
		}
		return false, nil
	case 0:
		return true, nil
	}
	return false, r.fault(faultf(odd,
		"cannot tell whether this row is a header: %d of %d cells are %s, but this one is %s; say "+
			"whether there is a header (%s), and which columns hold ids (%s) and true labels (%s)",
		votes, cells, what, quote(row[odd]), pHeader, pIDColumn, pLabelColumn))
}

// discoverHeader decides whether the first row has names, by the values below it. ok is false where
// they do not tell.
func (r *rowReader) discoverHeader(row []string) (header, ok bool) {
	for _, name := range row {
		if isUsual(strings.TrimSpace(name), slices.Concat(idNames, truthNames)...) {
			r.opts.found.header = HeaderYes
			return true, true
		}
	}
	set := &columnSet{what: "column", n: len(row), sample: r.sample}
	all := set.unassigned()
	kinds := set.sharing(all)
	below := make(map[string]bool)
	for i := range all {
		if kinds[i].canVote && kinds[i].values != nil {
			for value := range kinds[i].values {
				below[value] = true
			}
		}
	}
	unknown := unknownClasses()
	cells, occur, usual := make(map[string]bool), 0, true
	n := 0
	for i := range all {
		cell := canonical(row[i])
		if !kinds[i].canVote || unknown.isMissingText(cell) {
			continue
		}
		if n++; below[cell] {
			occur++
		}
		cells[cell] = true
		usual = usual && (cell == "0" || cell == "1")
	}
	switch found := r.opts.found; {
	case len(below) == 0 || usual && len(cells) == n:
		return false, false
	case !usual && (occur == 0 || len(cells) == n && occur < n):
		found.header = HeaderYes
	case len(cells) < n:
		found.header = HeaderNo
	default: // different values of votes
		return false, false
	}
	return r.opts.found.header == HeaderYes, true
}

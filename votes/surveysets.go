package votes

import (
	"fmt"
	"strings"
)

// setSeparators are what may stand between the names in a cell with a set of labels, the likeliest first. A
// comma is part of numbers and of names, more often than not: it has to be stated.
var setSeparators = []string{DefaultSeparator, ";", "+"}

// mostProposedLabels is the largest number of labels that a survey proposes.
const mostProposedLabels = 100

// mostSetsAsClasses is the largest number of values that are still proposed as classes, where they may be sets.
const mostSetsAsClasses = 12

// setMarks count the cells of votes that may be sets of labels.
type setMarks struct {
	cells  int64    // that are not blank
	with   [3]int64 // of them, with each of setSeparators
	lists  int64    // lists of JSON
	sample string
}

// note counts a cell.
func (m *setMarks) note(c *cell) {
	if c.kind == otherCell && strings.HasPrefix(c.text, "[") {
		m.cells, m.lists = m.cells+1, m.lists+1
		return
	}
	if c.missing() {
		return
	}
	m.cells++
	if c.kind != textCell {
		return
	}
	for i, s := range setSeparators {
		if strings.Contains(c.text, s) {
			if m.with[i]++; m.sample == "" {
				m.sample = strings.Clone(c.text)
			}
		}
	}
}

// separator returns what stands between names in at least one of twenty cells, and in two unless it is the one
// that is presumed; "" for nothing.
func (m *setMarks) separator() string {
	if m.lists > 0 {
		return DefaultSeparator
	}
	for i, n := range m.with {
		if 20*n >= m.cells && (n >= 2 || n == 1 && i == 0) {
			return setSeparators[i]
		}
	}
	return ""
}

// parts returns the names in a cell, none of a blank one.
func (t *tally) parts(c *cell) []cell {
	names := strings.Split(c.plain(), t.split)
	list := strings.TrimSpace(strings.Trim(c.text, "[]"))
	switch {
	case c.kind == otherCell && list == "", c.kind != otherCell && unknownClasses().isMissing(c):
		return nil
	case c.kind == otherCell:
		names = strings.Split(list, ",")
		for i, name := range names {
			names[i] = strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	var parts []cell
	for _, name := range names {
		parts = append(parts, cell{text: name})
	}
	return parts
}

// askSets asks whether cells are sets of labels, where some have names between separators, and tries to read
// them so. It reports whether they can be.
func (l *look) askSets(o Options) bool {
	marks := l.marks
	separator := marks.separator()
	if separator == "" || l.found.array || o.Layout == LayoutCounts || o.Layout == LayoutTeachers {
		return false
	}
	if marks.lists == 0 && !shareNames(l.survey.Values, separator) {
		return false
	}
	asked, answers, survey, found := l.survey.Asked, l.answers, l.survey, l.found
	restore := func() bool {
		l.survey, l.answers, l.found = survey, answers, found
		return false
	}
	o.found, l.survey = &foundColumns{}, Survey{}
	if l.tallyAs(o, separator) != nil {
		return restore()
	}
	s := &l.survey
	s.Asked, s.Told = asked, nil
	var labels []string
	for _, v := range s.Values {
		labels = append(labels, v.Value)
	}
	if len(labels) < 2 || len(labels) > mostProposedLabels || CheckLabels(labels, 0, nil) != nil {
		return restore()
	}
	for _, missing := range []MissingPolicy{MissingError, MissingNo} {
		for r := range l.candidates(l.ways()) {
			r.Labels, r.Missing, r.KeepVotes = labels, missing, true
			if separator != DefaultSeparator {
				r.Separator = separator
			}
			d, err := l.readStated(r)
			if err != nil || d.Queries != s.Queries*int64(len(labels)) {
				continue
			}
			question := "are cells sets of labels, such as " + quoteUnlessPlain(marks.sample) + "?"
			if marks.sample == "" {
				question = "are the lists sets of labels?"
			}
			s.Asked = append([]string{question + " A teacher says yes to each label in its cell. The fewer of them " +
				"are counted, the less a question costs: state how many"}, asked...)
			s.Readings = append(s.Readings, &Reading{Answer: fmt.Sprintf("a cell is a set of %d labels", len(labels)),
				Options: r, Description: d})
			d.Classes = []string{"no", "yes"} // of the figures: the files have neither
			if l.answers = answers; len(survey.Values) > mostSetsAsClasses {
				l.answers = nil
			}
			l.presume("a cell is one class")
			return true
		}
	}
	return restore()
}

// shareNames reports whether a name between separators stands in two of these values, as those of sets do; so
// it does where there are too many values to tell.
func shareNames(values []Value, separator string) bool {
	in := make(map[string]int)
	for _, v := range values {
		for name := range strings.SplitSeq(v.Value, separator) {
			if in[strings.TrimSpace(name)]++; in[strings.TrimSpace(name)] == 2 {
				return true
			}
		}
	}
	return len(values) == 0
}

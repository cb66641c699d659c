package votes

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// A record is one query as its file has it. All formats are read into records;
// add is the one place where records become counts.
type record struct {
	place     int     // its line from 1, or its row in the file from 0
	votes     []cell  // in the teachers' order, or with LayoutCounts in the classes'
	sets      [][]int // instead of votes, of LayoutLong: the labels of each teacher, none where there is no vote
	label, id cell    // if the file has them
	truth     []cell  // instead of label, where a truth is a number for each of several labels
	teacher   cell    // with LayoutLong, whose votes is one cell
}

// A fault is a cell of a record and the rule that it breaks.
type fault struct {
	at   int // index in record.votes, or one of the constants below; of a file's first row, the column
	rule check.Text
	err  *ColumnsError // what would settle it, nil where nothing is known
	// value is that of a vote that names no class; "" for other faults
	value string
}

const (
	wholeRow = -1 - iota
	labelCell
	idCell
	teacherCell
	listCell // all votes or counts of a record, in one column
	noCell   // a column that is not read
)

// cell returns a cell of the record that is one value.
func (r *record) cell(at int) *cell {
	switch at {
	case labelCell:
		return &r.label
	case idCell:
		return &r.id
	case teacherCell:
		return &r.teacher
	}
	return &r.votes[at]
}

func faultf(at int, format string, args ...any) *fault {
	return &fault{at: at, rule: check.Named(format, args...)}
}

// add appends a record to b, which is as before if there is a fault. The first
// record of a file of counts gives K.
func (f *fileInfo) add(b *Batch, r *record) *fault {
	before := *b
	wrong := f.addVotes(b, r)
	if wrong == nil {
		wrong = f.addNames(b, r)
	}
	if wrong != nil {
		*b = before
	}
	return wrong
}

// tallies reports whether the classes are not known: votes and truths are then numbers of spellings.
func (f *fileInfo) tallies() bool { return f.opts.tally != nil && f.layout != LayoutCounts }

// addVotes appends the votes of a record.
func (f *fileInfo) addVotes(b *Batch, r *record) (wrong *fault) {
	switch {
	case f.tallies():
		return f.addTally(b, r)
	case f.layout == LayoutLong:
		return f.addVote(b, r)
	}
	labels, missing, counts := 1, 0, len(b.Counts)
	if f.sets != nil {
		labels = f.sets.list.len()
	}
	b.Counts = growZero(b.Counts, labels*b.Classes)
	row := b.Counts[counts:]
	switch {
	case f.sets != nil:
		missing, wrong = f.countLabels(b, r, row)
	case f.layout == LayoutCounts:
		missing, wrong = f.takeCounts(r, row)
	default:
		missing, wrong = f.countVotes(b, r, row)
	}
	if wrong == nil {
		wrong = f.addPublic(row, f.k)
	}
	if wrong == nil {
		b.addMissing(missing, labels)
	}
	return wrong
}

// addNames appends what a record has beside its votes, where the file has it.
func (f *fileInfo) addNames(b *Batch, r *record) (wrong *fault) {
	if f.labels {
		if b.Labels, wrong = f.appendTruth(b.Labels, r); wrong != nil {
			return wrong
		}
	}
	if f.ids {
		id, rule := r.id.id()
		if rule != "" {
			return faultf(idCell, "%s", rule)
		}
		b.IDs = append(b.IDs, id)
	}
	if f.layout == LayoutLong {
		teacher, rule := r.teacher.id()
		if rule != "" {
			return faultf(teacherCell, "%s", strings.ReplaceAll(rule, "query id", "teacher's name"))
		}
		b.teachers = append(b.teachers, teacher)
	}
	b.places = append(b.places, r.place)
	return nil
}

// appendTruth appends the true answer, or with several labels one for each.
func (f *fileInfo) appendTruth(to []int, r *record) ([]int, *fault) {
	switch {
	case f.tallies() && f.opts.tally.split != "":
		return append(to, -1), nil // a truth is a set, too
	case f.tallies():
		n, wrong := f.spellingNumber(&r.label, labelCell)
		return append(to, n), wrong
	case f.sets != nil:
		truth, wrong := f.truth(r)
		return append(to, truth...), wrong
	}
	label := r.label.class(f.classes)
	if label < 0 && !f.classes.isMissing(&r.label) {
		return nil, faultf(labelCell, "label %s %s", &r.label, f.classes.rule())
	}
	return append(to, label), nil
}

// countVotes counts the votes of single teachers.
func (f *fileInfo) countVotes(b *Batch, r *record, counts []int) (missing int, wrong *fault) {
	for t := range r.votes {
		v := &r.votes[t]
		c := v.class(f.classes)
		switch {
		case c >= 0:
			counts[c]++
		case f.opts.Missing != MissingError && f.classes.isMissing(v):
			missing++
		default:
			return 0, v.voteFault(t, f.classes)
		}
		if f.opts.KeepVotes {
			b.Votes = append(b.Votes, c)
		}
	}
	return missing, nil
}

// takeCounts takes counts, whose sum is K in every row, or at most K where votes may be missing.
func (f *fileInfo) takeCounts(r *record, counts []int) (missing int, wrong *fault) {
	k := 0
	for c := range r.votes {
		n, rule := r.votes[c].count()
		if rule != "" {
			return 0, faultf(c, "%s", rule)
		}
		counts[c] = n
		k += n
	}
	name := countsName(f.classes)
	switch {
	case f.opts.Missing == MissingAbstain: // K was stated: the votes that are there do not tell it
		if f.k = f.opts.K; k > f.k {
			return 0, faultf(wholeRow, "%s sum to %d, more than K = %d", name, k, f.k)
		}
		return f.k - k, nil
	case k == 0:
		return 0, faultf(wholeRow, "%s are all 0: there are no votes", name)
	case f.k == 0:
		if wrong := f.teachersFault(k, fmt.Sprintf("%s sum to %d", name, k)); wrong != nil {
			return 0, wrong
		}
		f.k, f.kPlace = k, r.place
	case k != f.k:
		return 0, faultf(wholeRow, "%s sum to K = %d, but to K = %d in %s", name, k, f.k,
			f.placeName(f.kPlace))
	}
	return 0, nil
}

// countsName returns the name of the columns of counts in messages.
func countsName(c *classList) string {
	if c.len() == 2 {
		return "zeros and ones"
	}
	return "the counts"
}

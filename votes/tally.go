package votes

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/darrm/darrm/internal/check"
)

// mostValues is the largest number of spellings that a file of unknown classes may have. Beyond it
// they are no classes.
const mostValues = 200

// A spelling is a text of votes as a file has it.
type spelling struct {
	text    string // without blanks around
	value   string // canonical: what it is where no class is stated
	blank   bool   // no text at all: empty, null or NaN
	missing bool   // by the table of spellings, where no class is stated
}

// A tally numbers the spellings of votes and truths of a file of unknown classes. It is safe for
// concurrent use.
type tally struct {
	mu        sync.RWMutex
	index     map[spelling]int
	spellings []spelling
	trimmed   atomic.Bool // blanks stood around some cell or name
	sums      rowSums
	split     string // separator of several values in a cell; "" where it has one
	marks     setMarks
}

// rowSums is the common sum of rows whose votes are whole numbers from 0 on. Rows of counts for
// each class all have the same sum, the number of teachers.
type rowSums struct {
	rows   int64
	sum    int64 // of each row
	most   int64 // the largest cell
	differ bool  // sums do
	failed bool  // a cell is no count
}

// add adds a row.
func (s *rowSums) add(cells []cell) {
	sum, most, ok := int64(0), int64(0), len(cells) > 1
	for i := range cells {
		n, whole := cells[i].whole()
		ok = ok && whole && n >= 0 && n <= check.MaxTeachers
		sum, most = sum+n, max(most, n)
	}
	s.failed, s.differ = s.failed || !ok, s.differ || s.rows > 0 && s.sum != sum
	s.rows, s.sum, s.most = s.rows+1, sum, max(s.most, most)
}

// areCounts reports whether rows of this number of columns may be counts of votes: all have the
// same sum, which is above the number of columns.
func (s *rowSums) areCounts(columns int) bool {
	return !s.failed && !s.differ && s.rows > 0 && s.sum > int64(columns) && s.sum <= check.MaxTeachers
}

// spellingOf returns the spelling that a cell has.
func spellingOf(c *cell) (s spelling, trimmed bool) {
	text := c.plain()
	s.text = strings.TrimSpace(text)
	s.missing = c.missing()
	s.blank = c.kind == nullCell || c.kind == floatCell && math.IsNaN(c.x) || s.text == ""
	if s.value = canonical(s.text); c.kind == boolCell {
		s.value = canonicalBool[c.n == 1]
	}
	return s, s.text != text
}

var canonicalBool = map[bool]string{false: "0", true: "1"}

// add returns the number of a cell's spelling, and false beyond the largest number of them.
func (t *tally) add(c *cell) (int, bool) {
	s, trimmed := spellingOf(c)
	t.mu.RLock()
	i, ok := t.index[s]
	t.mu.RUnlock()
	if trimmed {
		t.trimmed.Store(true)
	}
	if ok {
		return i, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok = t.index[s]; ok {
		return i, true
	}
	if len(t.spellings) == mostValues {
		return 0, false
	}
	s.text, s.value = strings.Clone(s.text), strings.Clone(s.value)
	i = len(t.spellings)
	t.index[s], t.spellings = i, append(t.spellings, s)
	return i, true
}

// addTally appends the votes of a file of unknown classes, as numbers of spellings.
func (f *fileInfo) addTally(b *Batch, r *record) *fault {
	t := f.opts.tally
	if f.repeatsHeader(r) {
		return faultf(wholeRow, "the header stands here again: the row is no query")
	}
	t.note(r.votes, f.layout)
	for i := range r.votes {
		parts := r.votes[i : i+1]
		if t.split != "" {
			parts = t.parts(&r.votes[i])
		}
		for j := range parts {
			n, wrong := f.spellingNumber(&parts[j], i)
			if wrong != nil {
				return wrong
			}
			b.Votes = append(b.Votes, n)
		}
	}
	return nil
}

// note counts what the votes of a row may be instead: counts for each class, or sets.
func (t *tally) note(votes []cell, layout Layout) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if layout != LayoutLong {
		t.sums.add(votes)
	}
	for i := range votes {
		t.marks.note(&votes[i])
	}
}

// spellingNumber returns the number of a cell's spelling.
func (f *fileInfo) spellingNumber(c *cell, at int) (int, *fault) {
	t := f.opts.tally
	if c.kind == otherCell || c.kind == brokenCell {
		return 0, faultf(at, "vote %s is no text and no number: write its class alone", c)
	}
	i, ok := t.add(c)
	if !ok {
		t.mu.RLock()
		defer t.mu.RUnlock()
		var some []string
		for _, s := range t.spellings[:4] {
			some = append(some, quote(s.text))
		}
		return 0, faultf(at, "more than %d values occur (%s, …), and a vote is one of the classes: list the "+
			"columns of votes (%s) or, if all of these are classes, state them (%s); of probabilities, write "+
			"each teacher's class", mostValues, strings.Join(some, ", "), pVoteColumns, pClasses)
	}
	return i, nil
}

// repeatsHeader reports whether the votes of a record are the names of their columns.
func (f *fileInfo) repeatsHeader(r *record) bool {
	names := f.roles.Votes
	if f.layout == LayoutLong || f.roles.In != "columns" || len(names) < 2 || len(names) != len(r.votes) {
		return false
	}
	for i := range r.votes {
		if c := &r.votes[i]; c.kind != textCell || strings.TrimSpace(c.text) != names[i] {
			return false
		}
	}
	return true
}

// summaryIDs are ids of a row that sums up the others, in small letters.
var summaryIDs = []string{"total", "totals", "grand total", "sum", "mean", "average", "avg", "count", "all", "overall",
	"std", "max", "min", "majority", "consensus"}

// tallied has the counts of votes and of truths in a file.
type tallied struct {
	*tally
	queries      int64
	k            int
	votes, truth []int64 // of each spelling
	firstID      string
	summary      string // the last id, where it is that of a row that sums up the others
	teachers     map[string]bool
	ids          map[string]bool // of LayoutLong
}

// count reads all rows of a reader that tallies.
func (r *Reader) count(progress func(Progress)) (*tallied, error) {
	t := &tallied{tally: r.opts.tally, teachers: make(map[string]bool), ids: make(map[string]bool),
		votes: make([]int64, mostValues), truth: make([]int64, mostValues)}
	for b, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		if t.queries == 0 && len(b.IDs) > 0 {
			t.firstID = strings.Clone(b.IDs[0])
		}
		if n := len(b.IDs); n > 0 {
			t.summary = ""
			if last := b.IDs[n-1]; slices.Contains(summaryIDs, strings.ToLower(last)) {
				t.summary = strings.Clone(last)
			}
		}
		for _, i := range b.Votes {
			t.votes[i]++
		}
		for _, i := range b.Labels {
			if i >= 0 {
				t.truth[i]++
			}
		}
		t.queries, t.k = t.queries+int64(b.Len()), r.K()
		for i, name := range b.teachers {
			if !t.teachers[name] && len(t.teachers) < maxQueryIDs {
				t.teachers[strings.Clone(name)] = true
			}
			if !t.ids[b.IDs[i]] && len(t.ids) < maxQueryIDs {
				t.ids[strings.Clone(b.IDs[i])] = true
			}
		}
		b.Release()
		if progress != nil {
			progress(r.Progress())
		}
	}
	if r.opts.Layout == LayoutLong {
		t.queries, t.k = int64(len(t.ids)), len(t.teachers)
	}
	return t, nil
}

// blanks returns how many votes are blank.
func (t *tallied) blanks() (n int64) {
	for i, s := range t.spellings {
		if s.blank {
			n += t.votes[i]
		}
	}
	return n
}

// occurring returns the numbers of the spellings that occur among votes, sorted by their values.
func (t *tallied) occurring() []int {
	var all []int
	for i := range t.spellings {
		if t.votes[i] > 0 {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(i, j int) int {
		if c := compareValues(t.spellings[i].value, t.spellings[j].value); c != 0 {
			return c
		}
		return strings.Compare(t.spellings[i].text, t.spellings[j].text)
	})
	return all
}

// compareValues orders whole numbers by size, before texts.
func compareValues(a, b string) int {
	m, isNumber := canonicalInt(a)
	n, isNumber2 := canonicalInt(b)
	switch {
	case isNumber && isNumber2:
		return int(max(-1, min(1, m-n)))
	case isNumber:
		return -1
	case isNumber2:
		return 1
	}
	return strings.Compare(a, b)
}

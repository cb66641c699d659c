package votes

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// DefaultSeparator stands between the names in a cell with a set of labels.
const DefaultSeparator = "|"

// labelIDSeparator stands between a question's id and a label's name in the id of a query. No label has
// it in its name, so that no two queries of different questions have the same id.
const labelIDSeparator = "/"

// CheckSeveral validates what goes with Labels, and refuses it elsewhere: what a reader refuses before it
// opens anything.
func (o *Options) CheckSeveral() error {
	o = handle.Made(o)
	if len(o.Labels) == 0 {
		switch {
		case o.MostYes != 0:
			return check.Namedf("%s goes with %s", pMostYes, pLabels)
		case o.Separator != "":
			return check.Namedf("%s goes with %s", pSeparator, pLabels)
		case o.Missing == MissingNo:
			return check.Namedf("%s no goes with %s: a blank is no to each of them", pMissing, pLabels)
		}
		return o.checkYesFrom()
	}
	switch {
	case len(o.Classes) > 0 && !slices.Equal(o.Classes, IntegerClasses(2)):
		return check.Namedf("%s and %s exclude each other: each label is a question of two classes, no and yes",
			pLabels, pClasses)
	case o.Layout == LayoutCounts:
		return check.Namedf("%s counts goes without %s: the votes of single teachers are needed", pLayout, pLabels)
	case o.Missing == MissingCoin:
		return check.Namedf("%s coin goes without %s: a blank is no to each of them (%s no)", pMissing, pLabels,
			pMissing)
	case o.Missing == MissingAbstain && o.MostYes != 0:
		// A teacher that comes or goes would change its vote on every label, not on 2τ of them.
		return check.Namedf("%s abstain goes without %s: a teacher that abstains changes its vote on every "+
			"label. Count its blanks as no (%s no)", pMissing, pMostYes, pMissing)
	}
	if err := cmp.Or(CheckLabels(o.Labels, o.MostYes, o.Same), o.checkYesFrom()); err != nil {
		return err
	}
	return checkSeparator(o.separator(), o.Labels)
}

// checkYesFrom validates YesFrom, and refuses it where it does not fit.
func (o *Options) checkYesFrom() error {
	switch {
	case o.YesFrom == "":
		return nil
	case len(o.Labels) == 0 && len(o.Classes) > 0 && len(o.Classes) != 2:
		return check.Namedf("%s = %s goes with two classes, of which the second is yes, but there are %d", pYesFrom,
			quote(o.YesFrom), len(o.Classes))
	case o.Missing == MissingAbstain && len(o.Labels) > 0:
		return check.Namedf("%s abstain goes without %s: a blank is no to each label (%s no)", pMissing, pYesFrom, pMissing)
	case o.Missing == MissingAbstain:
		return check.Namedf("%s abstain goes without %s: it counts all teachers, and a blank is a coin (%s coin)", pMissing, pYesFrom,
			pMissing)
	}
	_, err := check.YesFrom(string(pYesFrom), o.YesFrom, cmp.Or(o.K, check.MaxTeachers))
	return err
}

// checkSeparator refuses one that is part of a name, or of the form of a file.
func checkSeparator(s string, names []string) error {
	for _, name := range names {
		if strings.Contains(name, s) {
			return check.Wantf(string(pSeparator), quote(s), "in no name of a label, but %s has it", quote(name))
		}
	}
	if strings.TrimSpace(s) == "" && s != " " || strings.ContainsAny(s, "\r\n\x00\"") || len(s) > 8 {
		return check.Want(string(pSeparator), quote(s), "1 to 8 bytes without quotes and line ends")
	}
	return nil
}

// CheckLabels validates the names of the labels of one question, and the most of them that a teacher's
// vote is counted for: 1 to their number, or 0 for all.
func CheckLabels(names []string, mostYes int, same []Spelling) error {
	if _, err := newClassList(names, same); err != nil {
		if bad := (*check.Error)(nil); errors.As(err, &bad) && bad.Name == "class" { // a label is read as a class is
			return check.Want(string(pLabels), bad.Value, bad.Rule)
		}
		return check.Namedf("%s: %w", pLabels, err)
	}
	for _, name := range names {
		if strings.Contains(name, labelIDSeparator) {
			return check.Want(string(pLabels), quote(name),
				"names without "+labelIDSeparator+", which stands between a question's id and its label")
		}
	}
	if mostYes < 0 || mostYes > len(names) {
		return check.Wantf(string(pMostYes), mostYes, "between 1 and the number of labels, %d", len(names))
	}
	return nil
}

// separator returns what stands between the names in a cell.
func (o *Options) separator() string { return cmp.Or(o.Separator, DefaultSeparator) }

// labelSet reads the votes of a teacher on all labels of a question. It is safe for concurrent use.
type labelSet struct {
	list      *classList // of the labels, with their spellings
	most      int        // τ: of the labels that a teacher says yes to, so many are counted
	separator string
	dropped   atomic.Int64 // votes beyond most
}

// newLabelSet returns that of the options, nil where they state no labels.
func newLabelSet(o *Options) (*labelSet, error) {
	if len(o.Labels) == 0 {
		return nil, nil
	}
	list, err := newClassList(o.Labels, o.Same)
	s := &labelSet{list: list, most: o.MostYes, separator: o.separator()}
	if s.most == 0 {
		s.most = len(o.Labels)
	}
	return s, err
}

// truncate returns the votes that are counted of a teacher's yes votes, which are labels that differ, in
// any order: the first τ by the stated order of the labels. It depends on no other teacher, so that one
// record changes the votes that are counted of the teachers that it reaches, at most 2τ of each.
func (s *labelSet) truncate(yes []int) []int {
	first := FirstLabels(yes, s.most)
	if over := len(yes) - len(first); over > 0 {
		s.dropped.Add(int64(over))
	}
	return first
}

// FirstLabels sorts the labels that a teacher says yes to, by their index, and returns the first τ ≥ 1, which are
// the ones that are counted.
func FirstLabels(yes []int, most int) []int {
	slices.Sort(yes)
	return yes[:min(len(yes), max(0, most))]
}

// parse appends the labels of a cell with a set to yes. A blank is missing, and no label.
func (s *labelSet) parse(c *cell, yes []int) (labels []int, missing bool, rule check.Text) {
	one := []cell{*c}
	switch {
	case c.kind == textCell && strings.Contains(c.text, s.separator) && s.list.of(c.text) < 0:
		one = one[:0]
		for name := range strings.SplitSeq(c.text, s.separator) {
			one = append(one, cell{text: name})
		}
	case c.kind == otherCell && strings.HasPrefix(c.text, "["): // a list of JSON
		var names []string
		if json.Unmarshal([]byte(c.text), &names) != nil {
			return yes, false, check.Named("%s is no list of names", c)
		}
		one = one[:0]
		for _, name := range names {
			one = append(one, cell{text: name})
		}
	case c.class(s.list) < 0 && s.list.isMissing(c):
		return yes, true, rule
	}
	for i := range one {
		switch label := one[i].class(s.list); {
		case label < 0 && strings.TrimSpace(one[i].plain()) == "":
			return yes, false, check.Named("the set %s has an empty name between its separators (%s)", c, quote(s.separator))
		case label < 0:
			return yes, false, check.Named("%s %s", &one[i], s.list.noneOf("labels"))
		case slices.Contains(yes, label):
			return yes, false, check.Named("the set %s has the label %s twice", c, quote(s.list.names[label]))
		default:
			yes = append(yes, label)
		}
	}
	return yes, false, rule
}

// missingRule is the rule that a blank breaks where a vote must be there.
func (s *labelSet) missingRule(c *cell) check.Text {
	return check.Named("the vote is blank (%s): %s no counts a blank as no to every label", quote(c.plain()), pMissing)
}

// public returns how many public votes for no and for yes each label has beside those of k teachers.
func (f *fileInfo) public(k int) (no, yes int, err error) {
	if f == nil {
		return 0, 0, nil
	}
	from, err := check.YesFrom(string(pYesFrom), f.opts.YesFrom, k)
	no, yes = check.PublicVotes(k, from)
	return no, yes, err
}

// addPublic adds the public votes to those of k teachers on a question, or on each label of one.
func (f *fileInfo) addPublic(row []int, k int) *fault {
	if f.opts.YesFrom == "" {
		return nil
	}
	no, yes, err := f.public(k)
	if err != nil {
		return faultf(wholeRow, "%v", err)
	}
	for at := 0; at < len(row); at += 2 {
		row[at] += no
		row[at+1] += yes
	}
	return nil
}

// countLabels counts the votes of all teachers on a question: a query of the classes no and yes for each of its
// labels, which row has. The votes are cells with sets, or, of an array, a number for each teacher and label.
func (f *fileInfo) countLabels(b *Batch, r *record, row []int) (missing int, wrong *fault) {
	labels, from := f.sets.list.len(), len(b.Votes)
	if f.opts.KeepVotes {
		b.Votes = growZero(b.Votes, labels*f.k)
	}
	votes, yes := b.Votes[from:], make([]int, 0, labels)
	for t := range f.k {
		var silent bool
		if yes, silent, wrong = f.yesOf(r, t, yes[:0]); wrong != nil {
			return 0, wrong
		}
		if !silent || f.opts.Missing == MissingNo {
			f.sets.count(yes, t, f.k, row, votes)
			continue
		}
		missing++
		for at := t; at < len(votes); at += f.k {
			votes[at] = -1
		}
	}
	for l := range labels {
		row[2*l] = f.k - missing - row[2*l+1]
	}
	return missing, nil
}

// count counts the labels that one of k teachers says yes to, as far as they are counted.
func (s *labelSet) count(yes []int, teacher, k int, row, votes []int) {
	for _, l := range s.truncate(yes) {
		row[2*l+1]++
		if len(votes) > 0 {
			votes[l*k+teacher] = 1
		}
	}
}

// yesOf appends the labels that a teacher says yes to.
func (f *fileInfo) yesOf(r *record, teacher int, yes []int) (_ []int, missing bool, wrong *fault) {
	if labels := f.sets.list.len(); f.vectors {
		blanks := 0
		for l := range labels {
			at := teacher*labels + l
			c := &r.votes[at]
			switch class := c.class(f.classes); {
			case class == 1:
				yes = append(yes, l)
			case class < 0 && !f.classes.isMissing(c):
				return yes, false, faultf(at, "vote %s is not 0 or 1", c)
			case class < 0 && f.opts.Missing == MissingError:
				return yes, false, &fault{at: at, rule: f.sets.missingRule(c)}
			case class < 0:
				blanks++
			}
		}
		if blanks > 0 && blanks < labels && f.opts.Missing == MissingAbstain {
			return yes, false, faultf(teacher*labels, "teacher %d has votes on some labels and none on others: "+
				"want all, or none", teacher)
		}
		return yes, blanks == labels, nil
	}
	if r.sets != nil {
		return append(yes, r.sets[teacher]...), len(r.sets[teacher]) == 0, nil
	}
	c := &r.votes[teacher]
	yes, missing, rule := f.sets.parse(c, yes)
	if rule.String() == "" && missing && f.opts.Missing == MissingError {
		rule = f.sets.missingRule(c)
	}
	if rule.String() != "" {
		return yes, false, &fault{at: teacher, rule: rule}
	}
	return yes, missing, nil
}

// truth returns the true answer for each label, -1 for all where it is not known.
func (f *fileInfo) truth(r *record) ([]int, *fault) {
	truth := make([]int, f.sets.list.len())
	if f.vectors {
		for l := range truth {
			c := &r.truth[l]
			if truth[l] = c.class(f.classes); truth[l] < 0 && !f.classes.isMissing(c) {
				return nil, faultf(labelCell, "label %s is not 0 or 1", c)
			}
		}
		return truth, nil
	}
	yes, missing, rule := f.sets.parse(&r.label, nil)
	if rule.String() != "" {
		return nil, &fault{at: labelCell, rule: rule}
	}
	if missing && f.opts.Missing != MissingNo {
		for l := range truth {
			truth[l] = -1
		}
	}
	for _, l := range yes {
		truth[l] = 1
	}
	return truth, nil
}

// perLabel turns questions into queries, one for each label: ids question/label, or of questions without
// an id number/label.
func (b *Batch) perLabel(names []string) {
	n := b.Len()
	ids := make([]string, 0, n*len(names))
	places := make([]int, 0, n*len(names))
	for i, place := range b.places {
		question := ""
		if len(b.IDs) > 0 { // of a batch that is used again, the memory for them may be there
			question = b.IDs[i]
		} else {
			question = strconv.FormatInt(b.First+int64(i), 10)
		}
		for _, name := range names {
			ids, places = append(ids, question+labelIDSeparator+name), append(places, place)
		}
	}
	b.First *= int64(len(names))
	b.IDs, b.places = ids, places
}

// Dropped returns how many votes were beyond Options.MostYes so far. It is not private.
func (r *Reader) Dropped() int64 {
	if s := handle.Made(r).opts.sets; s != nil {
		return s.dropped.Load()
	}
	return 0
}

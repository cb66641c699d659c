package votes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Survey describes files of votes of which little or nothing is stated: what is read, what is asked, and the
// readings that were tried. It is not private.
type Survey struct {
	Private  bool       `json:"private"` // false, always
	Queries  int64      `json:"queries"`
	K        int        `json:"k"`
	Columns  Roles      `json:"columns"`
	FirstID  string     `json:"first_id,omitempty"` // of the first query, where the files have ids
	Values   []Value    `json:"values"`             // that occur among votes
	Missing  []Spelled  `json:"missing_spellings"`  // spellings of missing votes, where nothing is asked
	Truth    []Value    `json:"truth,omitempty"`    // that occur among true labels
	Labelled int64      `json:"labelled"`           // queries with a true label
	Told     []string   `json:"told,omitempty"`
	Asked    []string   `json:"asked,omitempty"`
	Readings []*Reading `json:"-"` // one for each answer; none where only a person knows them
}

// A Value is a class that occurs among the votes, with all its spellings.
type Value struct {
	Value     string    `json:"value"`
	Votes     int64     `json:"votes"`
	Spellings []Spelled `json:"spellings,omitempty"` // where not all are spelled as Value is
}

// Spelled is a text and how many cells have it.
type Spelled struct {
	Text  string `json:"text"`
	Votes int64  `json:"votes"`
}

// Known says which Options a person stated. Their values alone do not say so: they may be the defaults.
type Known struct{ Classes, Missing bool }

// Look surveys files. It calls open with the options of each passage: one to survey the files, and one for each
// reading that is tried. It looks for the classes where the options have none. The errors are those of
// reading: a file of which nothing can be read has no survey.
func Look(ctx context.Context, o Options, known Known, open func(Options) (*Reader, error),
	progress func(Progress)) (*Survey, error) {
	if open == nil {
		return nil, errNoReader
	}
	l := &look{ctx: ctx, stated: o, known: known, open: open, progress: progress}
	return l.run()
}

type look struct {
	ctx      context.Context
	stated   Options
	known    Known
	open     func(Options) (*Reader, error)
	progress func(Progress)
	survey   Survey
	found    *foundColumns
	options  Options // with the columns that were found
	answers  []Answer
	told     []string // of formats
	sums     rowSums
	marks    setMarks // of cells that may be sets
	counts   *Reading // as counts for each class; nil where they are none
}

func (l *look) run() (*Survey, error) {
	err := l.survey1()
	for range 2 { // a packed file of another format has two faults
		var is *misnamed
		if !errors.As(err, &is) || !l.take(is) {
			break
		}
		before := err
		if err = l.survey1(); err != nil && is.format == FormatNPZ {
			return nil, before // a zip archive, which is more likely a spreadsheet
		}
	}
	if err != nil {
		return nil, err
	}
	l.survey.Told = slices.Concat(l.told, l.survey.Told, l.found.told)
	l.survey.Asked = slices.Concat(l.found.questions, l.survey.Asked)
	if err := l.tryAnswers(); err != nil {
		return nil, err
	}
	return &l.survey, nil
}

// take states the format or the compression that a file has, where it was not stated.
func (l *look) take(is *misnamed) bool {
	switch {
	case is.format != FormatAuto && l.stated.Format == FormatAuto:
		l.stated.Format = is.format
		l.told = append(l.told, fmt.Sprintf("the file is %s, as it begins", is.format.row().Title))
	case is.compression != CompressionAuto && l.stated.Compression == CompressionAuto:
		l.stated.Compression = is.compression
		l.told = append(l.told, fmt.Sprintf("the file is compressed with %s, as it begins", is.compression))
	default:
		return false
	}
	return true
}

// survey1 surveys the files in their formats.
func (l *look) survey1() error {
	o := l.stated
	o.found, o.NoTruth = &foundColumns{}, false
	l.survey, l.answers, l.sums = Survey{}, nil, rowSums{}
	if l.known.Classes || o.Layout == LayoutCounts {
		return l.describe(o)
	}
	err := l.tally(o)
	if err != nil && l.found.id != "" { // perhaps the first rows alone differ in it
		o.found = &foundColumns{noID: true}
		if l.tally(o) == nil {
			err = nil
		}
	}
	if err == nil && l.found.counts {
		o.Layout, o.found, l.answers = LayoutCounts, &foundColumns{}, nil
		l.survey = Survey{Told: []string{"zeros and ones are counts of votes"}}
		if err = l.describe(o); err == nil {
			l.found.counts = true
		}
		return err
	}
	if l.found.array && err != nil { // the other side may be the teachers
		o.Layout, o.found = LayoutTeachers, &foundColumns{array: true}
		err = l.tally(o)
	}
	if counts := l.askCounts(); counts && err != nil { // of many values
		d := l.counts.Description
		l.survey.Columns, l.survey.K, l.answers, err = d.Columns, d.K, nil, nil
	}
	if l.askSets(o) {
		err = nil
	}
	return err
}

// presume adds a presumption to all answers: that of a question on which none of them depends.
func (l *look) presume(text string) {
	for i := range l.answers {
		l.answers[i].Text = strings.TrimSuffix(text+", "+l.answers[i].Text, ", ")
	}
}

// tally surveys files of unknown classes.
func (l *look) tally(o Options) error { return l.tallyAs(o, "") }

// tallyAs is tally of cells with several values and this separator between them; "" for one value each.
func (l *look) tallyAs(o Options, separator string) error {
	o.tally = &tally{index: make(map[spelling]int), split: separator}
	defer func() {
		if separator == "" {
			l.marks = o.tally.marks
		}
	}()
	o.Classes, o.KeepVotes, o.Missing = nil, false, MissingError
	l.found = o.found
	r, err := l.open(o)
	if err != nil {
		return err
	}
	defer r.Close()
	t, err := r.count(l.progress)
	l.options, l.sums = r.opts, r.opts.tally.sums
	s := &l.survey
	if s.K, s.Columns = r.K(), r.Columns(); err != nil {
		return err
	}
	s.Queries, s.K, s.FirstID = t.queries, t.k, t.firstID
	if s.Columns.Layout == LayoutLong.String() {
		s.Columns.Width = t.k
	}
	v := &values{tallied: t}
	v.ask()
	if s.Asked, l.answers = v.questions, v.answers; t.summary != "" {
		s.Asked = append(s.Asked, fmt.Sprintf("is the last row, of id %s, a query? Where it sums up the others, "+
			"leave it out of the file", quoteUnlessPlain(t.summary)))
		l.presume("the last row is a query")
	}
	asked := make(map[string]bool) // spellings that may be missing votes, or classes
	for _, a := range v.answers {
		for _, c := range a.Classes {
			asked[c] = true
		}
	}
	for _, i := range t.occurring() {
		switch x := t.spellings[i]; {
		case x.missing && (x.blank || !asked[x.value]):
			s.Missing = append(s.Missing, Spelled{shownMissing(x), t.votes[i]})
		default:
			s.Values = addSpelled(s.Values, x.value, Spelled{x.text, t.votes[i]})
		}
	}
	for i, x := range t.spellings {
		if n := t.truth[i]; n > 0 && (!x.missing || !x.blank && asked[x.value]) {
			s.Truth = addSpelled(s.Truth, x.value, Spelled{x.text, n})
			s.Labelled += n
		}
	}
	slices.SortFunc(s.Truth, func(a, b Value) int { return compareValues(a.Value, b.Value) })
	s.Values, s.Truth = plainSpellings(s.Values), plainSpellings(s.Truth)
	s.Told = slices.Concat(r.first.told, v.told, l.tell(t))
	return nil
}

// tell returns the remarks on values and missing votes that raise no question.
func (l *look) tell(t *tallied) (told []string) {
	if t.trimmed.Load() {
		told = append(told, "blanks around votes and names are no part of them")
	}
	for i, x := range t.spellings {
		if n, whole := canonicalInt(x.value); whole && n == -1 && x.missing && t.votes[i] == 0 && t.truth[i] > 0 {
			told = append(told, fmt.Sprintf("%s in %s is an unknown truth: no vote is %[1]s", x.value,
				quoteUnlessPlain(l.survey.Columns.Truth)))
		}
	}
	for _, v := range l.survey.Values {
		var others []string
		for _, s := range v.Spellings {
			if s.Text != v.Value {
				others = append(others, quoteUnlessPlain(s.Text))
			}
		}
		if _, whole := canonicalInt(v.Value); len(others) > 0 && whole {
			told = append(told, fmt.Sprintf("%s is read as %s", strings.Join(others, ", "), v.Value))
		} else if len(others) > 0 {
			told = append(told, fmt.Sprintf("%s is one class in all spellings that look alike (Unicode, composed or not)",
				quoteUnlessPlain(v.Value)))
		}
	}
	return told
}

// describe surveys files of known classes.
func (l *look) describe(o Options) error {
	if o.Missing == MissingError && o.Layout != LayoutCounts && !l.known.Missing {
		o.Missing = MissingCoin // which counts them; nothing is drawn
	}
	o.KeepVotes = o.Layout != LayoutCounts
	l.found = o.found
	if len(o.Labels) > 0 {
		o.Missing = l.stated.Missing
	}
	d, r, err := l.read(o)
	if err != nil && len(o.Labels) > 0 && o.Missing == MissingError { // perhaps blanks alone are in the way
		o.Missing = MissingNo
		d, r, err = l.read(o)
	}
	if err != nil {
		return err
	}
	l.options = r.opts
	s := &l.survey
	s.Queries, s.K, s.Columns, s.Labelled = d.Queries, d.K, d.Columns, d.Labelled
	a := Answer{Classes: d.Classes, Same: o.Same, Missing: o.Missing, Votes: d.votes(), Absent: d.Missing}
	for i, n := range a.Votes {
		if n > 0 {
			s.Values = append(s.Values, Value{Value: d.Classes[i], Votes: n})
		}
	}
	if d.Missing > 0 {
		s.Missing = []Spelled{{"missing", d.Missing}}
	}
	if a.Missing = l.stated.Missing; len(o.Labels) > 0 {
		a.Missing = o.Missing
	} else if d.Missing > 0 && a.Missing == MissingError {
		a.Missing = MissingAbstain
	}
	l.answers = []Answer{a}
	return nil
}

// read describes the files.
func (l *look) read(o Options) (*Description, *Reader, error) {
	r, err := l.open(o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	d, err := Describe(r, l.progress)
	return d, r, err
}

// votes returns how many votes each class has; nil where the files hold counts.
func (d *Description) votes() []int64 {
	if d.Teachers == nil {
		return nil
	}
	n := make([]int64, len(d.Classes))
	for _, t := range d.Teachers {
		for c := range n {
			n[c] += t.counts[c]
		}
	}
	return n
}

func addSpelled(to []Value, value string, s Spelled) []Value {
	i := slices.IndexFunc(to, func(v Value) bool { return v.Value == value })
	if i < 0 {
		i, to = len(to), append(to, Value{Value: value})
	}
	to[i].Votes += s.Votes
	to[i].Spellings = append(to[i].Spellings, s)
	return to
}

// plainSpellings leaves the spellings out where there is one and it is the value.
func plainSpellings(of []Value) []Value {
	for i := range of {
		if s := of[i].Spellings; len(s) == 1 && s[0].Text == of[i].Value {
			of[i].Spellings = nil
		}
	}
	return of
}

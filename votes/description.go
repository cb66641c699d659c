package votes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// Description summarises a file of votes. It is not private.
type Description struct {
	Private bool     `json:"private"` // false, always
	Queries int64    `json:"queries"`
	K       int      `json:"k"`
	Classes []string `json:"classes"`

	Columns  Roles    `json:"columns"`
	Missing  int64    `json:"missing_votes"`
	Ties     int64    `json:"ties"`              // queries without a single most popular answer
	Accuracy *float64 `json:"majority_accuracy"` // null without true labels

	// Histogram counts the queries by the votes for the second of two classes,
	// 0..K; with more classes, by those for the most popular answer.
	Histogram []int64 `json:"histogram"`
	Agreement float64 `json:"agreement"` // mean share of the votes for the most popular answer

	Teachers []TeacherDescription `json:"teachers,omitempty"` // where the files hold votes, not counts

	Labelled int64 `json:"labelled"` // queries whose true label is known: those of Accuracy

	right   int64
	popular float64
	most    []int64 // queries of which each class is the single most popular answer
}

// TeacherDescription summarises the votes of one teacher.
type TeacherDescription struct {
	Name      string    `json:"name,omitempty"` // of the column, or with LayoutLong in the rows; "" for none
	Rates     []float64 `json:"rates"`          // share of each class among this teacher's votes
	Agreement float64   `json:"agreement"`      // with the single most popular answer, where there is one
	Accuracy  *float64  `json:"accuracy"`       // null without true labels

	counts              []int64
	votes, with, of     int64
	labelled, rightOnes int64
}

// Describe reads all votes and describes them. The reader must keep votes (Options.KeepVotes)
// for Teachers. progress, unless nil, is called now and then. The errors are those of reading.
func Describe(r *Reader, progress func(Progress)) (*Description, error) {
	if r == nil || r.cancel == nil {
		return nil, errNoReader
	}
	d := &Description{K: r.K(), Classes: r.Classes(), Columns: r.Columns(),
		Histogram: make([]int64, r.K()+1), most: make([]int64, len(r.classes.names))}
	for b, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		if b.Votes != nil && d.Teachers == nil {
			d.Teachers = make([]TeacherDescription, d.K)
			for i := range d.Teachers {
				d.Teachers[i].counts = make([]int64, len(d.Classes))
			}
		}
		no, yes := b.Public()
		for i := range b.Len() {
			if no+yes > 0 { // what is described are the teachers' votes
				row := b.Row(i)
				row[0], row[1] = row[0]-no, row[1]-yes
			}
			d.add(b, i)
		}
		b.Release()
		if progress != nil {
			progress(r.Progress())
		}
	}
	names := r.teacherNames()
	for i := range d.Teachers[:min(len(names), len(d.Teachers))] {
		d.Teachers[i].Name = names[i]
	}
	d.finish()
	return d, nil
}

// Popular returns a sentence on the class that wins most queries; "" where none does.
func (d *Description) Popular() string {
	d = handle.Made(d)
	best := 0
	for c := range d.most {
		if d.most[c] > d.most[best] {
			best = c
		}
	}
	if len(d.most) == 0 || d.most[best] == 0 {
		return ""
	}
	return fmt.Sprintf("%s has most votes in %d of %d queries", quoteUnlessPlain(d.Classes[best]), d.most[best],
		d.Queries)
}

// teacherName returns the name of teacher j for a table, quoted and of at most 24 characters, since
// a file may have any; the number from 1 where there is none.
func (d *Description) teacherName(j int) string {
	const most = 24
	if j >= len(d.Teachers) || d.Teachers[j].Name == "" {
		return strconv.Itoa(j + 1)
	}
	quoted := []rune(strings.Trim(strconv.Quote(d.Teachers[j].Name), `"`))
	if len(quoted) > most {
		quoted = append(quoted[:most-1], '…')
	}
	return string(quoted)
}

// Says describes how often the teachers agree and, where true labels are known, are right.
func (d *Description) Says() []string {
	d = handle.Made(d)
	says := []string{fmt.Sprintf("the most popular answer has %s of the votes; %d queries have a tie",
		num.Percent(d.Agreement), d.Ties)}
	if d.Accuracy != nil {
		says = append(says, fmt.Sprintf("it is right in %s of the %d of %d queries whose true label is known",
			num.Percent(*d.Accuracy), d.Labelled, d.Queries))
	}
	return says
}

// HistogramTitle returns a title for Histogram: the votes that it counts.
func (d *Description) HistogramTitle() string {
	if classes := handle.Made(d).Classes; len(classes) == 2 {
		return "votes for " + classes[1]
	}
	return "votes for the most popular"
}

// Table returns a row for each teacher.
func (d *Description) Table() (header []string, rows [][]string) {
	d = handle.Made(d)
	header = []string{"teacher"}
	for _, class := range d.Classes {
		header = append(header, "answers "+class)
	}
	header = append(header, "like the most popular", "right")
	for j, t := range d.Teachers {
		row := []string{d.teacherName(j)}
		for _, rate := range t.Rates {
			row = append(row, num.Percent(rate))
		}
		right := "-"
		if t.Accuracy != nil {
			right = num.Percent(*t.Accuracy)
		}
		rows = append(rows, append(row, num.Percent(t.Agreement), right))
	}
	return header, rows
}

func (d *Description) add(b *Batch, i int) {
	d.Queries++
	row := b.Row(i)
	most := slices.Max(row)
	if len(row) == 2 {
		d.Histogram[row[1]]++
	} else {
		d.Histogram[most]++
	}
	d.popular += float64(most)
	if b.Missing != nil {
		d.Missing += int64(b.Missing[i])
	}
	majority := b.Majority(i)
	if majority < 0 {
		d.Ties++
	} else {
		d.most[majority]++
	}
	truth := b.Truth(i)
	if truth >= 0 {
		d.Labelled++
		if majority == truth {
			d.right++
		}
	}
	for j := range d.Teachers {
		v := b.Votes[i*b.K+j]
		if v < 0 {
			continue
		}
		t := &d.Teachers[j]
		t.votes++
		t.counts[v]++
		if majority >= 0 {
			t.of++
			if v == majority {
				t.with++
			}
		}
		if truth >= 0 {
			t.labelled++
			if v == truth {
				t.rightOnes++
			}
		}
	}
}

func (d *Description) finish() {
	d.Agreement = share(d.popular, d.Queries*int64(d.K)-d.Missing)
	d.Accuracy = shareOf(d.right, d.Labelled)
	for j := range d.Teachers {
		t := &d.Teachers[j]
		for _, n := range t.counts {
			t.Rates = append(t.Rates, share(float64(n), t.votes))
		}
		t.Agreement = share(float64(t.with), t.of)
		t.Accuracy = shareOf(t.rightOnes, t.labelled)
	}
}

func share(x float64, of int64) float64 {
	if of == 0 {
		return 0
	}
	return x / float64(of)
}

func shareOf(n, of int64) *float64 {
	if of == 0 {
		return nil
	}
	x := share(float64(n), of)
	return &x
}

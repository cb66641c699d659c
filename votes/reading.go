package votes

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A Reading is a way to read the files that has been tried on them.
type Reading struct {
	Answer      string // what it presumes, where something is asked
	Options     Options
	Description *Description
}

// tryAnswers makes readings of the answers that the files agree with.
func (l *look) tryAnswers() error {
	s, layouts := &l.survey, []Layout{l.stated.Layout}
	if l.found.array {
		layouts = []Layout{LayoutWide, LayoutTeachers}
	}
	if l.counts != nil {
		s.Readings = append(s.Readings, l.counts)
	}
	for _, a := range l.answers {
		if a.Classes == nil {
			continue
		}
		for _, layout := range layouts {
			reading, err := l.try(a, layout)
			if err != nil {
				return err
			}
			if reading != nil {
				s.Readings = append(s.Readings, reading)
			}
		}
	}
	if l.found.long {
		s.Told = append(s.Told, "a release of single votes needs the number of teachers and the ids of all queries "+
			"too: neither follows from the votes")
	}
	if l.found.array && slices.ContainsFunc(s.Readings, func(r *Reading) bool {
		return r.Options.Layout == LayoutTeachers
	}) && len(s.Readings) > 1 {
		s.Asked = append([]string{"which are the teachers, the array's columns or its rows?"}, s.Asked...)
	}
	if len(s.Readings) == 0 && len(s.Asked) == 0 {
		s.Asked = append(s.Asked, "what can a vote be? At least two classes are to be named")
	}
	if len(s.Asked) > 0 {
		return nil
	}
	d := s.Readings[0].Description
	for i, n := range d.votes() {
		if n == 0 && !l.known.Classes {
			s.Told = append(s.Told, fmt.Sprintf("%s does not occur: the classes are 0 and 1 unless others are "+
				"stated", d.Classes[i]))
		}
	}
	s.Labelled = d.Labelled
	return nil
}

// candidates yields ways to state the files, the shortest first: with the columns of votes in these ways, and the
// id and the header as they were stated or found.
func (l *look) candidates(ways [][]string) iter.Seq[Options] {
	headers := []HeaderMode{l.stated.Header}
	if l.found.header != HeaderAuto {
		headers = append(headers, l.found.header)
	}
	return func(yield func(Options) bool) {
		for _, header := range headers {
			for _, id := range slices.Compact([]string{l.options.IDColumn, l.stated.IDColumn}) {
				for _, way := range ways {
					o := l.stated
					o.Header, o.IDColumn, o.VoteColumns, o.VotesColumn = header, id, way, l.options.VotesColumn
					if l.found.long {
						o.Layout, o.TeacherColumn, o.VoteColumn = LayoutLong, l.options.TeacherColumn, l.options.VoteColumn
					}
					if !yield(o) {
						return
					}
				}
			}
		}
	}
}

// ways returns the ways to state the columns of votes.
func (l *look) ways() [][]string {
	if l.found.votes == nil {
		return [][]string{l.stated.VoteColumns}
	}
	return l.found.votes
}

// stateTruth states the column of the truth where the command states all columns.
func (l *look) stateTruth(o *Options) {
	if truth := l.survey.Columns.Truth; l.found.done && truth != "" && o.LabelColumn == "" {
		o.LabelColumn = truth
	}
}

// try returns the shortest reading of an answer that reads the files as the survey did, nil where
// none does. The error is that of the context.
func (l *look) try(a Answer, layout Layout) (*Reading, error) {
	answer := a.Text
	if l.found.array {
		answer = strings.TrimPrefix(answer+", the teachers are the "+
			map[Layout]string{LayoutWide: "columns", LayoutTeachers: "rows"}[layout], ", ")
	}
	for o := range l.candidates(l.ways()) {
		if l.found.counts {
			o.Layout = LayoutCounts
		} else if !l.found.long {
			o.Layout = layout
		}
		o.Classes, o.Same, o.Missing = a.Classes, a.Same, a.Missing
		o.KeepVotes = l.stated.Layout != LayoutCounts && !l.found.counts
		if l.stated.Missing != MissingError {
			o.Missing = l.stated.Missing
		}
		if l.survey.Columns.In == "columns" {
			l.stateTruth(&o)
		}
		if o.Layout == LayoutLong && o.Missing == MissingError && l.gaps(a) {
			o.Missing = MissingAbstain
		}
		d, err := l.trial(a, o)
		if l.ctx.Err() != nil {
			return nil, err
		}
		if err == nil {
			return &Reading{Answer: cmp.Or(answer, l.found.answer), Options: o, Description: d}, nil
		}
	}
	return nil, nil
}

// gaps reports whether rows of single votes lack some of the queries' votes.
func (l *look) gaps(a Answer) bool {
	n := int64(0)
	for _, votes := range a.Votes {
		n += votes
	}
	return n < l.survey.Queries*int64(l.survey.K)
}

// trial reads the files as stated, and compares.
func (l *look) trial(a Answer, o Options) (*Description, error) {
	d, err := l.readStated(o)
	if err != nil {
		return nil, err
	}
	same := d.Queries == l.survey.Queries && d.Missing == a.Absent && slices.Equal(d.votes(), a.Votes)
	if long := d.Columns.Layout == LayoutLong.String(); long { // rows that are not there are missing too
		same = d.Queries == l.survey.Queries && slices.Equal(d.votes(), a.Votes)
	}
	if l.found.array && o.Layout != l.options.Layout {
		same = slices.Equal(d.votes(), a.Votes) && int64(l.survey.K) == d.Queries
	}
	if !same {
		return nil, errors.New("the files are read otherwise")
	}
	return d, nil
}

// readStated describes the files. A true label that is no class is no fault of a reading: releases
// read none.
func (l *look) readStated(o Options) (*Description, error) {
	d, _, err := l.read(o)
	var wrong *ParseError
	if errors.As(err, &wrong) && strings.HasPrefix(wrong.Rule, "label ") {
		told := "a true label is none of the values of votes: figures of truth need the classes of the task"
		if !slices.Contains(l.survey.Told, told) {
			l.survey.Told = append(l.survey.Told, told)
		}
		o.NoTruth = true
		d, _, err = l.read(o)
	}
	return d, err
}

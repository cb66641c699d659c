package votes

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// Limits of LayoutLong: queries, whose ids are in memory; and votes that wait in memory, two bytes
// each. Where QueryIDs and K are given and there are more votes, the rows must come in the order of
// the ids, and only one query waits.
const (
	maxQueryIDs  = 1 << 22
	maxLongVotes = 1 << 26
)

// checkLong validates what goes with LayoutLong, and refuses it elsewhere.
func (o *Options) checkLong() error {
	if o.Layout != LayoutLong {
		for _, x := range []struct {
			given bool
			p     check.Parameter
		}{{o.VoteColumn != "", pVoteColumn}, {o.TeacherColumn != "", pTeacherColumn},
			{o.QueryIDs != nil, pQueryIDs}} {
			if x.given {
				return check.Namedf("%s goes with %s long", x.p, pLayout)
			}
		}
		return nil
	}
	for _, x := range []struct {
		given bool
		p     check.Parameter
	}{{len(o.VoteColumns) > 0, pVoteColumns}, {o.VotesColumn != "", pVotesColumn},
		{o.LabelColumn != "" && o.LabelColumn != NoColumn, pLabelColumn}} {
		if x.given {
			return check.Namedf("%s goes without %s long, whose rows are an id, a teacher and a vote", x.p,
				pLayout)
		}
	}
	if o.QueryIDs != nil && len(o.QueryIDs) == 0 || len(o.QueryIDs) > maxQueryIDs {
		return check.Wantf(string(pQueryIDs), len(o.QueryIDs), "between 1 and %d", maxQueryIDs)
	}
	return nil
}

// ReadQueryIDs reads the ids of the queries of a file in LayoutLong: a CSV or a text of lines. The
// ids are in the column of the name that the header has, else in the only column, whose first line
// is an id too. name is the file's name for messages; faults of the file are [*ParseError]s.
func ReadQueryIDs(r io.Reader, name, column string) ([]string, error) {
	name = shownName(name)
	r, separator := format.PeekSeparator(r)
	in := csv.NewReader(r)
	in.Comma, in.ReuseRecord = separator, true
	var ids []string
	seen := make(map[string]bool)
	at, width := 0, 0
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		var syntax *csv.ParseError
		switch {
		case errors.As(err, &syntax):
			return nil, &ParseError{File: name, Line: syntax.Line, Rule: syntax.Err.Error(), Err: err}
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if width == 0 {
			width = len(row)
			row[0] = strings.TrimPrefix(row[0], "\ufeff")
			if at = slices.IndexFunc(row, func(cell string) bool {
				cell = strings.TrimSpace(cell)
				return cell == column || column == "" && isUsual(cell, idNames...)
			}); at >= 0 {
				continue
			}
			if at = 0; width > 1 {
				return nil, &ParseError{File: name, Line: 1,
					Rule: fmt.Sprintf("of %d columns none has the name %s of the ids", width, quote(column))}
			}
		}
		id := strings.Clone(strings.TrimSpace(row[at]))
		line, _ := in.FieldPos(at)
		switch rule := idRule(id); {
		case rule != "":
			return nil, &ParseError{File: name, Line: line, Rule: rule}
		case seen[id]:
			return nil, &ParseError{File: name, Line: line,
				Rule: "query id " + quote(id) + " appears twice: list each query once"}
		case len(ids) == maxQueryIDs:
			return nil, &ParseError{File: name, Line: line,
				Rule: fmt.Sprintf("there are more than %d query ids", maxQueryIDs)}
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if ids == nil {
		return nil, &ParseError{File: name, Rule: "there is no query id in the file"}
	}
	return ids, nil
}

// assignLong finds the columns of LayoutLong, of which c has the id.
func (f *fileInfo) assignLong(s *columnSet, c columns) (columns, *fault) {
	if c.id < 0 {
		return c, faultf(wholeRow, "there is no %s of query ids: name it (%s)", s.what, pIDColumn)
	}
	vote, wrong := s.find("the vote", f.opts.VoteColumn, "vote")
	if wrong == nil && vote < 0 {
		wrong = faultf(wholeRow, "there is no %s of votes: name it (%s)", s.what, pVoteColumn)
	}
	if wrong != nil {
		return c, wrong
	}
	if c.teacher, wrong = s.find("teacher", f.opts.TeacherColumn, "teacher"); wrong == nil &&
		c.teacher < 0 {
		wrong = faultf(wholeRow, "there is no %s of teachers' names: name it (%s)", s.what,
			pTeacherColumn)
	}
	if wrong != nil {
		return c, wrong
	}
	c.votes, f.k = []int{vote}, 1
	c.unused = s.unassigned()
	f.setRoles(s, &c)
	return c, nil
}

// addVote appends the vote of one teacher on one query.
func (f *fileInfo) addVote(b *Batch, r *record) *fault {
	classes := f.classes
	if f.sets != nil {
		classes = f.sets.list
	}
	class := r.votes[0].class(classes)
	switch missing := class < 0 && classes.isMissing(&r.votes[0]); {
	case class >= 0 || missing && f.opts.Missing != MissingError:
	case f.sets == nil:
		return r.votes[0].voteFault(0, classes)
	case missing:
		return &fault{at: 0, rule: f.sets.missingRule(&r.votes[0])}
	default:
		return faultf(0, "vote %s %s", &r.votes[0], f.sets.list.noneOf("labels"))
	}
	b.Votes = append(b.Votes, class)
	return nil
}

package votes

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// A ParseError names the rule that a file breaks, and the place.
type ParseError struct {
	File       string // its path, or Options.Name; quoted if not all of it is printable
	Line       int    // from 1; 0 if the file as a whole is meant, or has no lines
	Row        int64  // of an array or Parquet file, from 0; see HasRow
	HasRow     bool   // Row is meant
	Column     int    // number of the field, from 1; 0 if the line as a whole is meant
	ColumnName string // from the header, if there is one
	Rule       string // what is wrong and what is wanted
	Err        error  // the cause, if another package found the fault
	Value      string // of the vote that names no class; "" for other faults. Not private
}

func (e *ParseError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.HasRow {
		fmt.Fprintf(&b, "row %d: ", e.Row)
	}
	if e.Column > 0 {
		fmt.Fprintf(&b, "column %d", e.Column)
		if e.ColumnName != "" {
			fmt.Fprintf(&b, " (%s)", quote(e.ColumnName))
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Rule)
	return b.String()
}

func (e *ParseError) Unwrap() error { return e.Err }

// shownName is a file's name for a message: as it is, or quoted where a terminal or the
// next line could take it for something else. All messages of the package name files so.
func shownName(name string) string {
	for _, c := range name {
		if !strconv.IsPrint(c) || c == utf8.RuneError {
			return strconv.Quote(name)
		}
	}
	return name
}

// pathError shows the name in an error of the file system.
func pathError(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return &fs.PathError{Op: p.Op, Path: shownName(p.Path), Err: p.Err}
	}
	return err
}

// quote quotes a cell for a message and clips it.
func quote(s string) string { return format.Quote(s) }

// The parameters that rules of files are about, as errors name them: [Options], and the form of the
// labels.
const (
	pK             check.Parameter = "number of teachers K"
	pClasses       check.Parameter = "classes"
	pSame          check.Parameter = "same"
	pIDColumn      check.Parameter = "id column"
	pLabelColumn   check.Parameter = "label column"
	pVoteColumns   check.Parameter = "vote columns"
	pVoteColumn    check.Parameter = "vote column"
	pTeacherColumn check.Parameter = "teacher column"
	pQueryIDs      check.Parameter = "query ids"
	pLayout        check.Parameter = "layout"
	pVotesColumn   check.Parameter = "votes column"
	pHeader        check.Parameter = "header row"
	pMissing       check.Parameter = "missing"
	pLabels        check.Parameter = "labels"
	pMostYes       check.Parameter = "most yes"
	pYesFrom       check.Parameter = "yes from"
	pSeparator     check.Parameter = "separator"
	pFormat        check.Parameter = "format of the votes"
	pLabelFormat   check.Parameter = "format of the labels"
)

// OptionsError is the error of Options that break a rule, by themselves or together: nothing was read.
type OptionsError struct {
	name string
	err  error
}

func (e *OptionsError) Error() string { return fmt.Sprintf("read %s: %v", e.name, e.err) }

// Unwrap returns the rule.
func (e *OptionsError) Unwrap() error { return e.err }

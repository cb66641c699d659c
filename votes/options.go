package votes

import (
	"errors"
	"fmt"
	"strconv"
)

// Limits of a file. They bound the memory that one row can take.
const (
	MaxRecordBytes = 1 << 20 // one row, quoted line ends included
	MaxColumns     = 100_000
	MaxTeachers    = 100_000 // K, in either layout
	MaxIDBytes     = 4096
)

// NoColumn as IDColumn or LabelColumn says that there is no such column, even
// if a header name would suggest one.
const NoColumn = "-"

// HeaderMode says whether the first row names the columns.
type HeaderMode int

const (
	// HeaderAuto looks at the cells of the first row in the columns of votes.
	// If all are votes (wide: 0 or 1; counts: whole numbers) the row is data; if
	// none is, it is a header; otherwise the file is refused with the advice to
	// say which. A column option that is a name implies a header.
	HeaderAuto HeaderMode = iota
	HeaderYes
	HeaderNo
)

// Layout says what the columns of votes hold.
type Layout int

const (
	LayoutWide   Layout = iota // one column of 0 and 1 for each teacher
	LayoutCounts               // the numbers of zeros and ones in two columns
)

// ParseHeaderMode turns "auto", "yes" or "no" into a HeaderMode.
func ParseHeaderMode(s string) (HeaderMode, error) {
	switch s {
	case "auto":
		return HeaderAuto, nil
	case "yes":
		return HeaderYes, nil
	case "no":
		return HeaderNo, nil
	}
	return 0, fmt.Errorf("header %s, want auto, yes or no", quote(s))
}

// ParseLayout turns "wide" or "counts" into a Layout.
func ParseLayout(s string) (Layout, error) {
	switch s {
	case "wide":
		return LayoutWide, nil
	case "counts":
		return LayoutCounts, nil
	}
	return 0, fmt.Errorf("layout %s, want wide or counts", quote(s))
}

// CSVOptions says how to read a file. The zero value reads the wide layout and
// looks for a header.
//
// A column is given by its name in the header or by its position, from 1; a
// name wins over a position. Names are compared without surrounding spaces.
//
// A caution for files without a header: an undeclared id column whose first
// value is 0 or 1 looks like a teacher. Give IDColumn or K there.
type CSVOptions struct {
	// Name is the file's name for messages. Defaults to "votes".
	Name string
	// Header defaults to HeaderAuto.
	Header HeaderMode
	// Layout defaults to LayoutWide.
	Layout Layout
	// IDColumn holds the queries' ids. Defaults to the column named query or id
	// (in any case); without a header, to none. See NoColumn.
	IDColumn string
	// LabelColumn holds the true answers. Defaults to the column named label or
	// truth (in any case); without a header, to none. See NoColumn.
	LabelColumn string
	// ZerosColumn and OnesColumn serve LayoutCounts only. They default to the
	// columns named zeros and ones, or n0 and n1 (in any case); without a
	// header, to the first and second column that is neither id nor label.
	ZerosColumn, OnesColumn string
	// K is the number of teachers to expect. 0 takes it from the file.
	K int
}

// check validates the options by themselves.
func (o *CSVOptions) check() error {
	if o.Header < HeaderAuto || o.Header > HeaderNo {
		return fmt.Errorf("header mode %d is unknown", o.Header)
	}
	if o.Layout != LayoutWide && o.Layout != LayoutCounts {
		return fmt.Errorf("layout %d is unknown", o.Layout)
	}
	if o.K < 0 || o.K > MaxTeachers {
		return fmt.Errorf("K = %d, want 0 (from the file) ≤ K ≤ %d", o.K, MaxTeachers)
	}
	if o.Layout != LayoutCounts && (o.ZerosColumn != "" || o.OnesColumn != "") {
		return errors.New("columns of zeros and ones need the layout counts")
	}
	if (o.ZerosColumn == "") != (o.OnesColumn == "") {
		return fmt.Errorf("column of zeros %s and of ones %s: give both or neither", quote(o.ZerosColumn), quote(o.OnesColumn))
	}
	if o.ZerosColumn == NoColumn || o.OnesColumn == NoColumn {
		return errors.New("the layout counts needs a column of zeros and one of ones")
	}
	if o.Header == HeaderNo {
		for _, c := range o.columns() {
			if isName(c.spec) {
				return fmt.Errorf("%s column %s: a file without header has no names, give the position from 1", c.role, quote(c.spec))
			}
		}
	}
	return nil
}

type columnOption struct{ role, spec string }

func (o *CSVOptions) columns() []columnOption {
	return []columnOption{{"id", o.IDColumn}, {"label", o.LabelColumn}, {"zeros", o.ZerosColumn}, {"ones", o.OnesColumn}}
}

// isName reports whether a column option can only be a name.
func isName(spec string) bool {
	if spec == "" || spec == NoColumn {
		return false
	}
	_, err := strconv.Atoi(spec)
	return err != nil
}

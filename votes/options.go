package votes

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// Limits of a file of votes, beside check.MaxTeachers and check.MaxClasses.
const (
	maxRecordBytes = 1 << 20 // one row, quoted line ends included
	maxIDBytes     = 4096
)

// NoColumn as IDColumn or LabelColumn states that there is no such column, even if a header name
// would suggest one.
const NoColumn = "-"

// Nameless as IDColumn or LabelColumn, or in VoteColumns, is the first column whose name is empty.
const Nameless = `""`

// HeaderMode states whether the first row names the columns.
type HeaderMode int

const (
	// HeaderAuto looks at the cells of the first row in the columns of votes.
	// If all are votes (wide: 0 or 1; counts: whole numbers) the row is data; if
	// none is, it is a header; otherwise the file is refused with the advice to
	// say which. So is a row of votes that could be names as well: different
	// numbers, such as 0,1. A column option that is a name implies a header.
	HeaderAuto HeaderMode = iota
	HeaderYes
	HeaderNo
)

// Layout is the arrangement of votes in a file.
type Layout int

const (
	// LayoutDefault is LayoutWide where columns have names or roles of their own
	// (CSV, TSV, JSON Lines, Parquet). Arrays have none: there it is an error,
	// because K×N and N×K cannot be told apart.
	LayoutDefault Layout = iota
	// LayoutWide has a column for each teacher: N queries × K votes.
	LayoutWide
	// LayoutCounts has a column for each class: N queries × C counts.
	LayoutCounts
	// LayoutLong has a row for each vote: the query's id, the teacher's name, and the vote. A teacher
	// without a row on a query has a missing vote there. Files with named columns only.
	LayoutLong
	// LayoutTeachers has a row for each teacher: K votes × N queries. Arrays only.
	LayoutTeachers
)

var (
	headers = check.Enum[HeaderMode]{Name: "header", Names: []string{"auto", "yes", "no"}}
	layouts = check.Enum[Layout]{Name: "layout", Names: []string{"default", "wide", "counts", "long", "teachers"}}
)

// HeaderModes returns all of them.
func HeaderModes() []HeaderMode { return headers.Values() }

// String returns "auto", "yes" or "no".
func (h HeaderMode) String() string { return headers.String(h) }

// UnmarshalText reads the name.
func (h *HeaderMode) UnmarshalText(name []byte) error { return headers.Unmarshal(h, name) }

// Layouts returns all of them.
func Layouts() []Layout { return layouts.Values() }

// String returns "default", "wide", "counts", "long" or "teachers".
func (l Layout) String() string { return layouts.String(l) }

// UnmarshalText reads the name.
func (l *Layout) UnmarshalText(name []byte) error { return layouts.Unmarshal(l, name) }

// ParseColumns turns a list of columns separated by commas, as t1,t2 or 2,3, into
// Options.VoteColumns. A name that has a comma or begins with a quote is quoted as in CSV.
// "" is no list.
func ParseColumns(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	lines, err := csv.NewReader(strings.NewReader(list)).ReadAll()
	if err == nil && len(lines) == 1 {
		for i, column := range lines[0] {
			lines[0][i] = strings.TrimSpace(column)
		}
		return lines[0], nil
	}
	return nil, check.Want(string(pVoteColumns), quote(list), "names or positions separated by commas")
}

// FormatColumns returns the list of columns that ParseColumns reads.
func FormatColumns(columns []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(columns) // into memory
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// Options configures the reading of votes. The zero value reads the wide layout of two classes, "0"
// and "1", and looks for a header.
//
// A column is given by its name or, in CSV and TSV, by its position from 1; a
// name wins over a position. Names are compared without surrounding spaces.
//
// A column holds votes if VoteColumns lists it; or if all columns but id and label have
// one stem and different numbers (t1, t2, t3; teacher_0, teacher_1; 0, 1, 2); or if K is
// given, there are K columns but id and label, and their names do not contradict it: none
// is empty or begins with "Unnamed: ", and it is not so that some share a stem and others
// stand alone, as y does beside t1 and t2. IDColumn beside K settles it for other names too, and
// LabelColumn (which may be NoColumn) beside both where most of them are numbered alike.
// Anything else is an error, whose cause is a [*ColumnsError]: a true label that is
// read as a vote would be a teacher that promises no privacy. Text without a header needs
// K or VoteColumns. Arrays have no names, and a list of votes in JSON Lines has one; they
// need neither.
type Options struct {
	// Name is the name of the stream of NewReader and ReadCSV in messages. Defaults to "votes".
	// Files and stdin have their own.
	Name string
	// Format and Compression default to those that the file's name implies.
	Format      Format
	Compression Compression
	// Header is about CSV and TSV. Defaults to HeaderAuto.
	Header HeaderMode
	// Layout defaults to LayoutDefault.
	Layout Layout
	// IDColumn holds the queries' ids. Defaults to the column named query or id
	// (in any case); without a header, to none. See NoColumn. In .npz it is the
	// name of an array.
	IDColumn string `flag:"id-column" help:"name or position of the column of query ids, \"-\" for none"`
	// LabelColumn holds the true answers. Defaults to the column named label or
	// truth (in any case); without a header, to none. See NoColumn. In .npz it
	// is the name of an array.
	LabelColumn string `flag:"label-column" help:"name or position of the column of true labels, \"-\" for none"`
	// NoTruth states that the true answers are not needed: their column is found, so that it is no vote,
	// and not read.
	NoTruth bool
	// VotesColumn is, in JSON Lines, the key of a list of all votes (or, with
	// LayoutCounts, of all counts); in .npz, the name of the array. Defaults to
	// votes (or counts); a .npz file with one array needs no name.
	VotesColumn string `flag:"votes-column" help:"in JSON Lines the key of a list of all votes; in .npz the array of votes"`
	// VoteColumns lists the columns (CSV, TSV, Parquet) or keys (JSON Lines) of votes,
	// in the teachers' order; with LayoutCounts those of counts, in the classes' order.
	// Columns that are then neither votes, id nor label are not read, and
	// Reader.Columns names them. Without it, counts are in the columns named as the
	// classes, or n and the class, or with two classes zeros and ones (in any case);
	// without a header, in the classes' order.
	VoteColumns []string
	// VoteColumn and TeacherColumn hold the votes and the teachers' names in LayoutLong, beside
	// IDColumn. They default to the columns named vote and teacher (in any case).
	VoteColumn    string `flag:"vote-column" help:"in the layout long, the column of votes (default vote)"`
	TeacherColumn string `flag:"teacher-column" help:"in the layout long, the column of the teachers' names (default teacher)"`
	// QueryIDs lists the queries of LayoutLong, in the order in which the Reader yields them: also
	// those that nobody voted on. A vote on another query is an error. nil takes the queries that have
	// a vote, in their order: a query whose only vote goes away then goes away too, so that no release
	// may be made of them.
	QueryIDs []string
	// Classes are the classes' names in order; a vote is one of them. Defaults
	// to "0" and "1". A number stands for its decimal text, a boolean for 0 or 1.
	//
	// The list is never taken from the votes. Which classes occur, and in which
	// order, depends on private data: one record could make a rare class appear,
	// and an output that names it would give the record away. Take the list from
	// the task.
	Classes []string
	// Labels are the names, in order, of the yes/no labels that a vote may have several of: 2 to 1000 of
	// them, none with a "/". Each row of a file is then a question, and a teacher's vote on it a set of
	// labels: a cell with names and Separator between them, a list of names in JSON Lines, with
	// LayoutLong a row for each name; in arrays, of three dimensions, a last one of a 0 or 1 for each label. The Reader
	// yields a query of two classes for each question and label, with the id question/label, all
	// labels of a question side by side. True labels are sets too. Classes is left out.
	Labels []string
	// MostYes is τ, the most labels that a teacher says yes to on one question, from 1 to their number: of
	// more the first τ by the order of Labels are counted, and Reader.Dropped counts the others. 0 counts
	// all.
	MostYes int `flag:"most-yes" help:"with $labels: count at most this many labels of a teacher's vote, the first in the order of $labels (default all). A question is charged as twice this number of answers for each teacher that a record reaches"`
	// YesFrom is from how many teachers on a label, or the second of two classes, is the answer: a number of them, or a
	// share such as 1/3. "" is more than half. Public votes that make it so are added to the counts of each, not to
	// Votes. A blank must be an error, a coin or no.
	YesFrom string `flag:"yes-from" help:"the answer is yes, the second of two classes, where at least so many teachers say so: a number of them or a share such as 1/3 (default more than half)"`
	// Separator stands between the names in a cell with a set of labels. Defaults to DefaultSeparator.
	Separator string `flag:"separator" help:"with $labels: text between two labels in a cell"`
	// Same states texts that are votes for a class, or a label, beside its name. Each vote is mapped by itself,
	// before it is counted.
	Same []Spelling
	// K is the number of teachers to expect. 0 takes it from the file, where the names of the
	// columns identify the votes.
	K int
	// Missing defaults to MissingError.
	Missing MissingPolicy
	// KeepVotes fills Batch.Votes. LayoutCounts has no votes of single teachers: there
	// it is an error.
	KeepVotes bool
	// TrustIDs skips the search for repeated ids. Ids that count up by one line
	// after line are always searched in constant memory; others take memory, and
	// more than a million of them are refused unless they are trusted.
	TrustIDs bool
	// Workers is the number of goroutines that parse. Defaults to GOMAXPROCS. The queries and their
	// order do not depend on it.
	Workers int
	// TempDir is for files that hold what must be sought in (Parquet, .npz and .npy
	// from stdin, and arrays that are compressed): they are removed as soon as they
	// are made, and closed with the Reader. Defaults to os.TempDir. What does not
	// begin as its format does is refused before it is copied, and what is longer
	// than 16 GiB after that many bytes.
	TempDir string
	// Stdin is read for the path "-". Defaults to os.Stdin. Open waits for its
	// beginning, so let a Read that may hang end with the context.
	Stdin io.Reader

	sets *labelSet // of Labels, once the files are open; nil for none

	// tally, unless nil, numbers the spellings of a file of unknown classes: see Survey.
	tally *tally
	// found, unless nil, takes the roles that are found for columns without a statement.
	found *foundColumns

	chunkBytes int   // of text or arrays that a task takes; 0 for defaultChunkBytes
	spoolBytes int64 // of a temporary file; 0 for maxSpoolBytes
	slow       bool  // CSV by encoding/csv only: the reference that tests compare with
	longVotes  int64 // that LayoutLong keeps in memory; 0 for maxLongVotes
	allIDs     bool  // no limit on ids: the caller keeps them anyway
}

// maxTrackedIDs is the number of ids that are searched for repetitions, of those that do not count
// up by one.
const maxTrackedIDs = 1 << 20

const (
	defaultChunkBytes = 256 << 10
	defaultBatchCells = 1 << 16
)

// check validates the options by themselves.
func (o *Options) check() error {
	for _, err := range []error{
		o.Format.check(), compressions.Check(o.Compression), headers.Check(o.Header), layouts.Check(o.Layout),
		missingPolicies.Check(o.Missing), checkWorkers(o.Workers),
	} {
		if err != nil {
			return err
		}
	}
	if o.K != 0 {
		if err := check.Teachers(o.K); err != nil {
			return err
		}
	}
	counts := o.Layout == LayoutCounts
	switch {
	case counts && o.KeepVotes:
		return errors.New("single votes are asked for, but the layout counts has none")
	case counts && o.Missing == MissingCoin:
		return errors.New("missing votes are coins, but the layout counts cannot tell a missing vote")
	case counts && o.Missing == MissingAbstain && o.K == 0:
		return check.Namedf("%s must be given, the number of teachers: counts of votes that may be "+
			"missing do not tell it", pK)
	}
	if err := cmp.Or(o.checkLong(), o.CheckSeveral()); err != nil {
		return err
	}
	if len(o.VoteColumns) > 0 && o.VotesColumn != "" {
		return check.Namedf("%s = %s (one list or array of all votes) and %s (one for each teacher): "+
			"give one of them", pVotesColumn, quote(o.VotesColumn), pVoteColumns)
	}
	for i, spec := range o.VoteColumns {
		if strings.TrimSpace(spec) == "" || spec == NoColumn {
			return check.Namedf("%s: number %d of the list is %s, want a name or a position", pVoteColumns,
				i+1, quote(spec))
		}
	}
	if o.Header == HeaderNo {
		for _, c := range o.columns() {
			if isName(c.spec) {
				return fmt.Errorf("%s column %s: a file without header has no names, give the position from 1",
					c.role, quote(c.spec))
			}
		}
	}
	return nil
}

func checkWorkers(n int) error {
	if n < 0 || n > 1024 {
		return check.Want("workers", n, "between 0 (one per processor) and 1024")
	}
	return nil
}

// listed reports whether the columns of votes are stated, so that no other column is read.
func (o *Options) listed() bool {
	return len(o.VoteColumns) > 0 || o.VotesColumn != "" && o.VotesColumn != NoColumn ||
		o.Layout == LayoutLong
}

// isTruth reports whether a column of this name holds the true labels.
func (o *Options) isTruth(name string) bool {
	if o.LabelColumn != "" {
		return name == strings.TrimSpace(o.LabelColumn)
	}
	return isUsual(name, truthNames...)
}

type columnOption struct{ role, spec string }

func (o *Options) columns() []columnOption {
	all := []columnOption{{"id", o.IDColumn}, {"label", o.LabelColumn}}
	for _, spec := range o.VoteColumns {
		all = append(all, columnOption{"vote", spec})
	}
	return append(all, columnOption{"vote", o.VoteColumn}, columnOption{"teacher", o.TeacherColumn})
}

// isName reports whether a column option can only be a name.
func isName(spec string) bool {
	return spec != "" && spec != NoColumn && placesOf(spec) == nil
}

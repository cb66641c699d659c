// Package format adds formats of typed columns, and compressions, to package votes. A format is one
// package that calls [Register] from its init function; a program reads and writes the formats that
// it links:
//
//	import _ "github.com/darrm/darrm/votes/parquet"  // Parquet
//	import _ "github.com/darrm/darrm/votes/compress" // gzip and zstd
//
// Package votes decides which columns are votes, what a value means and what is refused. A
// format finds the columns of a file and hands out their values.
package format

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Format reads and writes files of typed columns.
type Format struct {
	Name    string   // of the options and flags that choose it, such as "parquet"
	Title   string   // in a sentence, such as "Parquet"
	Endings []string // of files' names, without the dot, such as "parquet" and "pq"
	Magic   string   // the four bytes with which a file begins

	// Start returns what is wrong with the first four bytes of a file, "" if nothing is. A
	// stream that begins wrongly is refused before it is copied to a temporary file.
	Start func(head []byte) (rule string)
	// Open reads what a file says of its columns. Its errors are those of File.Next.
	Open func(r io.ReaderAt, size int64) (File, error)
	// Encode writes labels. It is nil for a format that is read only.
	Encode func(w io.Writer, l Labels) Encoder
}

// A File hands out its rows in order, from one goroutine.
type File interface {
	Columns() []Column
	Rows() int64
	// Next returns the next n rows of these columns, or fewer, at least one; io.EOF at the
	// end. The columns are the same at every call. A fault of the file is an [*Error]; any
	// other error is one of reading, such as [*fs.PathError].
	Next(columns []int, n int) (c Chunk, rows int, err error)
}

// A Column describes a column of a file.
type Column struct {
	Name string
	Kind Kind   // of its values that are not missing
	Type string // the format's own name of the type, for messages
	List bool   // each row has a list of such values
	// Fault is the rule that the column breaks, "" for none: its values are not handed out. It is of
	// no matter to who does not read the column.
	Fault string
}

// A Chunk is some rows. Goroutines may use different chunks of a file at once.
type Chunk interface {
	// Value returns the value in a row of this chunk, from 0, and in a column: an index of
	// the list that Next got.
	Value(column, row int) Value
	// Items returns the values of a list, in a column of lists.
	Items(column, row int) []Value
}

// A Kind is the type of a value.
type Kind uint8

// The kinds of values.
const (
	Missing  Kind = iota
	Boolean       // Int is 0 or 1
	Integer       // Int
	Unsigned      // Int holds the 64 bits of an unsigned integer
	Float         // Float
	Text          // Text, in UTF-8
)

// A Value is one cell. Text is valid until the chunk is forgotten.
type Value struct {
	Kind  Kind
	Int   int64
	Float float64
	Text  []byte
}

// StampLayout is how a timestamp is written as text: ISO 8601, with as many digits of a second as
// there are.
const StampLayout = "2006-01-02T15:04:05.999999999"

// Stamp writes the timestamp of n units after the beginning of 1970. A unit is at least a nanosecond.
func Stamp(n int64, unit time.Duration) string {
	unit = max(unit, time.Nanosecond)
	t := time.Unix(n*int64(unit/time.Second), 0)
	if unit < time.Second {
		per := int64(time.Second / unit)
		t = time.Unix(n/per, n%per*int64(unit))
	}
	return t.UTC().Format(StampLayout)
}

// Date writes the date of n days after the beginning of 1970.
func Date(n int64) string { return time.Unix(n*86400, 0).UTC().Format(time.DateOnly) }

// Labels describe the content of a file of labels: the column ID, then Columns.
type Labels struct {
	ID       string   // name of the ids' column
	Columns  []string // name of the labels' column, or of that of each of several labels
	Classes  []string // names of the classes
	Integers []int64  // the names as numbers if all of them are integers, else nil
}

// An Encoder writes labels, one row after the other.
type Encoder interface {
	// Row writes a class for each column. The arguments are valid during the call only.
	Row(id []byte, classes []int) error
	End() error // writes what is left
}

// An Error is a fault of a file: Rule describes it.
type Error struct {
	Rule string
	Err  error // the cause, if another package found the fault
}

func (e *Error) Error() string { return e.Rule }
func (e *Error) Unwrap() error { return e.Err }

// Errorf is an Error without a cause.
func Errorf(format string, args ...any) error { return &Error{Rule: fmt.Sprintf(format, args...)} }

// A Compression wraps files of text formats and .npy.
type Compression struct {
	// Name is that of the options and flags that choose it, "gzip" or "zstd", or "deflate" for the
	// members of archives, which are read alone.
	Name string
	// NewReader and NewWriter unpack and pack a stream. An error of a reader is of the stream's
	// source or of what it holds.
	NewReader func(io.Reader) (io.Reader, error)
	NewWriter func(io.Writer) (io.WriteCloser, error)
	// Fault describes an error of what a stream holds, "" for damage of no special kind.
	Fault func(error) string
}

var compressions []*Compression

// RegisterCompression adds a compression, from an init function. It panics if there is one of that
// name.
func RegisterCompression(c Compression) {
	if FindCompression(c.Name) != nil {
		panic("format: " + c.Name + " is registered twice")
	}
	compressions = append(compressions, &c)
}

// FindCompression returns the compression of the name, nil where the program links none.
func FindCompression(name string) *Compression {
	for _, c := range compressions {
		if c.Name == name {
			return c
		}
	}
	return nil
}

var registered []*Format

// Register adds a format, from an init function. It panics if there is a format of that name.
func Register(f Format) {
	at, found := slices.BinarySearchFunc(registered, f.Name, func(g *Format, name string) int {
		return cmp.Compare(g.Name, name)
	})
	if found {
		panic("format: " + f.Name + " is registered twice")
	}
	registered = slices.Insert(registered, at, &f)
}

// Registered returns the formats that the program links, sorted by name.
func Registered() []*Format { return registered }

// MaxQuoted is the number of bytes of a cell or a name that a message shows.
const MaxQuoted = 40

// Quote quotes a cell or a name for a message and clips it.
func Quote(s string) string {
	if len(s) <= MaxQuoted {
		return fmt.Sprintf("%q", s)
	}
	cut := MaxQuoted
	for cut > MaxQuoted-utf8.UTFMax && !utf8.RuneStart(s[cut]) { // bounded: s may be invalid UTF-8
		cut--
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:cut], len(s))
}

// missing are the spellings of a missing value, in small letters. It is the one table for all
// formats of votes and of tables to learn from. Votes and truth have -1 besides.
var missing = []string{"", "?", "na", "n/a", "nan", "-nan", "nat", "null", "none", "<na>", "#n/a", "#na"}

// longestMissing is the length of the longest of them.
const longestMissing = 4

// IsMissing reports whether text stands for a missing value, in any case and with blanks around it.
func IsMissing(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > longestMissing {
		return false
	}
	for _, m := range missing {
		if strings.EqualFold(text, m) {
			return true
		}
	}
	return false
}

// Separator returns what stands between the cells of a CSV whose text begins so: a comma where the
// first row has one, else a semicolon, as where the comma is decimal, else a tab. A row that has
// none of them, outside of quotes, is of one cell.
func Separator(text []byte) byte {
	quoted, found := false, byte(0)
	for _, c := range text {
		switch {
		case c == '"':
			quoted = !quoted // a doubled quote changes it twice
		case quoted:
		case c == ',':
			return ','
		case c == ';', c == '\t' && found == 0:
			found = c
		case c == '\n':
			if found != 0 {
				return found
			}
			return ','
		}
	}
	if found != 0 {
		return found
	}
	return ','
}

// PeekSeparator returns the text of r and its [Separator], for which it waits for the first row or
// its first 64 KiB.
func PeekSeparator(r io.Reader) (text io.Reader, separator rune) {
	if r == nil {
		return strings.NewReader(""), ','
	}
	b := bufio.NewReaderSize(r, 1<<16)
	for seen, quoted := 0, false; ; {
		b.Peek(seen + 1) // waits for more; its error is that of a later read
		head, _ := b.Peek(b.Buffered())
		more := len(head) > seen
		for ; seen < len(head); seen++ {
			if head[seen] == '"' {
				quoted = !quoted
			} else if head[seen] == '\n' && !quoted {
				more = false
				break
			}
		}
		if !more {
			return b, rune(Separator(head))
		}
	}
}

package votes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
)

func read(s string, opts CSVOptions) (*Table, error) {
	return ReadCSV(strings.NewReader(s), opts)
}

const (
	z = Label0
	o = Label1
)

func TestReadAccepts(t *testing.T) {
	counts := CSVOptions{Layout: LayoutCounts}
	tests := []struct {
		name string
		in   string
		opts CSVOptions
		want Table
	}{
		{"wide, everything", "query,t1,t2,t3,label\na,0,1,1,1\nb,0,0,0,0\n", CSVOptions{},
			Table{3, []int{2, 0}, []string{"a", "b"}, []Label{o, z}}},
		{"wide, votes only", "0,1,1\n1,1,1\n", CSVOptions{K: 3}, Table{3, []int{2, 3}, nil, nil}},
		{"one teacher", "t1\n1\n0\n", CSVOptions{}, Table{1, []int{1, 0}, nil, nil}},
		{"one row, no line end", "1,0", CSVOptions{K: 2, Header: HeaderNo}, Table{2, []int{1}, nil, nil}},
		{"even K", "t1,t2\n1,0\n", CSVOptions{}, Table{2, []int{1}, nil, nil}},
		{"other names in other cases", "TRUTH,Id,t1,t2\n0,q,1,1\n", CSVOptions{},
			Table{2, []int{2}, []string{"q"}, []Label{z}}},
		{"id in the middle", "t1,query,t2\n1,7,0\n", CSVOptions{},
			Table{2, []int{1}, []string{"7"}, nil}},
		{"positions without header", "q,1,0,1\nr,0,0,0\n",
			CSVOptions{IDColumn: "1", LabelColumn: "4", VoteColumns: []string{"2", "3"}, Header: HeaderNo},
			Table{2, []int{1, 0}, []string{"q", "r"}, []Label{o, z}}},
		{"positions with header", "a,t1,t2\nq,1,0\n", CSVOptions{IDColumn: "#1"},
			Table{2, []int{1}, []string{"q"}, nil}},
		{"label first, by position, header guessed", "yes,t1,t2\n1,1,0\n", CSVOptions{LabelColumn: "#1"},
			Table{2, []int{1}, nil, []Label{o}}},
		{"header of a label column called 1", "1,b,c\n1,1,0\n", CSVOptions{LabelColumn: "1", K: 2},
			Table{2, []int{1}, nil, []Label{o}}},
		{"names given", "image,b,c,yes\nq,1,0,1\n",
			CSVOptions{IDColumn: "image", LabelColumn: "yes", VoteColumns: []string{"b", "#3"}},
			Table{2, []int{1}, []string{"q"}, []Label{o}}},
		{"name wins over position", "3,2,1\n1,0,q\n", CSVOptions{Header: HeaderYes, IDColumn: "1"},
			Table{2, []int{1}, []string{"q"}, nil}},
		{"no id column in spite of the name", "id,t2\n1,0\n1,0\n", CSVOptions{IDColumn: NoColumn, K: 2},
			Table{2, []int{1, 1}, nil, nil}},
		{"header forced on", "0,1\n1,1\n", CSVOptions{Header: HeaderYes}, Table{2, []int{2}, nil, nil}},
		{"header forced off", "0,1\n1,1\n", CSVOptions{Header: HeaderNo, K: 2},
			Table{2, []int{1, 2}, nil, nil}},
		{"id that is 0 or 1, declared", "1,0,0\n0,1,1\n", CSVOptions{IDColumn: "1", K: 2},
			Table{2, []int{0, 2}, []string{"1", "0"}, nil}},
		{"CRLF", "query,t1\r\nx,1\r\ny,0\r\n", CSVOptions{},
			Table{1, []int{1, 0}, []string{"x", "y"}, nil}},
		{"CRLF, last one cut to CR", "1,0\r\n1,1\r", CSVOptions{K: 2, Header: HeaderNo},
			Table{2, []int{1, 2}, nil, nil}},
		{"byte order mark", "\ufeffquery,t1\nx,1\n", CSVOptions{},
			Table{1, []int{1}, []string{"x"}, nil}},
		{"byte order mark before data", "\ufeff1,0\n", CSVOptions{K: 2, Header: HeaderNo},
			Table{2, []int{1}, nil, nil}},
		{"byte order mark before a quote", "\ufeff\"query\",t1\nx,1\n", CSVOptions{},
			Table{1, []int{1}, []string{"x"}, nil}},
		{"blank lines at the end", "1,0\n\n\n\n", CSVOptions{K: 2, Header: HeaderNo},
			Table{2, []int{1}, nil, nil}},
		{"quoted ids", "query,t1\n\"x,\"\"y\"\"\nz\",1\n\" b \",\"0\"\n", CSVOptions{},
			Table{1, []int{1, 0}, []string{"x,\"y\"\nz", "b"}, nil}},
		{"spaces around names", " query , t1, t2 \nx,1,0\n", CSVOptions{},
			Table{2, []int{1}, []string{"x"}, nil}},
		{"unicode ids", "query,t1\nä😀,1\nа\u0308,0\n", CSVOptions{},
			Table{1, []int{1, 0}, []string{"ä😀", "а\u0308"}, nil}},
		{"ids that look alike", "query,t1\n1,1\n01,1\n1.0,0\n", CSVOptions{},
			Table{1, []int{1, 1, 0}, []string{"1", "01", "1.0"}, nil}},
		{"expected K met", "1,0,1\n", CSVOptions{K: 3}, Table{3, []int{2}, nil, nil}},
		{"counts, everything", "query,zeros,ones,label\nq,3,8,1\nr,11,0,0\n", counts,
			Table{11, []int{8, 0}, []string{"q", "r"}, []Label{o, z}}},
		{"counts, other names", "N1,n0\n3,8\n", counts, Table{11, []int{3}, nil, nil}},
		{"counts without header", "3,8\n11,0\n", CSVOptions{Layout: LayoutCounts, K: 11},
			Table{11, []int{8, 0}, nil, nil}},
		{"counts by position", "q,8,3\n", CSVOptions{Layout: LayoutCounts, IDColumn: "1",
			VoteColumns: []string{"3", "2"}},
			Table{11, []int{8}, []string{"q"}, nil}},
		{"counts, id by position", "q,8,3\n", CSVOptions{Layout: LayoutCounts, IDColumn: "1", K: 11},
			Table{11, []int{3}, []string{"q"}, nil}},
		{"counts by name", "no,yes\n3,8\n", CSVOptions{Layout: LayoutCounts, VoteColumns: []string{"no", "yes"}},
			Table{11, []int{8}, nil, nil}},
		{"counts, expected K met", "3,8\n", CSVOptions{Layout: LayoutCounts, K: 11},
			Table{11, []int{8}, nil, nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.in, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
			// Byte by byte the guard meets every split of a character and of CRLF.
			slow, err := ReadCSV(iotest.OneByteReader(strings.NewReader(tt.in)), tt.opts)
			if err != nil || !reflect.DeepEqual(slow, got) {
				t.Errorf("read byte by byte: %+v, %v", slow, err)
			}
			eof, err := ReadCSV(iotest.DataErrReader(strings.NewReader(tt.in)), tt.opts)
			if err != nil || !reflect.DeepEqual(eof, got) {
				t.Errorf("data together with EOF: %+v, %v", eof, err)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	counts := CSVOptions{Layout: LayoutCounts}
	long := strings.Repeat("x", maxRecordBytes)
	tests := []struct {
		name         string
		in           string
		opts         CSVOptions
		line, column int
		rule         string // a part of it
	}{
		{"empty", "", CSVOptions{}, 0, 0, "empty"},
		{"only blank lines", "\n\n\n", CSVOptions{}, 0, 0, "empty"},
		{"only a byte order mark", "\ufeff", CSVOptions{}, 0, 0, "empty"},
		{"only a header", "query,t1,t2\n", CSVOptions{}, 1, 0, "no votes"},
		{"only a header, blank lines", "query,t1,t2\n\n\n", CSVOptions{}, 1, 0, "no votes"},
		{"no column of votes", "query,label\nq,1\n", CSVOptions{}, 1, 0, "no column of votes"},
		{"short row", "t1,t2,t3\n1,0,1\n1,0\n", CSVOptions{}, 3, 0, "2 columns, but the header has 3"},
		{"long row", "1,0,1\n1,0,1,1\n", CSVOptions{K: 3}, 2, 0, "4 columns, but the first row has 3"},
		{"cut in the middle of a row", "1,0,1\n1,0,", CSVOptions{K: 3}, 2, 3, "missing"},
		{"vote 2", "query,t1,t2\nq,1,2\n", CSVOptions{}, 2, 3,
			`vote "2" is not 0 or 1: classes names others`},
		{"vote 01", "1,0\n01,1\n", CSVOptions{K: 2, Header: HeaderNo}, 2, 1, `vote "01"`},
		{"vote 00", "1,0\n00,1\n", CSVOptions{K: 2, Header: HeaderNo}, 2, 1, `vote "00"`},
		{"vote -1", "1,0\n-1,1\n", CSVOptions{K: 2, Header: HeaderNo}, 2, 1, `the vote is missing ("-1")`},
		{"vote true", "1,0\ntrue,1\n", CSVOptions{K: 2, Header: HeaderNo}, 2, 1, `vote "true"`},
		{"full-width digit", "1,0\n１,1\n", CSVOptions{K: 2, Header: HeaderNo}, 2, 1, `vote "１"`},
		{"long vote is clipped", "1,0\n1," + strings.Repeat("é", 200) + "\n",
			CSVOptions{K: 2, Header: HeaderNo}, 2, 2, "é\"… (400 bytes)"},
		{"NaN", "1,0\nNaN,1\n", CSVOptions{K: 2, Header: HeaderNo}, 2, 1, "missing"},
		{"empty vote", "t1,t2,t3\n1,,0\n", CSVOptions{}, 2, 2, "every teacher must answer"},
		{"row of spaces", "1,0\n  \n", CSVOptions{K: 2, Header: HeaderNo}, 2, 0, "1 columns"},
		{"only a header, a carriage return", "query,t1,t2\n\r", CSVOptions{}, 1, 0, "no votes"},
		{"blank line between rows", "t1\n0\n\n1\n", CSVOptions{}, 3, 0, "blank line"},
		{"blank line after the header", "t1\n\n1\n", CSVOptions{}, 2, 0, "blank line"},
		{"blank line at the start", "\n1,0\n", CSVOptions{}, 1, 0, "blank line"},
		{"label 2", "t1,label\n1,2\n", CSVOptions{}, 2, 2, `label "2" is not 0 or 1`},
		{"name twice", "query,t1,t2,t1\n", CSVOptions{}, 1, 4, "twice, first in column 2"},
		{"id empty", "query,t1\n,1\n", CSVOptions{}, 2, 1, "id is empty"},
		{"id twice", "query,t1\nx,1\ny,1\nx,0\n", CSVOptions{}, 4, 1, `id "x" is already in line 2`},
		{"number twice", "query,t1\n5,1\n6,1\n7,1\n6,0\n", CSVOptions{}, 5, 1,
			`id "6" is already in line 3`},
		{"number twice, later in the set", "query,t1\n5,1\n6,1\n9,1\n9,0\n", CSVOptions{}, 5, 1,
			`id "9" is already in line 4`},
		{"run grows into the set", "query,t1\n1,1\n3,1\n2,1\n3,0\n", CSVOptions{}, 5, 1,
			`id "3" is already in line 3`},
		{"id too long", "query,t1\n" + strings.Repeat("x", maxIDBytes+1) + ",1\n", CSVOptions{}, 2, 1,
			"at most 4096 bytes"},
		{"query and id", "query,id,t1\n", CSVOptions{}, 1, 2,
			"could be the id too; say which it is (id column)"},
		{"label and truth", "label,t1,truth\n", CSVOptions{}, 1, 3,
			"could be the label too; say which it is (label column)"},
		{"id column not there", "t1,t2\n1,0\n", CSVOptions{IDColumn: "image"}, 1, 0, `no column "image"`},
		{"name given, but data in line 1", "1,0\n1,0\n", CSVOptions{IDColumn: "image"}, 1, 0,
			`no column "image"`},
		{"half a range of votes", "t1,t2\n1,0\n", CSVOptions{VoteColumns: []string{"t1..t9"}}, 1, 0,
			"a range has the names of two columns, as in t1..t9, and a pattern is t*"},
		{"position too large", "t1,t2\n1,0\n", CSVOptions{IDColumn: "#3"}, 1, 0, "position from 1 to 2"},
		{"position 0", "t1,t2\n1,0\n", CSVOptions{IDColumn: "#0"}, 1, 0, "position from 1 to 2"},
		{"position negative", "t1,t2\n1,0\n", CSVOptions{LabelColumn: "#-2"}, 1, 0,
			"position from 1 to 2"},
		{"two roles", "t1,t2\n1,0\n", CSVOptions{IDColumn: "t1", LabelColumn: "#1"}, 1, 1,
			"id and label at once"},
		{"header or data", "q17,0,1\n", CSVOptions{}, 1, 1, "cannot tell whether this row is a header"},
		{"header of numbers", "0,1,2\n1,1,1\n", CSVOptions{K: 3}, 1, 3,
			"cannot tell whether this row is a header"},
		{"bad vote in line 1", "0,1,NaN\n1,1,1\n", CSVOptions{}, 1, 3,
			`2 of 3 cells are 0 or 1, but this one is "NaN"`},
		{"no header, ids undeclared", "0,0,1\n1,1,1\n2,1,1\n", CSVOptions{K: 3}, 3, 1, `vote "2"`},
		{"K not met", "query,t1,t2\nq,1,0\n", CSVOptions{K: 3}, 1, 0,
			"2 columns of votes, but K = 3 teachers are expected"},
		{"another separator later", "t1;t2;t3\n1,0,1\n", CSVOptions{}, 2, 0, "1 column"},
		{"gzip", "\x1f\x8b\x08\x00rest", CSVOptions{}, 1, 0, "gunzip"},
		{"zip", "PK\x03\x04rest", CSVOptions{}, 1, 0, "spreadsheet"},
		{"UTF-16 LE", "\xff\xfe1\x00,\x000\x00", CSVOptions{}, 1, 0, "UTF-16"},
		{"UTF-16 BE", "\xfe\xff\x001\x00,\x000", CSVOptions{}, 1, 0, "UTF-16"},
		{"UTF-16 without mark", "1\x00,\x000\x00", CSVOptions{}, 1, 0, "NUL"},
		{"JSON Lines", `{"id": 1, "votes": [0, 1]}`, CSVOptions{}, 1, 0, "JSON Lines: say so by its name"},
		{"NUL", "query,t1\nq,1\nx\x00y,1\n", CSVOptions{}, 3, 0, "NUL"},
		{"Latin-1", "query,t1\nq,1\n\xe4,1\n", CSVOptions{}, 3, 0, "0xe4 is not valid UTF-8"},
		{"cut character at the end", "query,t1\nq,1\nx\xc3", CSVOptions{}, 3, 0,
			"0xc3 is not valid UTF-8"},
		{"surrogate", "query,t1\n\xed\xa0\x80,1\n", CSVOptions{}, 2, 0, "not valid UTF-8"},
		{"lone CR", "1,0\r1,1\r", CSVOptions{K: 2, Header: HeaderNo}, 1, 0, "carriage return"},
		{"fault before a later one", "1,0\n1,3\n\x00", CSVOptions{K: 2, Header: HeaderNo}, 2, 2,
			`vote "3"`},
		{"bare quote", "query,t1\nx\"y,1\n", CSVOptions{}, 2, 0, `bare "`},
		{"open quote", "query,t1\n\"x,1\ny,0\n", CSVOptions{}, 0, 0, "quote"},
		{"line too long", "query,t1\n" + long + "x,1\n", CSVOptions{}, 2, 0,
			"record longer than 1048576 bytes"},
		{"quote never closed", "query,t1\n\"" + strings.Repeat("line\n", maxRecordBytes/4), CSVOptions{},
			2, 0, "never closed"},
		{"too many columns", numbered(check.MaxTeachers + 1), CSVOptions{}, 1, 0,
			"K = 2002 teachers, want at most 2001"},
		{"counts: negative", "3,8\n-1,12\n", CSVOptions{Layout: LayoutCounts, K: 11}, 2, 1,
			`count "-1" is not a whole number`},
		{"counts: fraction", "3,8\n2.5,8.5\n", CSVOptions{Layout: LayoutCounts, K: 11}, 2, 1,
			`count "2.5"`},
		{"counts: exponent", "3,8\n1e1,1\n", CSVOptions{Layout: LayoutCounts, K: 11}, 2, 1,
			`count "1e1"`},
		{"counts: plus", "3,8\n+3,8\n", CSVOptions{Layout: LayoutCounts, K: 11}, 2, 1, `count "+3"`},
		{"counts: missing", "3,8\n,11\n", CSVOptions{Layout: LayoutCounts, K: 11}, 2, 1, "missing"},
		{"counts: K differs", "zeros,ones\n3,8\n3,9\n", counts, 3, 0,
			"sum to K = 12, but to K = 11 in line 2"},
		{"counts: K falls", "3,8\n3,7\n", CSVOptions{Layout: LayoutCounts, K: 11}, 2, 0,
			"sum to K = 10, but to K = 11 in line 1"},
		{"counts: just above the limit", "0,2002\n", CSVOptions{Layout: LayoutCounts, K: 11}, 1, 2,
			"at most 2001"},
		{"counts: none", "3,8\n0,0\n", CSVOptions{Layout: LayoutCounts, K: 11}, 2, 0, "no votes"},
		{"counts: huge", "1,99999999999999999999\n", CSVOptions{Layout: LayoutCounts, K: 11}, 1, 2,
			"at most 2001"},
		{"counts: K huge", "1500,1500\n", CSVOptions{Layout: LayoutCounts, K: 11}, 1, 0, "at most 2001"},
		{"counts: K not met", "3,8\n", CSVOptions{Layout: LayoutCounts, K: 12}, 1, 0,
			"sum to 11, but K = 12"},
		{"counts: column left over", "query,zeros,ones,note\n", counts, 1, 4, "neither id, label"},
		{"counts: names not there", "no,yes\n3,8\n", counts, 1, 0,
			`no column with the zeros (named one of "0", "n0", "zeros")`},
		{"counts: only one there", "zeros,yes\n3,8\n", counts, 1, 0, "no column with the ones"},
		{"counts: three columns", "1,3,8\n", CSVOptions{Layout: LayoutCounts, K: 11}, 1, 0,
			"3 columns besides id and label"},
		{"counts: same column", "3,8\n", CSVOptions{Layout: LayoutCounts, VoteColumns: []string{"1", "1"}}, 1, 1, "at once"},
		{"counts: header or data", "3,eight\n", counts, 1, 2, "cannot tell"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Name = "v.csv"
			got, err := read(tt.in, tt.opts)
			var p *ParseError
			if !errors.As(err, &p) {
				t.Fatalf("got %+v, %v; want a *ParseError", got, err)
			}
			if p.File != "v.csv" || !strings.HasPrefix(err.Error(), "v.csv:") {
				t.Errorf("message %q does not begin with the file", err)
			}
			if tt.line != 0 && p.Line != tt.line || p.Column != tt.column ||
				!strings.Contains(p.Rule, tt.rule) {
				t.Errorf("got line %d, column %d, %q; want line %d, column %d, %q", p.Line, p.Column, p.Rule,
					tt.line, tt.column, tt.rule)
			}
			if n := len(err.Error()); n > 400 {
				t.Errorf("message of %d bytes", n)
			}
			if len(tt.in) > 10_000 {
				return
			}
			_, slow := ReadCSV(iotest.OneByteReader(strings.NewReader(tt.in)), tt.opts)
			if slow == nil || slow.Error() != err.Error() {
				t.Errorf("read byte by byte: %v, want %v", slow, err)
			}
		})
	}
}

func TestErrorMessage(t *testing.T) {
	_, err := read("query,t1,t2\n0,1,0\n1,1,2\n", CSVOptions{Name: "a/v.csv"})
	const want = `a/v.csv:3: column 3 ("t2"): vote "2" is not 0 or 1: classes names others`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The line is that of the cell, even if a quoted id before it spans lines.
func TestLinesAcrossQuotedLineEnds(t *testing.T) {
	_, err := read("query,t1\n\"x\ny\nz\",1\n\"u\nv\",7\n", CSVOptions{})
	var p *ParseError
	if !errors.As(err, &p) || p.Line != 6 || p.Column != 2 {
		t.Errorf("got %v, want line 6, column 2", err)
	}
	// No blank line here, and no row ends between quotes, wherever the chunks are cut.
	for chunk := range 40 {
		got, err := read("t1,query\n1,\"x\ny\"\n0,z\n1,\"\n\"\"\n\n,\"\n0,q\n",
			CSVOptions{chunkBytes: chunk})
		if err != nil || fmt.Sprintf("%q %v", got.IDs,
			got.Ones) != `["x\ny" "z" "\"\n\n," "q"] [1 0 1 0]` {
			t.Errorf("chunks of %d: got %+v, %v", chunk, got, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for name, opts := range map[string]CSVOptions{
		"K negative":                   {K: -1},
		"K too large":                  {K: check.MaxTeachers + 1},
		"name without header":          {Header: HeaderNo, IDColumn: "query"},
		"label name without header":    {Header: HeaderNo, LabelColumn: "label"},
		"counts without their columns": {Layout: LayoutCounts, VoteColumns: []string{"-", "-"}},
		"unknown header mode":          {Header: 3},
		"unknown layout":               {Layout: -1},
	} {
		_, err := read("1,0\n", opts)
		var p *ParseError
		if err == nil || errors.As(err, &p) {
			t.Errorf("%s: %v, want an error about the options", name, err)
		}
	}
}

func TestReaderFailure(t *testing.T) {
	boom := errors.New("boom")
	in := "query,t1\nx,1\ny,0\nz,1\n"
	for n := range in {
		r := io.MultiReader(strings.NewReader(in[:n]), iotest.ErrReader(boom))
		got, err := ReadCSV(r, CSVOptions{})
		if !errors.Is(err, boom) {
			t.Errorf("failure after %d bytes: %+v, %v", n, got, err)
		}
		// One that goes on after its error has lost something, whatever comes then.
		r = io.MultiReader(strings.NewReader(in[:n]), &failsOnce{err: boom}, strings.NewReader(in[n:]))
		if got, err := ReadCSV(r, CSVOptions{chunkBytes: 4}); !errors.Is(err, boom) {
			t.Errorf("one failure after %d bytes: %+v, %v", n, got, err)
		}
	}
	if _, err := ReadCSV(stuck{}, CSVOptions{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("reader without progress: %v", err)
	}
}

// failsOnce returns its error, and then the end.
type failsOnce struct{ err error }

func (r *failsOnce) Read([]byte) (int, error) {
	err := r.err
	r.err = io.EOF
	return 0, err
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestNextIsSticky(t *testing.T) {
	// Faults that the vote parser finds and that the csv package finds, which would
	// go on with the next row; and the end.
	for _, in := range []string{"1,0\n2,0\n1,1\n", "1,0\nx\"y,0\n1,1\n", "1,0\n"} {
		r, err := NewReader(context.Background(), strings.NewReader(in), Options{K: 2, Header: HeaderNo})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if _, again := r.Next(); again != err {
			t.Errorf("%q: got %v, then %v", in, err, again)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The oracle splits by hand; the generator writes only what needs no quotes.
func TestWideAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "K")
		n := rapid.IntRange(1, 20).Draw(t, "rows")
		withID, withLabel := rapid.Bool().Draw(t, "id"), rapid.Bool().Draw(t, "label")
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		at := rapid.IntRange(0, k).Draw(t, "teachers before id")
		var b strings.Builder
		var head []string
		for i := range k {
			head = append(head, fmt.Sprintf("t%d", i))
		}
		insert := func(row []string, cell string) []string {
			return append(row[:at:at], append([]string{cell}, row[at:]...)...)
		}
		if withID {
			head = insert(head, "query")
		}
		if withLabel {
			head = append(head, "label")
		}
		b.WriteString(strings.Join(head, ",") + eol)
		want := Table{K: k}
		stride := rapid.IntRange(1, 3).Draw(t, "stride")
		for i := range n {
			var row []string
			ones := 0
			for range k {
				v := rapid.SampledFrom([]string{"0", "1"}).Draw(t, "vote")
				ones += strings.Count(v, "1")
				row = append(row, v)
			}
			want.Ones = append(want.Ones, ones)
			if withID {
				id := fmt.Sprint(i * stride)
				row = insert(row, id)
				want.IDs = append(want.IDs, id)
			}
			if withLabel {
				bit := rapid.Bool().Draw(t, "label")
				want.Labels = append(want.Labels, LabelOf(bit))
				row = append(row, LabelOf(bit).String())
			}
			b.WriteString(strings.Join(row, ",") + eol)
		}
		got, err := read(b.String(), CSVOptions{K: k})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("got %+v, want %+v", *got, want)
		}
	})
}

// The set must answer as a plain map does: numbers with and without leading zeros, what stands
// before them, long ones, and texts without.
func TestIDSetAgainstMap(t *testing.T) {
	files := []*fileInfo{{name: "a"}, {name: "b"}}
	forms := []string{"%d", "0%d", "%03d", "q%d", "q%03d", "q-%d", "%dq", "1234567890123456789%d",
		"x999999999999999%03d"}
	rapid.Check(t, func(t *rapid.T) {
		var s idSet
		places := make(map[string]place)
		at := place{files[0], rapid.IntRange(0, 1).Draw(t, "first")}
		id := rapid.SampledFrom([]int{0, 7, 97, 997}).Draw(t, "first id")
		most := rapid.SampledFrom(forms).Draw(t, "form of most")
		for range rapid.IntRange(0, 200).Draw(t, "n") {
			at.at += rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "line step")
			if rapid.IntRange(0, 30).Draw(t, "file") == 0 {
				at = place{files[1], 1}
			}
			id = rapid.SampledFrom([]int{id + 1, id + 1, id + 1, id + 2, id, 0, 5}).Draw(t, "id")
			form := rapid.SampledFrom(append([]string{most, most, most}, forms...)).Draw(t, "form")
			text := fmt.Sprintf(form, id)
			earlier, repeated := s.add(text, at)
			want, known := places[text]
			if repeated != known || known && earlier != want {
				t.Fatalf("add(%q, %v) = %v, %t; want %v, %t", text, at, earlier, repeated, want, known)
			}
			if !known {
				places[text] = at
			}
		}
	})
}

// Ids that count up take no memory in any form; others do.
func TestIDRuns(t *testing.T) {
	f := &fileInfo{}
	for form, want := range map[string]int{"%d": 0, "q%d": 0, "img_%04d": 0, "%08d": 0, "%dq": 1000} {
		var s idSet
		for i := range 1000 {
			if _, repeated := s.add(fmt.Sprintf(form, i), place{f, i}); repeated {
				t.Fatalf("%s: %d is there", form, i)
			}
		}
		if len(s.other.places) != want {
			t.Errorf("%s: %d are kept", form, len(s.other.places))
		}
	}
}

// An id that stood outside the run is known when the run comes to it, wherever its place is.
func TestIDRunComesToAnOldID(t *testing.T) {
	f := &fileInfo{}
	var s idSet
	for _, c := range []struct {
		id       string
		at       int
		repeated bool
	}{{"q0", 0, false}, {"q2", 5, false}, {"q1", 1, false}, {"q2", 2, true}} {
		if earlier, repeated := s.add(c.id, place{f, c.at}); repeated != c.repeated ||
			repeated && earlier != (place{f, 5}) {
			t.Errorf("%+v: %v, %v", c, earlier, repeated)
		}
	}
}

func BenchmarkIDs(b *testing.B) {
	for _, form := range []string{"q%d", "%dq"} {
		ids := make([]string, 1_000_000)
		for i := range ids {
			ids[i] = fmt.Sprintf(form, i)
		}
		b.Run(form, func(b *testing.B) {
			f := &fileInfo{}
			for b.Loop() {
				var s idSet
				for i, id := range ids {
					if _, repeated := s.add(id, place{f, i}); repeated {
						b.Fatal(i)
					}
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e9/1e6, "ns/id")
		})
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{
		"query,t1,t2,label\n0,1,0,1\n1,1,1,0\n", "0,1,1\r\n1,1,1\r\n", "zeros,ones\n3,8\n",
		"query,zeros,ones,label\nq,3,8,1\n",
		"\ufeffid,a\n\"x,\"\"y\"\"\nz\",1\n", "3,8\n11,0\n", "t\n0\n\n1\n", "\x1f\x8b", "", "a;b\n",
		"x\"y,1\n", "q,1,0,1\n",
	} {
		for mode := range uint8(24) {
			f.Add([]byte(s), mode, "", "")
		}
		f.Add([]byte(s), uint8(0), "1", "-")
	}
	// found: clipping a name of continuation bytes
	f.Add([]byte("0"), uint8(0), strings.Repeat("\xaa", 41), "")
	f.Fuzz(func(t *testing.T, data []byte, mode uint8, id, label string) {
		opts := CSVOptions{
			Header: HeaderMode(mode % 3), Layout: []Layout{LayoutWide, LayoutCounts}[mode/3%2],
			K:        int(mode / 6 % 4),
			IDColumn: id, LabelColumn: label,
		}
		table, err := ReadCSV(bytes.NewReader(data), opts)
		slow, slowErr := ReadCSV(iotest.OneByteReader(bytes.NewReader(data)), opts)
		if fmt.Sprint(err) != fmt.Sprint(slowErr) || !reflect.DeepEqual(table, slow) {
			t.Fatalf("in one piece %+v, %v; byte by byte %+v, %v", table, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		if table.K < 1 || table.Len() == 0 || opts.K != 0 && table.K != opts.K {
			t.Fatalf("accepted %+v", table)
		}
		var b bytes.Buffer
		writeCounts(&b, table)
		again, err := ReadCSV(&b, CSVOptions{Layout: LayoutCounts, Header: HeaderYes, K: table.K})
		if err != nil || !reflect.DeepEqual(again, table) {
			t.Fatalf("wrote %+v, read %+v, %v", table, again, err)
		}
	})
}

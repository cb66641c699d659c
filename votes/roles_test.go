package votes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// table is a file of named columns with integer cells, to be written in every format that
// has names.
type table struct {
	names []string
	rows  [][]int // -1 for a missing cell
}

func (d table) text(sep string) []byte {
	var b strings.Builder
	b.WriteString(strings.Join(d.names, sep) + "\n")
	for _, row := range d.rows {
		var cells []string
		for _, c := range row {
			if c < 0 {
				cells = append(cells, "NA")
			} else {
				cells = append(cells, fmt.Sprint(c))
			}
		}
		b.WriteString(strings.Join(cells, sep) + "\n")
	}
	return []byte(b.String())
}

func (d table) json() []byte {
	var b bytes.Buffer
	for _, row := range d.rows {
		var members []string
		for i, c := range row {
			name, _ := json.Marshal(d.names[i])
			value := fmt.Sprint(c)
			if c < 0 {
				value = "null"
			}
			members = append(members, string(name)+":"+value)
		}
		b.WriteString("{" + strings.Join(members, ",") + "}\n")
	}
	return b.Bytes()
}

// parquet sorts the columns by their names.
func (d table) parquet() []byte {
	group := parquet.Group{}
	for _, name := range d.names {
		group[name] = parquet.Optional(parquet.Int(32))
	}
	schema := parquet.NewSchema("table", group)
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, schema)
	for _, row := range d.rows {
		out := make(parquet.Row, len(row))
		for j, path := range schema.Columns() {
			if c := row[slices.Index(d.names, path[0])]; c < 0 {
				out[j] = parquet.NullValue().Level(0, 0, j)
			} else {
				out[j] = parquet.Int32Value(int32(c)).Level(0, 1, j)
			}
		}
		if _, err := w.WriteRows([]parquet.Row{out}); err != nil {
			panic(err)
		}
	}
	w.Close()
	return b.Bytes()
}

// formats is every format with names.
func (d table) formats() map[Format][]byte {
	return map[Format][]byte{FormatCSV: d.text(","), FormatTSV: d.text("\t"), FormatJSONL: d.json(),
		FormatParquet: d.parquet()}
}

// A column is a teacher only where its name, a list or K says so. All cells are 0 or 1,
// so nothing but the rule keeps a true label, an index or an id from voting.
func TestColumnsThatAreVotes(t *testing.T) {
	const flags = `label\ column id\ column vote\ columns`
	for _, tt := range []struct {
		name    string
		columns string // separated by |
		opts    Options
		votes   string // in the teachers' order; "" if the file is refused
		refused string // words of the message, separated by spaces
	}{
		{"one stem and numbers", "t1|t2|t3", Options{}, "t1|t2|t3", ""},
		{"from 0", "teacher_0|teacher_1", Options{}, "teacher_0|teacher_1", ""},
		{"zeros in front", "model-01|model-02|model-10", Options{}, "model-01|model-02|model-10", ""},
		{"with gaps", "t1|t3|t9", Options{}, "t1|t3|t9", ""},
		{"plain numbers", "2|3|4", Options{Header: HeaderYes}, "2|3|4", ""},
		{"by number, not by place or alphabet", "t10|t9|t1", Options{}, "t1|t9|t10", ""},
		{"id and label", "query|t1|t2|label", Options{}, "t1|t2", ""},
		{"other id and label", "t1|truth|t2|ID", Options{}, "t1|t2", ""},
		{"one", "t1", Options{}, "t1", ""},

		{"y", "t1|t2|t3|y", Options{}, "", `"y" other\ 3 ` + flags},
		{"target", "t1|t2|t3|target", Options{}, "", `"target" ` + flags},
		{"y_true", "y_true|t1|t2|t3", Options{}, "", `"y_true" ` + flags},
		{"gold, id and label known", "query|t1|t2|gold|label", Options{}, "", `"gold" ` + flags},
		{"two of them", "idx|t1|t2|y", Options{}, "", `"idx" "y" ` + flags},
		{"a label of another name with a number", "t1|t2|t3|y1", Options{}, "", `"y1" ` + flags},
		{"a label of another name with another number", "t1|t2|t3|y7", Options{}, "",
			`"y7" other\ 3 ` + flags},
		{"three stems", "svm1|rf2|knn3", Options{}, "", `"svm1" "rf2" "knn3" ` + flags},
		{"pandas index", "|t1|t2|t3", Options{Header: HeaderYes}, "t1|t2|t3", ""},
		{"pandas index, plain numbers", "|2|3|4", Options{Header: HeaderYes}, "2|3|4", ""},
		{"pandas index beside an id", "|id|t1|t2", Options{Header: HeaderYes}, "t1|t2", ""},
		{"a column without a name that is not the first", "query|Unnamed: 1|t1", Options{}, "",
			`"Unnamed:\ 1" ` + flags},
		{"pandas index, read again", "Unnamed: 0|t1|t2", Options{}, "t1|t2", ""},
		{"only a pandas index", "Unnamed: 0|label", Options{}, "", "column\\ of\\ votes"},
		{"no numbers", "alice|bob|carol", Options{}, "", `"alice" "bob" "carol" ` + flags},
		{"one without a number", "t", Options{}, "", `"t" ` + flags},
		{"two stems", "svm1|svm2|rf1|rf2", Options{}, "", `` + flags},
		{"the same number twice", "t1|t01", Options{}, "", `"t1" "t01" ` + flags},
		{"label declared none", "t1|t2|label", Options{LabelColumn: NoColumn}, "", `"label" ` + flags},

		{"K", "alice|bob|carol", Options{K: 3}, "alice|bob|carol", ""},
		{"K, with label", "alice|bob|label", Options{K: 2}, "alice|bob", ""},
		{"K, two stems", "svm1|svm2|rf1|rf2", Options{K: 4}, "svm1|svm2|rf1|rf2", ""},
		{"K and numbers", "t1|t2", Options{K: 2}, "t1|t2", ""},
		{"K below", "t1|t2|t3|y", Options{K: 3}, "", `"y" K\ =\ 3 4\ columns ` + flags},
		{"K below, no numbers", "alice|bob|y", Options{K: 2}, "", `"alice" "bob" "y" K\ =\ 2 ` + flags},
		{"K above", "t1|t2", Options{K: 3}, "", `2\ columns K\ =\ 3`},
		{"K that counts y", "t1|t2|t3|y", Options{K: 4}, "", `"y" ` + flags},
		{"K, three stems", "svm1|rf2|knn3", Options{K: 3}, "svm1|rf2|knn3", ""},
		{"K that counts y1", "t1|t2|t3|y1", Options{K: 4}, "", `"y1" ` + flags},
		{"K that counts an index", "|alice|bob", Options{K: 3, Header: HeaderYes}, "", `2\ columns K\ =\ 3`},
		{"K that counts a blank", " |alice|bob", Options{K: 3, Header: HeaderYes}, "", flags},
		{"K that counts an index, read again", "Unnamed: 0|alice|bob", Options{K: 3}, "",
			`2\ columns K\ =\ 3`},
		{"K beside an index", "Unnamed: 0|alice|bob", Options{K: 2}, "alice|bob", ""},

		{"range", "t1|t2|t3|y", Options{VoteColumns: []string{"t1..t2"}}, "t1|t2", ""},
		{"range by numbers", "t10|t9|t1|t30", Options{VoteColumns: []string{"t1..t10"}}, "t1|t9|t10", ""},
		{"range that begins with zeros", "t01|t02|t10", Options{VoteColumns: []string{"t01..t10"}},
			"t01|t02|t10", ""},
		{"range that ends before it begins", "t1|t2", Options{VoteColumns: []string{"t2..t1"}}, "", `t2..t1`},
		{"pattern", "site_2|site_1|query|truth|y", Options{VoteColumns: []string{"site_*"}}, "site_1|site_2", ""},
		{"pattern that takes no truth", "query|t1|t2|truth", Options{VoteColumns: []string{"*t*"}}, "t1|t2", ""},
		{"pattern that takes no truth, where none is read", "query|t1|t2|truth",
			Options{VoteColumns: []string{"*t*"}, LabelColumn: NoColumn}, "t1|t2", ""},
		{"pattern that takes no stated truth", "query|t1|t2|gold_t", Options{VoteColumns: []string{"*t*"},
			LabelColumn: "gold_t"}, "t1|t2", ""},
		{"pattern of no column", "t1|t2", Options{VoteColumns: []string{"x*"}}, "", `"x*"`},
		{"a name before a pattern", "t*|t1", Options{VoteColumns: []string{"t*"}}, "t*", ""},
		{"a name before a range", "t1..t2|t1|t2", Options{VoteColumns: []string{"t1..t2"}}, "t1..t2", ""},
		{"pattern and one of it", "t1|t2", Options{VoteColumns: []string{"t*", "t1"}}, "", "at\\ once"},

		{"label named", "t1|t2|t3|y", Options{LabelColumn: "y"}, "t1|t2|t3", ""},
		{"id named", "idx|t1|t2", Options{IDColumn: "idx"}, "t1|t2", ""},
		{"list", "alice|bob|y", Options{VoteColumns: []string{"bob", "alice", "y"}}, "bob|alice|y", ""},
		{"list of some", "t1|t2|t3|y", Options{VoteColumns: []string{"t1", "t2", "t3"}}, "t1|t2|t3", ""},
		{"list, in its order", "t1|t2", Options{VoteColumns: []string{"t2", "t1"}}, "t2|t1", ""},
		{"list and K", "alice|bob|y", Options{VoteColumns: []string{"alice", "bob"}, K: 2}, "alice|bob",
			""},
		{"list and another K", "alice|bob|y", Options{VoteColumns: []string{"alice", "bob"}, K: 3}, "",
			`2\ columns K\ =\ 3`},
		{"list of a column that is not there", "t1|t2", Options{VoteColumns: []string{"t1", "t3"}}, "",
			`"t3"`},
		{"list with one twice", "t1|t2", Options{VoteColumns: []string{"t1", "t1"}}, "", "at\\ once"},
		{"list with the label", "t1|label", Options{VoteColumns: []string{"t1", "label"}}, "",
			"at\\ once"},
		{"list with the label, which is none", "t1|label",
			Options{VoteColumns: []string{"t1", "label"}, LabelColumn: NoColumn}, "t1|label", ""},
	} {
		names := strings.Split(tt.columns, "|")
		d := table{names: names}
		for i := range 2 {
			row := make([]int, len(names))
			for j := range row {
				row[j] = (i + j) % 2
			}
			d.rows = append(d.rows, row)
		}
		for format, data := range d.formats() {
			t.Run(tt.name+"/"+format.String(), func(t *testing.T) {
				opts := tt.opts
				opts.Format, opts.KeepVotes, opts.Name = format, true, "v"
				if format != FormatCSV && format != FormatTSV {
					opts.Header = HeaderAuto
				}
				r, err := NewReader(context.Background(), bytes.NewReader(data), opts)
				if tt.votes == "" || format == FormatJSONL && (tt.columns[0] == '|' || tt.columns[0] == 'U') {
					var p *ParseError
					if !errors.As(err, &p) {
						t.Fatalf("got %v, want a *ParseError", err)
					}
					if format == FormatJSONL && (tt.columns[0] == '|' || tt.columns[0] == 'U') {
						return // of keys none is the first
					}
					for _, word := range strings.Split(strings.ReplaceAll(tt.refused, `\ `, "\x00"), " ") {
						if word = strings.ReplaceAll(word, "\x00", " "); !strings.Contains(err.Error(), word) {
							t.Errorf("%q does not say %s", err, word)
						}
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				roles := r.Columns()
				got, err := collect(r)
				if err != nil {
					t.Fatal(err)
				}
				want := strings.Split(tt.votes, "|")
				// in the file's order, which is the alphabet's
				if format == FormatParquet && tt.opts.K > 0 && len(tt.opts.VoteColumns) == 0 {
					slices.Sort(want)
				}
				if !slices.Equal(roles.Votes, want) || roles.In != "columns" || roles.Width != len(want) ||
					got.K != len(want) {
					t.Errorf("roles %+v, K = %d, want %q", roles, got.K, want)
				}
				var votes []int
				for i := range d.rows {
					for _, name := range want {
						votes = append(votes, d.rows[i][slices.Index(names, name)])
					}
				}
				if !slices.Equal(got.Votes, votes) {
					t.Errorf("votes %v, want %v", got.Votes, votes)
				}
			})
		}
	}
}

// Text without a header says nothing about its columns, so somebody has to.
// An error lists up to twelve columns that are not votes, and then how many there are.
func TestColumnsThatAreNotVotesAreListed(t *testing.T) {
	votes := "t1,t2,t3,t4,t5,t6,t7,t8,t9,t10,t11,t12,t13,t14"
	for others, want := range map[string]string{
		"a,b,c,d,e,f,g,h,i,j,k,l":   "a, b, c, d, e, f, g, h, i, j, k, l: named unlike",
		"a,b,c,d,e,f,g,h,i,j,k,l,m": "i, j, k, l, … (13 columns): named unlike",
	} {
		names := votes + "," + others
		row := strings.Repeat("1,", strings.Count(names, ",")) + "1"
		_, err := ReadCSV(strings.NewReader(names+"\n"+row+"\n"), Options{Format: FormatCSV})
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), `"`, ""), want) {
			t.Errorf("%s: %v, want %s", names, err, want)
		}
	}
}

func TestCheckNameListsTheFormats(t *testing.T) {
	err := CheckName("votes.xlsx")
	for _, name := range formatNames()[1:] { // the first lets the program choose
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckName("votes.csv"); err != nil {
		t.Error(err)
	}
}

func TestColumnsWithoutHeader(t *testing.T) {
	for _, tt := range []struct {
		name    string
		in      string
		opts    Options
		ones    []int
		refused string
	}{
		{"nothing said", "0,1,1\n1,1,0\n", Options{}, nil, "number of teachers K"},
		{"nothing said, no header", "0,1,1\n1,1,0\n", Options{Header: HeaderNo}, nil, "vote columns"},
		{"K", "0,1,1\n1,1,0\n", Options{K: 3}, []int{2, 2}, ""},
		{"ids 0 and 1", "0,1,1,0\n1,1,0,0\n", Options{K: 3}, nil, "4 columns of votes, but K = 3"},
		{"ids 0 and 1, named", "0,1,1,0\n1,1,0,0\n", Options{K: 3, IDColumn: "1"}, []int{2, 1}, ""},
		{"ids 0 and 1, listed", "0,1,1,0\n1,1,0,0\n", Options{VoteColumns: []string{"2", "4", "3"}},
			[]int{2, 1}, ""},
		{"a position too far", "0,1,1,0\n", Options{VoteColumns: []string{"2", "3", "5"}}, nil,
			"position from 1 to 4"},
		{"id named, nothing else", "0,1,1,0\n1,1,0,0\n", Options{IDColumn: "1"}, nil, "number of teachers K"},
		{"counts", "1,2\n0,3\n", Options{Layout: LayoutCounts}, nil, "number of teachers K"},
		{"counts, K", "1,2\n0,3\n", Options{Layout: LayoutCounts, K: 3}, []int{2, 3}, ""},
		{"counts, listed", "1,2\n0,3\n", Options{Layout: LayoutCounts, VoteColumns: []string{"2", "1"}},
			[]int{1, 0}, ""},
		{"counts, too many listed", "1,2,0\n", Options{Layout: LayoutCounts,
			VoteColumns: []string{"1", "2", "3"}}, nil, "3 columns of counts are listed, want 2"},
		// Two names make a header, two votes a row: which it is cannot be seen.
		{"a header that could be votes", "0,1\n1,1\n", Options{K: 2}, nil, "header row"},
		{"votes that could be a header", "1,0\n1,1\n", Options{K: 2}, nil, "header row"},
		{"one vote that could be a header", "1\n1\n", Options{K: 1}, nil, "header row"},
		{"it is a header", "0,1\n1,1\n", Options{K: 2, Header: HeaderYes}, []int{2}, ""},
		{"it is no header", "0,1\n1,1\n", Options{K: 2, Header: HeaderNo}, []int{1, 2}, ""},
		{"positions, it is no header", "0,1,1\n1,1,1\n", Options{VoteColumns: []string{"2", "3"}},
			[]int{2, 2}, ""},
		{"positions, could be a header", "0,0,1\n1,1,1\n", Options{VoteColumns: []string{"2", "3"}}, nil,
			"header row"},
		// No header has a name twice.
		{"0,1,0,1", "0,1,0,1\n1,1,0,0\n", Options{}, nil, "number of teachers K"},
		{"0,1,0,1 with K", "0,1,0,1\n1,1,0,0\n", Options{K: 4}, []int{2, 2}, ""},
		{"0,1,0,1 as a header", "0,1,0,1\n1,1,0,0\n", Options{K: 4, Header: HeaderYes}, nil, "twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for sep, format := range map[string]Format{",": FormatCSV, "\t": FormatTSV} {
				opts := tt.opts
				opts.Format = format
				got, err := ReadCSV(strings.NewReader(strings.ReplaceAll(tt.in, ",", sep)), opts)
				if tt.refused != "" {
					var p *ParseError
					if !errors.As(err, &p) || !strings.Contains(err.Error(), tt.refused) {
						t.Errorf("%s: %+v, %v, want %s", format, got, err, tt.refused)
					}
				} else if err != nil || !slices.Equal(got.Ones, tt.ones) {
					t.Errorf("%s: %+v, %v, want %v", format, got, err, tt.ones)
				}
			}
		})
	}
}

// HeaderNo is heeded where HeaderAuto would see a header, and where it could see one.
func TestHeaderNoIsHeeded(t *testing.T) {
	_, err := read("t1,t2\n0,1\n", Options{Header: HeaderNo, K: 2})
	var p *ParseError
	if !errors.As(err, &p) || p.Line != 1 || p.Column != 1 || !strings.Contains(p.Rule, `vote "t1"`) {
		t.Errorf("a header as votes: %v", err)
	}
	classes := []string{"t1", "t2"}
	r := open(t, strings.NewReader("t1,t2\nt2,t2\n"),
		Options{Header: HeaderNo, K: 2, Classes: classes})
	got, err := collect(r)
	same(t, "names that are votes", got, err, &all{K: 2, Classes: classes, Counts: []int{1, 1, 0, 2},
		N: 2}, nil)
}

// With counts every column is a class's, the id's or the label's, unless they are listed.
func TestColumnsThatAreCounts(t *testing.T) {
	for _, tt := range []struct {
		columns string
		opts    Options
		want    []int // of the first row; nil if the file is refused
		refused string
	}{
		{"zeros|ones", Options{}, []int{1, 2}, ""},
		{"ones|zeros", Options{}, []int{2, 1}, ""},
		{"N1|n0", Options{}, []int{2, 1}, ""},
		{"0|1", Options{Header: HeaderYes}, []int{1, 2}, ""},
		{"zeros|ones|y", Options{}, nil, `"y"`},
		{"idx|zeros|ones", Options{}, nil, `"idx"`},
		{"zeros|ones|n1", Options{}, nil, `could be the ones too`},
		{"no|yes", Options{}, nil, "with the zeros"},
		{"no|yes", Options{K: 3}, nil, "with the zeros"},
		{"no|yes", Options{VoteColumns: []string{"yes", "no"}}, []int{2, 1}, ""},
		{"no|yes|maybe", Options{VoteColumns: []string{"no", "yes"}}, []int{1, 2}, ""},
		{"no|yes|maybe", Options{VoteColumns: []string{"no", "yes", "maybe"}}, nil,
			"3 columns of counts are listed, want 2"},
		{"a|A", Options{Classes: []string{"A", "a"}}, []int{2, 1}, ""},
	} {
		d := table{names: strings.Split(tt.columns, "|"), rows: [][]int{{1, 2, 4}}}
		d.rows[0] = d.rows[0][:len(d.names)]
		for format, data := range d.formats() {
			opts := tt.opts
			opts.Format, opts.Layout = format, LayoutCounts
			got, err := readAll(bytes.NewReader(data), opts)
			if tt.want == nil {
				var p *ParseError
				if !errors.As(err, &p) || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("%s, %s: %+v, %v, want %s", tt.columns, format, got, err, tt.refused)
				}
			} else if err != nil || !slices.Equal(got.Counts, tt.want) {
				t.Errorf("%s, %s: %+v, %v, want %v", tt.columns, format, got, err, tt.want)
			}
		}
	}
}

func TestVoteColumnsOptions(t *testing.T) {
	for name, opts := range map[string]Options{
		"empty":               {VoteColumns: []string{"t1", " "}},
		"none":                {VoteColumns: []string{"-"}},
		"and a list":          {VoteColumns: []string{"t1"}, VotesColumn: "votes"},
		"name without header": {Header: HeaderNo, VoteColumns: []string{"1", "t2"}},
	} {
		var p *ParseError
		if _, err := read("t1,t2\n0,1\n", opts); err == nil || errors.As(err, &p) {
			t.Errorf("%s: %v, want an error about the options", name, err)
		}
	}
	for list, want := range map[string][]string{
		"": nil, "t1": {"t1"}, "t1,t2": {"t1", "t2"}, "3, 2 ": {"3", "2"}, "\"a,b\",c d": {"a,b", "c d"},
		"\"a\nb\",c": {"a\nb", "c"},
	} {
		if got, err := ParseColumns(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
	}
	for _, list := range []string{"\"a", "a\"b", "a\nb", "\n"} {
		if got, err := ParseColumns(list); err == nil {
			t.Errorf("%q: %q, want an error", list, got)
		}
	}
	array := npyFile("|u1", false, []byte{0, 1}, 1, 2)
	_, err := readAll(bytes.NewReader(array), Options{Format: FormatNPY, Layout: LayoutWide,
		VoteColumns: []string{"1"}})
	if err == nil || !strings.Contains(err.Error(), "vote columns") {
		t.Errorf("columns of an array: %v", err)
	}
}

// The list of a JSON Lines file can be told from keys that are votes, and what is
// beside it is refused.
func TestListOfVotes(t *testing.T) {
	for _, tt := range []struct {
		in      string
		opts    Options
		refused string
	}{
		{`{"votes":[0,1],"label":1}`, Options{}, ""},
		{`{"votes":[0,1],"y":1}`, Options{}, `key "y": it is neither id, label nor "votes"`},
		{`{"votes":[0,1],"t1":1}`, Options{}, `key "t1"`},
		{`{"votes":[0,1],"t1":1}`, Options{VoteColumns: []string{"t1"}, K: 2},
			"1 columns of votes, but K = 2 teachers are expected"},
		{`{"votes":1}`, Options{}, "number of teachers K"},
		{`{"votes":1}`, Options{K: 1}, ""},
		{`{"votes":[1],"id":[1]}`, Options{}, "neither a string nor a whole number"},
		{`{"v":[1]}`, Options{VotesColumn: "w"}, `no key "w" for the list of votes`},
		{`{"id":[1],"t1":1}`, Options{VotesColumn: "id"}, "at once"},
	} {
		opts := jsonl(tt.opts)
		_, err := readAll(strings.NewReader(tt.in), opts)
		if tt.refused == "" && err != nil || tt.refused != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%s, %+v: %v, want %s", tt.in, tt.opts, err, tt.refused)
		}
	}
}

// Names that are K teachers' in one file must be in the next: another column in the
// place of a teacher would go unseen.
func TestSecondFileHasTheSameColumns(t *testing.T) {
	dir := t.TempDir()
	people := put(t, dir, "people.csv", "alice,bob\n0,1\n")
	numbers := put(t, dir, "numbers.csv", "t1,t2\n0,1\n")
	for name, tt := range map[string]struct {
		first, content string
		k              int
		want           string
	}{
		"another column": {people, "alice,y\n0,1\n", 2,
			`votes: alice, y (2 columns); id: none; truth: none, but in ` + people +
				` votes: alice, bob (2 columns)`},
		"another order":     {people, "bob,alice\n0,1\n", 2, `votes: bob, alice`},
		"numbers, shuffled": {numbers, "t2,t1\n0,1\n", 0, ""},
		"other numbers":     {numbers, "t2,t3\n0,1\n", 0, "votes: t2, t3"},
		"fewer":             {numbers, "t1\n0\n", 0, "K = 1 teachers, but " + numbers + " has K = 2"},
		"more": {numbers, "t1,t2,t3\n0,1,1\n", 0, "K = 3 teachers, but " + numbers +
			" has K = 2"},
		"fewer, with a label": {numbers, "t1,label\n0,1\n", 0, "K = 1 teachers, but " + numbers +
			" has K = 2"},
		"without names": {numbers, "1,1\n0,1\n", 2, ""},
	} {
		second := put(t, dir, "second.csv", tt.content)
		r, err := Open(context.Background(), Options{K: tt.k}, tt.first, second)
		if err == nil {
			_, err = collect(r)
		}
		if tt.want == "" && err != nil || tt.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// The same votes give the same Batch.Votes, in the teachers' order with -1 for a missing
// one, whatever the format, the order of the columns and the division into files.
func TestVotesInTeachersOrder(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "K")
		n := rapid.IntRange(1, 20).Draw(t, "N")
		var rows [][]int
		var want []int
		for range n {
			rows = append(rows, rapid.SliceOfN(rapid.IntRange(-1, 1), k, k).Draw(t, "votes"))
			want = append(want, rows[len(rows)-1]...)
		}
		order := make([]int, k)
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order of the columns")
		shuffled := table{}
		for _, teacher := range order {
			// t10 before t2 in the alphabet
			shuffled.names = append(shuffled.names, fmt.Sprintf("t%d", teacher+1))
		}
		for _, row := range rows {
			var cells []int
			for _, teacher := range order {
				cells = append(cells, row[teacher])
			}
			shuffled.rows = append(shuffled.rows, cells)
		}
		plain := &data{classes: IntegerClasses(2), votes: rows}
		files := []variant{
			{name: "v.csv", data: shuffled.text(",")}, {name: "v.csv.gz", data: gzipped(shuffled.text(","))},
			{name: "v.tsv", data: shuffled.text("\t")},
			{name: "v.tsv.zst", data: zstded(shuffled.text("\t"))},
			{name: "keys.jsonl", data: shuffled.json()},
			{name: "keys.jsonl.gz", data: gzipped(shuffled.json())},
			{name: "list.jsonl", data: plain.writeJSON(true, true)},
			{name: "v.parquet", data: shuffled.parquet()},
		}
		for _, teachers := range []bool{false, true} {
			opts := Options{Layout: LayoutWide}
			if teachers {
				opts.Layout = LayoutTeachers
			}
			files = append(files,
				variant{name: "v.npy", data: plain.npy("<f8", teachers, false), opts: opts},
				variant{name: "v.npy.zst", data: zstded(plain.npy("<f8", teachers, true)), opts: opts},
				variant{name: "v.npz", data: plain.writeNPZ("<f8", teachers, false, 8), opts: opts})
		}
		for _, f := range files {
			opts := f.opts
			opts.KeepVotes, opts.Missing, opts.chunkBytes = true, MissingCoin,
				rapid.SampledFrom([]int{0, 1, 30}).Draw(t, "chunk")
			path := filepath.Join(dir, f.name)
			writeFile(t, path, f.data)
			r, err := Open(context.Background(), opts, path)
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			got, err := collect(r)
			if err != nil || !slices.Equal(got.Votes, want) {
				t.Fatalf("%s: got %v, %v, want %v", f.name, got, err, want)
			}
		}
	})
}

func TestRolesString(t *testing.T) {
	numbered := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("t%d", i+1))
		}
		return names
	}
	for _, tt := range []struct {
		data []byte
		opts Options
		want string
	}{
		{[]byte("query," + strings.Join(numbered(11), ",") + ",label\n0" + strings.Repeat(",1", 12) +
			"\n"), Options{}, "votes: t1 … t11 (11 columns); id: query; truth: label"},
		{[]byte("t1,t2,t4,t5,t6\n1,1,1,1,1\n"), Options{},
			"votes: t1, t2, t4 … t6 (5 columns); id: none; truth: none"},
		{[]byte("alice,bob,y\n1,1,1\n"), Options{LabelColumn: "y", K: 2},
			"votes: alice, bob (2 columns); id: none; truth: y"},
		{[]byte("label,t1,t2\n1,0,0\n"), Options{}, "votes: t1, t2 (2 columns); id: none; truth: label"},
		{[]byte("query,t1,t2\na,0,0\n"), Options{}, "votes: t1, t2 (2 columns); id: query; truth: none"},
		{[]byte("alice,bob,y\n1,1,1\n"), Options{VoteColumns: []string{"bob"}},
			"votes: bob (1 column); id: none; truth: none; not read: alice, y"},
		{[]byte("q,1,1,1,0\n"), Options{IDColumn: "1", LabelColumn: "5", K: 3},
			"votes: column 2 … 4 (3 columns without names); id: column 1; truth: column 5"},
		{[]byte("a b,\"x\ny\",\x1b[31m\n1,1,1\n"), Options{K: 3},
			`votes: "a b", "x\ny", "\x1b[31m" (3 columns); id: none; truth: none`},
		{[]byte("t1,none\n1,1\n"), Options{LabelColumn: "none"},
			"votes: t1 (1 column); id: none; truth: none"},
		{[]byte("ones,zeros\n1,2\n"), Options{Layout: LayoutCounts},
			"counts: zeros, ones (2 columns); id: none; truth: none"},
		{[]byte(`{"query":"x","votes":[1,0,1]}`), Options{Format: FormatJSONL},
			"votes: votes (a list of 3); id: query; truth: none"},
		{[]byte(`{"counts":[1,2]}`), Options{Format: FormatJSONL, Layout: LayoutCounts},
			"counts: counts (a list of 2); id: none; truth: none"},
		{npyFile("|u1", false, make([]byte, 6), 2, 3), Options{Format: FormatNPY, Layout: LayoutWide},
			"votes: (an array of 3 columns); id: none; truth: none"},
		{npyFile("|u1", false, make([]byte, 6), 2, 3), Options{Format: FormatNPY, Layout: LayoutTeachers},
			"votes: (an array of 2 rows); id: none; truth: none"},
		{(&data{classes: IntegerClasses(2), votes: [][]int{{0, 1}}, ids: []string{"x"},
			labels: []int{1}}).writeNPZ("|u1", false, false, 8),
			Options{Format: FormatNPZ, Layout: LayoutWide},
			"votes: votes (an array of 2 columns); id: query; truth: label"},
	} {
		r := open(t, bytes.NewReader(tt.data), tt.opts)
		if got := r.Columns().String(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
		r.Close()
	}
	long := Roles{In: "columns", Layout: "wide", Width: 60}
	for i := range 60 {
		long.Votes = append(long.Votes, strings.Repeat(string(rune('a'+i%26)), 1+i/26))
	}
	if s := long.String(); !strings.Contains(s, "… and 10 more") {
		t.Errorf("60 names: %s", s)
	}
	r := open(t, strings.NewReader("t1,t2\n1,1\n"), Options{})
	defer r.Close()
	r.Columns().Votes[0] = "x"
	if !reflect.DeepEqual(r.Columns().Votes, []string{"t1", "t2"}) {
		t.Error("the caller can change the roles")
	}
}

// The first column is an id by an empty name alone, can be stated, and is not called none.
func TestColumnWithoutAName(t *testing.T) {
	const in = ",t1,t2\na,1,0\nb,0,0\n"
	for _, tt := range []struct {
		in    string
		opts  Options
		roles string
		ids   []string
	}{
		{in, Options{}, `votes: t1, t2 (2 columns); id: "" (column 1); truth: none`, []string{"a", "b"}},
		{in, Options{IDColumn: Nameless}, `votes: t1, t2 (2 columns); id: "" (column 1); truth: none`,
			[]string{"a", "b"}},
		{in, Options{IDColumn: "#1"}, `votes: t1, t2 (2 columns); id: "" (column 1); truth: none`,
			[]string{"a", "b"}},
		{in, Options{IDColumn: NoColumn}, `votes: t1, t2 (2 columns); id: none; truth: none; not read: ""`, nil},
		{",0,1\n5,1,0\n6,0,0\n", Options{Header: HeaderYes},
			`votes: 0, 1 (2 columns); id: "" (column 1); truth: none`, []string{"5", "6"}},
		{",id,t1\n5,a,0\n6,b,0\n", Options{},
			`votes: t1 (1 column); id: id; truth: none; not read: ""`, []string{"a", "b"}},
		{",a,b\n5,1,0\n6,0,0\n", Options{VoteColumns: []string{"#1..#3"}, Classes: []string{"0", "1"}},
			`votes: a, b (2 columns); id: "" (column 1); truth: none`, []string{"5", "6"}},
		{",a,b\n1,1,0\n1,0,0\n", Options{VoteColumns: []string{Nameless, "b"}, IDColumn: NoColumn},
			`votes: "", b (2 columns); id: none; truth: none; not read: a`, nil},
	} {
		r, err := NewReader(t.Context(), strings.NewReader(tt.in), tt.opts)
		if err != nil {
			t.Errorf("%q, %+v: %v", tt.in, tt.opts, err)
			continue
		}
		if roles := r.Columns().String(); roles != tt.roles || r.Columns().IDName() == Nameless {
			t.Errorf("%q: %s, want %s", tt.in, roles, tt.roles)
		}
		if got, err := collect(r); err != nil || !slices.Equal(got.IDs, tt.ids) {
			t.Errorf("%q: %+v, %v, want ids %q", tt.in, got, err, tt.ids)
		}
	}
	_, err := readAll(strings.NewReader(",t1\na,1\na,0\n"), Options{})
	if err == nil || !strings.Contains(err.Error(), `query id "a" is already in line 2`) {
		t.Errorf("equal ids: %v", err)
	}
}

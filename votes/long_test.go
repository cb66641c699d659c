package votes

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// cast is a row of the layout long.
type cast struct {
	Ticket string `parquet:"ticket" json:"ticket"`
	Prompt string `parquet:"prompt" json:"prompt"`
	Answer string `parquet:"answer" json:"answer"`
	When   string `parquet:"when" json:"when"` // is not read
}

// files has the rows in every format that has them.
func filesOf(rows []cast) map[Format][]byte {
	var csv, tsv, lines, columns bytes.Buffer
	csv.WriteString("when,ticket,answer,prompt\n")
	tsv.WriteString("prompt\tticket\twhen\tanswer\n")
	w := parquet.NewGenericWriter[cast](&columns)
	for _, r := range rows {
		fmt.Fprintf(&csv, "x,%s,%s,%s\n", r.Ticket, r.Answer, r.Prompt)
		fmt.Fprintf(&tsv, "%s\t%s\tx\t%s\n", r.Prompt, r.Ticket, r.Answer)
		line, _ := json.Marshal(r)
		lines.Write(append(line, '\n'))
		w.Write([]cast{r})
	}
	w.Close()
	return map[Format][]byte{FormatCSV: csv.Bytes(), FormatTSV: tsv.Bytes(), FormatJSONL: lines.Bytes(),
		FormatParquet: columns.Bytes()}
}

func longOptions(f Format) Options {
	return Options{Format: f, Layout: LayoutLong, IDColumn: "ticket", VoteColumn: "answer",
		TeacherColumn: "prompt", Classes: []string{"a", "b", "c"}, Missing: MissingAbstain}
}

// gathered is what a Reader yields.
type gathered struct {
	k, missing int
	ids        []string
	counts     [][]int
	votes      [][]int
}

func gather(file []byte, o Options) (g gathered, err error) {
	r, err := NewReader(context.Background(), bytes.NewReader(file), o)
	if err != nil {
		return g, err
	}
	defer r.Close()
	g.k = r.K()
	next := int64(0)
	for {
		b, err := r.Next()
		if err == io.EOF {
			return g, nil
		}
		if err != nil {
			return g, err
		}
		if b.First != next || b.K != g.k {
			return g, fmt.Errorf("batch of K = %d at %d, want %d at %d", b.K, b.First, g.k, next)
		}
		next += int64(b.Len())
		for i := range b.Len() {
			g.ids, g.counts = append(g.ids, b.ID(i)), append(g.counts, slices.Clone(b.Row(i)))
			if b.Missing != nil {
				g.missing += b.Missing[i]
			}
			if b.Votes != nil {
				g.votes = append(g.votes, slices.Clone(b.Votes[i*b.K:(i+1)*b.K]))
			}
		}
		b.Release()
	}
}

// Rows become the queries that a matrix of the same votes has, whatever their order and the format:
// in memory, and streamed where they come in the order of the ids. Every query is there, also one
// that nobody voted on.
func TestLongRowsAreQueries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 12).Draw(t, "queries"), rapid.IntRange(1, 5).Draw(t, "teachers")
		matrix, ids := make([][]int, n), make([]string, n)
		var rows []cast
		missing := 0
		for q := range matrix {
			ids[q], matrix[q] = fmt.Sprintf("T-%d", (q*7)%n*100+q), make([]int, k)
			for j := range k {
				v := rapid.IntRange(-2, 2).Draw(t, "vote") // no row, a row without a vote, a class
				matrix[q][j] = max(-1, v)
				if v < 0 {
					missing++
				}
				if v >= -1 {
					rows = append(rows, cast{ids[q], fmt.Sprintf("p%d", j), []string{"", "a", "b", "c"}[v+1], ""})
				}
			}
		}
		if len(rows) == 0 {
			return
		}
		shuffled := slices.Clone(rows)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1)).Shuffle(len(rows), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		counts := make([][]int, n)
		for q, row := range matrix {
			counts[q] = make([]int, 3)
			for _, v := range row {
				if v >= 0 {
					counts[q][v]++
				}
			}
		}
		check := func(what string, g gathered, err error) {
			if err != nil || g.k != k || !slices.Equal(g.ids, ids) || g.missing != missing ||
				!slices.EqualFunc(g.counts, counts, slices.Equal[[]int]) {
				t.Fatalf("%s: %+v, %v, want %v of %v", what, g, err, counts, ids)
			}
		}
		for format, file := range filesOf(shuffled) {
			o := longOptions(format)
			o.K, o.QueryIDs, o.chunkBytes = k, ids, 20
			g, err := gather(file, o)
			check(string(format), g, err)
			o.KeepVotes = true
			g, err = gather(file, o)
			check(string(format), g, err)
			for q := range g.votes { // who never votes has no place among the names
				got, want := slices.Clone(g.votes[q]), slices.Clone(matrix[q])
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("votes %v, want %v", g.votes[q], matrix[q])
				}
			}
			// Without ids and K a file tells those that have a vote.
			o.K, o.QueryIDs, o.KeepVotes = 0, nil, false
			if g, err = gather(file, o); err != nil || len(g.ids) > n || g.k > k {
				t.Fatalf("%+v, %v", g, err)
			}
		}
		for format, file := range filesOf(rows) {
			o := longOptions(format)
			o.K, o.QueryIDs, o.chunkBytes, o.longVotes = k, ids, 20, 1
			g, err := gather(file, o)
			check("streamed "+string(format), g, err)
		}
	})
}

// A vote that goes away takes no query with it where the queries are given; where they follow from
// the votes it does, which is why no release may be made so.
func TestLongQueryWithoutVotesStays(t *testing.T) {
	rows := []cast{{"T1", "p0", "a", ""}, {"T2", "p0", "b", ""}, {"T2", "p1", "b", ""}}
	for _, given := range []bool{true, false} {
		var seen [2][]string
		for i, part := range [][]cast{rows, rows[1:]} {
			o := longOptions(FormatCSV)
			if o.K = 2; given {
				o.QueryIDs = []string{"T1", "T2"}
			}
			g, err := gather(filesOf(part)[FormatCSV], o)
			if err != nil {
				t.Fatal(err)
			}
			seen[i] = g.ids
		}
		if slices.Equal(seen[0], seen[1]) != given {
			t.Errorf("ids given: %t: %v, and without the vote %v", given, seen[0], seen[1])
		}
	}
}

func TestLongRefuses(t *testing.T) {
	rows := []cast{{"T1", "p0", "a", ""}, {"T1", "p1", "b", ""}, {"T2", "p0", "b", ""}}
	for name, tt := range map[string]struct {
		add    []cast
		change func(*Options)
		want   string
	}{
		"a teacher twice":         {[]cast{{"T1", "p0", "b", ""}}, nil, `:5: teacher "p0" votes twice on query "T1"`},
		"twice, without a vote":   {[]cast{{"T1", "p0", "", ""}}, nil, `teacher "p0" votes twice`},
		"one teacher too many":    {[]cast{{"T1", "p2", "a", ""}}, nil, `:5: teacher "p2" is one more than K = 2`},
		"a query that is unknown": {[]cast{{"T3", "p0", "a", ""}}, nil, `query id "T3" is not among the 2`},
		"no class":                {[]cast{{"T2", "p1", "z", ""}}, nil, "not one of the classes"},
		"no teacher":              {[]cast{{"T2", "", "a", ""}}, nil, "the teacher's name is empty"},
		"a missing vote":          {nil, func(o *Options) { o.Missing = MissingError }, `query "T2" has 1 of K = 2 votes`},
		"out of order, streamed":  {[]cast{{"T1", "p1", "a", ""}}, func(o *Options) { o.longVotes = 1 }, "not together"},
		"unknown, streamed":       {[]cast{{"T3", "p1", "a", ""}}, func(o *Options) { o.longVotes = 1 }, `"T3" is not among`},
		"too many in memory": {nil, func(o *Options) { o.longVotes, o.QueryIDs = 2, nil },
			"more than 2 votes are not sorted in memory"},
		"single votes, streamed": {nil, func(o *Options) { o.longVotes, o.KeepVotes = 1, true }, "are not kept"},
		"an id twice":            {nil, func(o *Options) { o.QueryIDs = []string{"T1", "T1"} }, "query ids"},
		"no ids":                 {nil, func(o *Options) { o.QueryIDs = []string{} }, "between 1 and"},
		"too many ids": {nil, func(o *Options) { o.QueryIDs = make([]string, maxQueryIDs+1) },
			fmt.Sprintf("between 1 and %d", maxQueryIDs)},
		"a list of columns": {nil, func(o *Options) { o.VoteColumns = []string{"answer"} }, "goes without layout long"},
		"a truth":           {nil, func(o *Options) { o.LabelColumn = "when" }, "goes without layout long"},
		"another layout":    {nil, func(o *Options) { o.Layout = LayoutWide }, "vote column goes with layout long"},
		"no such column":    {nil, func(o *Options) { o.TeacherColumn = "model" }, `no column "model" for the teacher (teacher column)`},
		"one column twice":  {nil, func(o *Options) { o.TeacherColumn = "answer" }, "at once"},
	} {
		o := longOptions(FormatCSV)
		o.K, o.QueryIDs = 2, []string{"T1", "T2"}
		if tt.change != nil {
			tt.change(&o)
		}
		if g, err := gather(filesOf(append(slices.Clone(rows), tt.add...))[FormatCSV], o); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v, want %s", name, g, err, tt.want)
		}
	}
	if _, err := gather(npyFile("|u1", false, []byte{0, 1}, 1, 2), Options{Format: FormatNPY,
		Layout: LayoutLong}); err == nil {
		t.Error("an array has no columns")
	}
}

// Query ids come from a text of lines, or from the column of their name.
func TestReadQueryIDs(t *testing.T) {
	for _, tt := range []struct{ in, column, want, refused string }{
		{"a\nb\n", "", "a b", ""},
		{"ticket\na\nb\n", "ticket", "a b", ""},
		{"\ufeffticket\na\n", "ticket", "a", ""},
		{"a\nb", "ticket", "a b", ""},
		{"subject,ticket\n\"x, y\",a\nz,b\n", "ticket", "a b", ""},
		{"query\na\n", "", "a", ""},
		{"subject,x\ny,a\n", "ticket", "", "of 2 columns none has the name"},
		{"a\nb\na\n", "", "", `:3: query id "a" appears twice: list each query once`},
		{"a,b\nc\n", "a", "", "wrong number of fields"},
		{"ticket\n", "ticket", "", "no query id"},
		{"", "", "", "no query id"},
		{"a\n\"\"\n", "", "", "the query id is empty"},
	} {
		got, err := ReadQueryIDs(strings.NewReader(tt.in), "ids.csv", tt.column)
		var p *ParseError
		if tt.refused == "" && (err != nil || strings.Join(got, " ") != tt.want) ||
			tt.refused != "" && (!errors.As(err, &p) || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%q: %q, %v, want %q %s", tt.in, got, err, tt.want, tt.refused)
		}
	}
}

// Whatever is in the file of ids: an error, or ids that differ and can be written again.
func FuzzReadQueryIDs(f *testing.F) {
	f.Add("ticket,x\na,1\n", "ticket")
	f.Add("a\nb\n", "")
	f.Fuzz(func(t *testing.T, in, column string) {
		ids, err := ReadQueryIDs(strings.NewReader(in), "ids", column)
		seen := map[string]bool{}
		for _, id := range ids {
			if seen[id] || idRule(id) != "" {
				t.Errorf("%q: %q", in, ids)
			}
			seen[id] = true
		}
		if err == nil && len(ids) == 0 {
			t.Errorf("%q: no ids and no error", in)
		}
	})
}

// A matrix of weak supervision has -1 where a source abstains: a missing vote in every format that
// has matrices, unless a class has that name.
func TestMatrixOfWeakSupervision(t *testing.T) {
	csv := []byte("lf1,lf2,lf3\n0,-1,2\n-1,-1,-1\n1,1,-1\n")
	matrix := []byte{0, 255, 2, 255, 255, 255, 1, 1, 255}
	floats := make([]byte, 0, 72)
	for _, v := range matrix {
		floats = binary.LittleEndian.AppendUint64(floats, math.Float64bits(float64(int8(v))))
	}
	lines := []byte(`{"votes":[0,-1,2]}` + "\n" + `{"votes":[-1,-1.0,null]}` + "\n" + `{"votes":[1,1,-1]}`)
	want := [][]int{{1, 0, 1}, {0, 0, 0}, {0, 2, 0}}
	for name, file := range map[string]struct {
		data   []byte
		format Format
	}{"csv": {csv, FormatCSV}, "int8": {npyFile("|i1", false, matrix, 3, 3), FormatNPY},
		"float64": {npyFile("<f8", false, floats, 3, 3), FormatNPY}, "jsonl": {lines, FormatJSONL}} {
		o := Options{Format: file.format, Classes: IntegerClasses(3), Missing: MissingAbstain}
		if file.format == FormatNPY {
			o.Layout = LayoutWide
		}
		g, err := gather(file.data, o)
		if err != nil || g.missing != 5 || !slices.EqualFunc(g.counts, want, slices.Equal[[]int]) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
		o.Missing = MissingError
		if g, err := gather(file.data, o); err == nil || !strings.Contains(err.Error(), "vote is missing") {
			t.Errorf("%s: an abstention was read without a word: %+v, %v", name, g, err)
		}
		o.Classes = []string{"-1", "0", "1", "2"}
		if file.format != FormatJSONL { // which has a null too
			if g, err := gather(file.data, o); err != nil || g.missing != 0 || g.counts[1][0] != 3 {
				t.Errorf("%s: the class -1: %+v, %v", name, g, err)
			}
		}
	}
}

// Counts of votes that may be none need K from elsewhere: how many there are never serves as K.
func TestCountsOfVotesThatMayBeNone(t *testing.T) {
	file := []byte("query,a,b\nq1,3,1\nq2,0,0\nq3,5,0\n")
	o := Options{Format: FormatCSV, Layout: LayoutCounts, Classes: []string{"a", "b"},
		Missing: MissingAbstain}
	if g, err := gather(file, o); err == nil || !strings.Contains(err.Error(), "number of teachers K") {
		t.Errorf("%+v, %v", g, err)
	}
	for _, slow := range []bool{false, true} {
		o.K, o.slow = 5, slow
		g, err := gather(file, o)
		if err != nil || g.k != 5 || g.missing != 1+5 {
			t.Errorf("%+v, %v", g, err)
		}
		o.K = 4
		if g, err := gather(file, o); err == nil || !strings.Contains(err.Error(), "more than K = 4") {
			t.Errorf("%+v, %v", g, err)
		}
	}
}

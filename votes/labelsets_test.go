package votes

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

var questions = struct {
	votes  string
	labels []string
}{"query,t1\nq1,cat\n\"q,2\",cat|sea lion\n" + `"say ""x""",` + "\n", []string{"cat", "a,b", "sea lion"}}

// written returns what a file of these answers holds, and the answers by question.
func written(t *testing.T, o LabelOptions) []byte {
	t.Helper()
	r, err := NewReader(context.Background(), strings.NewReader(questions.votes),
		Options{Labels: questions.labels, Missing: MissingNo})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	o.Labels, o.Stdout = questions.labels, &out
	f, err := CreateLabels("-", o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	for b, err := range r.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		answers := make([]int, b.Len())
		for i := range answers {
			answers[i] = b.Ones(i) // of one teacher
		}
		if err := f.WriteBatch(b, answers); err != nil {
			t.Fatal(err)
		}
	}
	if f.Rows() != 3 {
		t.Errorf("%d rows, want one for each of 3 questions", f.Rows())
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Labels of questions come out as columns of 0 and 1, or as sets that are read again as they were.
func TestSeveralLabelFiles(t *testing.T) {
	want := [][]string{{"query", "cat", "a,b", "sea lion"}, {"q1", "1", "0", "0"}, {"q,2", "1", "0", "1"}, {`say "x"`, "0", "0", "0"}}
	for _, comma := range []rune{',', '\t'} {
		o := LabelOptions{Format: map[rune]Format{',': FormatCSV, '\t': FormatTSV}[comma]}
		r := csv.NewReader(bytes.NewReader(written(t, o)))
		r.Comma = comma
		rows, err := r.ReadAll()
		if err != nil || fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("columns of %s: %v (%v), want %v", o.Format, rows, err, want)
		}
	}
	line, _, _ := bytes.Cut(written(t, LabelOptions{Format: FormatJSONL, IDColumn: "cat"}), newline)
	if got, want := string(line), `{"query":"q1","cat":1,"a,b":0,"sea lion":0}`; got != want {
		t.Errorf("JSON: %s, want %s", got, want)
	}
	array := npyFile("|u1", false, []byte{1, 0, 0, 1, 0, 1, 0, 0, 0}, 3, 3)
	if got := written(t, LabelOptions{Format: FormatNPY}); !bytes.Equal(got, array) {
		t.Errorf("array %q, want %q", got, array)
	}
	if got := written(t, LabelOptions{Format: FormatNPY, Simulated: true}); !bytes.Contains(got,
		[]byte("[('simulated_label', '|u1', (3,))]")) || !bytes.HasSuffix(got, []byte{1, 0, 0, 1, 0, 1, 0, 0, 0}) {
		t.Errorf("simulated array %q", got)
	}
	for _, o := range []LabelOptions{{Format: FormatCSV, Sets: true}, {Format: FormatJSONL, Sets: true}, {Format: FormatCSV, Sets: true, Separator: ";"}} {
		file := written(t, o)
		again, err := gather(file, Options{Format: o.Format, Labels: questions.labels, Separator: o.Separator,
			Missing: MissingNo, LabelColumn: NoColumn, VoteColumns: []string{"labels"}})
		if err != nil {
			t.Fatalf("%+v: %v\n%s", o, err, file)
		}
		if want := "[[0 1] [1 0] [1 0] [0 1] [1 0] [0 1] [1 0] [1 0] [1 0]]"; fmt.Sprint(again.counts) != want {
			t.Errorf("%+v: %v, want %v", o, again.counts, want)
		}
	}
	if head, _, _ := bytes.Cut(written(t, LabelOptions{Simulated: true}), newline); string(head) !=
		`query,simulated_cat,"simulated_a,b",simulated_sea lion` {
		t.Errorf("simulated labels have the header %s", head)
	}
}

func TestSeveralLabelsInParquet(t *testing.T) {
	was := questions
	defer func() { questions = was }()
	questions.labels = []string{"cat", "dog", "sea lion"}
	file := written(t, LabelOptions{Format: FormatParquet})
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, group := range f.RowGroups() {
		r := group.Rows()
		buf := make([]parquet.Row, 10)
		n, _ := r.ReadRows(buf)
		for _, row := range buf[:n] {
			text := ""
			for _, v := range row {
				text += v.String() + ";"
			}
			rows = append(rows, text)
		}
		r.Close()
	}
	if want := []string{"q1;1;0;0;", "q,2;1;0;1;", `say "x";0;0;0;`}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	var columns []string
	for _, c := range f.Root().Columns() {
		columns = append(columns, c.Name())
	}
	if want := []string{"query", "cat", "dog", "sea lion"}; !slices.Equal(columns, want) {
		t.Errorf("columns %q, want %q", columns, want)
	}
}

func TestSeveralLabelFilesRefuse(t *testing.T) {
	labels := []string{"cat", "dog"}
	for _, tt := range []struct {
		o    LabelOptions
		want string
	}{
		{LabelOptions{Sets: true}, "sets go with labels"},
		{LabelOptions{Labels: labels, Sets: true, Format: FormatNPY}, "not in the format npy"},
		{LabelOptions{Labels: labels, Sets: true, Format: FormatParquet}, "not in the format parquet"},
		{LabelOptions{Labels: labels, Sets: true, Classes: []string{"0", "1", "abstained"}}, "is in no set"},
		{LabelOptions{Labels: labels, Sets: true, Separator: "a"}, "in no name of a label"},
		{LabelOptions{Labels: []string{"a,b", "c"}, Format: FormatParquet}, "no name of a column"},
		{LabelOptions{Labels: []string{"a"}}, "between 2 and 1000"},
	} {
		_, err := CreateLabels("-", tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.o, err, tt.want)
		}
	}
	f, err := CreateLabels("-", LabelOptions{Labels: labels, Stdout: new(bytes.Buffer)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := f.Write("q", 1); err == nil {
		t.Error("one class is written for a question of two labels")
	}
}

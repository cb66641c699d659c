package votes

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// errorOf returns the error of reading all of text.
func errorOf(t *testing.T, text string, o Options) error {
	t.Helper()
	o.Stdin = strings.NewReader(text)
	r, err := Open(t.Context(), o, "-")
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A row per vote needs its columns, by their usual names or by those that are stated.
func TestLongNeedsItsColumns(t *testing.T) {
	for text, want := range map[string]string{
		"query,teacher,x\na,t1,1\n":           "no column of votes",
		"query,vote,x\na,1,1\n":               "no column of teachers' names",
		"teacher,vote\nt1,1\n":                "no column of query ids",
		"query,teacher,vote,Vote\na,t1,1,0\n": "vote",
	} {
		err := errorOf(t, text, Options{Layout: LayoutLong})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want one with %q", text, err, want)
		}
	}
	if err := errorOf(t, "query,teacher,vote\na,t1,1\n", Options{Layout: LayoutLong,
		VoteColumn: "answer"}); err == nil || !strings.Contains(err.Error(), "answer") {
		t.Errorf("a column that is not there: %v", err)
	}
}

// A line of JSON ends with its object, of whatever shape.
func TestJSONLinesEndWithTheirObject(t *testing.T) {
	for _, first := range []string{`{"t1":1,"t2":0}`, `{"votes":[1,0]}`} {
		for _, more := range []string{"}", "]", "x", `"`, "1", "{}", ",", "\x00"} {
			for _, text := range []string{first + more + "\n", first + "\n" + first + more + "\n"} {
				if err := errorOf(t, text, Options{Format: FormatJSONL}); err == nil {
					t.Errorf("%q is read", text)
				}
			}
		}
		cut := first + "\n" + first[:len(first)-1] + "\n"
		if err := errorOf(t, cut, Options{Format: FormatJSONL}); err == nil {
			t.Errorf("%q is read", cut)
		}
	}
}

// A key of true labels that is stated and not there is an error beside a list of votes, too.
func TestJSONListWithoutTheStatedLabel(t *testing.T) {
	err := errorOf(t, `{"votes":[1,0]}`+"\n", Options{Format: FormatJSONL, LabelColumn: "right"})
	if err == nil || !strings.Contains(err.Error(), "right") {
		t.Errorf("%v", err)
	}
}

// A record with a fault leaves the batch as it was, also where the classes are not known yet.
func TestFaultLeavesTheBatch(t *testing.T) {
	text := func(s string) cell { return cell{text: s} }
	bad := cell{kind: otherCell, text: "[]"}
	good := record{votes: []cell{text("a")}, label: text("a"), id: text("q1"), teacher: text("t1")}
	for what, wrong := range map[string]func(*record){
		"vote": func(r *record) { r.votes = []cell{bad} }, "label": func(r *record) { r.label = bad },
		"second vote": func(r *record) { r.votes = []cell{text("b"), bad} },
		"id":          func(r *record) { r.id = text("") }, "teacher": func(r *record) { r.teacher = text("") },
	} {
		f := &fileInfo{layout: LayoutLong, labels: true, ids: true,
			opts: &Options{tally: &tally{index: map[spelling]int{}}}}
		b := new(Batch)
		if fault := f.add(b, &good); fault != nil {
			t.Fatal(fault.rule)
		}
		r := good
		wrong(&r)
		if fault := f.add(b, &r); fault == nil {
			t.Errorf("a wrong %s is no fault", what)
		}
		if len(b.Votes) != 1 || len(b.Labels) != 1 || len(b.IDs) != 1 || len(b.teachers) != 1 ||
			len(b.places) != 1 {
			t.Errorf("a wrong %s leaves %+v", what, b)
		}
	}
}

// Queries without a true label are not counted as labelled.
func TestDescribeWithoutLabels(t *testing.T) {
	r, err := Open(t.Context(), Options{KeepVotes: true,
		Stdin: strings.NewReader("t1,t2\n0,0\n1,1\n")}, "-")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := Describe(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Labelled != 0 || d.Accuracy != nil || d.Teachers[0].Accuracy != nil {
		t.Errorf("%+v", d)
	}
}

// A number in a message is the one in the file.
func TestCellsAreShownWhole(t *testing.T) {
	for x, want := range map[float64]string{2: "2", -3: "-3", 0.25: "0.25", 1.0 / 3: "0.3333333333333333",
		math.Inf(1): "+Inf"} {
		if got := (&cell{kind: floatCell, x: x}).plain(); got != want {
			t.Errorf("%v is shown as %s, want %s", x, got, want)
		}
	}
}

// A batch that no reader made has no memory to give back.
func TestReleaseOfABatchOfOnesOwn(t *testing.T) {
	new(Batch).Release()
}

// A name is refused only while its format is neither linked nor known.
func TestCheckName(t *testing.T) {
	for name, fine := range map[string]bool{"a.parquet": true, "a.PQ": true, "a.csv": true, "a": true,
		"a.xlsx": false, "a.json": false} {
		if err := CheckName(name); (err == nil) != fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Votes in a compression that the program does not link are refused, not read as they are.
func TestCompressionThatIsNotLinked(t *testing.T) {
	raw := &countingReader{r: strings.NewReader("1,0,1\n")}
	r, err := decompress(&fileInfo{name: "votes.csv.xz"}, raw, Compression(len(Compressions())))
	var parse *ParseError
	if r != nil || !errors.As(err, &parse) || !strings.Contains(err.Error(), "imports votes/compress") {
		t.Errorf("%v, error %v, want a ParseError that names the package", r, err)
	}
}

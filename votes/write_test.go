package votes

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWriteLabels(t *testing.T) {
	var b strings.Builder
	err := WriteLabels(&b, []string{"0", `a,"b"`, "two\nlines", "b c"},
		[]Label{Label1, Label0, Label1, Label0})
	const want = "query,label\n0,1\n\"a,\"\"b\"\"\",0\n\"two\nlines\",1\nb c,0\n"
	if err != nil || b.String() != want {
		t.Errorf("got %q, %v; want %q", b.String(), err, want)
	}
	b.Reset()
	if err := WriteLabels(&b, nil, nil); err != nil || b.String() != "query,label\n" {
		t.Errorf("no rows: %q, %v", b.String(), err)
	}
}

func TestWriteLabelsRefuses(t *testing.T) {
	one := []Label{Label1}
	for name, tt := range map[string]struct {
		ids    []string
		labels []Label
	}{
		"no label":        {[]string{"a"}, []Label{NoLabel}},
		"label unknown":   {[]string{"a"}, []Label{3}},
		"empty id":        {[]string{""}, one},
		"invalid UTF-8":   {[]string{"\xff"}, one},
		"NUL":             {[]string{"a\x00"}, one},
		"carriage return": {[]string{"a\r\nb"}, one},
		"long id":         {[]string{strings.Repeat("x", maxIDBytes+1)}, one},
	} {
		var b strings.Builder
		if err := WriteLabels(&b, tt.ids, tt.labels); err == nil {
			t.Errorf("%s: wrote %q", name, b.String())
		} else if b.Len() != 0 {
			t.Errorf("%s: left %q behind", name, b.String())
		}
	}
}

func TestLabelWriterIsSticky(t *testing.T) {
	var out strings.Builder
	w, _ := NewLabelWriter(&out, nil)
	first := w.Write("", 1)
	if first == nil || w.Write("good", 1) != first || w.Write("good", 7) != first ||
		w.Flush() != first {
		t.Errorf("first error %v is not kept", first)
	}
	if out.Len() != 0 {
		t.Errorf("a row after the error is written: %q", out.String())
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriteErrorsAreReported(t *testing.T) {
	boom := errors.New("boom")
	if err := WriteLabels(failingWriter{boom}, []string{"a"}, []Label{Label1}); !errors.Is(err, boom) {
		t.Errorf("WriteLabels: %v", err)
	}
}

// What is written is read back equal, whatever the ids.
func TestRoundTrip(t *testing.T) {
	id := rapid.StringOfN(rapid.Rune(), 1, 20, -1).Filter(
		func(s string) bool { return idRule(s) == "" })
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 200).Draw(t, "K")
		table := &Table{K: k, Ones: rapid.SliceOfN(rapid.IntRange(0, k), 1, 20).Draw(t, "ones")}
		n := table.Len()
		ids := rapid.SliceOfNDistinct(id, n, n, func(s string) string { return s }).Draw(t, "ids")
		labels := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Label {
			return LabelOf(rapid.Bool().Draw(t, "bit"))
		}), n, n).Draw(t, "labels")
		if rapid.Bool().Draw(t, "with ids") {
			table.IDs = ids
		}
		if rapid.Bool().Draw(t, "with labels") {
			table.Labels = labels
		}
		var b bytes.Buffer
		writeCounts(&b, table)
		got, err := ReadCSV(bytes.NewReader(b.Bytes()), CSVOptions{Layout: LayoutCounts})
		if err != nil || !reflect.DeepEqual(got, table) {
			t.Fatalf("wrote %q, read %+v, %v", b.String(), got, err)
		}

		// Labels read back as a file of one teacher.
		b.Reset()
		if err := WriteLabels(&b, ids, labels); err != nil {
			t.Fatal(err)
		}
		got, err = ReadCSV(&b, CSVOptions{LabelColumn: NoColumn, K: 1, Header: HeaderYes})
		if err != nil {
			t.Fatal(err)
		}
		for i := range ids {
			if bit, _ := labels[i].Value(); got.IDs[i] != ids[i] || got.Ones[i] != bit {
				t.Fatalf("row %d: %+v", i, got.Query(i))
			}
		}
	})
}

// writeCounts writes a table in the layout of counts.
func writeCounts(w io.Writer, t *Table) {
	cw := csv.NewWriter(w)
	add := func(row []string, cell string, present bool) []string {
		if present {
			row = append(row, cell)
		}
		return row
	}
	cw.Write(add(append(add(nil, "query", t.IDs != nil), "zeros", "ones"), "label", t.Labels != nil))
	for q := range t.All() {
		counts := append(add(nil, q.ID, t.IDs != nil), strconv.Itoa(q.K-q.Ones), strconv.Itoa(q.Ones))
		cw.Write(add(counts, q.Label.String(), t.Labels != nil))
	}
	cw.Flush()
}

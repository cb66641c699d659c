package prepare

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/learn/data"
)

// readCSV reads a table of numbers.
func readCSV(r io.Reader, header bool, response string) (*data.Records, error) {
	return readBy(r, header, Rules{Response: response})
}

func readBy(r io.Reader, header bool, rules Rules) (*data.Records, error) {
	t, err := data.NewCSV(r, header)
	if err != nil {
		return nil, err
	}
	m, err := rules.Map(t)
	if err != nil {
		return nil, err
	}
	return Read(t, m)
}

// writeCSV writes records with a header: f1, f2, …, and y if there are responses.
func writeCSV(b *bytes.Buffer, r *data.Records) {
	for j := range r.Dim() {
		fmt.Fprintf(b, "f%d,", j+1)
	}
	if r.HasResponses() {
		b.WriteString("y,")
	}
	for i := range r.Len() {
		b.Truncate(b.Len() - 1)
		b.WriteByte('\n')
		for _, v := range r.Row(i) {
			fmt.Fprintf(b, "%v,", v)
		}
		if r.HasResponses() {
			fmt.Fprintf(b, "%v,", r.Response(i))
		}
	}
	b.Truncate(b.Len() - 1)
	b.WriteByte('\n')
}

func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d")
		number := rapid.Float64Range(-1e49, 1e49)
		var y []float64
		if rapid.Bool().Draw(t, "responses") {
			y = rapid.SliceOfN(number, n, n).Draw(t, "y")
		}
		r, err := data.NewRecords(n, d, rapid.SliceOfN(number, n*d, n*d).Draw(t, "x"), y)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		writeCSV(&b, r)
		response := ""
		if y != nil {
			response = "y"
		}
		back, err := readCSV(&b, true, response)
		if err != nil || r.Digest() != back.Digest() {
			t.Errorf("%v", err)
		}
	})
}

func TestReadCSV(t *testing.T) {
	r, err := readCSV(strings.NewReader("\ufeffa,b,c\n1, 2,3\n4,5e-1,-6\r\n"), true, "b")
	if err != nil || r.Len() != 2 || !slices.Equal(r.Row(1), []float64{4, -6}) ||
		r.Response(1) != 0.5 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = readCSV(strings.NewReader("1,2\n3,4\n"), false, "1")
	if err != nil || r.Response(1) != 3 || r.Row(0)[0] != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	for in, want := range map[string]string{
		"":                "no records",
		"a,b\n":           "no records",
		"a,a\n1,2\n":      `line 1: column "a" occurs twice`,
		"a,b\n1\n":        "line 2: cells = 1, but they must be 2, as in the first row",
		"a;b\n1;2,5\n":    `line 2, column "b": value = "2,5" has a comma, but numbers have a decimal point`,
		"a,b\n1,NaN\n":    `line 2, column "b": the cell is blank`,
		"a,b\n1,2\n1,x\n": `line 3, column "b": value = "x"`,
		"a,b\n1,1e400\n":  `line 2, column "b": value = "1e400"`,
		"a,b\n1,\n":       `line 2, column "b": the cell is blank`,
		"a,b\n1,\"2\n":    "parse error on line 2",
		"a,b\n1,\x002\n":  "line 2, column \"b\"",
		"a,b\n1,1e60\n":   "record 1: feature 2",
		"a,b\n1," + strings.Repeat("9", 500) + "\n": "line 2, column \"b\"",
	} {
		if _, err := readCSV(strings.NewReader(in), true, ""); err == nil ||
			!strings.HasPrefix(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%.30q: %v", in, err)
		}
	}
	for _, response := range []string{"3", "0", "x"} {
		if _, err := readCSV(strings.NewReader("1,2\n3,4\n"), false, response); err == nil {
			t.Errorf("%s: accepted", response)
		}
	}
	if _, err := readCSV(strings.NewReader("a,b\n3,4\n"), true, "z"); err == nil {
		t.Error("no such response, accepted")
	}
	if _, err := readCSV(strings.NewReader("y\n1\n"), true, "y"); err == nil {
		t.Error("no features, accepted")
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("a,b\n1,2\n", true, "b")
	f.Add("1,2\n3,4\n", false, "2")
	f.Add("\ufeffa,\"b\"\r\n1e5,-0\r\n", true, "")
	f.Fuzz(func(t *testing.T, in string, header bool, response string) {
		r, err := readCSV(strings.NewReader(in), header, response)
		if err != nil {
			return
		}
		var b bytes.Buffer
		writeCSV(&b, r)
		if r.HasResponses() {
			response = "y"
		}
		if back, err := readCSV(&b, true, response); err != nil || r.Digest() != back.Digest() {
			t.Errorf("written and read again: %v", err)
		}
	})
}

// A file that is not UTF-8, of words between other separators or numbers with units says so.
func TestForeignFiles(t *testing.T) {
	words := Rules{Response: "y", Columns: []Column{{Name: "a", Categories: []string{"m\u00e4nnlich"}}}}
	for _, c := range []struct{ text, said string }{
		{"a,\xfc\nx,1\n", "line 1: not UTF-8"},
		{"\xff\xfea\x00,\x00y\x00\n\x00", "line 1: not UTF-8"},
		{"a,y\nm\xe4nnlich,1\n", `line 2, column "a": value = "m\xe4nnlich", but it must be UTF-8`},
		{"\"a\" \"y\"\n\"1\" \"x\" 0\n", "between cells are commas, semicolons or tabs"},
		{"a,z\nm\u00e4nnlich,1\n", `one of the table's columns: "a", "z"`},
	} {
		if _, err := readBy(strings.NewReader(c.text), true, words); err == nil || !strings.Contains(err.Error(), c.said) {
			t.Errorf("%q: %v, want %q", c.text, err, c.said)
		}
	}
	if _, err := readBy(strings.NewReader("a,\u00fc,y\nm\u00e4nnlich,\xfc,1\n"), true, Rules{Response: "y", Only: []string{"a"}, Columns: words.Columns}); err != nil {
		t.Errorf("a column that is left out: %v", err)
	}
	for cell, said := range map[string]string{`"18,409.69"`: "without unit and commas", "26%": "without unit and commas", "x%": "words need a list"} {
		if _, err := readCSV(strings.NewReader("a,y\n"+cell+",1\n"), true, "y"); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v, want %q", cell, err, said)
		}
	}
}

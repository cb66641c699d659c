package data

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
)

// writeCSV writes records with a header: f1, f2, …, and y if there are responses.
func writeCSV(b *bytes.Buffer, r *Records) {
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
		r, err := NewRecords(n, d, rapid.SliceOfN(number, n*d, n*d).Draw(t, "x"), y)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		writeCSV(&b, r)
		o := CSVOptions{Header: true}
		if y != nil {
			o.Response = "y"
		}
		back, err := ReadCSV(&b, o)
		if err != nil || r.Digest() != back.Digest() {
			t.Errorf("%v", err)
		}
	})
}

func TestReadCSV(t *testing.T) {
	r, err := ReadCSV(strings.NewReader("\ufeffa,b,c\n1, 2,3\n4,5e-1,-6\r\n"),
		CSVOptions{Header: true, Response: "b"})
	if err != nil || r.Len() != 2 || !slices.Equal(r.Row(1), []float64{4, -6}) ||
		r.Response(1) != 0.5 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = ReadCSV(strings.NewReader("1,2\n3,4\n"), CSVOptions{Response: "1"})
	if err != nil || r.Response(1) != 3 || r.Row(0)[0] != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	for in, want := range map[string]string{
		"":                "no records",
		"a,b\n":           "no records",
		"a,a\n1,2\n":      `line 1: column "a" occurs twice`,
		"a,b\n1\n":        "record on line 2: wrong number of fields",
		"a,b\n1,NaN\n":    `line 2, column 2: value = "NaN"`,
		"a,b\n1,2\n1,x\n": `line 3, column 2: value = "x"`,
		"a,b\n1,1e400\n":  `line 2, column 2: value = "1e400"`,
		"a,b\n1,\n":       `line 2, column 2: value = ""`,
		"a,b\n1,\"2\n":    "parse error on line 2",
		"a,b\n1,\x002\n":  "line 2, column 2",
		"a,b\n1,1e60\n":   "record 1: feature 2",
		"a,b\n1," + strings.Repeat("9", 500) + "\n": "line 2, column 2",
	} {
		if _, err := ReadCSV(strings.NewReader(in), CSVOptions{Header: true}); err == nil ||
			!strings.HasPrefix(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%.30q: %v", in, err)
		}
	}
	for _, o := range []CSVOptions{{Response: "z", Header: true}, {Response: "3"}, {Response: "0"},
		{Response: "x"}} {
		if _, err := ReadCSV(strings.NewReader("1,2\n3,4\n"), o); err == nil {
			t.Errorf("%+v: accepted", o)
		}
	}
	if _, err := ReadCSV(strings.NewReader("y\n1\n"), CSVOptions{Header: true, Response: "y"}); err ==
		nil {
		t.Error("no features, accepted")
	}
}

// A first line of numbers is a record that would be published as names. Numbered columns, which
// some programs write, are names.
func TestHeaderThatIsARecord(t *testing.T) {
	for in, names := range map[string]bool{
		"1,0.12,0.5\n0,1,2\n": false, "0,1\n1,0\n": false, "1,2\n1,0\n": false,
		" 1, 2e3,7\n0,1,2\n": false,
		"0,1,2,3\n1,1,1,1\n": true, "1,2,3\n1,1,1\n": true, "1,y\n1,1\n": true,
		"2019,2020,y\n1,1,1\n": true, "2019,2020,2021\n1,1,1\n": false,
	} {
		_, err := ReadCSV(strings.NewReader(in), CSVOptions{Header: true})
		if refused := err != nil && slices.Contains(check.Settling(err), "header"); refused == names {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// endless is a line without an end.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = '1'
	}
	e.left -= len(p)
	return len(p), nil
}

func TestLongLines(t *testing.T) {
	for name, read := range map[string]func(io.Reader) error{
		"csv":    func(r io.Reader) error { _, err := ReadCSV(r, CSVOptions{}); return err },
		"libsvm": func(r io.Reader) error { _, err := ReadLIBSVM(r, 0); return err },
	} {
		if err := read(&endless{left: MaxLine + MaxLine/8}); err == nil ||
			!strings.Contains(err.Error(), "line 1 is longer than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadLIBSVM(t *testing.T) {
	r, err := ReadLIBSVM(strings.NewReader("1 1:2 3:4 # one\n\n-1 2:5e1\n0\n"), 0)
	if err != nil || r.Len() != 3 || r.Dim() != 3 || !slices.Equal(r.Row(0), []float64{2, 0, 4}) ||
		!slices.Equal(r.Row(1), []float64{0, 50, 0}) || r.Response(1) != -1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := ReadLIBSVM(strings.NewReader("1 1:2\n"), 5); err != nil || r.Dim() != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	for in, want := range map[string]string{
		"":                                   "no records",
		"# nothing\n":                        "no records",
		"1\n0\n":                             "no features",
		"x 1:2\n":                            "line 1, response",
		"1 1:2\n1 0:2\n":                     "line 2: field",
		"1 1:2 1:3\n":                        "line 1: index 1 after 1",
		"1 2:2 1:3\n":                        "line 1: index 1 after 2",
		"1 a:2\n":                            "line 1: field",
		"1 2\n":                              "line 1: field",
		"1 1:nan\n":                          "line 1, index 1",
		"1 99999999999999999999:1\n":         "line 1: field",
		"1 134217728:1\n1 1:1\n":             "2 records of dimension 134217728",
		"1 -1:1\n":                           "line 1: field",
		strings.Repeat("1 100000:1\n", 2000): "2000 records of dimension 100000",
	} {
		if _, err := ReadLIBSVM(strings.NewReader(in), 0); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.30q: %v", in, err)
		}
	}
	if _, err := ReadLIBSVM(strings.NewReader("1 6:2\n"), 5); err == nil {
		t.Error("index beyond the dimension accepted")
	}
	if _, err := ReadLIBSVM(strings.NewReader("1 6:2\n"), -1); err == nil {
		t.Error("dimension -1 accepted")
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("a,b\n1,2\n", true, "b")
	f.Add("1,2\n3,4\n", false, "2")
	f.Add("\ufeffa,\"b\"\r\n1e5,-0\r\n", true, "")
	f.Fuzz(func(t *testing.T, in string, header bool, response string) {
		r, err := ReadCSV(strings.NewReader(in), CSVOptions{Header: header, Response: response})
		if err != nil {
			return
		}
		var b bytes.Buffer
		writeCSV(&b, r)
		o := CSVOptions{Header: true}
		if r.HasResponses() {
			o.Response = "y"
		}
		if back, err := ReadCSV(&b, o); err != nil || r.Digest() != back.Digest() {
			t.Errorf("written and read again: %v", err)
		}
	})
}

func FuzzReadLIBSVM(f *testing.F) {
	f.Add("1 1:2 3:4\n-1 2:5 # c\n", 0)
	f.Add("0 5:1\n", 7)
	f.Fuzz(func(t *testing.T, in string, dim int) {
		if len(in) > 1<<12 {
			return
		}
		if dim = min(dim, 1000); dim == 0 && strings.Contains(in, "00000") {
			return // a dimension of millions is legal but slow here
		}
		r, err := ReadLIBSVM(strings.NewReader(in), dim)
		if err == nil && (r.Len() < 1 || !r.HasResponses() || dim > 0 && r.Dim() != dim) {
			t.Errorf("%d × %d", r.Len(), r.Dim())
		}
	})
}

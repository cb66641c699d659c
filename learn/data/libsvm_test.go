package data

import (
	"io"
	"slices"
	"strings"
	"testing"
)

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
		"csv":    func(r io.Reader) error { return rows(r, false, nil) },
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

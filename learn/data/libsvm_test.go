package data

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Sparse records are the dense ones without their zeros, there and back, and by columns.
func TestSparseRecordsAreTheDenseOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for range 50 {
		n, d := 1+rng.IntN(8), 1+rng.IntN(8)
		x, y := make([]float64, n*d), make([]float64, n)
		filled := 0
		for i := range x {
			if rng.IntN(3) == 0 {
				x[i] = rng.NormFloat64()
				filled++
			}
		}
		for i := range y {
			y[i] = float64(rng.IntN(2))
		}
		r, err := NewRecords(n, d, x, y)
		if err != nil {
			t.Fatal(err)
		}
		s := SparseOf(r)
		if s.Len() != n || s.Dim() != d || s.NonZeros() != filled {
			t.Errorf("%d records of %d, %d not 0", s.Len(), s.Dim(), s.NonZeros())
		}
		back, err := s.Dense()
		if err != nil || back.Digest() != r.Digest() {
			t.Fatalf("not the same records: %v", err)
		}
		// By columns, and back.
		columns := s.Transpose()
		for j := range d {
			rows, values := columns.Row(j)
			for k, i := range rows {
				if values[k] != r.Row(int(i))[j] {
					t.Errorf("column %d, record %d: %v", j, i, values[k])
				}
			}
			if !slices.IsSorted(rows) {
				t.Errorf("column %d: records %v", j, rows)
			}
		}
		again := columns.Transpose()
		for i := range n {
			a, b := again.Row(i)
			c, e := s.Row(i)
			if !slices.Equal(a, c) || !slices.Equal(b, e) {
				t.Errorf("record %d: %v %v, want %v %v", i, a, b, c, e)
			}
		}
	}
}

// Every number tells in the digest, and where it stands.
func TestSparseDigests(t *testing.T) {
	make1 := func(dim int, columns []int32, values []float64, y float64) [32]byte {
		b := SparseBuilder{Dim: dim}
		if err := b.Add(columns, values, y); err != nil {
			t.Fatal(err)
		}
		s, err := b.Records()
		if err != nil {
			t.Fatal(err)
		}
		return s.Digest()
	}
	one := make1(9, []int32{1, 4}, []float64{1, 2}, 0)
	if one != make1(9, []int32{1, 2, 4}, []float64{1, 0, 2}, 0) {
		t.Error("a zero that is written out counts")
	}
	for name, other := range map[string][32]byte{
		"value":     make1(9, []int32{1, 4}, []float64{1, 3}, 0),
		"column":    make1(9, []int32{1, 5}, []float64{1, 2}, 0),
		"response":  make1(9, []int32{1, 4}, []float64{1, 2}, 1),
		"dimension": make1(8, []int32{1, 4}, []float64{1, 2}, 0),
	} {
		if other == one {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

// Rows that are scaled leave the others, and the original, as they were.
func TestSparseScaling(t *testing.T) {
	var b SparseBuilder
	for _, v := range []float64{1, 5, 0.5} {
		if err := b.Add([]int32{0, 3}, []float64{v, -v}, 0); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Records()
	if err != nil || s.Dim() != 4 {
		t.Fatal(s, err)
	}
	cut := s.Scaled(func(v []float64) float64 { return 1 / math.Abs(v[0]) })
	for i, want := range []float64{1, 1, 0.5} {
		_, after := cut.Row(i)
		_, before := s.Row(i)
		if after[0] != want || after[1] != -want || before[0] != []float64{1, 5, 0.5}[i] {
			t.Errorf("record %d: %v of %v", i, after, before)
		}
	}
}

func TestSparseRecordsAreRefused(t *testing.T) {
	for says, c := range map[string]struct {
		columns []int32
		values  []float64
		y       float64
	}{
		"must grow":       {[]int32{2, 2}, []float64{1, 1}, 0},
		"from 1":          {[]int32{-1}, []float64{1}, 0},
		"the dimension 3": {[]int32{3}, []float64{1}, 0},
		"1 columns but":   {[]int32{1}, nil, 0},
		"feature 2 = NaN": {[]int32{1}, []float64{math.NaN()}, 0},
		"at most 1e+50":   {[]int32{1}, []float64{-2e50}, 0},
		"response = +Inf": {nil, nil, math.Inf(1)},
	} {
		b := SparseBuilder{Dim: 3}
		if err := b.Add(c.columns, c.values, c.y); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	var b SparseBuilder
	if _, err := b.Records(); err == nil {
		t.Error("no records are records")
	}
	if err := b.Add(nil, nil, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Records(); err == nil {
		t.Error("records without a feature")
	}
	// A dimension of a hundred million takes no memory by itself, until it is made dense.
	s, err := ReadSparseLIBSVM(strings.NewReader("1 5:1 100000000:2\n0\n# nothing\n1 7:0 8:3 # end\n"),
		0)
	if err != nil || s.Len() != 3 || s.Dim() != 100_000_000 || s.NonZeros() != 3 {
		t.Fatalf("%v", err)
	}
	if _, err := s.Dense(); err == nil {
		t.Error("it is made dense")
	}
}

// What both readers take is the same, and neither fails where the other does not, but for size.
func FuzzReadSparseLIBSVM(f *testing.F) {
	for _, s := range []string{"1 1:2 3:4\n", "0\n1 2:1e3 # x\n", "1 2:1 2:1\n", "1 0:1\n", "x 1:1\n",
		"1 1:nan\n", "", "-1 5:1 7:-0\n\n2 1:3"} {
		f.Add(s, 0)
		f.Add(s, 4)
	}
	f.Fuzz(func(t *testing.T, text string, dim int) {
		if dim > 1000 {
			return
		}
		s, err := ReadSparseLIBSVM(strings.NewReader(text), dim)
		if err != nil {
			if s != nil {
				t.Fatal("records with an error")
			}
			return
		}
		if dim > 0 && s.Dim() != dim || s.Len() < 1 {
			t.Fatalf("%d records of %d", s.Len(), s.Dim())
		}
		for i := range s.Len() {
			columns, values := s.Row(i)
			for k, j := range columns {
				if j < 0 || int(j) >= s.Dim() || values[k] == 0 || !(math.Abs(values[k]) <= MaxMagnitude) ||
					k > 0 && columns[k-1] >= j {
					t.Fatalf("record %d: %v %v", i, columns, values)
				}
			}
		}
		if s.Dim() <= 1000 && s.Len() <= 1000 {
			dense, err := ReadLIBSVM(strings.NewReader(text), dim)
			if err != nil || SparseOf(dense).Digest() != s.Digest() {
				t.Fatalf("dense records differ: %v", err)
			}
		}
	})
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

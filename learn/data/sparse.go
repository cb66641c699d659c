package data

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// Sparse is a set of samples of which most features are 0, row by row without the zeros. Make
// it with a SparseBuilder, SparseOf or ReadSparseLIBSVM; it is not changed afterwards.
type Sparse struct {
	d      int
	start  []int   // of row i in columns and values, and the end
	column []int32 // ascending within a row
	value  []float64
	y      []float64
	file   string // that they are from, "" where that is not known
	lines  []int  // of the records in it, nil where they are not known
}

// SparseBuilder puts rows together. The zero value has dimension 0, which is the largest
// column then. It is for one goroutine at a time.
type SparseBuilder struct {
	// rows have at most as many columns; 0: as many as occur, which for private data depends on them
	Dim int

	largest int
	s       Sparse
}

// Add appends a row: its columns from 0, ascending, their values, and its response. Values
// that are 0 are left out. They are copied. Values must be finite and at most 1e50 in size.
func (b *SparseBuilder) Add(columns []int32, values []float64, y float64) error {
	b = handle.Made(b)
	if len(b.s.start) == 0 {
		b.s.start = []int{0}
	}
	record := len(b.s.y) + 1
	if len(columns) != len(values) {
		return fmt.Errorf("record %d has %d columns but %d values", record, len(columns), len(values))
	}
	if !(math.Abs(y) <= MaxMagnitude) {
		return fmt.Errorf("record %d: response = %v, but it must be at most %g in size", record, y,
			MaxMagnitude)
	}
	last := int32(-1)
	for k, j := range columns {
		switch {
		case j <= last:
			return fmt.Errorf("record %d: column %d after %d, but columns must grow from 1", record, j+1,
				last+1)
		case b.Dim > 0 && int(j) >= b.Dim:
			return fmt.Errorf("record %d: %w", record,
				check.Wantf("column", j+1, "at most the dimension %d", b.Dim))
		case !(math.Abs(values[k]) <= MaxMagnitude):
			return fmt.Errorf("record %d: feature %d = %v, but it must be at most %g in size", record, j+1,
				values[k], MaxMagnitude)
		}
		last = j
	}
	for k, v := range values {
		if v != 0 {
			b.s.column, b.s.value = append(b.s.column, columns[k]), append(b.s.value, v)
		}
	}
	b.largest = max(b.largest, int(last)+1)
	b.s.start, b.s.y = append(b.s.start, len(b.s.value)), append(b.s.y, y)
	return nil
}

// Records returns the rows. The builder is not to be used afterwards.
func (b *SparseBuilder) Records() (*Sparse, error) {
	b = handle.Made(b)
	b.s.d = cmp.Or(b.Dim, b.largest)
	if err := cmp.Or(check.Whole("number of records", len(b.s.y), 1, 0), check.Whole("dimension", b.s.d, 1, 0)); err != nil {
		return nil, err
	}
	return &b.s, nil
}

// SparseOf returns the records without their zeros. A record without a response gets 0.
func SparseOf(r *Records) *Sparse {
	r = handle.Made(r)
	s := &Sparse{d: r.d, file: r.file, lines: r.lines, start: make([]int, 1, r.n+1),
		y: make([]float64, r.n)}
	for i := range r.n {
		for j, v := range r.Row(i) {
			if v != 0 {
				s.column, s.value = append(s.column, int32(j)), append(s.value, v)
			}
		}
		s.start = append(s.start, len(s.value))
		s.y[i] = r.Response(i)
	}
	return s
}

// Len returns n.
func (s *Sparse) Len() int { return len(handle.Made(s).y) }

// Dim returns d.
func (s *Sparse) Dim() int { return handle.Made(s).d }

// NonZeros returns the number of features that are not 0.
func (s *Sparse) NonZeros() int { return len(handle.Made(s).value) }

// Row returns the columns of record i, from 0, that are not 0, and their values, neither to
// be changed.
func (s *Sparse) Row(i int) (columns []int32, values []float64) {
	s = handle.Made(s)
	if s.start == nil {
		return nil, nil
	}
	a, b := s.start[i], s.start[i+1]
	return s.column[a:b:b], s.value[a:b:b]
}

// Response returns the response of record i, 0 where there are none.
func (s *Sparse) Response(i int) float64 {
	s = handle.Made(s)
	if s.y == nil {
		return 0
	}
	return s.y[i]
}

// Transpose returns the records by columns: Row(j) of it has the records in which feature j
// is not 0, ascending, and their values. Its responses are 0.
func (s *Sparse) Transpose() *Sparse {
	s = handle.Made(s)
	t := &Sparse{d: s.Len(), start: make([]int, s.d+1), column: make([]int32, len(s.column)),
		value: make([]float64, len(s.value)), y: make([]float64, s.d)}
	for _, j := range s.column {
		t.start[j+1]++
	}
	for j := range s.d {
		t.start[j+1] += t.start[j]
	}
	next := slices.Clone(t.start[:s.d])
	for i := range s.Len() {
		columns, values := s.Row(i)
		for k, j := range columns {
			t.column[next[j]], t.value[next[j]] = int32(i), values[k]
			next[j]++
		}
	}
	return t
}

// Scaled returns the records with the values of row i times factor(its values), where that is
// below 1: each row by itself, so neighbouring data stay neighbouring.
func (s *Sparse) Scaled(factor func(values []float64) float64) *Sparse {
	s = handle.Made(s)
	out := s
	for i := range s.Len() {
		_, values := s.Row(i)
		f := factor(values)
		if !(f < 1) {
			continue
		}
		if out == s {
			c := *s
			c.value = slices.Clone(s.value)
			out = &c
		}
		for k := s.start[i]; k < s.start[i+1]; k++ {
			out.value[k] *= f
		}
	}
	return out
}

// Dense returns the records with their zeros, at most 2²⁷ numbers.
func (s *Sparse) Dense() (*Records, error) {
	s = handle.Made(s)
	n := s.Len()
	if s.d > 0 && n > maxValues/s.d {
		return nil, fmt.Errorf("%d records of dimension %d are more than %d numbers", n, s.d, maxValues)
	}
	x := make([]float64, n*s.d)
	for i := range n {
		columns, values := s.Row(i)
		for k, j := range columns {
			x[i*s.d+int(j)] = values[k]
		}
	}
	r, err := NewRecords(n, s.d, x, s.y)
	if err != nil {
		return nil, err
	}
	return r.AtLines(s.lines), nil
}

// Digest is a hash of all numbers.
func (s *Sparse) Digest() [32]byte {
	s = handle.Made(s)
	h := sha256.New()
	h.Write([]byte("darrm sparse records v1"))
	b := bufio.NewWriter(h)
	put := putter(b)
	put(uint64(s.Len()))
	put(uint64(s.d))
	for i := range s.Len() {
		columns, values := s.Row(i)
		put(uint64(len(columns)))
		for k, j := range columns {
			put(uint64(j))
			put(math.Float64bits(values[k]))
		}
		put(math.Float64bits(s.y[i]))
	}
	b.Flush()
	return [32]byte(h.Sum(nil))
}

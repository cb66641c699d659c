package data

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/vec"
)

// Records is a set of samples of one dimension: features, and responses where the task has
// any. Make it with NewRecords; it must not be changed afterwards.
type Records struct {
	n, d int
	x    []float64 // row by row
	y    []float64 // nil where there are none
	w    []float64 // weights, nil where each is 1

	columns  []string // names of the features, nil where the file has none
	response string   // name of the response
	file     string   // that they are from, "" where that is not known
	lines    []int    // of the records in it, nil where they are not known
}

// MaxMagnitude bounds features and responses, so that no gradient overflows.
const MaxMagnitude = 1e50

// NewRecords returns the samples whose features are the rows of features, n·d numbers for
// n·d > 0, and whose responses are y, n of them or nil. All must be finite and at most 1e50
// in size. The slices are kept.
func NewRecords(n, d int, features, y []float64) (*Records, error) {
	if err := check.Whole("number of records", n, 1, 0); err != nil {
		return nil, err
	}
	if d < 1 || n > math.MaxInt/d {
		return nil, check.Want("dimension", d, "at least 1")
	}
	if len(features) != n*d {
		return nil, check.Wantf("number of features", len(features), "%d records × %d", n, d)
	}
	if y != nil && len(y) != n {
		return nil, check.Wantf("number of responses", len(y), "one for each of the %d records", n)
	}
	for i, v := range features {
		if !(math.Abs(v) <= MaxMagnitude) {
			return nil, fmt.Errorf("record %d: feature %d = %v, but it must be at most %g in size", i/d+1,
				i%d+1, v, MaxMagnitude)
		}
	}
	for i, v := range y {
		if !(math.Abs(v) <= MaxMagnitude) {
			return nil, fmt.Errorf("record %d: response = %v, but it must be at most %g in size", i+1, v,
				MaxMagnitude)
		}
	}
	return &Records{n: n, d: d, x: features, y: y}, nil
}

// CheckSize refuses more numbers than a file may have.
func CheckSize(numbers int) error {
	if numbers > maxValues {
		return fmt.Errorf("more than %d numbers", maxValues)
	}
	return nil
}

// AtLines returns the records with their lines in their file, which errors of Check name.
func (r *Records) AtLines(lines []int) *Records {
	r = handle.Made(r)
	placed := *r
	placed.lines = lines
	return &placed
}

// Named returns the records with names of their features and of their response.
func (r *Records) Named(columns []string, response string) *Records {
	r = handle.Made(r)
	named := *r
	named.columns, named.response = columns, response
	return &named
}

// Len returns n.
func (r *Records) Len() int { return handle.Made(r).n }

// Dim returns d.
func (r *Records) Dim() int { return handle.Made(r).d }

// HasResponses reports whether the records have responses.
func (r *Records) HasResponses() bool { return handle.Made(r).y != nil }

// Columns returns the names of the features, without that of WithIntercept; nil where the
// file had none. They are taken for public, as a file's format is.
func (r *Records) Columns() []string { return slices.Clone(handle.Made(r).columns) }

// ResponseName returns the name of the response's column, "" where the file had none.
func (r *Records) ResponseName() string { return handle.Made(r).response }

// WithIntercept returns the records with a last feature 1, whose weight is a model's
// intercept.
func (r *Records) WithIntercept() *Records {
	r = handle.Made(r)
	w := *r
	w.d++
	w.x = make([]float64, 0, r.n*w.d)
	for i := range r.n {
		w.x = append(append(w.x, r.Row(i)...), 1)
	}
	return &w
}

// Row returns the features of record i, from 0, not to be changed.
func (r *Records) Row(i int) []float64 {
	r = handle.Made(r)
	return r.x[i*r.d : (i+1)*r.d : (i+1)*r.d]
}

// Response returns the response of record i, 0 where there are none.
func (r *Records) Response(i int) float64 {
	r = handle.Made(r)
	if r.y == nil {
		return 0
	}
	return r.y[i]
}

// Head returns the first n records.
func (r *Records) Head(n int) (*Records, error) {
	r = handle.Made(r)
	if n < 1 || n > r.n {
		return nil, check.Wantf("number of records", n, "between 1 and %d", r.n)
	}
	h := *r
	h.n, h.x = n, r.x[:n*r.d]
	if r.y != nil {
		h.y = r.y[:n]
	}
	if r.w != nil {
		h.w = r.w[:n]
	}
	return &h, nil
}

// Select returns the records with the given indices, from 0, copied.
func (r *Records) Select(indices []int) (*Records, error) {
	if len(indices) == 0 {
		return nil, errors.New("no records selected")
	}
	r = handle.Made(r)
	s := *r
	s.file, s.lines = "", nil // records of it have other numbers
	s.n, s.x, s.y, s.w = len(indices), make([]float64, 0, len(indices)*r.d), nil, nil
	for _, i := range indices {
		if i < 0 || i >= r.n {
			return nil, check.Wantf("record", i, "between 0 and %d", r.n-1)
		}
		s.x = append(s.x, r.Row(i)...)
		if r.y != nil {
			s.y = append(s.y, r.y[i])
		}
		if r.w != nil {
			s.w = append(s.w, r.w[i])
		}
	}
	return &s, nil
}

// Mean returns the mean of the rows.
func (r *Records) Mean() []float64 {
	r = handle.Made(r)
	m := make([]float64, r.d)
	for i := range r.n {
		for j, v := range r.Row(i) {
			m[j] += v / float64(r.n)
		}
	}
	return m
}

// MaxNorm returns the largest norm of a row, rounded up.
func (r *Records) MaxNorm() float64 {
	r = handle.Made(r)
	m := 0.0
	for i := range r.n {
		m = max(m, vec.Norm(r.Row(i)))
	}
	return m * (1 + vec.Slack(r.d))
}

// Shortened returns the records with rows longer than radius scaled down to it. Each row
// by itself, so neighbouring data stay neighbouring.
func (r *Records) Shortened(radius float64) *Records {
	r = handle.Made(r)
	s := r
	own := func(i int) []float64 {
		if s == r {
			c := *r
			c.x = slices.Clone(r.x)
			s = &c
		}
		return s.x[i*r.d : (i+1)*r.d]
	}
	for i := range r.n {
		norm := vec.Norm(r.Row(i))
		if norm < 1e-145 || math.IsInf(norm, 1) { // squares out of range, which may hide a long row
			if floats.Norm(r.Row(i), math.Inf(1)) > radius/float64(r.d) {
				vec.Clip(own(i), radius)
			}
			continue
		}
		// At least radius in exact arithmetic too: the norm is below by at most the slack.
		if v := norm * (1 + vec.Slack(r.d)); v > radius {
			floats.Scale(radius/v*(1-0x1p-50), own(i))
		}
	}
	return s
}

// Scaled returns the records with the features of each multiplied by its factor.
func (r *Records) Scaled(factor func(row []float64) float64) *Records {
	r = handle.Made(r)
	s := *r
	s.x = slices.Clone(r.x)
	for i := range r.n {
		if f := factor(r.Row(i)); f != 1 {
			floats.Scale(f, s.x[i*r.d:(i+1)*r.d])
		}
	}
	return &s
}

// putter returns a function that writes numbers as 8 bytes each.
func putter(b *bufio.Writer) func(v uint64) {
	return func(v uint64) { b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), v)) }
}

// Digest is a hash of all numbers.
func (r *Records) Digest() [32]byte {
	r = handle.Made(r)
	h := sha256.New()
	h.Write([]byte("darrm shuffleg records v1"))
	b := bufio.NewWriter(h)
	put := putter(b)
	put(uint64(r.n))
	put(uint64(r.d))
	put(uint64(len(r.y)))
	for _, list := range [][]float64{r.x, r.y, r.w} {
		for _, v := range list {
			put(math.Float64bits(v))
		}
	}
	b.Flush()
	return [32]byte(h.Sum(nil))
}

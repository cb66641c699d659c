package data

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// SharedError is the error for public records that equal private ones. Their number is a secret of
// the private records. It is not in the text of the error, which may be shown to anybody.
type SharedError struct{ Shared, Public int }

func (*SharedError) Error() string {
	return "public records equal private ones, with columns in order or permuted"
}

// Count returns a text with the number of shared records, for the owner of the private ones.
func (e *SharedError) Count() string {
	return fmt.Sprintf("%d of %d public records do", e.Shared, e.Public)
}

// CheckShared returns a [SharedError] where [SharedError.Shared] is not 0.
func CheckShared(private, public *Records) error {
	private, public = handle.Made(private), handle.Made(public)
	if n := shared(private, public); n > 0 {
		return &SharedError{n, public.Len()}
	}
	return nil
}

// shared returns the number of records of public that equal a record of private: the same numbers,
// the response among them, in any order. Two different records may have the same numbers, so shared
// may count too many. It never counts too few of those that are the same but for their columns'
// order. The count is a secret of the private records. Costs the time to read both once.
func shared(private, public *Records) int {
	known := map[uint64][]int{} // a record of each kind
	for i := range private.n {
		key := private.unordered(i)
		if !private.hold(known[key], private, i) {
			known[key] = append(known[key], i)
		}
	}
	shared := 0
	for i := range public.n {
		if private.hold(known[public.unordered(i)], public, i) {
			shared++
		}
	}
	return shared
}

// hold reports whether one of these records has the numbers of record j of o.
func (r *Records) hold(records []int, o *Records, j int) bool {
	return slices.ContainsFunc(records, func(i int) bool {
		return slices.Equal(r.cells(i), o.cells(j))
	})
}

// cells returns the numbers of record i, sorted.
func (r *Records) cells(i int) []float64 {
	cells := slices.Clone(r.Row(i))
	if r.y != nil {
		cells = append(cells, r.y[i])
	}
	slices.Sort(cells)
	return cells
}

// unordered is a hash of the numbers of record i that does not depend on their order.
func (r *Records) unordered(i int) uint64 {
	sum := uint64(0)
	for _, v := range r.Row(i) {
		sum += mix(v)
	}
	if r.y != nil {
		sum += mix(r.y[i])
	}
	return sum
}

// mix spreads the bits of a number over 64 (the finaliser of SplitMix64), so that sums of
// equal numbers alone are likely to be equal.
func mix(v float64) uint64 {
	if v == 0 {
		v = 0 // -0 is 0
	}
	x := math.Float64bits(v) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// SampleError is a record that a task cannot use.
type SampleError struct {
	File   string // that it is from, "" where that is not known (Records.From)
	Set    string // which of a training's sets it is in, such as "public"; "" where there is one
	Record int    // from 1
	Line   int    // of it in the file, 0 where that is not known
	Err    error  // the value and the rule
}

func (e *SampleError) Error() string {
	text := fmt.Sprintf("record %d: %v", e.Record, e.Err)
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	if e.Set != "" && (e.Line == 0 || e.File == "") { // a line of a file says it
		text = e.Set + " " + text
	}
	if e.File != "" {
		text = e.File + ": " + text
	}
	return text
}

// Unwrap returns the error of the record.
func (e *SampleError) Unwrap() error { return e.Err }

// From returns the records with the name of their file, which errors of Check begin with.
func (r *Records) From(file string) *Records {
	r = handle.Made(r)
	named := *r
	named.file = file
	return &named
}

// Check calls usable for each record with its features and response, NaN where there are no
// responses, which a task would take 0 for. Its first error is returned, as a *SampleError. It refuses
// records with weights, which methods would take 1 for; one that knows weights checks Unweighted.
func (r *Records) Check(usable func(a []float64, y float64) error) error {
	r = handle.Made(r)
	if r.w != nil {
		return ErrWeighted
	}
	for i := range r.n {
		y := math.NaN()
		if r.HasResponses() {
			y = r.y[i]
		}
		if err := usable(r.Row(i), y); err != nil {
			e := &SampleError{File: r.file, Record: i + 1, Line: lineOf(r.lines, i), Err: err}
			if words := map[float64]string{2: "=1,2", -1: "=-1,1"}[y]; words != "" && r.response != "" {
				e.Err = check.SettledBy(err, "categories="+r.response+words)
			}
			return e
		}
	}
	return nil
}

// lineOf returns the line of record i from 0, 0 where it is not known.
func lineOf(lines []int, i int) int {
	if i < len(lines) {
		return lines[i]
	}
	return 0
}

// From returns the records with the name of their file, which errors of Check begin with.
func (s *Sparse) From(file string) *Sparse {
	s = handle.Made(s)
	named := *s
	named.file = file
	return &named
}

// Check calls usable for each record with its features that are not 0 and its response. Its first
// error is returned, as a *SampleError.
func (s *Sparse) Check(usable func(values []float64, y float64) error) error {
	s = handle.Made(s)
	for i := range s.Len() {
		_, values := s.Row(i)
		if err := usable(values, s.Response(i)); err != nil {
			return &SampleError{File: s.file, Record: i + 1, Line: lineOf(s.lines, i), Err: err}
		}
	}
	return nil
}

// ErrWeighted is the error of a method that takes every record alike, for records with weights.
var ErrWeighted = errors.New("records have weights, which this method does not take: weights are for gradient descent " +
	"(dp-sgd), which shortens each weighted gradient by itself; the noise of other methods is for the weight 1")

// Weighted returns the records with a weight each, a number from 0 on. A weight is private, as all of its record is.
// The slice is kept.
func (r *Records) Weighted(weights []float64) (*Records, error) {
	r = handle.Made(r)
	if len(weights) != r.n {
		return nil, check.Wantf("number of weights", len(weights), "one for each of the %d records", r.n)
	}
	for i, v := range weights {
		if err := CheckWeight(v); err != nil {
			return nil, &SampleError{File: r.file, Record: i + 1, Line: lineOf(r.lines, i), Err: err}
		}
	}
	weighted := *r
	weighted.w = weights
	return &weighted, nil
}

// CheckWeight refuses what is no weight.
func CheckWeight(w float64) error {
	if !(w >= 0 && w <= MaxMagnitude) {
		return check.Want("sample weight", w, fmt.Sprintf("between 0 and %g", MaxMagnitude))
	}
	return nil
}

// Unweighted returns the records without weights.
func (r *Records) Unweighted() *Records {
	r = handle.Made(r)
	plain := *r
	plain.w = nil
	return &plain
}

// Weights returns a copy of the weights, nil where each is 1.
func (r *Records) Weights() []float64 { return slices.Clone(handle.Made(r).w) }

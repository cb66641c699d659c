package data

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

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
	named := *r
	named.file = file
	return &named
}

// Check calls usable for each record with its features and response, NaN where there are no
// responses, which a task would take 0 for. Its first error is returned, as a *SampleError.
func (r *Records) Check(usable func(a []float64, y float64) error) error {
	for i := range r.n {
		y := math.NaN()
		if r.HasResponses() {
			y = r.y[i]
		}
		if err := usable(r.Row(i), y); err != nil {
			e := &SampleError{File: r.file, Record: i + 1, Line: lineOf(r.lines, i), Err: err}
			if y == 2 && r.response != "" { // classes that are counted from 1
				e.Err = check.SettledBy(err, "categories="+r.response+"=1,2")
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
	named := *s
	named.file = file
	return &named
}

// Check calls usable for each record with its features that are not 0 and its response. Its first
// error is returned, as a *SampleError.
func (s *Sparse) Check(usable func(values []float64, y float64) error) error {
	for i := range s.Len() {
		_, values := s.Row(i)
		if err := usable(values, s.Response(i)); err != nil {
			return &SampleError{File: s.file, Record: i + 1, Line: lineOf(s.lines, i), Err: err}
		}
	}
	return nil
}

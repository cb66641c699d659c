package check

import (
	"fmt"
	"math"
	"strings"
)

// Stated compares what a file states about itself with what was found, and collects what is wrong.
//
// A promised bound is worked out with every rounding to its weak side, and by operations that give
// one result on every processor. So a file may state a weaker bound than was found, never a
// stronger one.
type Stated struct{ wrong []string }

// MismatchError lists the figures that a file states wrongly about itself.
type MismatchError struct{ Wrong []string }

func (e *MismatchError) Error() string { return strings.Join(e.Wrong, "; ") }

// Upper compares a figure that something is promised to be at most.
func (s *Stated) Upper(name string, stated, found float64) {
	if !(stated >= found) { // NaN too
		s.add("%s: the file says %v, but only %v is proved", name, stated, found)
	}
}

// Lower compares a figure that something is promised to be at least.
func (s *Stated) Lower(name string, stated, found float64) {
	if !(stated <= found) {
		s.add("%s: the file says %v, but only %v is proved", name, stated, found)
	}
}

// Exact compares what has one right value.
func (s *Stated) Exact(name string, stated, found any) {
	if stated != found {
		s.add("%s: the file says %v, it is %v", name, stated, found)
	}
}

// ExpectationTolerance is the largest difference between a stated expectation and the one that is
// found: room for other rounding, none for another meaning.
const ExpectationTolerance = 1e-9

// Expectation compares an expected value, on which no promise rests.
func (s *Stated) Expectation(name string, stated, found float64) {
	if !(math.Abs(stated-found) <= ExpectationTolerance) {
		s.add("%s: the file says %v, it is %v (an expectation, compared to within %g)", name, stated,
			found, ExpectationTolerance)
	}
}

func (s *Stated) add(format string, a ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, a...))
}

// Err returns a *MismatchError, or nil where nothing is wrong.
func (s *Stated) Err() error {
	if s.wrong == nil {
		return nil
	}
	return &MismatchError{s.wrong}
}

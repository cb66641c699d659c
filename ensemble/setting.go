package ensemble

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// Setting holds what a mechanism over vote counts must know about the teachers. Nothing in it has a
// default: what is private depends on all of it.
//
// For accountant.ReplaceOne, a record that is replaced leaves one teacher and may join
// another. Affected is 1 only where disjoint data are split by a rule that does not look
// at the records; else it is 2.
type Setting struct {
	K       int // teachers, each of which votes for one class
	Classes int // C ≥ 2
	// t: one record can change the votes of at most t teachers; 1 for disjoint training data, K if
	// unknown
	Affected   int
	Neighbours accountant.Relation // for which neighbouring datasets Affected was counted
	// a vote may be missing: K counts all teachers, and one that begins or ceases to vote is among the t
	Missing bool
}

// Validate returns an error naming the first field that breaks its rule.
func (s Setting) Validate() error {
	if err := cmp.Or(check.Teachers(s.K), check.Classes(s.Classes), check.Affected(s.Affected, s.K)); err != nil {
		return err
	}
	_, err := accountant.New(s.Neighbours)
	return err
}

// CheckCounts returns an error unless counts are the votes of one query of which so many are
// missing: Classes counts of at least 0 which, with the missing ones, add up to K. With Missing
// they add up to at most K, what is left being none, and missing is 0: nothing takes a place.
func (s Setting) CheckCounts(counts []int, missing int) error {
	return cmp.Or(check.Teachers(s.K), check.Votes(counts, missing, s.K, s.Classes, s.Missing))
}

// ErrMissing is the error where a mechanism is asked to answer votes that may be missing, and is not
// proved to be private for them.
var ErrMissing = errors.New("it is proved for K votes, none of which is missing")

// noneMissing refuses a Setting of votes that may be missing, for mechanisms of the other kind.
func (s Setting) noneMissing() error {
	if s.Missing {
		return ErrMissing
	}
	return nil
}

// errPrivateSilence refuses private teachers whose votes may be missing.
var errPrivateSilence = fmt.Errorf("teachers with a finite epsilon: their promise need not cover whether "+
	"they vote: %w", ErrMissing)

// affectedInWords describes the votes that Affected lets one record change.
func (s Setting) affectedInWords() string {
	switch {
	case s.Missing:
		t := s
		t.Missing = false
		return t.affectedInWords() + ", or whether they vote"
	case s.Affected == 1:
		return "one record can change the vote of one teacher only (training data in disjoint parts)"
	case s.Affected == s.K:
		return fmt.Sprintf("one record can change the votes of all %d teachers", s.K)
	}
	return fmt.Sprintf("one record can change the votes of at most %d of the %d teachers", s.Affected,
		s.K)
}

package ensemble

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
)

// Stated is a person's statement of teachers, their votes, and the answers. Flags, plans and releases
// follow from it. A nil pointer, an empty text and the number 0 were not stated. The tags of a parameter
// are its flag, its help, and its field in files of mechanisms (internal/param).
type Stated struct {
	K       int     `flag:"K" json:"k" name:"number of teachers K" help:"number of teachers"` // the votes may tell
	Classes int     `flag:"num-classes" json:"-" name:"number of classes"`
	Missing bool    `json:"-"` // a vote may be missing
	Several Several `json:"-"` // L, τ and YesFrom of questions with several labels; K and the like are teachers
	// ε of each teacher, +Inf for teachers that promise nothing
	Epsilon      *float64          `json:"eps" help:"ε of each teacher; inf for teachers that promise nothing (then give $label-eps)"`
	TeacherDelta *float64          `json:"teacher_delta" help:"Δ of each teacher, in [0,1)"`
	Teachers     TeacherRandomness `json:"teachers" help:"\"fresh\": each vote is a new run of a private mechanism, or \"frozen\": each teacher's training was private, and it votes ever after"`
	// t, the most teachers that one record reaches; AllTeachers for K
	Affected   *int                `json:"affected" help:"how many teachers one person's record can reach (default all)"`
	Neighbours accountant.Relation `json:"neighbours" help:"which datasets differ by one person in the teachers' promise and in $affected: \"replace\" a record, or \"add-remove\" one"`

	M            *float64 `flag:"m" json:"-" name:"privacy allowance m" help:"privacy allowance: one released answer may cost m·ε (any number > 0)"`
	LabelEpsilon *float64 `json:"label_eps" help:"ε of one released answer, instead of m·ε"`
	Delta        *float64 `json:"delta" help:"δ of one released answer (default 1-(1-Δ)^min(m, affected))"`
	// Mechanism answers, as Describe knows it. Threshold and CheckRatio are of Check.
	Mechanism  string   `flag:"mechanism" json:"-"`
	Threshold  *int     `flag:"threshold" json:"-"`
	CheckRatio *float64 `flag:"check-ratio" json:"-" default:"4"`
}

// AllTeachers as Stated.Affected states that one record may reach all teachers, whatever their
// number.
const AllTeachers = 0

// OfTeachers reports whether anything was stated of the teachers themselves.
func (s Stated) OfTeachers() bool {
	return s.Epsilon != nil || s.TeacherDelta != nil || s.Affected != nil
}

// Reach returns t, the most of k teachers that one record reaches: all of them where nothing else
// was stated.
func (s Stated) Reach(k int) int {
	if s.Affected == nil || *s.Affected == AllTeachers {
		return k
	}
	return *s.Affected
}

// CheckReach refuses a reach below 1 that was stated of k teachers, 0 where their number is not known: a person's 0 is
// not AllTeachers.
func (s Stated) CheckReach(k int) error {
	switch {
	case s.Affected == nil || *s.Affected >= 1:
		return nil
	case k > 0:
		return check.Affected(*s.Affected, k)
	}
	return check.Want("affected", *s.Affected, "at least 1, and at most the number of teachers")
}

// PresumesNothing reports whether ε of each teacher was stated to be infinite.
func (s Stated) PresumesNothing() bool { return s.Epsilon != nil && math.IsInf(*s.Epsilon, 1) }

// Promised reports whether a finite ε of each teacher was stated.
func (s Stated) Promised() bool { return s.Epsilon != nil && !math.IsInf(*s.Epsilon, 1) }

// Each returns the (ε, Δ) of each teacher; ε is +Inf where they promise nothing.
func (s Stated) Each() accountant.Cost {
	return accountant.Cost{Epsilon: orInf(s.Epsilon), Delta: value(s.TeacherDelta)}
}

// Problem returns the stated promise as the problem of k teachers and the public votes beside theirs. δ is by default the least that
// the teachers' own Δ allows.
func (s Stated) Problem(k int) (constraints.Problem, error) {
	p := constraints.Problem{K: s.Several.Votes(k), Affected: s.Reach(k), Epsilon: value(s.Epsilon),
		TeacherDelta: value(s.TeacherDelta), M: value(s.M), TotalEpsilon: value(s.LabelEpsilon),
		Delta: value(s.Delta)}
	if s.LabelEpsilon != nil {
		if err := check.LabelEpsilon(*s.LabelEpsilon); err != nil {
			return p, err // 0 would mean "not given" to constraints
		}
		p.M = 0
	}
	if s.Delta == nil {
		return p.WithDefaultDelta()
	}
	return p, p.Validate()
}

// PerAnswer returns the stated (ε, δ) of one answer: ε is +Inf, which promises nothing, and δ 0 where they
// were not stated.
func (s Stated) PerAnswer() accountant.Cost {
	return accountant.Cost{Epsilon: orInf(s.LabelEpsilon), Delta: value(s.Delta)}
}

// Setting returns what a mechanism over the votes of k teachers, and public ones beside them, must know.
func (s Stated) Setting(k, classes int) Setting {
	return Setting{K: s.Several.Votes(k), Classes: classes, Affected: s.Reach(k), Neighbours: s.Neighbours,
		Missing: s.Missing}
}

// Check returns what mechanisms that may abstain take, with its defaults.
func (s Stated) Check() Check {
	c := Check{Threshold: value(s.Threshold), Ratio: CheckRatio}
	if s.CheckRatio != nil {
		c.Ratio = *s.CheckRatio
	}
	return c
}

func orInf(x *float64) float64 {
	if x == nil {
		return math.Inf(1)
	}
	return *x
}

// value returns *x, or 0 where x is nil.
func value[T int | float64](x *T) T {
	if x == nil {
		return 0
	}
	return *x
}

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

// affectedInWords describes the votes that Affected lets one record change. Public votes are among K.
func (s Setting) affectedInWords() string {
	switch {
	case s.Missing:
		t := s
		t.Missing = false
		return t.affectedInWords() + ", or whether they vote"
	case s.Affected == 1:
		return "one record can change the vote of one teacher only (training data in disjoint parts)"
	case s.Affected == s.K:
		return fmt.Sprintf("one record can change all %d votes", s.K)
	}
	return fmt.Sprintf("one record can change at most %d of the %d votes", s.Affected, s.K)
}

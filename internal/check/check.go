// Package check holds the one validator of each quantity that users set. Every
// other package asks here, so that a rule is written, and changed, once.
package check

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Error describes a parameter that breaks its rule.
type Error struct {
	Name  string // what the parameter is called to users, for example "epsilon"
	Value any    // what was given
	Rule  string // what it must be
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s = %v, but it must be %s", e.Name, e.Value, e.Rule)
}

// Want returns the error for a parameter that breaks its rule.
func Want(name string, value any, rule string) *Error { return &Error{name, value, rule} }

// Wantf is Want with a rule that fmt.Sprintf makes.
func Wantf(name string, value any, format string, args ...any) *Error {
	return Want(name, value, fmt.Sprintf(format, args...))
}

// MaxTeachers is the largest number of teachers that the program takes on.
const MaxTeachers = 2001

// MaxClasses is the largest number of classes that a query may have.
const MaxClasses = 1000

// MaxAnswers is the largest number of answers Q that are priced together.
const MaxAnswers = 100_000

// MaxTotalEpsilon bounds mε: e^700 still fits a float64.
const MaxTotalEpsilon = 700

// Teachers checks a number of teachers K.
func Teachers(k int) error {
	if k < 1 || k > MaxTeachers {
		return Wantf("number of teachers K", k, "between 1 and %d", MaxTeachers)
	}
	return nil
}

// Classes checks a number of classes C.
func Classes(n int) error {
	if n < 2 || n > MaxClasses {
		return Wantf("number of classes", n, "between 2 and %d", MaxClasses)
	}
	return nil
}

// Affected checks t, the most teachers that one record reaches.
func Affected(t, k int) error {
	if t < 1 || t > k {
		return Wantf("affected", t, "between 1 and K = %d", k)
	}
	return nil
}

// Epsilon checks an ε: finite and not negative.
func Epsilon(name string, eps float64) error {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return Want(name, eps, "a finite number ≥ 0")
	}
	return nil
}

// ProfileEpsilon checks an ε at which a hockey-stick profile is asked for or stated.
func ProfileEpsilon(eps float64) error {
	if !(eps >= 0 && eps <= MaxTotalEpsilon) {
		return Wantf("epsilon of a profile", eps, "in [0, %d]", MaxTotalEpsilon)
	}
	return nil
}

// LabelEpsilon checks what a release may cost when that is given by itself.
func LabelEpsilon(eps float64) error {
	if !(eps > 0 && eps <= MaxTotalEpsilon) {
		return Wantf("label epsilon", eps, "in (0, %d]", MaxTotalEpsilon)
	}
	return nil
}

// TeacherEpsilon checks a teacher's ε: finite and so small that e^ε is a number.
func TeacherEpsilon(eps float64) error {
	if !(eps >= 0 && eps <= MaxTotalEpsilon) {
		return Wantf("epsilon", eps, "in [0, %d], or infinite with a label epsilon", MaxTotalEpsilon)
	}
	return nil
}

// Delta checks a δ: in [0,1).
func Delta(name string, delta float64) error {
	if !(delta >= 0 && delta < 1) {
		return Want(name, delta, "in [0,1)")
	}
	return nil
}

// Allowance checks the privacy allowance m.
func Allowance(m float64) error {
	if !(m > 0) || math.IsInf(m, 1) {
		return Want("privacy allowance m", m, "a finite number > 0")
	}
	return nil
}

// PriorMean checks μ, the mean probability of a teacher's vote for the more
// likely answer.
func PriorMean(mu float64) error {
	if !(mu > 0.5 && mu < 1) {
		return Want("prior mean", mu, "in (0.5, 1)")
	}
	return nil
}

// Probability checks a probability.
func Probability(name string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return Want(name, p, "in [0,1]")
	}
	return nil
}

// Together checks a promise of Q answers together but for its δ: K, C, t, Q and ε, in this order.
func Together(k, classes, affected, answers int, epsilon float64) error {
	return cmp.Or(Teachers(k), Classes(classes), Affected(affected, k), Whole("answers", answers, 1, MaxAnswers),
		UpTo("budget epsilon", epsilon, MaxTotalEpsilon))
}

// Positive checks a finite number above 0.
func Positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return Want(name, x, "a finite number > 0")
	}
	return nil
}

// Within checks a number strictly between 0 and 1, such as a slack that must be spent.
func Within(name string, x float64) error {
	if !(x > 0 && x < 1) {
		return Want(name, x, "in (0,1)")
	}
	return nil
}

// Target checks the (ε, δ) that a method is to meet.
func Target(epsilon, delta float64) error {
	if err := Positive("target epsilon", epsilon); err != nil {
		return err
	}
	return Within("target delta", delta)
}

// Order checks α, the order of a Rényi divergence.
func Order(alpha float64) error {
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return Want("order", alpha, "a finite number > 1")
	}
	return nil
}

// GivenTolerance bounds by how much numbers that a person gives may miss a rule about several of
// them, such as a sum of 1, because they were rounded. What is farther off is refused: it is more
// likely a mistake than rounding.
const GivenTolerance = 1e-9

// Given returns the probability nearest to one that a person gives, where it is outside [0,1] by
// GivenTolerance at most.
func Given(name string, p float64) (float64, error) {
	if !(p >= -GivenTolerance && p <= 1+GivenTolerance) {
		return 0, Wantf(name, p, "in [0,1], to within %g", GivenTolerance)
	}
	return max(0, min(1, p)), nil
}

// Votes checks the votes of one query: a count of at least 0 for each class, which add up to k
// with those that are missing. Where missing votes count as none, the counts add up to at most k, and
// missing is 0.
func Votes(counts []int, missing, k, classes int, none bool) error {
	if len(counts) != classes {
		return Wantf("number of vote counts", len(counts), "the number of classes, %d", classes)
	}
	if none && missing != 0 {
		return Want("missing votes", missing, "0 where missing votes count as none")
	}
	if missing < 0 || missing > k {
		return Wantf("missing votes", missing, "between 0 and K = %d", k)
	}
	sum := missing
	for c, n := range counts {
		if n < 0 || n > k { // so few that the sum does not overflow
			return Wantf(fmt.Sprintf("votes for class %d", c), n, "between 0 and K = %d", k)
		}
		sum += n
	}
	switch {
	case none && sum > k:
		return Wantf("sum of the vote counts", sum, "at most K = %d", k)
	case !none && sum != k:
		return Wantf("sum of the vote counts", sum, "K = %d", k)
	}
	return nil
}

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

// Package check holds the one validator of each quantity that users set. Every
// other package asks here, so that a rule is written, and changed, once.
package check

import (
	"fmt"
	"math"
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

// MaxTeachers is the largest number of teachers that the program takes on.
const MaxTeachers = 2001

// MaxClasses is the largest number of classes that a query may have.
const MaxClasses = 1000

// MaxTotalEpsilon bounds mε: e^700 still fits a float64.
const MaxTotalEpsilon = 700

// Teachers checks a number of teachers K.
func Teachers(k int) error {
	if k < 1 || k > MaxTeachers {
		return &Error{"number of teachers K", k, fmt.Sprintf("between 1 and %d", MaxTeachers)}
	}
	return nil
}

// Classes checks a number of classes C.
func Classes(n int) error {
	if n < 2 || n > MaxClasses {
		return &Error{"number of classes", n, fmt.Sprintf("between 2 and %d", MaxClasses)}
	}
	return nil
}

// Affected checks t, the most teachers that one record reaches.
func Affected(t, k int) error {
	if t < 1 || t > k {
		return &Error{"affected", t, fmt.Sprintf("between 1 and K = %d", k)}
	}
	return nil
}

// Epsilon checks an ε: finite and not negative.
func Epsilon(name string, eps float64) error {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return &Error{name, eps, "a finite number ≥ 0"}
	}
	return nil
}

// ProfileEpsilon checks an ε at which a hockey-stick profile is asked for or stated.
func ProfileEpsilon(eps float64) error {
	if !(eps >= 0 && eps <= MaxTotalEpsilon) {
		return &Error{"epsilon of a profile", eps, fmt.Sprintf("in [0, %d]", MaxTotalEpsilon)}
	}
	return nil
}

// LabelEpsilon checks what a release may cost when that is given by itself.
func LabelEpsilon(eps float64) error {
	if !(eps > 0 && eps <= MaxTotalEpsilon) {
		return &Error{"label epsilon", eps, fmt.Sprintf("in (0, %d]", MaxTotalEpsilon)}
	}
	return nil
}

// TeacherEpsilon checks a teacher's ε: finite and so small that e^ε is a number.
func TeacherEpsilon(eps float64) error {
	if !(eps >= 0 && eps <= MaxTotalEpsilon) {
		return &Error{"epsilon", eps, fmt.Sprintf("in [0, %d], or infinite with a label epsilon",
			MaxTotalEpsilon)}
	}
	return nil
}

// Delta checks a δ: in [0,1).
func Delta(name string, delta float64) error {
	if !(delta >= 0 && delta < 1) {
		return &Error{name, delta, "in [0,1)"}
	}
	return nil
}

// Allowance checks the privacy allowance m.
func Allowance(m float64) error {
	if !(m > 0) || math.IsInf(m, 1) {
		return &Error{"privacy allowance m", m, "a finite number > 0"}
	}
	return nil
}

// PriorMean checks μ, the mean probability of a teacher's vote for the more
// likely answer.
func PriorMean(mu float64) error {
	if !(mu > 0.5 && mu < 1) {
		return &Error{"prior mean", mu, "in (0.5, 1)"}
	}
	return nil
}

// Probability checks a probability.
func Probability(name string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return &Error{name, p, "in [0,1]"}
	}
	return nil
}

// Positive checks a finite number above 0.
func Positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return &Error{name, x, "a finite number > 0"}
	}
	return nil
}

// Within checks a number strictly between 0 and 1, such as a slack that must be spent.
func Within(name string, x float64) error {
	if !(x > 0 && x < 1) {
		return &Error{name, x, "in (0,1)"}
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
		return &Error{"order", alpha, "a finite number > 1"}
	}
	return nil
}

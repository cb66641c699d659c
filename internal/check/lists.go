package check

import (
	"fmt"
	"slices"
)

// Whole checks a whole number: between low and high, or at least low if high is 0.
func Whole(name string, v, low, high int) error {
	switch {
	case high == 0 && v < low:
		return Wantf(name, v, "at least %d", low)
	case high != 0 && (v < low || v > high):
		return Wantf(name, v, "between %d and %d", low, high)
	}
	return nil
}

// Open checks a number in (low, high).
func Open(name string, v, low, high float64) error {
	if !(v > low && v < high) {
		return Wantf(name, v, "in (%g, %g)", low, high)
	}
	return nil
}

// UpTo checks a number in (0, high].
func UpTo(name string, v, high float64) error {
	if !(v > 0 && v <= high) {
		return Wantf(name, v, "in (0, %g]", high)
	}
	return nil
}

// OddTeachers checks a number of teachers K that always has a majority.
func OddTeachers(k int) error {
	if err := Teachers(k); err != nil {
		return err
	}
	if k%2 == 0 {
		return Want("number of teachers K", k, "odd, so that there is a majority")
	}
	return nil
}

// Some checks, by their lengths, that none of the lists of these names is empty.
func Some(names string, lengths ...int) error {
	if !slices.Contains(lengths, 0) {
		return nil
	}
	rule := "at least one"
	if len(lengths) > 1 {
		rule += " of each"
	}
	return Want(names, "none", rule)
}

// Each checks that no two members of a list are equal, and that each obeys the rule, if that
// is not nil.
func Each[T comparable](name string, list []T, rule func(name string, v T) error) error {
	for i, v := range list {
		if rule != nil {
			if err := rule(name, v); err != nil {
				return err
			}
		}
		if slices.Contains(list[:i], v) {
			return Want(name, fmt.Sprintf("%v twice", v), "different")
		}
	}
	return nil
}

// Among returns the rule that a value is one of those allowed.
func Among[T comparable](allowed []T) func(name string, v T) error {
	return func(name string, v T) error {
		if !slices.Contains(allowed, v) {
			return Wantf(name, fmt.Sprintf("%v", v), "among %v", allowed)
		}
		return nil
	}
}

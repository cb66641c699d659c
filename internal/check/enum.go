package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Enum is an enumeration whose constants count from 0: its name in errors, and the names of its
// constants in their order. A type whose String and UnmarshalText it makes is a flag.
type Enum[T ~int] struct {
	Name  string
	Names []string
}

// Values returns the constants.
func (e Enum[T]) Values() []T {
	values := make([]T, len(e.Names))
	for i := range values {
		values[i] = T(i)
	}
	return values
}

// Check returns an error unless v is one of the constants.
func (e Enum[T]) Check(v T) error {
	if v < 0 || int(v) >= len(e.Names) {
		return Wantf(e.Name, int(v), "a known %T", v)
	}
	return nil
}

// String returns the name of a constant.
func (e Enum[T]) String(v T) string {
	if e.Check(v) != nil {
		return fmt.Sprintf("%T(%d)", v, int(v))
	}
	return e.Names[v]
}

// Unmarshal reads the name of a constant, as UnmarshalText does.
func (e Enum[T]) Unmarshal(v *T, name []byte) error {
	i := slices.Index(e.Names, string(name))
	if i < 0 {
		return Unknown(e.Name, string(name), e.Names...)
	}
	*v = T(i)
	return nil
}

// Known refuses a name that is none of those known, with an error that lists them.
func Known[T ~string](what string, name T, known []T) error {
	if !slices.Contains(known, name) {
		return Unknown(what, name, known...)
	}
	return nil
}

// Unknown returns the error for a name that is none of those known, of which there is at least one.
func Unknown[T, K ~string](what string, name T, known ...K) *Error {
	return Want(what, fmt.Sprintf("%.40q", name), Alternatives(known))
}

// Alternatives lists names: "a", "b" or "c".
func Alternatives[T ~string](names []T) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}

// OneOf returns a named choice among those that are known, the first of which is meant by "". The
// error names all of them.
func OneOf[T ~string](name string, v T, known ...T) (T, error) {
	switch {
	case v == "":
		return known[0], nil
	case slices.Contains(known, v):
		return v, nil
	}
	return v, Unknown(name, v, known...)
}

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

// Class checks a response that is one of so many classes, which are whole numbers from 0.
func Class(y float64, classes int) error {
	if y >= 0 && y < float64(classes) && y == math.Trunc(y) {
		return nil
	}
	return Wantf("response", y, "a class, a whole number from 0 to %d", classes-1)
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

// WholeIn is Whole as a rule of Each.
func WholeIn(low, high int) func(name string, v int) error {
	return func(name string, v int) error { return Whole(name, v, low, high) }
}

// OpenIn is Open as a rule of Each.
func OpenIn(low, high float64) func(name string, v float64) error {
	return func(name string, v float64) error { return Open(name, v, low, high) }
}

// AtMost is UpTo as a rule of Each.
func AtMost(high float64) func(name string, v float64) error {
	return func(name string, v float64) error { return UpTo(name, v, high) }
}

package check

import (
	"fmt"
	"slices"
	"strings"
)

// Enum is an enumeration whose constants count from 0: what it is called in errors, and the names of its
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

// Check refuses what is none of the constants.
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

package votes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// parseName returns the constant of that name.
func parseName[T ~int](what, s string, names []string) (T, error) {
	if i := slices.Index(names, s); i >= 0 {
		return T(i), nil
	}
	return 0, &check.Error{Name: what, Value: quote(s), Rule: "one of " + strings.Join(names, ", ")}
}

// nameOf returns the name of a constant.
func nameOf[T ~int](v T, names []string) string {
	if v < 0 || int(v) >= len(names) {
		return fmt.Sprintf("%T(%d)", v, int(v))
	}
	return names[v]
}

// checkName refuses what is no constant with a name.
func checkName[T ~int](what string, v T, names []string) error {
	if v < 0 || int(v) >= len(names) {
		return &check.Error{Name: what, Value: int(v), Rule: fmt.Sprintf("a known %T", v)}
	}
	return nil
}

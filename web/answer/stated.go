package answer

import (
	"fmt"
	"math"
	"strconv"

	"github.com/darrm/darrm/internal/check"
)

// Stated holds what the page's fields state, as text, by the names of the commands' flags. A flag
// that is missing or "" was not stated.
type Stated map[string]string

// has reports whether a flag was stated.
func (s Stated) has(flag string) bool { return s[flag] != "" }

// number returns a number that was stated, or a default.
func (s Stated) number(flag, parameter string, otherwise float64) (float64, error) {
	if !s.has(flag) {
		return otherwise, nil
	}
	x, err := strconv.ParseFloat(s[flag], 64)
	if err != nil || math.IsNaN(x) {
		return 0, check.Want(parameter, fmt.Sprintf("%.40q", s[flag]), "a number")
	}
	return x, nil
}

// count returns a whole number that was stated, or a default.
func (s Stated) count(flag, parameter string, otherwise int) (int, error) {
	if !s.has(flag) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(s[flag])
	if err != nil {
		return 0, check.Want(parameter, fmt.Sprintf("%.40q", s[flag]), "a whole number")
	}
	return n, nil
}

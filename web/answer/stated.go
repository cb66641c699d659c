package answer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/release"
)

// Stated holds what the page's fields state, as text, by the names of the commands' flags. A flag
// that is missing or "" was not stated.
type Stated map[string]string

// has reports whether a flag was stated.
func (s Stated) has(flag string) bool { return s[flag] != "" }

// into sets the stated parameters in structs, which are given by pointers.
func (s Stated) into(options ...any) error {
	for _, o := range options {
		for _, p := range param.Of(o) {
			if !s.has(p.Flag) {
				continue
			}
			rule, err := param.Rule("a number"), p.Set(s[p.Flag])
			if !errors.As(err, &rule) && (err != nil || !isNumber(p.Value)) {
				err = rule
			}
			if err != nil {
				return check.Want(cmp.Or(fieldNames[p.Flag], string(p.Name)), fmt.Sprintf("%.40q", s[p.Flag]), string(rule))
			}
		}
	}
	return nil
}

// isNumber reports whether what a text states of a number is one: neither NaN nor the rest of a ledger, which the page
// has not.
func isNumber(v reflect.Value) bool {
	v = reflect.Indirect(v)
	if part, ok := v.Interface().(release.Part); ok {
		return !part.Rest && !math.IsNaN(part.Number)
	}
	return !v.CanFloat() || !math.IsNaN(v.Float())
}

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

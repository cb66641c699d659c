package train

import (
	"fmt"
	"reflect"
	"slices"
)

// OptionError is an option that a method does not have.
type OptionError struct {
	Method string
	Option string // name of the field of the package's Options
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s has no %s", e.Method, e.Option) }

// CheckOptions refuses a struct of options of which a field is not zero that a method does not
// use, rather than to leave it out in silence: an *OptionError, which names the first.
func CheckOptions(method string, options any, uses []string) error {
	v := reflect.ValueOf(options)
	for i := range v.NumField() {
		if field := v.Type().Field(i).Name; !v.Field(i).IsZero() && !slices.Contains(uses, field) {
			return &OptionError{Method: method, Option: field}
		}
	}
	return nil
}

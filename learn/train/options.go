package train

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Option is a parameter of a group of methods, as the tags of its field state it:
//
//	StepFactor float64 `json:"step_factor,omitempty" for:"phased-sgd" help:"factor of the steps"`
//
// The tag "for" lists the methods that have it; none is all. The flag is the name in JSON with dashes,
// or the tag "flag". The help refers to other parameters by $ and the name of their flag. The tags are the only
// statement of a parameter: flags, their help, refusals and the parameters of experiments follow from
// them.
type Option struct {
	Field, Flag, Help string
	Methods           []string      // that have it; none is all
	Value             reflect.Value // of the field, and settable where Options was given a pointer
}

// Options lists the parameters of a struct or of a pointer to one, those of structs within it in
// their place. Fields without the tag "for" are no parameters.
func Options(options any) (list []Option) {
	v := reflect.Indirect(reflect.ValueOf(options))
	for i := range v.NumField() {
		f := v.Type().Field(i)
		methods, ok := f.Tag.Lookup("for")
		if !ok {
			if f.IsExported() && f.Type.Kind() == reflect.Struct {
				list = append(list, optionsOf(v.Field(i))...)
			}
			continue
		}
		flag := f.Tag.Get("flag")
		if flag == "" {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			flag = strings.ReplaceAll(name, "_", "-")
		}
		list = append(list, Option{Field: f.Name, Flag: flag, Help: f.Tag.Get("help"),
			Methods: strings.Fields(methods), Value: v.Field(i)})
	}
	return list
}

// optionsOf returns the parameters of a struct within another.
func optionsOf(v reflect.Value) []Option {
	if v.CanAddr() {
		return Options(v.Addr().Interface())
	}
	return Options(v.Interface())
}

// IsFor reports whether a method has the parameter.
func (o Option) IsFor(method string) bool {
	return len(o.Methods) == 0 || slices.Contains(o.Methods, method)
}

// OptionError is an option that a method does not have.
type OptionError struct {
	Method string
	Option string // name of the field of the package's Options
	Flag   string
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s has no %s", e.Method, e.Option) }

// CheckOptions refuses a struct of options of which a parameter is not zero that a method does not
// have, rather than to leave it out in silence: an *OptionError, which names the first.
func CheckOptions(method string, options any) error {
	for _, o := range Options(options) {
		if !o.Value.IsZero() && !o.IsFor(method) {
			return &OptionError{Method: method, Option: o.Field, Flag: o.Flag}
		}
	}
	return nil
}

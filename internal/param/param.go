// Package param reads the parameters of a program from the tags of a struct: they are the only statement
// of a parameter, from which flags, their help, refusals, names in errors and JSON follow.
//
//	LabelEpsilon *float64 `json:"label_eps" help:"ε of one released answer, instead of m·ε"`
//
// The parameter's name in errors is "label epsilon", that of its field in words, or the tag "name". Its
// flag is the tag "flag", or the name in JSON with dashes. The tag "for" lists the methods that have it;
// none is all. A field with a tag "flag", "for" or "help" is a parameter. The help refers to other parameters by $ and the name of their flag. The tag "default" is
// what programs show as the value of a parameter that is not stated.
package param

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/darrm/darrm/internal/check"
)

// Param is one parameter.
type Param struct {
	Field, Flag, Help, Default string

	Name    check.Parameter
	Methods []string      // that have it; none is all
	Value   reflect.Value // of the field, and settable where Of was given a pointer
}

// Of lists the parameters of a struct or of a pointer to one, those of structs within it in their place.
func Of(options any) []Param {
	v := reflect.Indirect(reflect.ValueOf(options))
	if v.Kind() != reflect.Struct {
		return nil
	}
	return of(v)
}

func of(v reflect.Value) (list []Param) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		methods, has := f.Tag.Lookup("for")
		flag, named := f.Tag.Lookup("flag")
		help := f.Tag.Get("help")
		switch {
		case !has && !named && help == "":
			if f.IsExported() && f.Type.Kind() == reflect.Struct {
				list = append(list, of(v.Field(i))...)
			}
			continue
		case !named:
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			flag = strings.ReplaceAll(name, "_", "-")
		}
		name := f.Tag.Get("name")
		if name == "" {
			name = words(f.Name)
		}
		list = append(list, Param{Field: f.Name, Flag: flag, Help: help, Default: f.Tag.Get("default"),
			Name: check.Parameter(name), Methods: strings.Fields(methods), Value: v.Field(i)})
	}
	return list
}

// words returns the name of a field in words: "LabelEpsilon" is "label epsilon".
func words(field string) string {
	var b strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// IsFor reports whether a method has the parameter.
func (p Param) IsFor(method string) bool {
	return len(p.Methods) == 0 || slices.Contains(p.Methods, method)
}

// Stated reports whether the parameter has another value than the zero value.
func (p Param) Stated() bool { return !p.Value.IsZero() }

// Lookup returns the parameter of a flag; it panics where there is none, which is a mistake of the
// program.
func Lookup(options any, flag string) Param {
	all := Of(options)
	i := slices.IndexFunc(all, func(p Param) bool { return p.Flag == flag })
	if i < 0 {
		panic("param: no parameter has the flag " + flag)
	}
	return all[i]
}

// Rule is the error of a text that is no value of a parameter: what the text must be.
type Rule string

func (r Rule) Error() string { return "it must be " + string(r) }

// Set reads the value of a parameter that is text, a number, or of a type that reads itself; of a pointer to
// one it makes what it points to.
func (p Param) Set(text string) (err error) {
	v := p.Value
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch to := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return to.UnmarshalText([]byte(text))
	case *int:
		if *to, err = strconv.Atoi(text); err != nil {
			err = Rule("a whole number")
		}
	case *float64:
		if *to, err = strconv.ParseFloat(text, 64); err != nil {
			err = Rule("a number")
		}
	default:
		v.SetString(text)
	}
	return err
}

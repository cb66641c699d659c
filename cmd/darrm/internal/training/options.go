package training

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/pflag"

	"github.com/darrm/darrm/learn/train"
)

// registerOptions adds a flag for each parameter of a struct of options, whose value is the default.
func registerOptions(fl *pflag.FlagSet, options any) {
	for _, o := range train.Options(options) {
		o.Help = strings.ReplaceAll(o.Help, "$", "--")
		switch p := o.Value.Addr().Interface().(type) {
		case *float64:
			fl.Float64Var(p, o.Flag, *p, o.Help)
		case *int:
			fl.IntVar(p, o.Flag, *p, o.Help)
		case *uint64:
			fl.Uint64Var(p, o.Flag, *p, o.Help)
		case *bool:
			fl.BoolVar(p, o.Flag, *p, o.Help)
		case *[]int:
			fl.IntSliceVar(p, o.Flag, *p, o.Help)
		default:
			fl.Var(textValue{o.Value}, o.Flag, o.Help)
		}
	}
}

// textValue is a flag of a type that is a string, or that reads itself from one.
type textValue struct{ reflect.Value }

func (v textValue) Set(text string) error {
	if p, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return p.UnmarshalText([]byte(text))
	}
	v.SetString(text)
	return nil
}

func (v textValue) String() string {
	if !v.IsValid() || v.IsZero() {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

func (v textValue) Type() string { return "string" }

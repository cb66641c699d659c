package cli

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/release"
)

// Register adds flags for parameters of a struct, given by a pointer: those of these names, or all. The
// value of a parameter is the flag's default. A parameter that is a pointer is nil until its flag is
// given.
func Register(c *cobra.Command, options any, flags ...string) {
	for _, p := range param.Of(options) {
		if len(flags) > 0 && !slices.Contains(flags, p.Flag) {
			continue
		}
		register(c, p)
	}
}

func register(c *cobra.Command, p param.Param) {
	fl := c.Flags()
	help := strings.ReplaceAll(p.Help, "$", "--")
	switch v := p.Value.Addr().Interface().(type) {
	case *float64:
		fl.Float64Var(v, p.Flag, *v, help)
	case *int:
		fl.IntVar(v, p.Flag, *v, help)
	case *int64:
		fl.Int64Var(v, p.Flag, *v, help)
	case *uint64:
		fl.Uint64Var(v, p.Flag, *v, help)
	case *bool:
		fl.BoolVar(v, p.Flag, *v, help)
	case *time.Duration:
		fl.DurationVar(v, p.Flag, *v, help)
	case *[]int:
		fl.IntSliceVar(v, p.Flag, *v, help)
	case *[]string:
		fl.StringArrayVar(v, p.Flag, *v, help)
	case **float64:
		optional(fl, p, v, help, fl.Float64Var)
	case **int:
		optional(fl, p, v, help, fl.IntVar)
	case **time.Duration:
		optional(fl, p, v, help, fl.DurationVar)
	case *release.Part:
		fl.Var(partValue{textValue{p.Value}}, p.Flag, help)
		Offer(c, p.Flag, cobra.FixedCompletions([]string{release.RestText}, cobra.ShellCompDirectiveNoFileComp))
	default:
		fl.Var(textValue{p.Value}, p.Flag, help)
		if p.Default != "" {
			fl.Lookup(p.Flag).DefValue = p.Default
		}
	}
}

// optional adds a flag that a parameter points to once it is given.
func optional[T any](fl *pflag.FlagSet, p param.Param, target **T, help string,
	add func(value *T, name string, otherwise T, help string)) {
	value := new(T)
	add(value, p.Flag, *value, help)
	f := fl.Lookup(p.Flag)
	f.DefValue = p.Default
	f.Value = noted{f.Value, func() { *target = value }}
}

// noted is a value that tells when it is given.
type noted struct {
	pflag.Value
	note func()
}

func (v noted) Set(text string) error {
	err := v.Value.Set(text)
	if err == nil {
		v.note()
	}
	return err
}

// textValue is a flag of a type that is a string, or that reads itself from one.
type textValue struct{ reflect.Value }

func (v textValue) Set(text string) error {
	return param.Param{Value: v.Value}.Set(text)
}

func (v textValue) String() string {
	if !v.IsValid() {
		return ""
	}
	if p, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, _ := p.MarshalText() // none of a value that has no name
		return string(text)
	}
	return fmt.Sprint(v.Interface())
}

func (v textValue) Type() string { return "string" }

// partValue is a part of a budget.
type partValue struct{ textValue }

func (partValue) Type() string { return NumberOrRest }

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/release"
)

// FlagError rewrites an error of flag parsing in plain words.
func FlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.Is(err, pflag.ErrHelp): // of --help-all
		return pflag.ErrHelp
	case errors.As(err, &unknown):
		err = fmt.Errorf("%w%s", err, SuggestFlag(c, unknown.GetSpecifiedName()))
	case errors.As(err, &value):
		err = InvalidValue(value)
	}
	return &release.UsageError{Err: err}
}

// NumberOrRest is the type of a flag that takes a number, or what a ledger has left.
const NumberOrRest = "number|rest"

// valueKinds describes in words the values that flags take, by the flag's type.
var valueKinds = map[string]string{
	"int": "a whole number", "intSlice": "whole numbers, separated by commas",
	"uint64":     "a whole number of at least 0",
	NumberOrRest: `a number, or "rest" for what a ledger has left`,
	"float64":    "a number", "bool": `"true" or "false"`,
	"duration": "a duration such as 90s or 1h30m",
}

// InvalidValue returns the error of a flag's value, with the kind of value that the flag takes.
func InvalidValue(e *pflag.InvalidValueError) error {
	f := e.GetFlag()
	kind, ok := valueKinds[f.Value.Type()]
	// A choice is a string with an error text of its own.
	if !ok {
		text := errors.Unwrap(e).Error() // its own words
		if strings.HasPrefix(text, `"`) {
			return fmt.Errorf("--%s = %s", f.Name, text)
		}
		return fmt.Errorf("--%s: %s", f.Name, text)
	}
	var number *strconv.NumError
	if errors.As(e, &number) && errors.Is(number, strconv.ErrRange) {
		kind += " that is not so large"
	}
	return fmt.Errorf("--%s = %q, but it must be %s", f.Name, e.GetValue(), kind)
}

// SuggestFlag returns a question with the flags that resemble name, "" for none. Of a name that
// another command has, or that a flag had before, it returns the flag that is meant and the reason.
func SuggestFlag(c *cobra.Command, name string) string {
	has := func(name string) bool { return c.Flags().Lookup(name) != nil }
	switch {
	case name == "total-eps" && has("label-eps"):
		all := "; darrm plan has --budget-eps, for all labels together"
		if has("budget-eps") {
			all = "; for all labels together say --budget-eps"
		}
		return " (it is --label-eps now, because it is of one label" + all + ")"
	case name == "total-eps" && has("budget-eps"):
		return " (for all labels together say --budget-eps)"
	case name == "classes" && has("num-classes"):
		return " (classes have no names here: --num-classes is their number)"
	case name == "abstain" && has("abstentions"):
		return " (it is a weight where a mechanism is solved for; the switch is --abstentions)"
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return DidYouMean("--", Similar(name, names))
}

// DidYouMean returns a question with names that may have been meant, "" for none.
func DidYouMean(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + prefix + strings.Join(names, " or "+prefix) + "?)"
}

// errorText returns an error's text without the names of system calls.
func errorText(err error) string {
	text := err.Error()
	var path *fs.PathError
	if errors.As(err, &path) {
		switch path.Op {
		case "lstat", "stat", "fstat", "open", "read", "readlink", "mkdir":
			text = strings.Replace(text, path.Op+" "+path.Path+": ", path.Path+": ", 1)
		}
	}
	return strings.Replace(text, "write: ", "", 1)
}

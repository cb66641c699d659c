package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/internal/check"
)

// flagError says in plain words what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		err = fmt.Errorf("%w%s", err, suggestFlag(c, unknown.GetSpecifiedName()))
	case errors.As(err, &value):
		err = valueError(value)
	}
	return usageError{Err: err}
}

// valueKinds are what a flag of a type takes, in words.
var valueKinds = map[string]string{
	"int": "a whole number", "intSlice": "whole numbers, separated by commas", "uint64": "a whole number of at least 0",
	"float64": "a number", "bool": `"true" or "false"`, "duration": "a duration such as 90s or 1h30m",
}

func valueError(e *pflag.InvalidValueError) error {
	f := e.GetFlag()
	kind, ok := valueKinds[f.Value.Type()]
	// A choice is a string that knows better.
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

// suggestFlag names the flags that may have been meant.
func suggestFlag(c *cobra.Command, name string) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return didYouMean("--", similar(name, names))
}

func didYouMean(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + prefix + strings.Join(names, " or "+prefix) + "?)"
}

// errorText is an error's text without the names of system calls.
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

// flagsOf are the flags of parameters that the libraries call otherwise, the likelier one first.
var flagsOf = map[string][]string{
	"number of teachers K": {"K"}, "privacy allowance m": {"m"}, "epsilon": {"eps"}, "teacher delta": {"teacher-delta"}, "delta": {"delta"},
	"total epsilon": {"total-eps"}, "prior mean": {"prior-mean"}, "number of classes": {"classes"},
	"affected": {"affected"}, "accuracy": {"accuracy"}, "concentration": {"concentration"}, "value of abstaining": {"abstain"}, "gap": {"gap"},
	"clients n": {"n"}, "numbers per client k": {"k"}, "dimension d": {"d"}, "rho": {"rho"}, "bits per number": {"bits"}, "trials": {"trials"},
	"estimator": {"estimator"}, "beta": {"beta"}, "draws for beta": {"beta"},
	"budget epsilon": {"budget-eps", "eps"}, "budget delta": {"budget-delta", "delta"}, "queries": {"queries"}, "agreement": {"agreement"},
}

// nameFlag names the flag that settles a parameter, where the command has it.
func nameFlag(c *cobra.Command, err error) error {
	var parameter *check.Error
	if !errors.As(err, &parameter) {
		return err
	}
	if strings.Contains(err.Error(), "--") {
		return err
	}
	for _, flag := range flagsOf[parameter.Name] {
		if c.Flags().Lookup(flag) != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
	}
	return err
}

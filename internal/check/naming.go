package check

import (
	"errors"
	"fmt"
	"strings"
)

// Parameter is the name of a parameter as an argument of Named and Namedf.
type Parameter string

// Text is a text about parameters. A front end has names of its own for them, such as those of
// flags.
type Text struct {
	format string
	args   []any
}

// Named returns the text that fmt.Errorf makes of the same arguments, with each Parameter
// replaced by its name.
func Named(format string, args ...any) Text { return Text{format, args} }

// String has the names that libraries have for the parameters.
func (t Text) String() string { return t.By(func(p Parameter) string { return string(p) }) }

// By has the names that name returns, in errors among the arguments too.
func (t Text) By(name func(Parameter) string) string {
	args := make([]any, len(t.args))
	for i, arg := range t.args {
		switch arg := arg.(type) {
		case Parameter:
			args[i] = name(arg)
		case Text:
			args[i] = arg.By(name)
		case error:
			args[i] = errors.New(NamedBy(arg, name))
		default:
			args[i] = arg
		}
	}
	return fmt.Errorf(t.format, args...).Error()
}

// Names reports whether a parameter stands in the text.
func (t Text) Names() bool {
	names := false
	t.By(func(Parameter) string { names = true; return "" })
	return names
}

// named is an error with a text about parameters.
type named struct{ text Text }

// Namedf is fmt.Errorf with parameters: see Named.
func Namedf(format string, args ...any) error { return &named{Named(format, args...)} }

func (e *named) Error() string { return e.text.String() }

// Unwrap returns the errors among the arguments.
func (e *named) Unwrap() (errs []error) {
	for _, arg := range e.text.args {
		if err, ok := arg.(error); ok {
			errs = append(errs, err)
		}
	}
	return errs
}

// NamedBy returns the text of an error, in which the parameters of a Namedf have the names that
// name returns.
func NamedBy(err error, name func(Parameter) string) string {
	var e *named
	if !errors.As(err, &e) {
		return err.Error()
	}
	return strings.Replace(err.Error(), e.Error(), e.text.By(name), 1)
}

// MissingError is the error for parameters that must be given.
type MissingError struct{ error }

func (e *MissingError) Unwrap() error { return e.error }

// Missing returns the error that parameters must be given, one of each group; hint follows.
func Missing(hint Text, groups ...[]Parameter) error {
	formats := make([]string, len(groups))
	var args []any
	for i, group := range groups {
		for j, p := range group {
			formats[i] += []string{"%s", " (or %s", ", %s"}[min(j, 2)]
			args = append(args, p)
		}
		if len(group) > 1 {
			formats[i] += ")"
		}
	}
	return &MissingError{Namedf(Listed(formats, "and")+" must be given%s", append(args, hint)...)}
}

// Listed joins names, at least one, as a sentence does: "a, b and c".
func Listed(names []string, and string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " " + and + " " + names[last]
}

// settled is an error with the parameters that settle it.
type settled struct {
	error
	parameters []string
}

func (e settled) Unwrap() error        { return e.error }
func (e settled) Parameters() []string { return e.parameters }

// Parameters returns the parameter's name: it settles its own error.
func (e *Error) Parameters() []string { return []string{e.Name} }

// SettledBy returns an error that these parameters settle, where the one that broke its rule
// does not settle it, or not alone. "noise=calibrated" names a value with its parameter.
func SettledBy(err error, parameters ...string) error { return settled{err, parameters} }

// Settling returns the parameters that settle an error, nil where it states none. A library names
// parameters so; a front end has a name of its own for each, such as that of a flag.
func Settling(err error) []string {
	var e interface {
		error
		Parameters() []string
	}
	if errors.As(err, &e) {
		return e.Parameters()
	}
	return nil
}

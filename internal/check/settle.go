package check

import "errors"

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

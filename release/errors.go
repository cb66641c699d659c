package release

import "fmt"

// The kinds of failure that a front end reports apart, each with an exit code of its own.
// Errors of the ledger and of parameters keep their own types.
type (
	// UsageError says that what was asked for breaks a rule: another flag settles it.
	UsageError struct{ Err error }
	// InputError says what is wrong with a file that is read.
	InputError struct{ Err error }
	// OutputError says that a file could not be written.
	OutputError struct{ Err error }
	// LedgerError says that the ledger could not be written.
	LedgerError struct{ Err error }
)

func (e UsageError) Error() string  { return e.Err.Error() }
func (e InputError) Error() string  { return e.Err.Error() }
func (e OutputError) Error() string { return e.Err.Error() }
func (e LedgerError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error  { return e.Err }
func (e InputError) Unwrap() error  { return e.Err }
func (e OutputError) Unwrap() error { return e.Err }
func (e LedgerError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

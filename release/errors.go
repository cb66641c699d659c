package release

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
)

// The kinds of failure that a front end reports apart, each with an exit code of its own.
// All are pointers: var e *release.InputError; errors.As(err, &e) finds one. Errors of the ledger
// and of parameters keep their own types.
type (
	// UsageError is the error for a request that breaks a rule: another flag settles it.
	UsageError struct{ Err error }
	// InputError is the error for an input file with a fault.
	InputError struct{ Err error }
	// OutputError is the error for a file that could not be written.
	OutputError struct{ Err error }
	// LedgerError is the error for a ledger that could not be written.
	LedgerError struct{ Err error }
)

func (e *UsageError) Error() string  { return fmt.Sprint(e.Err) }
func (e *InputError) Error() string  { return fmt.Sprint(e.Err) }
func (e *OutputError) Error() string { return fmt.Sprint(e.Err) }
func (e *LedgerError) Error() string { return fmt.Sprint(e.Err) }

func (e *UsageError) Unwrap() error  { return e.Err }
func (e *InputError) Unwrap() error  { return e.Err }
func (e *OutputError) Unwrap() error { return e.Err }
func (e *LedgerError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error {
	return &UsageError{check.Namedf(format, args...)}
}

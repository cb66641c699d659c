package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/certify"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/lp"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/exitcode"
	"github.com/darrm/darrm/sweep"
	"github.com/darrm/darrm/votes"
)

// Usagef makes an error of how the command was called.
func Usagef(format string, args ...any) error {
	return &release.UsageError{Err: fmt.Errorf(format, args...)}
}

// FoundError is an error about files of which a survey was asked for as JSON, with the survey.
type FoundError struct {
	Err   error
	Found any
}

func (e *FoundError) Error() string { return e.Err.Error() }
func (e *FoundError) Unwrap() error { return e.Err }

// exitRules map errors that only this program meets to exit codes.
var exitRules = []exitcode.Rule{
	exitcode.As[*cache.DirError](exitcode.Output),
	exitcode.As[*certify.MechanismError](exitcode.Input),
	exitcode.As[*certify.StatementError](exitcode.Usage),
	exitcode.Is(exitcode.Uncertified, iteration.ErrNotCertified),
	exitcode.As[*data.SampleError](exitcode.Input), exitcode.As[*data.SharedError](exitcode.Input),
	exitcode.As[*solve.TooManyRowsError](exitcode.Usage),
	exitcode.As[*sweep.SizeError](exitcode.Usage),
	exitcode.As[*lp.StatusError](exitcode.Solver),
	exitcode.As[*pluralitysolve.LimitError](exitcode.Solver),
	exitcode.Is(exitcode.Solver, lp.ErrNoHiGHS), exitcode.Is(exitcode.Solver, lp.ErrTooLarge),
}

// exitCode returns the exit code of an error's kind.
func exitCode(ctx context.Context, err error) exitcode.Code {
	return exitcode.Of(ctx, err, exitRules...)
}

// hint returns advice for an error, "" where there is none.
func hint(err error) string {
	var dir *cache.DirError
	var few *federated.TooFewError
	var columns *votes.ColumnsError
	switch known := exitcode.Hint(err); {
	case known != "":
		return known
	case errors.As(err, &columns):
		return "darrm votes describe tells which columns of the files it takes for votes, and the flags that " +
			"state them"
	case errors.As(err, &few):
		return "the price does without reports only as far as --missing of darrm federated init says"
	case errors.As(err, &dir):
		return "use --cache-dir DIR for another directory, or --no-cache"
	case errors.Is(err, lp.ErrTooLarge), errors.Is(err, lp.ErrNoHiGHS):
		return "use the program with HiGHS: docs/installing.md says how to get it or build it"
	case errors.Is(err, context.DeadlineExceeded):
		return "allow more time with --timeout"
	}
	return ""
}

// writeJSONError writes the error of a command that was asked for JSON.
func writeJSONError(w io.Writer, err error, code exitcode.Code) {
	e := struct {
		Error string `json:"error"`
		Kind  string `json:"kind"`
		Code  int    `json:"exit_code"`
		Hint  string `json:"hint,omitempty"`
		Found any    `json:"found,omitempty"`
	}{errorText(err), exitcode.Kinds[code], int(code), hint(err), nil}
	var found *FoundError
	if errors.As(err, &found) {
		e.Found = found.Found
	}
	b, _ := json.Marshal(e) // strings and an int always marshal
	fmt.Fprintf(w, "%s\n", b)
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/silo"
	"github.com/darrm/darrm/sweep"
	"github.com/darrm/darrm/votes"
)

// exit is a process exit code, one for each kind of failure.
type exit int

const (
	exitOK          exit = 0
	exitFailure     exit = 1
	exitUsage       exit = 2
	exitInput       exit = 3
	exitUncertified exit = 4
	exitSolver      exit = 5
	exitOutput      exit = 6
	exitBudget      exit = 7
	exitLedger      exit = 8
	exitInterrupted exit = 130
)

// exitStatus is the text of "darrm help exit-codes".
const exitStatus = `
EXIT STATUS
  0    success
  1    a failure that none of the following describes
  2    a flag or parameter is wrong
  3    an input file is missing, unreadable or malformed
  4    a guarantee could not be certified; nothing was released
  5    the linear program was not solved, or a check not finished: no solver,
       too large, or out of time
  6    an output file, stdout or the cache could not be written
  7    the ledger refused: the budget or a rule does not allow it, or it was
       charged before; or a shuffler released the round before
  8    the ledger is damaged, was rolled back, could not be written or cannot be
       reached, or its secret cannot be used
  130  interrupted`

var exitKinds = map[exit]string{
	exitFailure: "failure", exitUsage: "usage", exitInput: "input", exitUncertified: "uncertified",
	exitSolver: "solver", exitOutput: "output", exitBudget: "budget", exitLedger: "ledger", exitInterrupted: "interrupted",
}

// The kinds of error that do not show in a type of their own are those of package release.
type (
	usageError  = release.UsageError
	inputError  = release.InputError
	outputError = release.OutputError
	ledgerError = release.LedgerError
)

func usagef(format string, args ...any) error { return usageError{Err: fmt.Errorf(format, args...)} }

// exitCode tells the kind of an error. Interruption comes first: whatever failed
// then failed because of it.
func exitCode(ctx context.Context, err error) exit {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	var (
		inLedger  ledgerError
		output    outputError
		dir       *cache.DirError
		violation *gamma.ViolationError
		mismatch  *gamma.MismatchError
		input     inputError
		format    *gamma.FormatError
		parse     *votes.ParseError
		sample    *data.SampleError
		usage     usageError
		parameter *constraints.ParameterError
		tooMany   *solve.TooManyRowsError
		tooLarge  *sweep.SizeError
		status    *lp.StatusError

		manyViolation *plurality.ViolationError
		manyMismatch  *plurality.MismatchError
		manyFormat    *plurality.FormatError
		manyLate      *pluralitysolve.LimitError
	)
	switch {
	case errors.Is(err, ledger.ErrRefused), errors.Is(err, rounds.ErrReleased):
		return exitBudget
	case errors.As(err, &inLedger), errors.Is(err, ledger.ErrDamaged), errors.Is(err, ledger.ErrBroken),
		errors.Is(err, ledger.ErrWrite), errors.Is(err, ledger.ErrSecret), errors.Is(err, ledger.ErrUnavailable):
		return exitLedger
	case errors.As(err, &output), errors.As(err, &dir):
		return exitOutput
	case errors.As(err, &violation), errors.As(err, &mismatch), errors.As(err, &manyViolation), errors.As(err, &manyMismatch), errors.Is(err, iteration.ErrNotCertified):
		return exitUncertified
	case errors.As(err, &input), errors.As(err, &format), errors.As(err, &manyFormat), errors.As(err, &parse), errors.As(err, &sample),
		errors.Is(err, shuffled.ErrPublicIsPrivate), errors.Is(err, ledger.ErrNotLedger), errors.Is(err, fs.ErrNotExist):
		return exitInput
	case errors.As(err, &usage), errors.As(err, &parameter), errors.As(err, &tooMany), errors.As(err, &tooLarge):
		return exitUsage
	case errors.As(err, &status), errors.As(err, &manyLate), errors.Is(err, lp.ErrNoHiGHS), errors.Is(err, lp.ErrTooLarge), errors.Is(err, context.DeadlineExceeded):
		return exitSolver
	}
	return exitFailure
}

// hint says what to do about an error, where that is known.
func hint(err error) string {
	var dir *cache.DirError
	var answered *silo.AnsweredError
	switch {
	case errors.As(err, &answered):
		return "send the answer that was made then; without it the silo sits this round out"
	case errors.Is(err, rounds.ErrReleased):
		return "use what was released then; the silos that came too late sit this round out"
	case errors.Is(err, ledger.ErrReplayed):
		return "a second answer would be a second release: use what was released then, if it was; another release, such as of votes that the teachers cast anew, needs another --request-id"
	case errors.Is(err, ledger.ErrSameVotes):
		return "to answer the same votes again, give --draw the earlier name; to say that the teachers cast these votes anew, give it a new one"
	case errors.Is(err, ledger.ErrDraw):
		return "give --draw another name for other votes"
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
func writeJSONError(w io.Writer, err error, code exit) {
	e := struct {
		Error string `json:"error"`
		Kind  string `json:"kind"`
		Code  int    `json:"exit_code"`
		Hint  string `json:"hint,omitempty"`
	}{errorText(err), exitKinds[code], int(code), hint(err)}
	b, _ := json.Marshal(e) // strings and an int always marshal
	fmt.Fprintf(w, "%s\n", b)
}

package lp

import (
	"context"
	"errors"
	"fmt"
)

// Status is the outcome of a solve.
type Status int

// The zero Status is Unknown, so that a Solution nobody filled in claims nothing.
const (
	Unknown        Status = iota // the solver cannot say
	Optimal                      // solved, and checked within Tolerance
	Infeasible                   // no x satisfies all rows and bounds
	Unbounded                    // the objective falls for ever
	TimeLimit                    // the deadline passed
	IterationLimit               // the solver's own cap on iterations
	Interrupted                  // the context was cancelled
	Numerical                    // the solver failed, or its answer failed the check
)

var statusNames = [...]string{
	Unknown:        "unknown",
	Optimal:        "optimal",
	Infeasible:     "infeasible",
	Unbounded:      "unbounded",
	TimeLimit:      "time limit",
	IterationLimit: "iteration limit",
	Interrupted:    "interrupted",
	Numerical:      "numerical trouble",
}

// String returns the status in words.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Errors that callers may want to tell apart, with errors.Is.
var (
	// ErrClosed is returned by every method of a Solver after Close, but Close.
	ErrClosed = errors.New("lp: solver is closed")
	// ErrNoHiGHS is returned by NewHiGHS in a build without HiGHS.
	ErrNoHiGHS = errors.New(
		`lp: this build has no HiGHS; install it (apt-get install libhighs-dev, brew install highs) ` +
			`or run eval "$(scripts/highs env)", and build with CGO_ENABLED=1 and -tags highs`)
	// ErrTooLarge is returned by the solver of NewSimplex for programs beyond its size.
	ErrTooLarge = errors.New(
		"lp: linear program is too large for plain Go's simplex method; build with -tags highs, which " +
			"needs HiGHS (apt-get install libhighs-dev, brew install highs, or eval " +
			"\"$(scripts/highs env)\")")
)

// StatusError is the error of a Solve that did not end in Optimal.
type StatusError struct {
	Status Status
	Detail string // what the solver said; may be empty
	Err    error  // the cause, such as context.Canceled; may be nil
}

func (e *StatusError) Error() string {
	text := "lp: not solved: " + e.Status.String()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause, so that errors.Is(err, context.Canceled) works.
func (e *StatusError) Unwrap() error { return e.Err }

func statusErrorf(s Status, format string, args ...any) *StatusError {
	return &StatusError{Status: s, Detail: fmt.Sprintf(format, args...)}
}

// contextError returns the StatusError of a context that is done, nil of one that is not.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &StatusError{Status: TimeLimit, Err: err}
	default:
		return &StatusError{Status: Interrupted, Err: err}
	}
}

// failedSolution is the Solution that goes with err.
func failedSolution(err error) Solution {
	var s *StatusError
	if errors.As(err, &s) {
		return Solution{Status: s.Status}
	}
	return Solution{}
}

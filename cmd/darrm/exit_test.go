package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/sweep"
	"github.com/darrm/darrm/votes"
)

// Every kind of error keeps its exit code however often it is wrapped. The kinds
// that a script cannot provoke are tested here only.
func TestExitCodes(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		err  error
		want exit
	}{
		{"unknown", nil, errors.New("boom"), exitFailure},
		{"usage", nil, usagef("x = %d", 1), exitUsage},
		{"parameter", nil, &constraints.ParameterError{Name: "m"}, exitUsage},
		{"too many rows", nil, &solve.TooManyRowsError{}, exitUsage},
		{"too large a grid", nil, &sweep.SizeError{}, exitUsage},
		{"input", nil, inputError{Err: errors.New("x")}, exitInput},
		{"votes", nil, &votes.ParseError{}, exitInput},
		{"format", nil, &gamma.FormatError{Reason: errors.New("x")}, exitInput},
		{"a bad parameter in a file", nil, &gamma.FormatError{Reason: &constraints.ParameterError{}},
			exitInput},
		{"missing file", nil, fs.ErrNotExist, exitInput},
		{"violation", nil, &gamma.ViolationError{}, exitUncertified},
		{"mismatch", nil, &gamma.MismatchError{Wrong: []string{"x"}}, exitUncertified},
		{"a training that cannot be accounted for", nil, iteration.ErrNotCertified, exitUncertified},
		{"a record that a task cannot use", nil, &data.SampleError{Err: &constraints.ParameterError{}},
			exitInput},
		{"public records that equal private ones", nil, &data.SharedError{}, exitInput},
		{"infeasible", nil, &lp.StatusError{Status: lp.Infeasible}, exitSolver},
		{"numerical", nil, &lp.StatusError{Status: lp.Numerical}, exitSolver},
		{"too large", nil, lp.ErrTooLarge, exitSolver},
		{"no HiGHS", nil, lp.ErrNoHiGHS, exitSolver},
		{"deadline", nil, context.DeadlineExceeded, exitSolver},
		{"output", nil, outputError{Err: fs.ErrPermission}, exitOutput},
		{"output below a directory that is missing", nil, outputError{Err: fs.ErrNotExist}, exitOutput},
		{"cache directory", nil, &cache.DirError{Err: fs.ErrNotExist}, exitOutput},
		{"beyond the budget", nil, &ledger.ExceededError{}, exitBudget},
		{"charged before", nil, &ledger.ReplayedError{}, exitBudget},
		{"conflict", nil, &ledger.ConflictError{}, exitBudget},
		{"unpaid", nil, &ledger.UnpaidError{}, exitBudget},
		{"another relation", nil, ledger.ErrRelation, exitBudget},
		{"another ensemble", nil, ledger.ErrEnsemble, exitBudget},
		{"other votes", nil, ledger.ErrDraw, exitBudget},
		{"a draw answered", nil, &ledger.DrawnError{}, exitBudget},
		{"votes of another draw", nil, &ledger.SameVotesError{}, exitBudget},
		{"a refused charge of an output", nil, outputError{Err: ledger.ErrExceeded}, exitBudget},
		{"a round released before", nil, rounds.ErrReleased, exitBudget},
		{"an emptied book", nil, rounds.ErrOtherBook, exitBudget},
		{"a book that cannot be written", nil, &rounds.BookError{Err: fs.ErrNotExist}, exitOutput},
		{"a round of another plan", nil, rounds.ErrFormat, exitInput},
		{"damaged ledger", nil, ledger.ErrDamaged, exitLedger},
		{"ledger rolled back", nil, ledger.ErrRolledBack, exitLedger},
		{"broken handle", nil, ledger.ErrBroken, exitLedger},
		{"full disk below a ledger", nil, fmt.Errorf("%w: %w", ledger.ErrWrite, syscall.ENOSPC),
			exitLedger},
		{"read-only ledger", nil, fmt.Errorf("%w: %w", ledger.ErrWrite, fs.ErrPermission), exitLedger},
		{"no secret", nil, fmt.Errorf("%w: %w", ledger.ErrSecret, fs.ErrNotExist), exitLedger},
		{"result not noted", nil, ledgerError{Err: fs.ErrNotExist}, exitLedger},
		{"no ledger", nil, ledger.ErrNotLedger, exitInput},
		{"interrupted", cancelled, context.Canceled, exitInterrupted},
		{"interrupted while reading", cancelled, inputError{Err: context.Canceled}, exitInterrupted},
		{"an error of its own, then interrupted", cancelled, usagef("x"), exitUsage},
	}
	for _, tt := range tests {
		if tt.ctx == nil {
			tt.ctx = context.Background()
		}
		for depth := range 3 {
			if got := exitCode(tt.ctx, tt.err); got != tt.want {
				t.Errorf("%s, wrapped %d times: exit code %d, want %d", tt.name, depth, got, tt.want)
			}
			tt.err = fmt.Errorf("more: %w", tt.err)
		}
	}
}

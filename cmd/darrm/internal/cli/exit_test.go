package cli

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
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/exitcode"
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
		want exitcode.Code
	}{
		{"unknown", nil, errors.New("boom"), exitcode.Failure},
		{"usage", nil, Usagef("x = %d", 1), exitcode.Usage},
		{"parameter", nil, &constraints.ParameterError{Name: "m"}, exitcode.Usage},
		{"too many rows", nil, &solve.TooManyRowsError{}, exitcode.Usage},
		{"too large a grid", nil, &sweep.SizeError{}, exitcode.Usage},
		{"input", nil, &release.InputError{Err: errors.New("x")}, exitcode.Input},
		{"votes", nil, &votes.ParseError{}, exitcode.Input},
		{"format", nil, &gamma.FormatError{Reason: errors.New("x")}, exitcode.Input},
		{"a bad parameter in a file", nil, &gamma.FormatError{Reason: &constraints.ParameterError{}},
			exitcode.Input},
		{"missing file", nil, fs.ErrNotExist, exitcode.Input},
		{"violation", nil, &gamma.ViolationError{}, exitcode.Uncertified},
		{"mismatch", nil, &gamma.MismatchError{Wrong: []string{"x"}}, exitcode.Uncertified},
		{"infeasible", nil, &lp.StatusError{Status: lp.Infeasible}, exitcode.Solver},
		{"numerical", nil, &lp.StatusError{Status: lp.Numerical}, exitcode.Solver},
		{"too large", nil, lp.ErrTooLarge, exitcode.Solver},
		{"no HiGHS", nil, lp.ErrNoHiGHS, exitcode.Solver},
		{"deadline", nil, context.DeadlineExceeded, exitcode.Solver},
		{"output", nil, &release.OutputError{Err: fs.ErrPermission}, exitcode.Output},
		{"output below a directory that is missing", nil, &release.OutputError{Err: fs.ErrNotExist},
			exitcode.Output},
		{"cache directory", nil, &cache.DirError{Err: fs.ErrNotExist}, exitcode.Output},
		{"beyond the budget", nil, &ledger.ExceededError{}, exitcode.Budget},
		{"charged before", nil, &ledger.ReplayedError{}, exitcode.Budget},
		{"conflict", nil, &ledger.ConflictError{}, exitcode.Budget},
		{"unpaid", nil, ledger.ErrUnpaid, exitcode.Budget},
		{"another relation", nil, ledger.ErrRelation, exitcode.Budget},
		{"another ensemble", nil, ledger.ErrEnsemble, exitcode.Budget},
		{"other votes", nil, ledger.ErrDraw, exitcode.Budget},
		{"a draw answered", nil, ledger.ErrDrawn, exitcode.Budget},
		{"votes of another draw", nil, ledger.ErrSameVotes, exitcode.Budget},
		{"a refused charge of an output", nil, &release.OutputError{Err: ledger.ErrExceeded},
			exitcode.Budget},
		{"damaged ledger", nil, ledger.ErrDamaged, exitcode.Ledger},
		{"ledger rolled back", nil, ledger.ErrRolledBack, exitcode.Ledger},
		{"broken handle", nil, ledger.ErrBroken, exitcode.Ledger},
		{"full disk below a ledger", nil, fmt.Errorf("%w: %w", ledger.ErrWrite, syscall.ENOSPC),
			exitcode.Ledger},
		{"read-only ledger", nil, fmt.Errorf("%w: %w", ledger.ErrWrite, fs.ErrPermission),
			exitcode.Ledger},
		{"no secret", nil, fmt.Errorf("%w: %w", ledger.ErrSecret, fs.ErrNotExist), exitcode.Ledger},
		{"result not noted", nil, &release.LedgerError{Err: fs.ErrNotExist}, exitcode.Ledger},
		{"no ledger", nil, ledger.ErrNotLedger, exitcode.Input},
		{"interrupted", cancelled, context.Canceled, exitcode.Interrupted},
		{"interrupted while reading", cancelled, &release.InputError{Err: context.Canceled},
			exitcode.Interrupted},
		{"an error of its own, then interrupted", cancelled, Usagef("x"), exitcode.Usage},
	}
	for _, tt := range tests {
		a := &App{}
		if tt.ctx == nil {
			tt.ctx = context.Background()
		}
		for depth := range 3 {
			if got := a.exitCode(tt.ctx, tt.err); got != tt.want {
				t.Errorf("%s, wrapped %d times: exit code %d, want %d", tt.name, depth, got, tt.want)
			}
			tt.err = fmt.Errorf("more: %w", tt.err)
		}
	}
}

package learning

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release/exitcode"
	"github.com/darrm/darrm/release/silo"
)

// Every kind of failure keeps its code and its hint however often it is wrapped, and has no code of
// its own without these rules.
func TestRules(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want exitcode.Code
		hint string
	}{
		{iteration.ErrNotCertified, exitcode.Uncertified, ""},
		{&data.SampleError{Err: &constraints.ParameterError{}}, exitcode.Input, ""},
		{&data.SharedError{}, exitcode.Input, ""},
		{rounds.ErrReleased, exitcode.Budget, "use what was released then; the silos"},
		{rounds.ErrOtherBook, exitcode.Budget, "--new-book"},
		{&rounds.BookError{Err: fs.ErrNotExist}, exitcode.Output, ""},
		{rounds.ErrFormat, exitcode.Input, ""},
		{rounds.ErrPartialRound, exitcode.Input, ""},
		{&silo.AnsweredError{Err: ledger.ErrReplayed}, exitcode.Budget, "send the answer that was made then"},
		{&federated.TooFewError{}, exitcode.Failure, "--missing of darrm federated init"},
	} {
		for depth := range 3 {
			if got := exitcode.Of(t.Context(), tt.err, Rules.Codes...); got != tt.want {
				t.Errorf("%v, wrapped %d times: exit code %d, want %d", tt.err, depth, got, tt.want)
			}
			if got := exitcode.Hint(tt.err, Rules.Hints...); !strings.Contains(got, tt.hint) ||
				(got == "") != (tt.hint == "") {
				t.Errorf("%v, wrapped %d times: hint %q, want %q", tt.err, depth, got, tt.hint)
			}
			tt.err = fmt.Errorf("more: %w", tt.err)
		}
	}
	if got := exitcode.Of(context.Background(), errors.New("boom"), Rules.Codes...); got != exitcode.Failure {
		t.Errorf("an error of no kind has the code %d", got)
	}
}

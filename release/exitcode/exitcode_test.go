package exitcode

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// An error of several kinds has the first code of the order, and each pair of neighbours in the order
// is told apart.
func TestOrderOfCodes(t *testing.T) {
	kinds := []struct {
		code Code
		err  error
	}{
		{Budget, ledger.ErrRefused},
		{Ledger, ledger.ErrDamaged},
		{Output, &release.OutputError{Err: errors.New("x")}},
		{Uncertified, &gamma.ViolationError{}},
		{Input, &release.InputError{Err: errors.New("x")}},
		{Usage, &check.Error{Name: "x", Value: 1, Rule: "2"}},
		{Solver, context.DeadlineExceeded},
	}
	for i, first := range kinds {
		if got := Of(t.Context(), first.err); got != first.code {
			t.Errorf("%v has the code %d, want %d", first.err, got, first.code)
		}
		for _, second := range kinds[i+1:] {
			for _, err := range []error{fmt.Errorf("%w: %w", first.err, second.err),
				fmt.Errorf("%w: %w", second.err, first.err)} {
				if got := Of(t.Context(), err); got != first.code {
					t.Errorf("%v has the code %d, want %d", err, got, first.code)
				}
			}
		}
	}
	if len(kinds) != len(order) {
		t.Errorf("%d kinds, but %d are in the order", len(kinds), len(order))
	}
	if got := Of(t.Context(), errors.New("x")); got != Failure {
		t.Errorf("an error of no kind has the code %d", got)
	}
}

// Interruption wins only where it happened.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	failed := fmt.Errorf("%w: %w", context.Canceled, ledger.ErrRefused)
	if got := Of(ctx, failed); got != Budget {
		t.Errorf("before: %d", got)
	}
	cancel()
	if got := Of(ctx, failed); got != Interrupted {
		t.Errorf("after: %d", got)
	}
	if got := Of(ctx, ledger.ErrRefused); got != Budget {
		t.Errorf("what failed for another reason: %d", got)
	}
}

// A program's own rules have their place in the order.
func TestOwnRules(t *testing.T) {
	own := errors.New("own")
	err := fmt.Errorf("%w: %w", own, context.DeadlineExceeded)
	if got := Of(t.Context(), err, Is(Output, own)); got != Output {
		t.Errorf("%d", got)
	}
	if got := Of(t.Context(), err); got != Solver {
		t.Errorf("%d", got)
	}
}

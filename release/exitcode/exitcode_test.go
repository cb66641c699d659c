package exitcode

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// Scripts rest on the numbers: they are those of the help, 0 is success alone, and each failure has a
// name.
func TestNumbers(t *testing.T) {
	fixed := map[Code]string{OK: "0 success", Failure: "1 a failure", Usage: "2 a flag", Input: "3 an input file",
		Uncertified: "4 a guarantee", Solver: "5 the linear program", Output: "6 an output file",
		Budget: "7 the ledger refused", Ledger: "8 the ledger is damaged", Interrupted: "130 interrupted"}
	lines := map[string]bool{}
	for line := range strings.Lines(Status) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for code, want := range fixed {
		found := false
		for line := range lines {
			found = found || strings.HasPrefix(line, want)
		}
		if number, _, _ := strings.Cut(want, " "); !found || fmt.Sprint(int(code)) != number {
			t.Errorf("%d: the help has a line %q: %t", code, want, found)
		}
		if (Kinds[code] == "") != (code == OK) {
			t.Errorf("%d is called %q", code, Kinds[code])
		}
	}
	if len(fixed) != len(Kinds)+1 {
		t.Errorf("%d codes, %d of them with names", len(fixed), len(Kinds))
	}
}

// What a second release would be is advised against, each in its own words.
func TestHints(t *testing.T) {
	for want, err := range map[string]error{
		"a second answer would be a second release": ledger.ErrReplayed,
		"keep this message for yourself":            ledger.ErrSameVotes,
		"another name for other votes":              ledger.ErrDraw,
	} {
		if got := Hint(fmt.Errorf("of a round: %w", err)); !strings.Contains(got, want) {
			t.Errorf("%v: %q lacks %q", err, got, want)
		}
	}
	own := Advice{func(error) bool { return true }, "own"}
	if got := Hint(ledger.ErrDraw, own); got != "own" {
		t.Errorf("a program's own advice comes after %q", got)
	}
	if got := Hint(ledger.ErrRefused); got != "" {
		t.Errorf("no advice is known, but %q", got)
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

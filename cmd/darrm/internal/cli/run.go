package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/certify"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/lp"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/exitcode"
	"github.com/darrm/darrm/sweep"
	"github.com/darrm/darrm/votes"
)

// grace is the time that a command has to end after a signal, unless it sets its own (app.grace).
// Every loop ends sooner. A system call may not, such as the opening of a pipe that nobody reads.
// Then the program ends itself. That is safe: a killed program loses no charge, and the next one
// removes its temporary files.
const grace = 700 * time.Millisecond

// Run executes the command line with the commands of groups and returns the exit code. rules are the
// exit codes and hints of what only some of these commands meet.
func Run(args []string, groups []Group, rules exitcode.Rules) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := &App{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, rules: rules}
	app.grace.Store(int64(grace))
	var ended atomic.Bool // by the command or, after a signal, without it
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the program at once
		app.interrupted()
		limit := time.Duration(app.grace.Load())
		time.AfterFunc(limit, func() {
			if ended.CompareAndSwap(false, true) {
				app.complain(args, fmt.Errorf("interrupted: what was being done did not end within %v", limit),
					exitcode.Interrupted)
				os.Exit(int(exitcode.Interrupted))
			}
		})
	})
	root := NewRoot(app, Needed(groups, args))
	root.SetArgs(args)
	c, err := oneDash(root, args)
	if err == nil {
		c, err = root.ExecuteContextC(ctx)
	}
	err = NameFlag(c, err)
	if !ended.CompareAndSwap(false, true) {
		select {} // the program ends elsewhere
	}
	if err == nil {
		return int(exitcode.OK)
	}
	code := app.exitCode(ctx, err)
	if code == exitcode.Interrupted {
		err = app.interruption(ctx, err)
	}
	app.complain(args, err, code)
	return int(code)
}

// Allow gives a command more than the usual time to end after a signal.
func (a *App) Allow(more time.Duration) { a.grace.Store(int64(grace + more)) }

// complain writes an error to stderr.
func (a *App) complain(args []string, err error, code exitcode.Code) {
	if a.JSON || asksForJSON(args) {
		a.writeJSONError(err, code)
		return
	}
	a.tell("darrm: ", printable(errorText(err)))
	if h := a.hint(err); h != "" {
		a.tell("darrm: hint: ", printable(h))
	}
}

// tell writes an error: in one line for programs, broken into several on a terminal.
func (a *App) tell(first, text string) {
	if terminal.Is(a.Err) {
		text = strings.TrimPrefix(terminal.Hang(terminal.Width(a.Err), first, "  ", text), first)
	}
	fmt.Fprintf(a.Err, "%s%s\n", first, text)
}

// asksForJSON finds --json in arguments of which parsing stopped at an earlier, wrong flag.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// oneDash refuses the name of a flag after one dash: -out would be -o with the value "ut". It
// returns the command that is meant.
func oneDash(root *cobra.Command, args []string) (*cobra.Command, error) {
	c, args, err := root.Find(args)
	if err != nil {
		return root, nil // the command itself is wrong, which parsing says better
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || len(name) < 2 || i > 0 && takesValue(c, args[i-1]) ||
			c.Flag(name) == nil {
			continue
		}
		return c, Usagef("-%s is no flag: did you mean --%s?", name, name)
	}
	return c, nil
}

// takesValue reports whether the argument after arg is the value of a flag.
func takesValue(c *cobra.Command, arg string) bool {
	name, long := strings.CutPrefix(arg, "--")
	if !long || strings.Contains(name, "=") {
		return false
	}
	f := c.Flag(name)
	return f != nil && f.NoOptDefVal == ""
}

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

// exitRules map errors that only this program's solvers, cache and sweeps meet to exit codes. What
// rooms of commands meet beside them comes with Run.
var exitRules = []exitcode.Rule{
	exitcode.As[*cache.DirError](exitcode.Output),
	exitcode.As[*certify.MechanismError](exitcode.Input),
	exitcode.As[*certify.StatementError](exitcode.Usage),
	exitcode.As[*solve.TooManyRowsError](exitcode.Usage),
	exitcode.As[*sweep.SizeError](exitcode.Usage),
	exitcode.As[*lp.StatusError](exitcode.Solver),
	exitcode.As[*pluralitysolve.LimitError](exitcode.Solver),
	exitcode.Is(exitcode.Solver, lp.ErrNoHiGHS), exitcode.Is(exitcode.Solver, lp.ErrTooLarge),
}

// exitCode returns the exit code of an error's kind.
func (a *App) exitCode(ctx context.Context, err error) exitcode.Code {
	return exitcode.Of(ctx, err, slices.Concat(exitRules, a.rules.Codes)...)
}

// hint returns advice for an error, "" where there is none.
func (a *App) hint(err error) string {
	var dir *cache.DirError
	var columns *votes.ColumnsError
	switch known := exitcode.Hint(err, a.rules.Hints...); {
	case known != "":
		return known
	case errors.As(err, &columns):
		return "darrm votes describe tells which columns of the files it takes for votes, and the flags that " +
			"state them"
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
func (a *App) writeJSONError(err error, code exitcode.Code) {
	e := struct {
		Error string `json:"error"`
		Kind  string `json:"kind"`
		Code  int    `json:"exit_code"`
		Hint  string `json:"hint,omitempty"`
		Found any    `json:"found,omitempty"`
	}{errorText(err), exitcode.Kinds[code], int(code), a.hint(err), nil}
	var found *FoundError
	if errors.As(err, &found) {
		e.Found = found.Found
	}
	b, _ := json.Marshal(e) // strings and an int always marshal
	fmt.Fprintf(a.Err, "%s\n", b)
}

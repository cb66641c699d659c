package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release/exitcode"
)

// grace is the time that a command has to end after a signal, unless it sets its own (app.grace).
// Every loop ends sooner. A system call may not, such as the opening of a pipe that nobody reads.
// Then the program ends itself. That is safe: a killed program loses no charge, and the next one
// removes its temporary files.
const grace = 700 * time.Millisecond

// Run executes the command line with the commands of groups and returns the exit code.
func Run(args []string, groups []Group) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := &App{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
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
	code := exitCode(ctx, err)
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
		writeJSONError(a.Err, err, code)
		return
	}
	a.tell("darrm: ", printable(errorText(err)))
	if h := hint(err); h != "" {
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

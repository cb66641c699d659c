// Command darrm computes optimal private majority votes and releases private
// labels with them.
//
// Rules of the interface: the result goes to stdout, everything else to stderr. A
// command either succeeds or leaves nothing behind: output files appear whole or
// not at all. Errors are one line, lower case, and name the value and the rule. Exit
// codes are listed in exit.go and in each command's help.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:])) }

// run executes the command line and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once, should the first not be heeded.
	context.AfterFunc(ctx, stop)
	app := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	root := newRoot(app)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return int(exitOK)
	}
	code := exitCode(ctx, err)
	if code == exitInterrupted {
		err = fmt.Errorf("interrupted: %w", err)
	}
	if app.json || asksForJSON(args) {
		writeJSONError(os.Stderr, err, code)
	} else {
		fmt.Fprintf(os.Stderr, "darrm: %s\n", printable(err.Error()))
		if h := hint(err); h != "" {
			fmt.Fprintf(os.Stderr, "darrm: hint: %s\n", printable(h))
		}
	}
	return int(code)
}

// asksForJSON finds --json where parsing stopped at a wrong flag before it.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

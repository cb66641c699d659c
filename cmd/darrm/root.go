package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
)

// app holds the state that all commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	json     bool
	quiet    bool
	progress string // --progress
	stage    atomic.Pointer[stage]
	grace    atomic.Int64 // nanoseconds that a command may go on after a signal
}

// newRoot makes the program of the groups' commands.
func newRoot(a *app, groups []group) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "darrm",
		Short: "Optimal private majority votes, certified",
		Long: `darrm turns the votes of several models into labels that may be published. The
models, called teachers, were trained on private records. darrm adds the least noise
that still hides every record, proves that it does, and keeps the bill.

Start with "darrm plan": it says which mechanism to use for a privacy budget, and
prints the "darrm aggregate" command that releases the labels.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if showVersion {
				return a.deliverVersion()
			}
			return c.Help()
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false,
		"print the program's version and its LP solver's")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print the result as JSON, and errors too")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "say nothing on stderr but errors")
	root.PersistentFlags().StringVar(&a.progress, "progress", progressAuto,
		`"auto" shows progress on a terminal, "json" writes it to stderr as lines of JSON, for programs that read along`)
	oneOf(root, "progress", progressAuto, progressJSON)
	cobra.EnableCommandSorting = false // groups list the most used first
	addGroups(root, a, groups)
	root.AddCommand(newExitCodes())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(a.page(a.out), c) })
	root.SetFlagErrorFunc(flagError)
	wrapArgs(root)
	completeArgs(root)
	return root
}

// wrapArgs makes every complaint about arguments a usage error; cobra's own are
// plain errors.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				if !c.HasSubCommands() {
					return release.UsageError{Err: fmt.Errorf("%s, but the command is: %s (see %s --help)", given(args),
						c.UseLine(), c.CommandPath())}
				}
				meant := ""
				if len(args) > 0 {
					c.SuggestionsMinimumDistance = 2
					meant = didYouMean("", c.SuggestionsFor(args[0]))
				}
				return release.UsageError{Err: fmt.Errorf("%w%s (see %s --help)", err, meant, c.CommandPath())}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// given names arguments, the first of many.
func given(args []string) string {
	const most = 3
	var names []string
	for i, arg := range args {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, strconv.Quote(arg))
	}
	switch len(names) {
	case 0:
		return "no argument is given"
	case 1:
		return names[0] + " is given"
	}
	return strings.Join(names, ", ") + " are given"
}

// require returns a usage error naming the flags that were not given. "a|b" stands
// for exactly one of two flags.
func require(c *cobra.Command, flags ...string) error {
	var missing []string
	for _, f := range flags {
		given := 0
		alternatives := strings.Split(f, "|")
		for _, name := range alternatives {
			if c.Flags().Changed(name) {
				given++
			}
		}
		switch {
		case given == 0:
			name := "--" + alternatives[0]
			if len(alternatives) > 1 {
				name += " (or --" + strings.Join(alternatives[1:], ", --") + ")"
			}
			missing = append(missing, name)
		case given > 1:
			return usagef("--%s exclude each other", strings.Join(alternatives, " and --"))
		}
	}
	if len(missing) > 0 {
		nothing := ""
		if slices.Contains(missing, "--eps") && slices.Contains(missing, "--teacher-delta") {
			nothing = "; teachers that promise nothing have --eps inf, and no --teacher-delta"
		}
		return usagef("%s must be given%s%s", strings.Join(missing, " and "), nothing, seeHelp(c))
	}
	return nil
}

func seeHelp(c *cobra.Command) string { return fmt.Sprintf(" (see %s --help)", c.CommandPath()) }

// page is w for people, as wide as stdout.
func (a *app) page(w io.Writer) *terminal.Page {
	return &terminal.Page{Writer: w, Width: terminal.Width(a.out)}
}

// print delivers the whole result on stdout, for people.
func (a *app) print(write func(*terminal.Page) error) error {
	return a.deliver("", func(w io.Writer) error { return write(a.page(w)) })
}

// talk is stderr for people.
func (a *app) talk() *terminal.Page {
	w := a.err
	if a.quiet {
		w = io.Discard
	}
	return &terminal.Page{Writer: w, Width: terminal.Width(a.err)}
}

// fact writes a title and its text to stderr.
func (a *app) fact(title, text string) { a.talk().Fact(title, printable(text)) }

// say writes talk to stderr. Texts and errors among args can hold names: they are printable.
func (a *app) say(format string, args ...any) {
	for i, arg := range args {
		switch x := arg.(type) {
		case string:
			args[i] = printable(x)
		case error:
			args[i] = printable(x.Error())
		}
	}
	w := a.talk()
	if text, apart := strings.CutPrefix(format, "\n"); apart {
		format = text
		w.Printf("\n")
	}
	w.Text("  ", fmt.Sprintf(format, args...))
}

// deliver writes the whole result: to the file of --out, atomically, or to stdout where the
// path is "" or "-".
func (a *app) deliver(path string, write func(io.Writer) error) error {
	return a.deliverTo("out", path, write)
}

// deliverTo is deliver for another flag.
func (a *app) deliverTo(flag, path string, write func(io.Writer) error) error {
	if path != "" && path != "-" {
		if err := (release.FileOutput{Path: path, Flag: flag}).CheckPlace(); err != nil {
			return err
		}
		if err := atomicfile.Write(path, 0o644, write); err != nil {
			return release.OutputError{Err: fmt.Errorf("--%s: %w", flag, err)}
		}
		return nil
	}
	// Everything is rendered before the first byte goes out: an error while
	// rendering leaves stdout empty.
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	w := bufio.NewWriter(a.out)
	if _, err := w.Write(b.Bytes()); err != nil {
		return release.OutputError{Err: fmt.Errorf("stdout: %w", err)}
	}
	if err := w.Flush(); err != nil {
		return release.OutputError{Err: fmt.Errorf("stdout: %w", err)}
	}
	return nil
}

// deliverJSON is deliver for a value, indented.
func (a *app) deliverJSON(path string, v any) error {
	return a.deliver(path, func(w io.Writer) error { return encodeJSON(w, v) })
}

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

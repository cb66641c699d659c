package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/exitcode"
)

// App holds the state that all commands share.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool
	Quiet    bool
	rules    exitcode.Rules // of the rooms of commands
	progress string         // --progress
	stage    atomic.Pointer[stage]
	grace    atomic.Int64 // nanoseconds that a command may go on after a signal
}

// NewRoot makes the program of the groups' commands.
func NewRoot(a *App, groups []Group) *cobra.Command {
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
				return a.DeliverVersion()
			}
			return c.Help()
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false,
		"print the program's version and its LP solver's")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print the result as JSON, and errors too")
	root.PersistentFlags().BoolVarP(&a.Quiet, "quiet", "q", false, "print errors alone on stderr")
	root.PersistentFlags().StringVar(&a.progress, "progress", progressAuto,
		`"auto" shows progress on a terminal; "json" writes it to stderr as JSON Lines, for programs`)
	OneOf(root, "progress", progressAuto, progressJSON)
	var all bool
	root.PersistentFlags().BoolFunc("help-all", "print the whole text, and explain every flag",
		func(string) error {
			all = true
			return pflag.ErrHelp
		})
	cobra.EnableCommandSorting = false // groups list the most used first
	addGroups(root, a, groups)
	root.AddCommand(newExitCodes())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(a.Page(a.Out), c, all) })
	root.SetFlagErrorFunc(FlagError)
	wrapArgs(root)
	completeArgs(root)
	return root
}

// wrapArgs makes every complaint about arguments, and about flags that exclude each other, a usage
// error; cobra's own are plain errors.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				if !c.HasSubCommands() {
					return &release.UsageError{Err: fmt.Errorf("%s, but the command is: %s (see %s --help)",
						given(args),
						c.UseLine(), c.CommandPath())}
				}
				meant := ""
				if len(args) > 0 {
					c.SuggestionsMinimumDistance = 2
					meant = DidYouMean("", c.SuggestionsFor(args[0]))
				}
				return &release.UsageError{Err: fmt.Errorf("%w%s (see %s --help)", err, meant, c.CommandPath())}
			}
			return CheckExcluded(c)
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// given quotes the first arguments for an error.
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

// Require returns a usage error naming the flags that were not given. "a|b" stands
// for exactly one of two flags.
func Require(c *cobra.Command, flags ...string) error {
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
			return Usagef("--%s exclude each other", strings.Join(alternatives, " and --"))
		}
	}
	if len(missing) > 0 {
		nothing := ""
		if slices.Contains(missing, "--eps") && slices.Contains(missing, "--teacher-delta") {
			nothing = "; teachers that promise nothing have --eps inf, and no --teacher-delta"
		} else if slices.Contains(missing, "--budget-delta") || slices.Contains(missing, "--delta") {
			nothing = "; a δ far below one over the number of records is yours to choose, such as 1e-6 for " +
				"thousands of records; 0 is the strictest"
		}
		return Usagef("%s must be given%s%s", check.Listed(missing, "and"), nothing, seeHelp(c))
	}
	return nil
}

// Refuse returns a usage error about the first of these flags that is given: its name, and what text says of it.
func Refuse(c *cobra.Command, text string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return Usagef("--%s %s", name, text)
		}
	}
	return nil
}

func seeHelp(c *cobra.Command) string { return fmt.Sprintf(" (see %s --help)", c.CommandPath()) }

// Page returns w as a page for people, as wide as stdout.
func (a *App) Page(w io.Writer) *terminal.Page {
	return &terminal.Page{Writer: w, Width: terminal.Width(a.Out)}
}

// Print delivers the whole result on stdout, for people.
func (a *App) Print(write func(*terminal.Page) error) error {
	return a.Deliver("", func(w io.Writer) error { return write(a.Page(w)) })
}

// Talk returns stderr as a page for people; it discards all where --quiet is given.
func (a *App) Talk() *terminal.Page {
	w := a.Err
	if a.Quiet {
		w = io.Discard
	}
	return &terminal.Page{Writer: w, Width: terminal.Width(a.Err)}
}

// Fact writes a title and its text to stderr.
func (a *App) Fact(title, text string) { a.Talk().Fact(title, printable(text)) }

// Say writes talk to stderr. Texts and errors among args can hold names: they are printable.
func (a *App) Say(format string, args ...any) {
	for i, arg := range args {
		switch x := arg.(type) {
		case string:
			args[i] = printable(x)
		case error:
			args[i] = printable(x.Error())
		}
	}
	w := a.Talk()
	if text, apart := strings.CutPrefix(format, "\n"); apart {
		format = text
		w.Printf("\n")
	}
	w.Text("  ", fmt.Sprintf(format, args...))
}

// Deliver writes the whole result: to the file of --out, atomically, or to stdout where the
// path is "" or "-".
func (a *App) Deliver(path string, write func(io.Writer) error) error {
	return a.DeliverTo("out", path, write)
}

// DeliverTo delivers as Deliver does, to the file of another flag.
func (a *App) DeliverTo(flag, path string, write func(io.Writer) error) error {
	if path != "" && path != "-" {
		if err := (release.FileOutput{Path: path, Name: "--" + flag}).CheckPlace(); err != nil {
			return err
		}
		if err := atomicfile.Write(path, 0o644, write); err != nil {
			return &release.OutputError{Err: fmt.Errorf("--%s: %w", flag, err)}
		}
		return nil
	}
	// Everything is rendered before the first byte goes out: an error while
	// rendering leaves stdout empty.
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	w := bufio.NewWriter(a.Out)
	if _, err := w.Write(b.Bytes()); err != nil {
		return &release.OutputError{Err: fmt.Errorf("stdout: %w", err)}
	}
	if err := w.Flush(); err != nil {
		return &release.OutputError{Err: fmt.Errorf("stdout: %w", err)}
	}
	return nil
}

// Bytes returns what writes b.
func Bytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// CheckFiles refuses, before anything is read, an --out or another file to be written that would overwrite what is
// read or cannot be made. It takes the files beside --out.
func CheckFiles(out string, files ...release.File) error {
	if err := release.CheckPaths(out, "", "", files...); err != nil {
		return err
	}
	for _, f := range append(files, release.File{Path: out, Written: true}) {
		if f.Written {
			if err := (release.FileOutput{Path: f.Path, Name: f.Name}).CheckPlace(); err != nil {
				return err
			}
		}
	}
	return nil
}

// DeliverJSON delivers a value as indented JSON.
func (a *App) DeliverJSON(path string, v any) error {
	return a.Deliver(path, func(w io.Writer) error { return EncodeJSON(w, v) })
}

// Show delivers a result on stdout: as JSON where that is asked for, else as a page.
func (a *App) Show(result any, page func(*terminal.Page) error) error {
	if a.JSON {
		return a.DeliverJSON("", result)
	}
	return a.Print(page)
}

// numbers writes null for a number that is infinite or not a number, and exact numbers by their digits.
var numbers = jsonv2.WithMarshalers(jsonv2.JoinMarshalers(
	jsonv2.MarshalToFunc(func(e *jsontext.Encoder, x float64) error {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return e.WriteToken(jsontext.Null)
		}
		return errors.ErrUnsupported // as other numbers
	}),
	jsonv2.MarshalToFunc(func(e *jsontext.Encoder, x json.Number) error {
		return e.WriteValue(jsontext.Value(x))
	})))

// EncodeJSON writes a value as package encoding/json does, indented, with null for a float64 that is not finite.
func EncodeJSON(w io.Writer, v any) error {
	b, err := jsonv2.Marshal(v, jsonv1.DefaultOptionsV1(), jsontext.WithIndent("  "), numbers)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

func printable(s string) string { return terminal.Printable(s) }

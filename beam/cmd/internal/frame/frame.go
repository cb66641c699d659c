// Package frame runs the Beam commands: it reads the flags that state where a job runs, and ends
// the program.
package frame

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// What --runner and paths can name. Each registers itself.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/exitcode"
)

// Texts is a flag that may be given several times.
type Texts []string

func (p *Texts) String() string     { return strings.Join(*p, " ") }
func (p *Texts) Set(s string) error { *p = append(*p, s); return nil }

// Command is a program that does a job on an engine that its flags state.
type Command struct {
	About, Example string         // for the help
	Input          string         // what the job reads
	Repeated       string         // what its second pipeline does
	Rules          exitcode.Rules // of what this program does beside releasing labels
	Run            func(context.Context, darrmbeam.Engine) error
}

// Main reads the flags, runs the command and ends the program.
func (c Command) Main() { os.Exit(int(c.main(os.Args[1:]))) }

func (c Command) main(args []string) exitcode.Code {
	program := filepath.Base(os.Args[0])
	e := darrmbeam.Engine{Retrying: func(n int, err error) {
		Say("attempt %d failed, trying again with the same key: %v", n, err)
	}}
	where := Group("Where it runs")
	where.StringVar(&e.Temp, "temp", "",
		"`folder` that all workers and this process share (default: one of this machine)")
	where.StringVar(&e.KeyDir, "key-dir", "",
		"`folder` through which the job key reaches workers of other processes; nobody else may read it")
	where.IntVar(&e.Attempts, "attempts", darrmbeam.DefaultAttempts,
		"how often to try the "+c.Repeated+" pipeline, under one key, where another try can help")
	where.DurationVar(&e.AttemptTimeout, "attempt-timeout", 0,
		"end a pipeline that takes longer, for runners that may hang (default: 1h on the local runner, "+
			"none on others)")
	openPort := where.Bool("open-port", false,
		"accept that the local runner's port is open to the network, where it cannot be closed")
	verbose := where.Bool("verbose", false, "show the runner's own messages")
	rest, err := parse(program, args)
	if errors.Is(err, flag.ErrHelp) {
		writeHelp(&terminal.Page{Writer: os.Stdout, Width: terminal.Width(os.Stdout)}, program, c.About,
			c.Example)
		return exitcode.OK
	}
	ctx := context.Background()
	if err == nil {
		if !*verbose {
			log.LogLevel = "error"
		}
		beam.Init() // in a worker, this does not return
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		defer context.AfterFunc(ctx, func() {
			stop() // a second signal ends the program at once
			Say("interrupted: ending the workers, removing the key and what is temporary; " +
				"a second signal would leave them")
		})()
		err = func() (err error) {
			if len(rest) > 0 {
				return &release.UsageError{Err: fmt.Errorf("argument %q: %s are named with --%s", rest[0],
					c.Input, c.Input)}
			}
			if e.Run, err = darrmbeam.Runner(*runners.Runner, e.KeyDir, *openPort); err != nil {
				return err
			}
			return c.Run(ctx, e)
		}()
	}
	if err == nil {
		return exitcode.OK
	}
	tell(program+": ", check.NamedBy(err, flagOf))
	if hint := exitcode.Hint(err, c.Rules.Hints...); hint != "" {
		tell(program+": hint: ", hint)
	}
	return exitcode.Of(ctx, err, c.Rules.Codes...)
}

// flagOf is the flag of a parameter that a library names.
func flagOf(p check.Parameter) string {
	switch p {
	case "epsilon":
		return "--eps"
	case "output file":
		return "--out"
	}
	return "--" + strings.ReplaceAll(string(p), " ", "-")
}

// Read returns the content of a file of at most limit bytes. The error is a [release.InputError].
func Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	b, err := readfile.Whole(ctx, path, limit)
	if err != nil {
		return nil, &release.InputError{Err: err}
	}
	return b, nil
}

// page returns stderr for people.
func page() *terminal.Page {
	return &terminal.Page{Writer: os.Stderr, Width: terminal.Width(os.Stderr)}
}

// Say writes talk to stderr.
func Say(format string, args ...any) {
	page().Text("  ", terminal.Printable(fmt.Sprintf(format, args...)))
}

// Fact writes a title and its text to stderr.
func Fact(title, text string) { page().Fact(title, terminal.Printable(text)) }

// Print writes the whole result to stdout, for people.
func Print(write func(*terminal.Page) error) error {
	return release.FileOutput{}.Write(context.Background(), func(w io.Writer) error {
		return write(&terminal.Page{Writer: w, Width: terminal.Width(os.Stdout)})
	})
}

// tell writes an error: in one line, so that programs find it, and broken on a terminal only.
func tell(first, text string) {
	text = terminal.Printable(text)
	if terminal.Is(os.Stderr) {
		text = strings.TrimPrefix(terminal.Hang(terminal.Width(os.Stderr), first, "  ", text), first)
	}
	fmt.Fprintf(os.Stderr, "%s%s\n", first, text)
}

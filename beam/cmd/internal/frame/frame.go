// Package frame is what the Beam commands share: where a job runs, its flags, and how the program ends.
package frame

import (
	"context"
	"flag"
	"fmt"
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
)

// Paths is a flag that may be given several times.
type Paths []string

func (p *Paths) String() string     { return strings.Join(*p, " ") }
func (p *Paths) Set(s string) error { *p = append(*p, s); return nil }

// Main reads the flags, has run do the job on the engine that they state, and ends the program. input says
// what the job reads, and repeated what its second pipeline does.
func Main(input, repeated string, run func(context.Context, darrmbeam.Engine) error) {
	e := darrmbeam.Engine{Retrying: func(n int, err error) {
		fmt.Fprintf(os.Stderr, "attempt %d failed, trying again with the same key: %v\n", n, err)
	}}
	flag.StringVar(&e.Temp, "temp", "", "directory that all workers and this process share (default: one of this machine)")
	flag.StringVar(&e.KeyDir, "key-dir", "", "directory through which the job key reaches workers of other processes; nobody else may read it")
	flag.IntVar(&e.Attempts, "attempts", darrmbeam.DefaultAttempts, "how often to try the "+repeated+" pipeline, under one key")
	flag.DurationVar(&e.AttemptTimeout, "attempt-timeout", 0, "end a pipeline that takes longer, for runners that may hang (default: 1h on the local runner, none on others)")
	openPort := flag.Bool("open-port", false, "accept that the local runner's port is open to the network, where it cannot be closed")
	verbose := flag.Bool("verbose", false, "show the runner's own messages")
	flag.Parse()
	if !*verbose {
		log.LogLevel = "error"
	}
	beam.Init() // in a worker, this does not return
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() (err error) {
		if flag.NArg() > 0 {
			return fmt.Errorf("argument %q: %s are named with --%s", flag.Arg(0), input, input)
		}
		if e.Run, err = darrmbeam.Runner(*runners.Runner, e.KeyDir, *openPort); err != nil {
			return err
		}
		return run(ctx, e)
	}()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// Command darrm-beam-federated does a shuffler's and a server's work on one round of darrm federated as an
// Apache Beam pipeline: on this machine, or on any runner that the Go SDK can submit to.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
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
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/learn/federated/rounds"
)

// paths is a flag that may be given several times.
type paths []string

func (p *paths) String() string     { return strings.Join(*p, " ") }
func (p *paths) Set(s string) error { *p = append(*p, s); return nil }

var (
	job      darrmbeam.RoundJob
	reports  paths
	openPort = flag.Bool("open-port", false, "accept that the local runner's port is open to the network, where it cannot be closed")
	verbose  = flag.Bool("verbose", false, "show the runner's own messages")
)

func init() {
	flag.StringVar(&job.PlanFile, "plan", "", "the run's plan, of darrm federated init (required); it is priced again")
	flag.StringVar(&job.RoundFile, "round", "", "the round that the silos answered (required)")
	flag.Var(&reports, "reports", "file or pattern of the silos' reports (required); may be given several times. Nothing depends on names or order")
	flag.StringVar(&job.Book, "book", "", "folder where this shuffler remembers which rounds it released (required); one for all rounds and runs")
	flag.StringVar(&job.Out, "out", "", "file for the next round (required)")
	flag.StringVar(&job.Shuffled, "shuffled", "", "file for the shuffled reports, as darrm federated shuffle writes them (default: none)")
	flag.StringVar(&job.Temp, "temp", "", "directory that all workers and this process share (default: one of this machine)")
	flag.StringVar(&job.KeyDir, "key-dir", "", "directory through which the job key reaches workers of other processes; nobody but the shuffler may read it")
	flag.IntVar(&job.Attempts, "attempts", darrmbeam.DefaultAttempts, "how often to try the shuffling pipeline, under one key")
	flag.DurationVar(&job.AttemptTimeout, "attempt-timeout", 0, "end a pipeline that takes longer, for runners that may hang (default: 1h on the local runner, none on others)")
}

func main() {
	flag.Parse()
	if !*verbose {
		log.LogLevel = "error"
	}
	beam.Init() // in a worker, this does not return
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "darrm-beam-federated:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	if flag.NArg() > 0 {
		return fmt.Errorf("argument %q: reports are named with --reports", flag.Arg(0))
	}
	if job.PlanFile == "" || job.RoundFile == "" {
		return errors.New("--plan or --round is missing: the files of darrm federated init")
	}
	if job.Plan, err = readfile.Whole(ctx, job.PlanFile, rounds.MaxPlan); err != nil {
		return err
	}
	plan, err := rounds.ReadPlan(job.Plan) // whose size says how large a round may be
	if err != nil {
		return fmt.Errorf("%s: %w", job.PlanFile, err)
	}
	if job.Round, err = readfile.Whole(ctx, job.RoundFile, plan.MaxRound()); err != nil {
		return err
	}
	job.Reports = reports
	job.Retrying = func(n int, err error) {
		fmt.Fprintf(os.Stderr, "attempt %d failed, trying again with the same key: %v\n", n, err)
	}
	if job.Run, err = darrmbeam.Runner(*runners.Runner, job.KeyDir, *openPort); err != nil {
		return err
	}
	r, err := darrmbeam.RunRound(ctx, job)
	if err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		var silos []int
		for _, m := range r.Missing {
			silos = append(silos, m+1)
		}
		fmt.Fprintf(os.Stderr, "without silos %v, which the price allows for\n", silos)
	}
	fmt.Fprintf(os.Stderr, "round %d: the reports of %d silos, shuffled: %d of gradients, %d of differences\n", r.Asked.Round, r.Silos, r.Reports[0], r.Reports[1])
	switch {
	case r.Next.Local != nil:
		fmt.Fprintf(os.Stderr, "round %d waits for %d local steps of silo %d (darrm federated local)\n", r.Next.Round, plan.LocalSteps(), r.Next.Local.Silo+1)
	case plan.Finished(r.Next):
		fmt.Fprintf(os.Stderr, "all %d rounds are done: %s-DP\n", plan.Rounds(), plan.Cost().Short())
	default:
		fmt.Fprintf(os.Stderr, "round %d of %d is next\n", r.Next.Round, plan.Rounds())
	}
	return nil
}

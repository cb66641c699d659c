// Command darrm-beam releases private labels for files of votes as an Apache Beam
// pipeline: on this machine, or on any runner that the Go SDK can submit to.
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
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// What --runner and paths can name. Each registers itself.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/gamma"
)

// paths is a flag that may be given several times.
type paths []string

func (p *paths) String() string     { return strings.Join(*p, " ") }
func (p *paths) Set(s string) error { *p = append(*p, s); return nil }

var (
	votesFiles paths
	table      = flag.String("table", "", "file of the noise function, from darrm solve --out (required); it is certified again")
	out        = flag.String("out", "", "file for the labels (required)")
	temp       = flag.String("temp", "", "directory that all workers and this process share (default: one of this machine)")
	keyDir     = flag.String("key-dir", "", "directory through which the job key reaches workers of other processes; nobody else may read it")
	shardRows  = flag.Int("shard-rows", darrmbeam.DefaultShardRows, "queries that are answered together")
	attempts   = flag.Int("attempts", darrmbeam.DefaultAttempts, "how often to try the answering pipeline, under one key")
	timeout    = flag.Duration("attempt-timeout", 0, "end a pipeline that takes longer, for runners that may hang (default: 1h on the local runner, none on others)")
	openPort   = flag.Bool("open-port", false, "accept that the local runner's port is open to the network, where it cannot be closed")
	verbose    = flag.Bool("verbose", false, "show the runner's own messages")

	read   darrmbeam.ReadOptions
	charge darrmbeam.Charge
)

func init() {
	flag.Var(&votesFiles, "votes", "file or pattern of votes (required); may be given several times")
	flag.StringVar(&read.Format, "format", "", "format of the votes (default: by the name of a local file, else csv)")
	flag.StringVar(&read.Compression, "compression", "", "compression of the votes (default: by the name of a local file, else none)")
	flag.StringVar(&read.Header, "header", "", `whether the first row names the columns: "auto", "yes" or "no"`)
	flag.StringVar(&read.Layout, "layout", "", `"wide": a column per teacher, or "counts": columns zeros and ones`)
	flag.StringVar(&read.IDColumn, "id-column", "", `name or position of the column of query ids, "-" for none`)
	flag.StringVar(&read.LabelColumn, "label-column", "", `name or position of the column of true labels, "-" for none`)
	flag.StringVar(&charge.Ledger, "ledger", "", "charge this ledger (darrm budget init) before a label is drawn")
	flag.StringVar(&charge.RequestID, "request-id", "", "name of this release in the ledger; a name is charged and answered once")
	flag.StringVar(&charge.Teachers, "teachers", "", `"fresh" or "frozen"; needed to charge a ledger`)
	flag.StringVar(&charge.Ensemble, "ensemble", "", "name of the frozen teachers in the ledger")
	flag.Float64Var(&charge.Slack, "slack", 0, "δ' that the composition of fresh answers may spend")
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
		fmt.Fprintln(os.Stderr, "darrm-beam:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("argument %q: votes are named with --votes", flag.Arg(0))
	}
	if *table == "" {
		return errors.New("--table is missing: make one with darrm solve --out table.json")
	}
	b, err := os.ReadFile(*table)
	if err != nil {
		return err
	}
	if len(b) > gamma.MaxTableBytes {
		return fmt.Errorf("%s is larger than %d bytes", *table, gamma.MaxTableBytes)
	}
	job := darrmbeam.Job{
		Votes: votesFiles, Read: read, Table: b, Out: *out, Temp: *temp, KeyDir: *keyDir,
		ShardRows: *shardRows, Attempts: *attempts, AttemptTimeout: *timeout, Charge: charge,
		Retrying: func(n int, err error) {
			fmt.Fprintf(os.Stderr, "attempt %d failed, trying again with the same key: %v\n", n, err)
		},
	}
	if name := *runners.Runner; name == "" || name == "prism" || name == "local" {
		job.Run = darrmbeam.Local{OpenPort: *openPort}.Run
	} else {
		if !jobopts.IsLoopback() && job.KeyDir == "" {
			return fmt.Errorf("--key-dir is missing: the workers of runner %s are elsewhere, and need a directory through which the job key reaches them", name)
		}
		job.Run = darrmbeam.Remote(name)
	}
	r, err := darrmbeam.Run(ctx, job)
	if r == nil {
		return err
	}
	if r.Before {
		fmt.Fprintf(os.Stderr, "request %q was released before: its labels are in %s, unchanged\n", charge.RequestID, *out)
		return err
	}
	tell(r)
	return err
}

// tell says what was released and what it costs.
func tell(r *darrmbeam.Report) {
	fmt.Fprintf(os.Stderr, "%d labels from K = %d teachers\n", r.Queries, r.Problem.K)
	fmt.Fprintf(os.Stderr, "one label:  %v-DP\n", r.PerAnswer)
	if f := r.Totals.Frozen; f != nil && charge.Teachers != "fresh" {
		fmt.Fprintf(os.Stderr, "all labels: %v-DP if the teachers were trained once and only vote (however many queries)\n", f.Cost)
	}
	if r.Totals.Frozen == nil || charge.Teachers != "frozen" {
		fmt.Fprintf(os.Stderr, "all labels: %v-DP if each vote is a fresh run of a private mechanism\n", r.Totals.Fresh.Cost)
	}
	fmt.Fprintln(os.Stderr, "against everybody who cannot tell HMAC-SHA-256 from a random function")
}

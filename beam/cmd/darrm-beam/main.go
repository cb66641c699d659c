// Command darrm-beam releases private labels for files of votes as an Apache Beam
// pipeline: on this machine, or on any runner that the Go SDK can submit to.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/beam/cmd/internal/frame"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/release"
)

var (
	votesFiles frame.Paths
	table      = flag.String("table", "", "file of the noise function, or of the table of many classes, from darrm solve --out (required); it is certified again")
	out        = flag.String("out", "", "file for the labels (required)")
	shardRows  = flag.Int("shard-rows", darrmbeam.DefaultShardRows, "queries that are answered together")

	force      = flag.Bool("force", false, "without --ledger: replace --out by a new draw. Nobody accounts for the two")
	records    = flag.Int("records", 0, "how many records the teachers were trained on, if it is public: a total δ of 1/records or more is then called worthless")
	neighbours = flag.String("neighbours", "replace", `which datasets differ by one person in the teachers' promise: "replace" a record, or "add-remove" one`)

	// What is stated of the teachers; a flag that is not set says nothing.
	epsilon      = flag.Float64("eps", 0, "ε of each teacher: a table for another is refused. If --eps, --teacher-delta, --affected or --data is stated, all are compared")
	teacherDelta = flag.Float64("teacher-delta", 0, "Δ of each teacher")
	affected     = flag.Int("affected", 0, "how many teachers one person's record can reach (default all)")
	data         = flag.String("data", "", `instead of --affected: "disjoint" or "overlapping"`)
	slack        = flag.Float64("slack", 0, "δ' that the composition of fresh answers may spend (default 1e-6, or 0 where the answers have δ = 0)")

	read   darrmbeam.ReadOptions
	charge darrmbeam.Charge
)

func init() {
	flag.Var(&votesFiles, "votes", "file or pattern of votes (required); may be given several times")
	flag.StringVar(&read.Format, "format", "", "format of the votes (default: by the name of a local file, else csv)")
	flag.StringVar(&read.Compression, "compression", "", "compression of the votes (default: by the name of a local file, else none)")
	flag.StringVar(&read.Header, "header", "", `whether the first row names the columns: "auto", "yes" or "no"`)
	flag.StringVar(&read.Layout, "layout", "", `"wide": a column per teacher, "counts": a column of counts per class; arrays also "teachers": a row per teacher`)
	flag.StringVar(&read.Classes, "classes", "", "what a vote can be, in order, separated by commas; as many as the table has (default 0,1)")
	flag.StringVar(&read.IDColumn, "id-column", "", `name or position of the column of query ids, "-" for none`)
	flag.StringVar(&read.LabelColumn, "label-column", "", `name or position of the column of true labels, "-" for none`)
	flag.StringVar(&read.VoteColumns, "vote-columns", "", "names or positions of the columns of votes, separated by commas; others are not read.\nNeeded where the names of the table's K columns say that not all of them are votes")
	flag.StringVar(&charge.Ledger, "ledger", "", "charge this ledger (darrm budget init) before a label is drawn")
	flag.StringVar(&charge.RequestID, "request-id", "", "name of this release in the ledger; a name is charged and answered once")
	flag.StringVar(&charge.Teachers, "teachers", "", `"fresh" or "frozen"; needed to charge a ledger`)
	flag.StringVar(&charge.Ensemble, "ensemble", "", "name of the teachers in the ledger; frozen ones need it")
	flag.StringVar(&charge.EnsembleDigest, "ensemble-digest", "", "any text that identifies the teachers; once stated it is required, and it verifies nothing")
	flag.StringVar(&charge.Draw, "draw", "", "name of these votes of fresh teachers (default: the request id)")
	flag.BoolVar(&charge.VotesCastAnew, "votes-cast-anew", false, "state that fresh teachers cast these votes for this draw, should they equal those of an earlier one")
}

func main() { frame.Main("votes", "answering", run) }

func run(ctx context.Context, engine darrmbeam.Engine) error {
	if *table == "" {
		return errors.New("--table is missing: make one with darrm solve --out table.json")
	}
	b, err := readfile.Whole(ctx, *table, release.MaxTableBytes)
	if err != nil {
		return err
	}
	stated, err := state()
	if err != nil {
		return err
	}
	if err := release.CheckRecords(*records); err != nil {
		return err
	}
	job := darrmbeam.Job{
		Votes: votesFiles, Read: read, Table: b, TableFile: *table, Out: *out, ShardRows: *shardRows,
		Charge: charge, Stated: stated, Force: *force, Engine: engine,
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

// state reads the flags that say something of the teachers, and of how they are charged.
func state() (s release.Stated, err error) {
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if set["eps"] {
		s.Epsilon = epsilon
	}
	if set["teacher-delta"] {
		s.TeacherDelta = teacherDelta
	}
	if set["slack"] {
		charge.Slack = slack
	}
	if set["affected"] {
		s.Affected = affected
	}
	switch {
	case !set["data"]:
	case set["affected"]:
		return s, errors.New("--affected and --data exclude each other")
	default:
		reach, err := release.AffectedByData(*data)
		if err != nil {
			return s, err
		}
		s.Affected = &reach
	}
	charge.Relation, err = release.ParseRelation(*neighbours)
	return s, err
}

// tell says what was released and what it costs.
func tell(r *darrmbeam.Report) {
	r.Records = *records
	fmt.Fprintf(os.Stderr, "%d labels from K = %d teachers\n", r.Queries, r.Problem.K)
	for _, fact := range r.Facts() {
		fmt.Fprintf(os.Stderr, "%-12s%s\n", fact.Title, fact.Text)
	}
	fmt.Fprintln(os.Stderr, "against everybody who cannot tell HMAC-SHA-256 from a random function")
}

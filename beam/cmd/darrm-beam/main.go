// Command darrm-beam releases private labels for files of votes as an Apache Beam
// pipeline: on this machine, or on any runner that the Go SDK can submit to.
package main

import (
	"context"
	"fmt"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/beam/cmd/internal/frame"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
)

var (
	input    = frame.Group("Votes")
	output   = frame.Group("Labels")
	teachers = frame.Group("Teachers")
	payment  = frame.Group("Who pays")

	votesFiles frame.Paths
	table      = output.String("table", "",
		"`file` of the noise function, or of the table of many classes, from darrm solve --out "+
			"(required); it is certified again")
	out = output.String("out", "",
		"`file` for the labels (required but with --dry-run), whose form goes by its name, such as "+
			"labels.parquet or labels.csv.gz")
	shardRows = output.Int("shard-rows", darrmbeam.DefaultShardRows,
		"queries that are answered together")
	force = output.Bool("force", false,
		"replace the file at --out, and never one that the --ledger knows as the result of a request; "+
			"without --ledger nobody accounts for two draws")
	dryRun = output.Bool("dry-run", false,
		"read the votes and say what the release would cost; release and charge nothing")

	// What is stated of the teachers; a flag that is not set says nothing.
	epsilon = teachers.Float64("eps", 0,
		"ε of each teacher: a table for another is refused. If --eps, --teacher-delta, --affected or "+
			"--data is stated, all are compared")
	teacherDelta = teachers.Float64("teacher-delta", 0, "Δ of each teacher")
	affected     = teachers.Int("affected", 0,
		"how many teachers one person's record can reach (default all)")
	data       = teachers.String("data", "", `instead of --affected: "disjoint" or "overlapping"`)
	neighbours = teachers.String("neighbours", "replace",
		`which datasets differ by one person in the teachers' promise: "replace" a record, or "add-remove" one`)
	slack = payment.Float64("slack", 0,
		"δ' that the composition of fresh answers may spend (default 1e-6, but no more than the δ of "+
			"one answer)")

	queries = payment.Int("queries", 0,
		"how many labels one charge of the ledger pays for, in all jobs (default: those of the votes, or "+
			"of a table for many answers)")

	read   darrmbeam.ReadOptions
	charge darrmbeam.Charge
)

func init() {
	input.Var(&votesFiles, "votes",
		"`file` or pattern of votes (required); may be given several times")
	input.StringVar(&read.Format, "format", "",
		"format of the votes (default: by the name of a local file, else csv)")
	input.StringVar(&read.Compression, "compression", "",
		"compression of the votes (default: by the name of a local file, else none)")
	input.StringVar(&read.Header, "header", "",
		`whether the first row names the columns: "auto", "yes" or "no"`)
	input.StringVar(&read.Layout, "layout", "",
		`"wide": a column per teacher, "counts": a column of counts per class; arrays also "teachers": a row per teacher`)
	input.StringVar(&read.Missing, "missing", "",
		`a missing vote is an "error" (default), or none, "abstain", with a table for such votes`)
	input.StringVar(&read.Classes, "classes", "",
		"what a vote can be, in order, separated by commas; as many as the table has (default 0,1)")
	input.StringVar(&read.IDColumn, "id-column", "",
		`name or position of the column of query ids, "-" for none`)
	input.StringVar(&read.LabelColumn, "label-column", "",
		`name or position of the column of true labels, "-" for none`)
	input.StringVar(&read.VoteColumns, "vote-columns", "",
		"names or positions of the columns of votes, separated by commas; others are not read. Needed "+
			"where the names of the table's K columns say that not all of them are votes")
	teachers.IntVar(&charge.Records, "records", 0,
		"how many records the teachers were trained on, if it is public: what is spent in all must have "+
			"a δ below 1/records")
	payment.BoolVar(&charge.AcceptWeak, "accept-weak", false,
		"release although what is spent in all protects nobody: ε above 10, or δ of 1/records or more; "+
			"the ledger keeps that it was stated")
	payment.StringVar(&charge.Ledger, "ledger", "",
		"charge this ledger (darrm budget init) before a label is drawn: a `file`, or postgres://…")
	payment.StringVar(&charge.RequestID, "request-id", "",
		"name of this release in the ledger; a name is charged and answered once")
	payment.StringVar((*string)(&charge.Teachers), "teachers", "",
		`"fresh": each vote is a new run of a private mechanism, or "frozen": each teacher's training was private, and it votes ever after; needed to charge a ledger`)
	payment.StringVar(&charge.Ensemble, "ensemble", "",
		"name of the teachers in the ledger; frozen ones need it")
	payment.StringVar(&charge.EnsembleDigest, "ensemble-digest", "",
		"any text that identifies the teachers; once stated it is required, and it verifies nothing")
	payment.BoolVar(&charge.NewCharge, "new-charge", false,
		"pay for the labels of --queries, or of a table for many answers, again, though the ledger has "+
			"such a charge")
	payment.StringVar(&charge.Draw, "draw", "",
		"name of these votes of fresh teachers (default: the request id)")
	payment.BoolVar(&charge.VotesCastAnew, "votes-cast-anew", false,
		"state that fresh teachers cast these votes for this draw, should they equal those of an "+
			"earlier one")
}

func main() {
	frame.Command{
		About: "Release one private label for every query in files of votes, as darrm aggregate does, " +
			"as a pipeline of Apache Beam: " +
			"on this machine, or on any runner that Beam's Go SDK submits to. Nothing appears before all " +
			"labels are there, and on any error nothing is written.",
		Example: "--votes 'votes-*.csv' --table table.json --out labels.csv --ledger budget.ledger " +
			"--request-id march --teachers fresh",
		Input: "votes", Repeated: "answering", Run: run,
	}.Main()
}

func run(ctx context.Context, engine darrmbeam.Engine) error {
	if *table == "" {
		return usagef("--table is missing: make one with darrm solve --out table.json")
	}
	b, err := frame.Read(ctx, *table, release.MaxTableBytes)
	if err != nil {
		return err
	}
	stated, err := state()
	if err != nil {
		return err
	}
	relation, err := release.ParseRelation(*neighbours)
	if err != nil {
		return err
	}
	job := darrmbeam.Job{
		Votes: votesFiles, Read: read, Table: b, TableFile: *table, Out: *out, ShardRows: *shardRows,
		Charge: charge, Queries: *queries, Stated: stated, Neighbours: relation, Force: *force, Engine: engine,
	}
	if *dryRun {
		q, err := darrmbeam.Quote(ctx, job)
		if err != nil {
			return err
		}
		tell(&q.Summary)
		return frame.Print(func(w *terminal.Page) error {
			return w.Table(terminal.TextTable{Header: []string{"dry run: nothing was released", "ε", "δ"},
				Rows: q.Rows()})
		})
	}
	r, err := darrmbeam.Run(ctx, job)
	switch {
	case r == nil:
		return err
	case r.Before:
		frame.Say("request %q was released before: its labels are in %s, unchanged", charge.RequestID,
			*out)
		return err
	}
	frame.Say("%d labels from K = %d teachers", r.Queries, r.Problem.K)
	tell(&r.Summary)
	return err
}

func usagef(format string, args ...any) error {
	return &release.UsageError{Err: fmt.Errorf(format, args...)}
}

// state reads the flags that say something of the teachers, and of how they are charged.
func state() (s release.Stated, err error) {
	if frame.Set("eps") {
		s.Epsilon = epsilon
	}
	if frame.Set("teacher-delta") {
		s.TeacherDelta = teacherDelta
	}
	if frame.Set("slack") {
		charge.Slack = slack
	}
	switch {
	case frame.Set("affected") && frame.Set("data"):
		return s, usagef("--affected and --data exclude each other")
	case frame.Set("affected"):
		s.Affected = affected
	case frame.Set("data"):
		reach, err := release.AffectedByData(*data)
		if err != nil {
			return s, err
		}
		s.Affected = &reach
	}
	return s, nil
}

// tell prints the release's assumptions about the teachers, and its guarantees.
func tell(s *release.Summary) {
	for _, fact := range s.Facts() {
		frame.Fact(fact.Title, fact.Text)
	}
	frame.Say("against everybody who cannot tell HMAC-SHA-256 from a random function")
}

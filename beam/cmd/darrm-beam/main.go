// Command darrm-beam releases private labels for files of votes as an Apache Beam
// pipeline: on this machine, or on any runner that the Go SDK can submit to.
package main

import (
	"context"
	"fmt"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/beam/cmd/internal/frame"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

var (
	input    = frame.Group("Votes")
	output   = frame.Group("Labels")
	teachers = frame.Group("Teachers")
	payment  = frame.Group("Who pays")

	votesFiles frame.Texts
	table      = output.String("table", "",
		"`file` of the noise function, or of the table of many classes, from darrm solve --out "+
			"(required); it is certified again")
	out = output.String("out", "",
		"`file` for the labels (required without --dry-run); its name decides the format, such as "+
			"labels.parquet or labels.csv.gz")
	shardRows = output.Int("shard-rows", darrmbeam.DefaultShardRows,
		"queries that are answered together")
	force = output.Bool("force", false,
		"replace the file at --out, and never one that the --ledger knows as the result of a request; "+
			"without --ledger nobody accounts for two draws")
	dryRun = output.Bool("dry-run", false,
		"read the votes and say what the release would cost; release and charge nothing")

	data       = teachers.String("data", "", `instead of --affected: "disjoint" or "overlapping"`)
	neighbours = teachers.String("neighbours", "replace",
		`which datasets differ by one person in the teachers' promise: "replace" a record, or "add-remove" one`)
	queries = payment.Int("queries", 0,
		"how many labels one charge of the ledger pays for, in all jobs (default: those of the votes, or "+
			"of a table for many answers)")
	acceptConstant = payment.Bool("accept-constant", false,
		"pay even where always the same answer is as good as a table for stated shares and costs")

	read    darrmbeam.ReadOptions
	classes string          // a list of read.Classes
	stated  ensemble.Stated // of the teachers; a flag that is not set says nothing
	charge  darrmbeam.Charge
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
		`what a missing vote is: an "error" (default), or no vote, "abstain", with a table for such votes`)
	input.StringVar(&classes, "classes", "",
		"what a vote can be, in order, separated by commas; as many as the table has (default 0,1)")
	input.Var((*frame.Texts)(&read.Classes), "class",
		"one of the classes, where a `name` has a comma: repeated, in order, instead of --classes")
	input.Var((*frame.Texts)(&read.Same), "same",
		"`CLASS=SPELLING`: another spelling of a class in votes; =SPELLING: a spelling of a missing vote; repeated")
	input.StringVar(&read.IDColumn, "id-column", "",
		`name or position of the column of query ids, "-" for none`)
	input.StringVar(&read.LabelColumn, "label-column", "",
		`name or position of the column of true labels, "-" for none`)
	input.StringVar(&read.VoteColumns, "vote-columns", "",
		"names or positions of the columns of votes, separated by commas; others are not read. Needed "+
			"where the names of the table's K columns say that not all of them are votes")
	frame.Register(teachers, &stated, "eps", "teacher-delta", "affected")
	teachers.Lookup("eps").Usage = "ε of each teacher: a table for another is refused. If --eps, --teacher-delta, " +
		"--affected or --data is stated, all are compared"
	frame.Register(teachers, &charge, "records")
	frame.Register(payment, &charge, "accept-weak", "ledger", "request-id", "teachers", "ensemble", "ensemble-digest",
		"new-charge", "draw", "votes-cast-anew", "slack")
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
	if err := reach(); err != nil {
		return err
	}
	if classes != "" {
		if len(read.Classes) > 0 {
			return usagef("--classes and --class: the classes are stated once")
		}
		if read.Classes, err = votes.ParseClasses(classes); err != nil {
			return &release.UsageError{Err: err}
		}
	}
	relations := map[string]ledger.Relation{"replace": ledger.ReplaceOne, "add-remove": ledger.AddOrRemoveOne}
	var known bool
	if stated.Neighbours, known = relations[*neighbours]; !known {
		return &release.UsageError{Err: check.Unknown("neighbours", *neighbours, "replace", "add-remove")}
	}
	job := darrmbeam.Job{
		Votes: votesFiles, Read: read, Table: b, TableFile: *table, Out: *out, ShardRows: *shardRows,
		Charge: charge, Queries: *queries, Stated: stated, Force: *force, Engine: engine,
		AcceptConstant: *acceptConstant,
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
	for _, note := range r.Apart {
		frame.Fact("classes:", note)
	}
	tell(&r.Summary)
	return err
}

func usagef(format string, args ...any) error {
	return &release.UsageError{Err: fmt.Errorf(format, args...)}
}

// reach sets how many teachers a record reaches, where --data says so.
func reach() error {
	if !frame.Set("data") {
		return nil
	}
	if frame.Set("affected") {
		return usagef("--affected and --data exclude each other")
	}
	affected, err := release.AffectedByData(*data)
	stated.Affected = &affected
	return err
}

// tell prints the release's assumptions about the teachers, and its guarantees.
func tell(s *release.Summary) {
	for _, fact := range s.Facts() {
		frame.Fact(fact.Title, fact.Text)
	}
	frame.Say("against everybody who cannot tell HMAC-SHA-256 from a random function")
}

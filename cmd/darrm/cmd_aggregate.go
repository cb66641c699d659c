package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

// aggregateFlags are the flags of aggregate beyond the problem's.
type aggregateFlags struct {
	problemFlags
	mechanism      mechanismFlags
	read           readFlags
	charge         chargeFlags
	table          string
	out, outFormat string
	outCompression string
	compare        bool
	insecureSeed   uint64
}

func newAggregate(a *app) *cobra.Command {
	var f aggregateFlags
	c := &cobra.Command{
		Use:   "aggregate FILE...",
		Short: "Release private labels for files of votes",
		Long: `Release one private label for every query in files of votes, with the optimal
noise function for your teachers, or with --mechanism another.

CSV and TSV have one row per query and one column of votes per teacher; a header, a
column "query" or "id" and a column "label" or "truth" are optional. JSON Lines,
NumPy arrays (say --layout) and Parquet are read as well, plain or compressed, and
patterns such as 'part-*.parquet'. "-" is stdin. Memory does not grow with the files.

Say what your teachers promise with --eps and --teacher-delta, and what one label
may cost with --m; or give a table made by solve with --table. There are no
defaults here: a wrong ε would make a wrong promise. A table's promise is about the
teachers that it names; with --table, state yours too (--eps, --teacher-delta,
--affected), and a table for others is refused.

The labels go to stdout or --out, with the queries' ids, in the order of the votes;
the form goes by the name, such as labels.parquet or labels.csv.gz (--json holds
them all in memory). They are drawn with the operating system's randomness. Nothing
appears before all are there, and on any error nothing is written.

Where the files have true labels, or with --compare, stderr shows how each mechanism
does on these votes. Those figures are computed from the raw votes: they are not
private, do not release them.

With --ledger the release is paid for before a label is drawn, and what the budget
does not allow is refused. Fresh teachers pay for every answer; frozen ones pay for
their training, once, whatever they answer. --dry-run tells the price beforehand.
Both read the votes twice, to know how many queries there are. With --checkpoint a
release that was interrupted after it was paid for is finished by the same command.
` + exitStatus,
		Example: `  darrm aggregate votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --out labels.csv
  darrm aggregate 'votes-*.parquet' --table table.json --out labels.parquet
  darrm aggregate votes.npy --layout teachers --mechanism gnmax --total-eps 0.5 --delta 1e-6 --data disjoint
  darrm aggregate votes.csv --table table.json --ledger patients.ledger --request-id march --teachers fresh`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.problemFlags.register(c, 0, 0)
	f.mechanism.register(c)
	f.read.register(c)
	f.charge.register(c)
	fl := c.Flags()
	fl.StringVar(&f.table, "table", "", "use the noise function in this file, certified again, instead of solving")
	fl.StringVarP(&f.out, "out", "o", "", "write the labels to this file instead of stdout")
	fl.StringVar(&f.outFormat, "out-format", "auto", "\"csv\", \"tsv\", \"jsonl\", \"npy\" or \"parquet\"; auto goes by\nthe name")
	fl.StringVar(&f.outCompression, "out-compression", "auto", "\"none\", \"gzip\" or \"zstd\"; auto goes by the name")
	fl.BoolVar(&f.compare, "compare", false, "show on stderr how each mechanism does on these votes (not private)")
	fl.Uint64Var(&f.insecureSeed, "insecure-seed", 0, "simulate with this seed, for experiments; the output is marked, it is not\nprivate")
	return c
}

func (f *aggregateFlags) run(c *cobra.Command, a *app, paths []string) error {
	table, err := f.prepare(c, a, paths)
	if err != nil {
		return err
	}
	acc, err := f.charge.open(c)
	if err != nil {
		return err
	}
	if acc != nil && f.charge.checkpoint != "" && !f.charge.dryRun {
		if acc.resume, err = openResumption(f.charge.checkpoint); err != nil {
			return err
		}
	}
	in := &twice{paths: paths, stdin: a.in}
	defer in.close()
	queries := -1
	if acc != nil || f.charge.dryRun {
		if queries, err = f.count(c.Context(), a, in, acc); err != nil {
			return err
		}
	}
	r, err := in.open(c.Context(), a, &f.read)
	if err != nil {
		return err
	}
	defer r.Close()
	g, unsaved, err := f.aggregator(c, a, table, r.K(), len(r.Classes()))
	if err != nil {
		return err
	}
	report := &releaseReport{aggregator: g.aggregator, problem: g.problem, table: g.table, teachers: f.charge.teachers, simulated: c.Flags().Changed("insecure-seed")}
	if queries >= 0 {
		if err := report.add(queries, f.charge.slack); err != nil {
			return err
		}
		if acc != nil {
			if err := acc.plan(report); err != nil {
				return err
			}
			if acc.resume != nil {
				if err := acc.resume.end(g.table.Certified.Func()); err != nil {
					return err
				}
			}
		}
	}
	if f.charge.dryRun {
		return quote(c, a, acc, report)
	}
	out, err := f.create(a, r.Classes(), report, acc != nil)
	if err == nil {
		defer out.abort()
	}
	done := false
	if acc != nil {
		done, err = f.pay(c, a, acc, err)
	}
	if done || err != nil {
		return err
	}
	n, scores, err := f.answer(c.Context(), a, r, report, queries, acc, out)
	if err != nil {
		return err
	}
	if queries < 0 {
		if err := report.add(n, f.charge.slack); err != nil {
			return err
		}
	}
	if err := out.publish(acc.note(c.Context())); err != nil {
		return err
	}
	report.tell(a)
	if acc != nil {
		unsaved = errors.Join(unsaved, acc.forget())
	}
	if f.compare || scores.truths > 0 {
		if err := scores.tell(a, report); err != nil {
			return err
		}
	}
	return unsaved
}

// prepare checks the flags and returns the table that was given, if one was.
func (f *aggregateFlags) prepare(c *cobra.Command, a *app, paths []string) (*gamma.Table, error) {
	if err := f.read.prepare(); err != nil {
		return nil, err
	}
	if _, err := f.labelOptions(nil); err != nil {
		return nil, err
	}
	if c.Flags().Changed("insecure-seed") && f.charge.ledger != "" {
		return nil, usagef("--insecure-seed and --ledger exclude each other: a simulation releases nothing and pays for nothing")
	}
	if err := checkOut(f.out); err != nil {
		return nil, err
	}
	if err := checkApart(f.files(paths)...); err != nil {
		return nil, err
	}
	if err := f.mechanism.prepare(c); err != nil {
		return nil, err
	}
	if f.charge.checkpoint != "" && (!f.mechanism.usesTable() || f.read.options.Missing != votes.MissingError) {
		return nil, usagef("--checkpoint goes with --mechanism %s and without --missing coin: only its coins come from a key", mechanismDaRRM)
	}
	if !f.mechanism.usesTable() {
		if f.table != "" {
			return nil, usagef("--table goes with --mechanism darrm")
		}
		if err := f.mechanism.require(c, &f.problemFlags); err != nil {
			return nil, err
		}
		return nil, f.charge.prepare(c, false)
	}
	if f.table == "" {
		needed := []string{budget, "eps", "teacher-delta"}
		if math.IsInf(f.epsilon, 1) { // such teachers have no Δ
			needed = needed[:2]
		}
		if err := require(c, needed...); err != nil {
			return nil, err
		}
		// Bad parameters are reported before a large file is read.
		if _, err := f.problem(c, max(1, f.read.options.K, f.affected)); err != nil {
			return nil, err
		}
		if _, err := f.options(c); err != nil {
			return nil, err
		}
		return nil, f.charge.prepare(c, !math.IsInf(f.epsilon, 1))
	}
	for _, name := range solveFlagNames {
		if c.Flags().Changed(name) {
			return nil, usagef("--%s and --table exclude each other: the table is solved", name)
		}
	}
	if err := f.checkTimeout(c); err != nil {
		return nil, err
	}
	table, err := f.readTable(c, a, f.table)
	if err != nil {
		return nil, err
	}
	if err := f.mustMatch(c, table.Problem()); err != nil {
		return nil, err
	}
	if k := table.Problem().K; f.read.options.K != 0 && f.read.options.K != k {
		return nil, usagef("K = %d, but %s is for K = %d teachers", f.read.options.K, f.table, k)
	}
	f.read.options.K = table.Problem().K
	return table, f.charge.prepare(c, !math.IsInf(table.Problem().Epsilon, 1))
}

// files are all that the flags name, and the votes.
func (f *aggregateFlags) files(paths []string) []flagFile {
	files := append(paidFiles(f.out, f.charge.checkpoint, f.charge.ledger), flagFile{"table", f.table, false})
	for _, p := range paths {
		names, err := filepath.Glob(p) // a bad pattern is an error when it is read
		if err != nil || len(names) == 0 {
			names = []string{p}
		}
		for _, name := range names {
			files = append(files, flagFile{"", name, false})
		}
	}
	return files
}

// mustMatch compares what was said about teachers and release with the table. A
// certificate holds for the teachers that the table names, not for any others.
func (f *aggregateFlags) mustMatch(c *cobra.Command, p constraints.Problem) error {
	reach, said, err := f.reach(c, p.K)
	if err != nil {
		return err
	}
	if said && reach != p.Affected {
		return usagef("affected = %d, but %s is for %d", reach, f.table, p.Affected)
	}
	for _, v := range []struct {
		flag        string
		said, table float64
	}{
		{"eps", f.epsilon, p.Epsilon}, {"teacher-delta", f.teacherDelta, p.TeacherDelta},
		{"m", f.m, p.M}, {"total-eps", f.totalEpsilon, p.TotalEpsilon}, {"delta", f.delta, p.Delta},
	} {
		if c.Flags().Changed(v.flag) && v.said != v.table {
			return usagef("%s = %v, but %s is for %v", v.flag, v.said, f.table, v.table)
		}
	}
	return nil
}

// chosen is the mechanism of a release.
type chosen struct {
	aggregator *ensemble.Aggregator
	problem    constraints.Problem // what the teachers promise; ε = +Inf where the mechanism does not use it
	table      *gamma.Table        // DaRRM's; else nil
}

// aggregator makes the mechanism for k teachers, solving where no table was given. The
// second error is a cache's, to be returned at the end.
func (f *aggregateFlags) aggregator(c *cobra.Command, a *app, table *gamma.Table, k, classes int) (chosen, error, error) {
	if !f.mechanism.usesTable() {
		g, err := f.mechanism.make(c, &f.problemFlags, k, classes)
		return g, nil, err
	}
	if classes != 2 {
		return chosen{}, nil, &check.Error{Name: "number of classes", Value: classes, Rule: "2 for DaRRM; see --mechanism for others"}
	}
	var unsaved error
	if table == nil {
		s, err := f.solve(c, a, k)
		if err != nil {
			return chosen{}, nil, err
		}
		table, unsaved = s.Table, s.unsaved
	}
	g, err := ensemble.DaRRM(table.Certified, f.mechanism.relation)
	return chosen{g, table.Problem(), table}, unsaved, err
}

// count reads the votes once, checks all of them, and returns how many queries there are.
func (f *aggregateFlags) count(ctx context.Context, a *app, in *twice, acc *account) (int, error) {
	r, err := in.first(ctx, a, &f.read)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	bar := newProgress(a)
	defer bar.stop()
	show := bar.rows("counting")
	n := 0
	resume := acc.resumption()
	if resume != nil {
		resume.begin()
	}
	for b, err := range r.Batches() {
		if err != nil {
			return 0, inputFailure(ctx, err)
		}
		n += b.Len()
		if resume != nil {
			resume.add(b)
		}
		b.Release()
		show(r.Progress())
	}
	return n, nil
}

// answer draws all answers, in the order of the votes. paid is the number of queries that
// were paid for, or -1.
func (f *aggregateFlags) answer(ctx context.Context, a *app, r *votes.Reader, report *releaseReport, paid int, acc *account, out answerWriter) (int, *scores, error) {
	s, err := newScores(r.K(), len(r.Classes()))
	if err != nil {
		return 0, nil, err
	}
	bar := newProgress(a)
	defer bar.stop()
	// What was drawn from a seed must not depend on which batch comes first: then the
	// drawing is left to the sink, which sees them in order.
	draw := report.aggregator.AnswerBatch
	resume := acc.resumption()
	if resume != nil {
		draw = resume.answer(ensemble.New(report.table.Certified))
		resume.begin()
	}
	var inOrder func(context.Context, *votes.Batch) ([]int, error)
	if report.simulated {
		inOrder = report.aggregator.Simulate(f.insecureSeed).DrawBatch
		draw = func(context.Context, *votes.Batch) ([]int, error) { return nil, nil }
	}
	n := 0
	err = votes.Process(r, votes.ProcessOptions{Progress: bar.rows("answering")}, draw, func(b *votes.Batch, answers []int) error {
		n += b.Len()
		if paid >= 0 && n > paid {
			return inputError{fmt.Errorf("the votes changed while they were read: %d queries were paid for, and there are more", paid)}
		}
		if resume != nil {
			resume.add(b)
		}
		if inOrder != nil {
			var err error
			if answers, err = inOrder(ctx, b); err != nil {
				return err
			}
		}
		if f.compare || r.HasLabels() {
			if err := s.add(b, answers); err != nil {
				return err
			}
		}
		return out.write(b, answers)
	})
	if err != nil {
		return 0, nil, inputFailureIfParse(ctx, err)
	}
	if paid >= 0 && n != paid {
		return 0, nil, inputError{fmt.Errorf("the votes changed while they were read: %d queries were paid for, and there are %d", paid, n)}
	}
	if resume != nil {
		return n, s, resume.end(report.table.Certified.Func())
	}
	return n, s, nil
}

// pay charges the release, unless its output could not be created. done says that the
// output has it already: then there is nothing to write and nothing to pay.
func (f *aggregateFlags) pay(c *cobra.Command, a *app, acc *account, created error) (done bool, err error) {
	var again error
	if err = created; err != nil {
		_, again = acc.bill.Check(c.Context(), acc.ledger)
	} else {
		err = acc.charge(c)
		again = err
	}
	if released(again, f.out) {
		a.say("request %q was released before: its labels are in %s, unchanged", f.charge.requestID, f.out)
		return true, acc.forget()
	}
	if (created != nil || refused(err)) && acc.resume != nil && !acc.resume.resumed {
		err = errors.Join(err, acc.forget()) // nothing was paid with this key, nothing goes on
	}
	return false, err
}

// resumption returns how the release can be resumed, nil if it cannot.
func (acc *account) resumption() *resumption {
	if acc == nil {
		return nil
	}
	return acc.resume
}

// inputFailureIfParse marks errors of reading as the input's.
func inputFailureIfParse(ctx context.Context, err error) error {
	var parse *votes.ParseError
	if errors.As(err, &parse) {
		return inputFailure(ctx, err)
	}
	return err
}

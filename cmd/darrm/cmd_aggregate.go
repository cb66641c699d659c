package main

import (
	"context"
	"errors"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
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
	scores         bool
	insecureSeed   uint64
	// teachersOfTable says that what the teachers promise comes from the table alone.
	teachersOfTable bool
}

func newAggregate(a *app) *cobra.Command {
	var f aggregateFlags
	c := &cobra.Command{
		Use:   "aggregate FILE...",
		Short: "Release private labels for files of votes",
		Long: `Release one private label for every query in files of votes, with the optimal
noise function for your teachers, or with --mechanism another. "Optimal" is for the
source's objective; if you use the labels, ask for --objective agreement.

CSV and TSV have one row per query and one column of votes per teacher; a header, a
column "query" or "id" and a column "label" or "truth" are optional. JSON Lines,
NumPy arrays (say --layout) and Parquet are read as well, plain or compressed, and
patterns such as 'part-*.parquet'. "-" is stdin. Memory does not grow with the files.

Say what your teachers promise with --eps and --teacher-delta, and what one label
may cost with --m; or give a table made by solve with --table. There are no
defaults here: a wrong ε would make a wrong promise. A table's promise is about the
teachers that it names; with --table, state yours too (--eps, --teacher-delta, and
--affected or --data, which mean all teachers if left out): a table for others is
refused. If you state nothing, the report says that the teachers are the table's.

The labels go to stdout or --out, with the queries' ids, in the order of the votes;
the form goes by the name, such as labels.parquet or labels.csv.gz (--json holds
them all in memory). They are drawn with the operating system's randomness. Nothing
appears before all are there, and on any error nothing is written.

Without a ledger an existing --out is not replaced, unless --force says so: a second
draw is a second release. --scores shows on stderr how each mechanism does on these
votes. Those figures are computed from the raw votes: they are not private.

With --ledger the release is paid for before a label is drawn, and what the budget
does not allow is refused. Fresh teachers pay for every answer; frozen ones pay for
their training, once, whatever they answer. --dry-run tells the price beforehand.

Fresh teachers cast one row of votes for each query: a draw. The first answer to a draw
pays as above. All further answers to it are covered by one charge, of what the votes
themselves tell. --draw names the draw. The ledger keeps a keyed digest of the votes and
refuses the same votes under another name, unless --draw states it: then the teachers
must have cast them anew. It does not notice rows that files share which differ
elsewhere, the same votes with the teachers in another order, as counts, or with other
names of the classes, other ledgers, or releases without one.

With a ledger, and for --dry-run, the votes are read to know how many queries there are,
and then once more to answer them. With --checkpoint a release that was interrupted
after it was paid for is finished by the same command.
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
	fl.BoolVar(&f.scores, "scores", false, "show on stderr how each mechanism does on these votes, and on true labels\nwhere the files have them: computed from the raw votes, NOT PRIVATE")
	fl.Uint64Var(&f.insecureSeed, "insecure-seed", 0, "simulate with this seed, for experiments; the output is marked, it is not\nprivate")
	return c
}

func (f *aggregateFlags) run(c *cobra.Command, a *app, paths []string) error {
	table, err := f.prepare(c, a, paths)
	if err != nil {
		return err
	}
	pay, err := f.charge.open(c, f.mechanism.relation)
	if err != nil {
		return err
	}
	in := &reread{paths: paths, stdin: a.in}
	defer in.close()
	var counted *release.Reading
	if pay != nil || f.charge.dryRun {
		if counted, err = f.count(c.Context(), a, in, pay); err != nil {
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
	report := f.newReport(c, g, r)
	if counted != nil {
		if err := report.add(counted.Queries()); err != nil {
			return err
		}
		if pay != nil {
			if err := pay.plan(report, counted.Votes()); err != nil {
				return err
			}
			if pay.checkpoint != nil {
				if err := pay.checkpoint.Pin(g.certified.Func()); err != nil {
					return err
				}
			}
		}
	}
	if f.charge.dryRun {
		return quote(c, a, pay, report)
	}
	out, err := f.create(a, r.Classes(), report, pay != nil)
	if err == nil {
		defer out.abort()
	}
	done := false
	if pay != nil {
		done, err = f.pay(c, a, pay, err)
	}
	if done || err != nil {
		return err
	}
	if pay != nil {
		report.again, report.paidBy = release.Repeated(pay.receipt), pay.receipt.Entry().PaidBy
	}
	n, scores, err := f.answer(c.Context(), a, r, report, counted, pay, out)
	if err != nil {
		return err
	}
	if counted == nil {
		if err := report.add(n); err != nil {
			return err
		}
	}
	if err := out.publish(pay.note(c.Context())); err != nil {
		return err
	}
	report.tell(a)
	if pay != nil {
		unsaved = errors.Join(unsaved, pay.checkpoint.Forget())
	}
	if scores != nil {
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
	if err := release.CheckPaths(f.files(paths)...); err != nil {
		return nil, err
	}
	if f.charge.ledger == "" && !f.charge.dryRun && !c.Flags().Changed("insecure-seed") {
		if err := release.CheckOverwrite(f.out, f.charge.force); err != nil {
			return nil, err
		}
	}
	if err := f.mechanism.prepare(c); err != nil {
		return nil, err
	}
	if f.charge.checkpoint != "" && (!f.mechanism.usesGamma() || f.read.options.Missing != votes.MissingError) {
		return nil, usagef("--checkpoint goes with --mechanism %s or one of its baselines, and without --missing coin: only their coins come from a key", mechanismDaRRM)
	}
	if !f.mechanism.usesTable() && f.table != "" {
		return nil, usagef("--table goes with --mechanism darrm")
	}
	if !f.mechanism.usesGamma() {
		if err := f.mechanism.require(c, &f.problemFlags); err != nil {
			return nil, err
		}
		return nil, f.charge.prepare(c, f.mechanism.relation, false)
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
		if !f.mechanism.usesTable() {
			if err := f.mechanism.solvesNothing(c); err != nil {
				return nil, err
			}
		}
		return nil, f.charge.prepare(c, f.mechanism.relation, !math.IsInf(f.epsilon, 1))
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
	stated, err := f.stated(c, table.Problem().K)
	if err != nil {
		return nil, err
	}
	if err := stated.Match(table.Problem(), f.table); err != nil {
		return nil, err
	}
	f.teachersOfTable = !stated.Teachers()
	if k := table.Problem().K; f.read.options.K != 0 && f.read.options.K != k {
		return nil, usagef("K = %d, but %s is for K = %d teachers", f.read.options.K, f.table, k)
	}
	f.read.options.K = table.Problem().K
	return table, f.charge.prepare(c, f.mechanism.relation, !math.IsInf(table.Problem().Epsilon, 1))
}

// files are all that the flags name, and the votes.
func (f *aggregateFlags) files(paths []string) []release.File {
	files := append(release.Files(f.out, f.charge.checkpoint, f.charge.ledger), release.File{Flag: "table", Path: f.table})
	for _, p := range paths {
		names, err := filepath.Glob(p) // a bad pattern is an error when it is read
		if err != nil || len(names) == 0 {
			names = []string{p}
		}
		for _, name := range names {
			files = append(files, release.File{Path: name})
		}
	}
	return files
}

// stated is what the flags say of the teachers and the release.
func (f *aggregateFlags) stated(c *cobra.Command, k int) (s release.Stated, err error) {
	reach, said, err := f.reach(c, k)
	if said {
		s.Affected = &reach
	}
	for _, v := range []struct {
		flag  string
		value *float64
		field **float64
	}{
		{"eps", &f.epsilon, &s.Epsilon}, {"teacher-delta", &f.teacherDelta, &s.TeacherDelta},
		{"m", &f.m, &s.M}, {"total-eps", &f.totalEpsilon, &s.TotalEpsilon}, {"delta", &f.delta, &s.Delta},
	} {
		if c.Flags().Changed(v.flag) {
			*v.field = v.value
		}
	}
	return s, err
}

// chosen is the mechanism of a release.
type chosen struct {
	aggregator *ensemble.Mechanism
	problem    constraints.Problem // what the teachers promise; ε = +Inf where the mechanism does not use it
	certified  *gamma.Certified    // the noise function of DaRRM and its baselines; else nil
	table      *gamma.Table        // of the optimal noise function; else nil
}

// aggregator makes the mechanism for k teachers, solving where no table was given. The
// second error is a cache's, to be returned at the end.
func (f *aggregateFlags) aggregator(c *cobra.Command, a *app, table *gamma.Table, k, classes int) (chosen, error, error) {
	if !f.mechanism.usesGamma() {
		g, err := f.mechanism.make(c, &f.problemFlags, k, classes)
		return g, nil, err
	}
	if classes != 2 {
		return chosen{}, nil, &check.Error{Name: "number of classes", Value: classes, Rule: "2 for DaRRM and its baselines; see --mechanism for others"}
	}
	if !f.mechanism.usesTable() {
		p, err := f.problem(c, k)
		if err != nil {
			return chosen{}, nil, err
		}
		ctx, cancel := f.limit(c.Context())
		defer cancel()
		g, err := f.mechanism.baseline(ctx, p)
		return g, nil, f.late("certify", err)
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
	return chosen{g, table.Problem(), table.Certified, table}, unsaved, err
}

// count reads the votes once, and checks all of them.
func (f *aggregateFlags) count(ctx context.Context, a *app, in *reread, pay *payment) (*release.Reading, error) {
	hash, err := pay.voteHash()
	if err != nil {
		return nil, err
	}
	f.read.options = release.Hashed(f.read.options, hash)
	r, err := in.first(ctx, a, &f.read)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	bar := newProgress(a)
	defer bar.stop()
	reading := release.NewReading(hash, pay.resumption())
	digest := func(_ context.Context, b *votes.Batch) (*ledger.VoteHash, error) { return reading.Digest(b), nil }
	err = votes.Process(r, votes.ProcessOptions{Progress: bar.rows("counting")}, digest, reading.Add)
	return reading, inputFailureIfParse(ctx, err)
}

// answer draws all answers, in the order of the votes. counted is the reading that was paid
// for, nil where nothing is.
func (f *aggregateFlags) answer(ctx context.Context, a *app, r *votes.Reader, report *releaseReport, counted *release.Reading, pay *payment, out answerWriter) (int, *scores, error) {
	var s *scores
	if f.scores {
		var err error
		if s, err = newScores(r.K(), len(r.Classes())); err != nil {
			return 0, nil, err
		}
	}
	reading := release.NewReading(nil, nil)
	if counted != nil {
		reading = counted.Again()
	}
	bar := newProgress(a)
	defer bar.stop()
	coins := pay.resumption().Coins()
	if report.simulated {
		coins = ensemble.SeededCoins(f.insecureSeed)
	}
	type drawn struct {
		digest  *ledger.VoteHash
		answers []int
	}
	work := func(ctx context.Context, b *votes.Batch) (d drawn, err error) {
		d.digest = reading.Digest(b)
		d.answers, err = reading.Answer(ctx, report.aggregator, coins, b)
		return d, err
	}
	err := votes.Process(r, votes.ProcessOptions{Progress: bar.rows("answering")}, work, func(b *votes.Batch, d drawn) error {
		if err := reading.Add(b, d.digest); err != nil {
			return err
		}
		if s != nil {
			if err := s.add(b, d.answers); err != nil {
				return err
			}
		}
		return out.write(b, d.answers)
	})
	if err != nil {
		return 0, nil, inputFailureIfParse(ctx, err)
	}
	if err := reading.End(); err != nil {
		return 0, nil, err
	}
	if keyed := pay.resumption(); keyed != nil {
		if err := keyed.Pin(report.certified.Func()); err != nil {
			return 0, nil, err
		}
	}
	return reading.Queries(), s, nil
}

// pay charges the release, unless its output could not be created. done says that the
// output has it already: then there is nothing to write and nothing to pay.
func (f *aggregateFlags) pay(c *cobra.Command, a *app, pay *payment, created error) (done bool, err error) {
	var again error
	if err = created; err != nil {
		_, again = pay.bill.Check(c.Context(), pay.ledger)
	} else {
		err = pay.charge(c.Context())
		again = err
	}
	if released(c.Context(), again, f.out) {
		a.say("request %q was released before: its labels are in %s, unchanged", f.charge.requestID, f.out)
		return true, pay.checkpoint.Forget()
	}
	if (created != nil || release.Refused(err)) && !pay.checkpoint.Resumed() {
		err = errors.Join(err, pay.checkpoint.Forget()) // nothing was paid with this key, nothing goes on
	}
	return false, err
}

// resumption returns how the release can be resumed, nil if it cannot.
func (pay *payment) resumption() *release.Checkpoint {
	if pay == nil {
		return nil
	}
	return pay.checkpoint
}

// inputFailureIfParse marks errors of reading as the input's.
func inputFailureIfParse(ctx context.Context, err error) error {
	var parse *votes.ParseError
	if errors.As(err, &parse) {
		return inputFailure(ctx, err)
	}
	return err
}

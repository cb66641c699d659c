package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// aggregateFlags are the flags of aggregate beyond the problem's.
type aggregateFlags struct {
	problemFlags
	mechanism      mechanismFlags
	optimal        optimalFlags
	read           readFlags
	charge         chargeFlags
	table          string
	out, outFormat string
	outCompression string
	format         votes.Format // of the labels
	compression    votes.Compression
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

More than two classes (--classes cat,dog,bird) are answered by the optimal plurality.
It presumes nothing of the teachers; say --affected or --data, and the promise of one
label by --total-eps. For the votes that are expected no mechanism agrees with them
more often: those of which classes have uneven shares (--concentration), of teachers
that are right with probability --accuracy, one by one, or the histograms in
--prior-counts, which must be public. For other votes
permute-and-flip may do better: see darrm compare, on public votes. What is not solved
within --solve-within is answered by permute-and-flip, and the report says so. For many
labels within one budget see darrm plan: other noise may add up better.

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
after it was paid for is finished by the same command.`,
		Example: `  darrm aggregate votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --out labels.csv
  darrm aggregate 'votes-*.parquet' --table table.json --out labels.parquet
  darrm aggregate pets.csv --classes cat,dog,bird --total-eps 0.5 --data disjoint --out labels.csv
  darrm aggregate votes.npy --layout teachers --mechanism gnmax --total-eps 0.5 --delta 1e-6 --data disjoint
  darrm aggregate votes.csv --table table.json --ledger patients.ledger --request-id march --teachers fresh`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFiles(voteFiles...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.problemFlags.register(c, 0, 0)
	f.mechanism.register(c)
	f.optimal.register(c)
	f.read.register(c)
	f.charge.register(c)
	fl := c.Flags()
	fl.StringVar(&f.table, "table", "", "use the noise function, or the table of many classes, in this file, certified again, instead of solving")
	takesFile(c, "table", tableFiles...)
	fl.StringVarP(&f.out, "out", "o", "", "write the labels to this file instead of stdout")
	takesFile(c, "out", voteFiles...)
	fl.StringVar(&f.outFormat, "out-format", "auto", "\"csv\", \"tsv\", \"jsonl\", \"npy\" or \"parquet\"; auto goes by the name")
	oneOf(c, "out-format", slices.DeleteFunc(votes.FormatNames(), func(f string) bool { return f == votes.FormatNPZ.String() })...)
	fl.StringVar(&f.outCompression, "out-compression", "auto", "\"none\", \"gzip\" or \"zstd\"; auto goes by the name")
	oneOf(c, "out-compression", votes.CompressionNames()...)
	fl.BoolVar(&f.scores, "scores", false, "show on stderr how each mechanism does on these votes, and on true labels where the files have them: computed from the raw votes, NOT PRIVATE")
	fl.Uint64Var(&f.insecureSeed, "insecure-seed", 0, "simulate with this seed, for experiments; the output is marked, it is not private")
	return c
}

func (f *aggregateFlags) run(c *cobra.Command, a *app, paths []string) error {
	given, err := f.prepare(c, a)
	if err != nil {
		return err
	}
	var (
		g       chosen
		unsaved error // a cache's, told when the labels are out
		scores  *scores
		answers []jsonAnswer
	)
	l := f.labels(c, a, paths)
	l.Plan = func(_ context.Context, k, classes int) (_ release.Plan, err error) {
		if f.scores {
			if scores, err = newScores(k, classes); err != nil {
				return release.Plan{}, err
			}
		}
		g, unsaved, err = f.choose(c, a, given, k, classes)
		return g.Plan, err
	}
	l.Each = func(b *votes.Batch, classes []int) error {
		if a.json {
			for i, class := range classes {
				answers = append(answers, jsonAnswer{b.ID(i), class})
			}
		}
		if scores == nil {
			return nil
		}
		return scores.add(b, classes)
	}
	simulated := l.Seed != nil
	if a.json && !f.charge.dryRun { // a dry run writes its own document, whatever form the labels will have
		l.Encode = func(w io.Writer, s *release.Summary) error { return encodeAnswers(w, s, g, answers, simulated) }
	}
	if f.charge.dryRun {
		q, err := l.Quote(c.Context())
		if err != nil {
			return err
		}
		return quote(a, q, g)
	}
	s, err := l.Run(c.Context())
	switch {
	case s == nil:
		return err
	case s.Before:
		a.say("request %q was released before: its labels are in %s, unchanged", f.charge.RequestID, f.out)
		return err
	}
	report(a, s, g, simulated)
	if scores != nil {
		err = errors.Join(err, scores.report(a, g))
	}
	return errors.Join(err, unsaved)
}

// labels are what the flags say of the release, without its mechanism.
func (f *aggregateFlags) labels(c *cobra.Command, a *app, paths []string) release.Labels {
	l := release.Labels{
		Votes: paths, Stdin: &input{ctx: c.Context(), r: a.in}, Read: f.read.options, Charge: f.charge.Charge,
		Output: release.FileOutput{Path: f.out, Stdout: a.out}, Format: f.format, Compression: f.compression,
		Checkpoint: f.charge.checkpoint, Force: f.charge.force, Table: f.table, Source: release.SourceFlags, Records: f.charge.records,
		Progress: func(passage string) (func(votes.Progress), func()) {
			bar := newProgress(a)
			return bar.rows(passage), func() {
				bar.stop()
				switch { // what comes next is short, and must not be left half done
				case c.Context().Err() != nil: // this passage itself was interrupted
				case passage == release.Answering:
					a.finishing("writing the labels")
				case f.charge.Ledger != "":
					a.finishing("writing the entry in the ledger")
				}
			}
		},
	}
	if c.Flags().Changed("insecure-seed") {
		l.Seed = &f.insecureSeed
	}
	if f.teachersOfTable {
		l.Source = release.SourceTable
	}
	return l
}

// prepare checks the flags and returns the mechanism of the table that was given, if one was.
func (f *aggregateFlags) prepare(c *cobra.Command, a *app) (chosen, error) {
	if err := f.read.prepare(c); err != nil {
		return chosen{}, err
	}
	var err error
	if f.format, err = votes.ParseFormat(f.outFormat); err != nil {
		return chosen{}, usageError{Err: err}
	}
	if f.compression, err = votes.ParseCompression(f.outCompression); err != nil {
		return chosen{}, usageError{Err: err}
	}
	if err := (release.FileOutput{Path: f.out}).CheckPlace(); err != nil {
		return chosen{}, err
	}
	if err := f.mechanism.prepare(c); err != nil {
		return chosen{}, err
	}
	if f.table != "" {
		return f.prepareTable(c, a)
	}
	promise, err := f.prepareMechanism(c)
	if err != nil {
		return chosen{}, err
	}
	return chosen{}, f.charge.prepare(c, f.mechanism.relation, promise)
}

// prepareMechanism checks what is said of the mechanism, before a large file is read, and says
// whether the teachers promise anything.
func (f *aggregateFlags) prepareMechanism(c *cobra.Command) (promise bool, err error) {
	classes := len(f.read.options.Classes)
	f.mechanism.resolve(classes)
	if !f.mechanism.usesPlurality() {
		if err := f.mechanism.withoutOptimum(c, classes); err != nil {
			return false, err
		}
	}
	switch {
	case f.mechanism.usesPlurality():
		if err := f.optimal.prepare(c, &f.mechanism, &f.problemFlags, classes); err != nil || f.mechanism.usesPlurality() {
			return false, err
		}
	case !f.mechanism.usesGamma():
		return false, f.mechanism.require(c, &f.problemFlags)
	}
	if err := require(c, f.needed()...); err != nil {
		return false, err
	}
	if _, err := f.problem(c, max(1, f.read.options.K, f.affected)); err != nil {
		return false, err
	}
	if _, err := f.options(c); err != nil {
		return false, err
	}
	if !f.mechanism.usesTable() {
		if err := f.mechanism.solvesNothing(c); err != nil {
			return false, err
		}
	}
	return !math.IsInf(f.epsilon, 1), nil
}

// prepareTable reads the table that was given, and compares it with what was said.
func (f *aggregateFlags) prepareTable(c *cobra.Command, a *app) (g chosen, err error) {
	if f.mechanism.name != "" && !f.mechanism.usesTable() && !f.mechanism.usesPlurality() {
		return g, usagef("--table goes with --mechanism %s or %s", mechanismDaRRM, mechanismOptimal)
	}
	for _, name := range slices.Concat(solveFlagNames, optimalFlagNames) {
		if c.Flags().Changed(name) {
			return g, usagef("--%s and --table exclude each other: the table is solved", name)
		}
	}
	if err := f.checkTimeout(c); err != nil {
		return g, err
	}
	table, err := f.readAnyTable(c, a, f.table)
	if err != nil {
		return g, err
	}
	if table.Plurality != nil && f.mechanism.usesTable() {
		return g, usagef("--mechanism %s, but %s is a table of many classes: say --mechanism %s", mechanismDaRRM, f.table, mechanismOptimal)
	}
	if g.Plan, err = table.Plan(f.mechanism.relation); err != nil {
		return g, err
	}
	g.table, g.optimal = table.Gamma, table.Plurality
	setting := g.Mechanism.Setting()
	stated, err := f.stated(c, setting.K)
	if err != nil {
		return g, err
	}
	if err := stated.Match(g.Problem, f.table); err != nil {
		return g, err
	}
	f.teachersOfTable = !stated.Teachers()
	if f.read.options.K != 0 && f.read.options.K != setting.K {
		return g, usagef("K = %d, but %s is for K = %d teachers", f.read.options.K, f.table, setting.K)
	}
	f.read.options.K = setting.K
	if n := len(f.read.options.Classes); n != setting.Classes {
		return g, usagef("%d classes, but %s is for %d: say --classes or --num-classes", n, f.table, setting.Classes)
	}
	return g, f.charge.prepare(c, f.mechanism.relation, !math.IsInf(g.Problem.Epsilon, 1))
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
	release.Plan
	table   *gamma.Table     // of the optimal noise function; else nil
	optimal *plurality.Table // of the optimal plurality; else nil
	instead error            // why there is none, where there should have been one
}

// choose makes the mechanism for k teachers, solving where no table was given. The
// second error is a cache's, to be returned at the end.
func (f *aggregateFlags) choose(c *cobra.Command, a *app, given chosen, k, classes int) (chosen, error, error) {
	if given.Mechanism != nil {
		return given, nil, nil
	}
	if f.mechanism.usesPlurality() {
		return f.chooseOptimal(c, a, k, classes)
	}
	if !f.mechanism.usesGamma() {
		plan, err := f.mechanism.make(c, &f.problemFlags, k, classes)
		return chosen{Plan: plan}, nil, err
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
		plan, err := f.mechanism.baseline(ctx, p)
		return chosen{Plan: plan}, nil, f.late("certify", err)
	}
	s, err := f.solve(c, a, k)
	if err != nil {
		return chosen{}, nil, err
	}
	plan, err := release.DaRRM(s.Table.Certified, f.mechanism.relation)
	return chosen{Plan: plan, table: s.Table}, s.unsaved, err
}

// chooseOptimal makes the optimal plurality. Where nobody named it and it is not known in time,
// permute-and-flip keeps the same ε; a table that the clock made would be another the next time.
func (f *aggregateFlags) chooseOptimal(c *cobra.Command, a *app, k, classes int) (chosen, error, error) {
	p, err := f.pluralityProblem(c, k, classes)
	if err != nil {
		return chosen{}, nil, err
	}
	objective, _, err := f.optimal.pluralityObjective(c, a, f.priorCounts, k, classes)
	if err != nil {
		return chosen{}, nil, err
	}
	limit := f.optimal.within
	if !f.mechanism.byDefault {
		limit = 0
	}
	t, err := f.optimal.solve(c, a, &f.problemFlags, p, objective, limit)
	late := tooLong(err)
	if late != nil && f.charge.checkpoint != "" {
		return chosen{}, nil, fmt.Errorf("%w; permute-and-flip does not take its place, since --checkpoint needs a table", late)
	}
	if late != nil && f.mechanism.byDefault && !p.Abstain {
		f.mechanism.name = mechanismFallback
		plan, err := f.mechanism.make(c, &f.problemFlags, k, classes)
		if err != nil {
			return chosen{}, nil, err
		}
		plan.Problem.Delta = 0 // it spends none
		return chosen{Plan: plan, instead: late}, nil, nil
	}
	if err != nil {
		return chosen{}, nil, cmp.Or(late, err)
	}
	plan, err := release.Plurality(t.Certified, f.mechanism.relation)
	return chosen{Plan: plan, optimal: t.Table}, t.unsaved, err
}

package label

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// aggregateFlags are the flags of aggregate beyond the problem's.
type aggregateFlags struct {
	answerFlags
	within       within
	out          string
	format       votes.Format // of the labels
	compression  votes.Compression
	labelsAs     string // "columns" or "sets"
	scores       bool
	labelLaw     string // the file for it
	insecureSeed uint64
}

// NewAggregate makes the command that releases labels.
func NewAggregate(a *cli.App) *cobra.Command {
	var f aggregateFlags
	c := &cobra.Command{
		Use:   "aggregate FILE...",
		Short: "Release private labels for files of votes",
		Long: `Release one private label for every query in files of votes, within a budget for all of
them. Teachers promise nothing unless it is stated (--eps), and a person's data may be
behind all of them unless --data or --affected says otherwise. With FILEs and no flags it
describes them (teachers, queries, gaps, values), prints two or three commands that fit,
releases nothing and exits 2.

Two classes are answered by the optimal noise function, or with --mechanism by another.
"Optimal" is for agreement with the majority of the votes; --objective source is for the
literature's.

More than two classes (--classes cat,dog,bird) are answered by the optimal table of their vote
counts (optimal-counts).
It presumes nothing of the teachers; state --affected or --data, and the promise of one
label by --label-eps. No mechanism agrees more often under the prior: classes have uneven
shares of a query's votes (--concentration), each teacher is right with probability
--accuracy, independently, or histograms occur as in --prior-counts, which must be public.
For other votes permute-and-flip may do better: see darrm compare, on public votes. An
optimum that is too large, or takes too much counted work, is replaced by permute-and-flip,
and the report says so. For many labels within one budget see darrm plan: other noise may
compose better.

CSV and TSV have one row per query and one column of votes per teacher; a header, a
column "query" or "id" and a column "label" or "truth" are optional. A CSV without a
comma in its first row has semicolons or tabs between its cells.
` + formatsSentence() + `
Patterns such as 'part-*.csv' are taken, and "-" is stdin. Memory does not grow with
the files.

State what all labels of these files together may cost with --budget-eps and
--budget-delta: the mechanism is planned for their number, as darrm plan does, by a
prior and never by these votes.

Or state what one label may cost: with --label-eps, or with --m in units of the teachers'
own ε (--eps, --teacher-delta). Or give a table of darrm solve with --table. A table's
promise is about the teachers that it names. State yours too (--eps, --teacher-delta, and
--affected or --data, which mean all teachers if left out): a table for other teachers is
refused. If you state nothing, the report says that the teachers are the table's.

The labels go to stdout or --out, with the queries' ids, in the order of the votes;
the name decides the format, such as labels.parquet or labels.csv.gz (--json holds
them all in memory). They are drawn with the operating system's randomness. Nothing
appears before all are there, and on any error nothing is written.

An existing --out is not replaced without --force, and never where the --ledger knows it as
the result of a request. Without a ledger a second draw is a second release. --scores prints
on stderr how well each mechanism does on these votes. Those figures are computed from the raw
votes: they are not private.

With --ledger the release is paid for before a label is drawn, and what the budget
does not allow is refused. Fresh teachers pay for every answer; frozen ones pay for
their training, once, whatever they answer. --dry-run prints the price beforehand.

Fresh teachers cast one row of votes for each query: a draw. The first answer to a draw
pays as above. One charge, of what the votes themselves cost, covers all further answers to it. --draw names the draw. The ledger keeps a keyed digest of the votes and
refuses the same votes under another name, unless --votes-cast-anew states that the
teachers cast them for this draw. The ledger does not record which votes are equal. It does
not notice equal rows of files that differ elsewhere; the same votes with the teachers in
another order, as counts, or with other names of the classes; or releases from other ledgers
or without one.

With a ledger, and for --dry-run, the votes are read twice: to count the queries, and to
answer them. With --checkpoint the same command finishes a release that was interrupted
after it was paid for.`,
		Example: `  darrm aggregate votes.csv --budget-eps 2 --budget-delta 1e-6 --data disjoint --out labels.csv
  darrm aggregate votes.csv --m 3 --eps 0.13577 --teacher-delta 1e-4 --out labels.csv
  darrm aggregate 'votes-*.parquet' --table table.json --out labels.parquet
  darrm aggregate pets.csv --classes cat,dog,bird --label-eps 0.5 --data disjoint --out labels.csv
  darrm aggregate votes.npy --layout teachers --mechanism gnmax --label-eps 0.5 --delta 1e-6 --data disjoint
  darrm aggregate votes.csv --table table.json --ledger patients.ledger --request-id march --teachers fresh`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cli.CompleteFiles(votes.FileEndings()...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.registerAnswer(c)
	f.read.register(c)
	f.charge.register(c)
	f.within.register(c, &f.Flags) // it excludes some of these
	fl := c.Flags()
	fl.StringVarP(&f.out, "out", "o", "", "write the labels to this file instead of stdout")
	cli.TakesFile(c, "out", votes.FileEndings()...)
	written := formats(true)
	cli.Enum(c, &f.format, "out-format", check.Alternatives(written)+"; auto goes by the name",
		append([]votes.Format{votes.FormatAuto}, written...)...)
	cli.Enum(c, &f.compression, "out-compression", "\"none\", \"gzip\" or \"zstd\"; auto goes by the name",
		votes.Compressions()...)
	fl.StringVar(&f.labelsAs, "labels-as", "columns", "with --labels: write \"columns\" of 0 and 1, or one of \"sets\" "+
		"such as cat|dog")
	cli.OneOf(c, "labels-as", "columns", "sets")
	fl.BoolVar(&f.scores, "scores", false,
		"print on stderr how well each mechanism does on these votes, and on true labels where the files "+
			"have them: computed from the raw votes, NOT PRIVATE")
	fl.StringVar(&f.labelLaw, "label-law", "", "write the law of the labels to this file, for learning from "+
		"them, as darrm label-law does. It is public, and does not depend on the votes (--dry-run writes none)")
	cli.TakesFile(c, "label-law", "json")
	fl.Uint64Var(&f.insecureSeed, "insecure-seed", 0,
		"simulate with this seed, for experiments; the output is marked, it is not private")
	cli.First(c, problem.FlagGroups, "budget-eps", "budget-delta", "data", "classes", "K", "ledger",
		"request-id",
		"out")
	return c
}

func (f *aggregateFlags) run(c *cobra.Command, a *cli.App, paths []string) error {
	if bare(c) {
		s := survey{&f.read, &f.Flags, false}
		return s.tell(c, a, paths)
	}
	if err := f.prepare(c, a, paths); err != nil {
		return err
	}
	var (
		g       choose.Choice
		scores  *scores
		answers []jsonAnswer
	)
	l := f.labels(c, a, paths)
	var err error
	if l.Stated, err = f.statement(c, f.within.stated(c)); err != nil {
		return err
	}
	if f.within.asked(c) {
		l.Budget = &f.within.budget
	}
	l.Each = func(b *votes.Batch, classes []int) error {
		if a.JSON {
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
	// a dry run writes its own document, whatever form the labels will have
	if a.JSON && !f.charge.dryRun {
		l.Encode = func(w io.Writer, s *release.Summary) error {
			if err := f.settle(c, s, &g); err != nil {
				return err
			}
			return encodeAnswers(w, s, g, &f.within, answers, simulated)
		}
	}
	r, err := l.Open(c.Context(), f.charge.dryRun)
	if err != nil {
		return err
	}
	defer r.Close()
	if need := r.Need(); need != nil {
		if f.scores {
			if scores, err = newScores(r.Several().Votes(need.Teachers), need.Classes, f.read.abstain(),
				f.read.options.Labels); err != nil {
				return err
			}
			scores.teachers, scores.several = need.Teachers, r.Several()
		}
		var slack float64
		if l.Budget != nil {
			g, slack, err = f.within.plan(c, a, f.states(), need.Budget, need.Teachers, need.Classes, need.Queries)
		} else {
			g, err = f.choose(c, need.Teachers, need.Classes)
		}
		if err == nil && f.labelLaw != "" { // labels that are paid for should have theirs
			_, err = f.law(c.Context(), g)
		}
		if err == nil {
			err = r.Use(g.Plan, slack)
		}
		if err != nil {
			return err
		}
	}
	if f.charge.dryRun {
		q, err := r.Quote(c.Context())
		if err != nil {
			return err
		}
		if err := f.settle(c, &q.Summary, &g); err != nil {
			return err
		}
		f.within.report(a, &q.Summary)
		return quote(a, q, g, &f.within)
	}
	s, err := r.Run(c.Context())
	var exceeded *ledger.ExceededError
	if errors.As(err, &exceeded) {
		left, _ := exceeded.Budget.Cost().Minus(exceeded.Spent).Floor()
		asked, _ := exceeded.Asked.Ceil()
		if left > 0 && asked > 0 {
			err = fmt.Errorf("%w; ε = %s of %s is left, so %s of the ε of each label would fit: "+
				"--budget-eps rest takes what is left", err, num.Outward(left, 4, false),
				num.Outward(asked, 4, true), num.Percent(math.Floor(100*left/asked)/100))
		}
	}
	switch {
	case s == nil:
		return err
	case s.Before:
		a.Say("request %q was released before: its labels are in %s, unchanged", f.charge.RequestID,
			f.out)
		if f.labelLaw != "" { // it is public, and the mechanism is that of the charge
			err = errors.Join(err, f.settle(c, s, &g), f.writeLaw(c, a, g))
		}
		return err
	}
	err = errors.Join(err, f.settle(c, s, &g), f.writeLaw(c, a, g))
	f.within.report(a, s)
	report(a, s, g, simulated)
	if scores != nil {
		err = errors.Join(err, scores.report(a, g))
	}
	return errors.Join(err, f.Unsaved)
}

// settle takes the mechanism of a charge that was in the ledger before, where that answered.
func (f *aggregateFlags) settle(c *cobra.Command, s *release.Summary, g *choose.Choice) error {
	if g.Mechanism() == nil {
		*g = choose.Choice{Plan: s.Plan}
		if !f.within.asked(c) {
			t := s.Plan.Table()
			g.Noise, g.Optimum, g.Answers = t.Gamma, t.Plurality, t.Answers
		}
	}
	return f.within.settle(c, &f.answerFlags, s)
}

// labels returns the release that the flags describe, without its mechanism.
func (f *aggregateFlags) labels(c *cobra.Command, a *cli.App, paths []string) release.Labels {
	l := release.Labels{
		Votes: paths, Stdin: a.Stdin(c.Context()), Read: f.read.options,
		Truth: f.scores, Charge: f.charge.Charge,
		Output: release.FileOutput{Path: f.out, Stdout: a.Out}, Format: f.format,
		Compression: f.compression, Sets: f.labelsAs == "sets",
		Queries: f.within.queries, Checkpoint: f.charge.checkpoint, Force: f.charge.force, Table: f.table,
		Beside: release.File{Name: "--label-law", Path: f.labelLaw, Written: true},
		Source: release.SourceFlags,
		Progress: func(passage string) (func(votes.Progress), func()) {
			bar := cli.NewProgress(a)
			return bar.Rows(passage), func() {
				bar.Stop()
				switch { // what comes next is short, and must not be left half done
				case c.Context().Err() != nil: // this passage itself was interrupted
				case passage == release.Answering:
					a.Finishing("writing the labels")
				case f.charge.Ledger != "":
					a.Finishing("writing the entry in the ledger")
				}
			}
		},
	}
	if c.Flags().Changed("insecure-seed") {
		l.Seed = &f.insecureSeed
	}
	if f.chooser != nil && f.chooser.TeachersOfTable() {
		l.Source = release.SourceTable
	}
	return l
}

// prepare checks the flags.
func (f *aggregateFlags) prepare(c *cobra.Command, a *cli.App, paths []string) error {
	if err := f.read.prepare(c, paths); err != nil {
		return err
	}
	if err := (release.FileOutput{Path: f.out}).CheckPlace(); err != nil {
		return err
	}
	if err := f.checkLaw(c.Context()); err != nil { // before anything is released
		return err
	}
	if f.within.asked(c) {
		if err := f.within.prepare(c, f.states()); err != nil {
			return err
		}
		// Only the plan tells whether the teachers' own privacy is spent: what is stated of it is checked
		// then.
		charge := f.charge.Charge
		charge.Teachers, charge.Ensemble, charge.EnsembleDigest, charge.Draw = "", "", "", ""
		charge.VotesCastAnew = false
		return charge.Check(false)
	}
	if err := f.within.checkQueries(c); err != nil {
		return err
	}
	if err := f.answerFlags.prepare(c, a, false); err != nil {
		return err
	}
	return f.charge.Check(f.chooser.Promise())
}

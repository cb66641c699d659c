package mechanisms

import (
	"cmp"
	"errors"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
	"github.com/spf13/cobra"
)

// solveFlags are the flags of solve: of a noise function, of a table of many classes, and of one for many answers.
type solveFlags struct {
	problem.Flags
	files   solveFiles
	queries int             // asks for a table for many answers
	method  string          // of these: a table, or noise that is priced by its label
	budget  accountant.Cost // of them
	missing votes.MissingPolicy
	labels  string // names of the labels of a question, each with a table for its own share
}

// NewSolve makes the command that finds an optimal table.
func NewSolve(a *cli.App) *cobra.Command {
	var f solveFlags
	c := &cobra.Command{
		Use:   "solve --K teachers --m allowance",
		Short: "Find the optimal private noise, of two classes or many",
		Long: `Find the noise function γ that releases the majority of K private teachers
with the least error, and prove that it is private and optimal.

Each teacher is (ε,Δ)-differentially private (--eps, --teacher-delta); one
released majority is (mε,δ)-differentially private. The defaults ε = 0.1 and
Δ = 1e-5 are those of the literature's figures, not of your teachers.

` + problem.UsageObjective + `
The table shows what a label costs by both metrics. docs/plan.md compares them.

With --num-classes it finds the best private plurality of many classes instead: the
mechanism whose answer is most often a class with the most votes, where one record
changes at most --affected of the votes and nothing is presumed of the teachers.
The expected votes have uneven shares of classes, unless
--concentration, --accuracy or a file of --prior-counts says otherwise. Ctrl-C ends
the search and keeps the best table so far. docs/many-answers.md says more.

With --queries it finds the best table for that many labels together, of two classes or
of many (--num-classes), within --budget-eps and --budget-delta: aggregate --table and serve
release them for that price, which is charged once. Where a table would be too large, it is
gnmax-label: noise on the counts that is priced by the label alone. --mechanism asks for it
by name. docs/many-answers.md says more.

The result is certified: every privacy constraint is checked again with rounding
errors accounted for, whatever the solver said. Solved tables are kept in a cache
and certified again whenever they are read.

With --json the table is printed in the form that aggregate and verify read; --out
writes it to a file. --plot draws it.`,
		Example: `  darrm solve --K 11 --m 3 --plot gamma.svg
  darrm solve --K 11 --m 3 --eps 0.13577 --teacher-delta 1e-4 --out table.json
  darrm solve --K 11 --m 3 --objective agreement
  darrm solve --K 41 --m 5 --shape monotone --json
  darrm solve --K 250 --eps inf --affected 1 --label-eps 0.5
  darrm solve --num-classes 4 --K 50 --affected 1 --label-eps 0.1 --gap 1e-4 --out table.json
  darrm solve --K 101 --data disjoint --queries 1000 --budget-eps 3 --budget-delta 1e-6 --out table.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	f.Register(c, "K")
	f.RegisterRelease(c, choose.Source)
	c.Flag("eps").DefValue, c.Flag("teacher-delta").DefValue = num.Shortest(ofFigures.Epsilon),
		num.Shortest(ofFigures.Delta)
	f.RegisterPlurality(c, solve.DefaultGap)
	f.Register(c, "shares", "cost")
	cli.AlsoOneOf(c, "method", solve.Methods()...)
	c.Flag("method").Usage += "; many classes: \"first-order\" (plain Go), or HiGHS's \"interior-point\", " +
		"\"simplex\" or \"pdlp\" (default by size)"
	c.Flag("on-interrupt").Usage += " (many classes: \"best\" after Ctrl-C unless you say otherwise)"
	for name, many := range map[string]string{"affected": "it must be said", "delta": "0"} {
		c.Flag(name).Usage = strings.TrimSuffix(c.Flag(name).Usage, ")") + "; many classes: " + many + ")"
	}
	f.files.register(c)
	fl := c.Flags()
	fl.IntVar(&f.Classes, "num-classes", 0,
		"number of classes C of a vote: asks for the best mechanism for the plurality of many classes")
	fl.IntVar(&f.queries, "queries", 0,
		"how many labels the table may release: asks for the best table for all of them together, "+
			"within --budget-eps and --budget-delta")
	fl.StringVar(&f.labels, "labels", "", "with --queries and --shares: the names, in order, of yes/no labels of a question, each of which gets "+
		"masses for its own share of yes, under one price (--shares cat=0.1,dog=0.4)")
	fl.Float64Var(&f.budget.Epsilon, "budget-eps", 0, "ε that all labels together may cost")
	fl.Float64Var(&f.budget.Delta, "budget-delta", 0, "δ that all labels together may cost")
	f.method = ensemble.TableOfAnswers
	cli.Enum(c, &f.method, "mechanism", "with --queries, the mechanism: a table, or "+ensemble.LabelNoise+", which takes seconds "+
		"for any number of teachers and classes and knows less of the votes", ensemble.TableOfAnswers, ensemble.LabelNoise)
	cli.Enum(c, &f.missing, "missing",
		"a missing vote is an \"error\" for the table, or \"abstain\": some votes may be "+
			"missing (with --queries)", votes.MissingError, votes.MissingAbstain)
	cli.First(c, problem.FlagGroups, "K", "m", "label-eps", "delta", "data", "num-classes",
		"objective", "out")
	return c
}

// ofFigures is what each teacher of the literature's figures promises.
var ofFigures = accountant.Cost{Epsilon: 0.1, Delta: 1e-5}

// run checks the flags by the kind of problem that they ask for, and solves it.
func (f *solveFlags) run(c *cobra.Command, a *cli.App) error {
	check, solve := f.checkOne, f.noise
	switch {
	case c.Flags().Changed("queries"):
		check, solve = f.checkAnswers, f.answers
	case c.Flags().Changed("num-classes"):
		solve = f.plurality
	}
	// Checked before the solve, which can take hours.
	if err := check(c); err != nil {
		return err
	}
	if err := cmp.Or(picture.CheckPlot(f.files.plot), (release.FileOutput{Path: f.files.out}).CheckPlace(),
		(release.FileOutput{Path: f.files.plot, Name: "--plot"}).CheckPlace()); err != nil {
		return err
	}
	return solve(c, a)
}

// checkOne checks the flags of a table for one answer, of two classes or many.
func (f *solveFlags) checkOne(c *cobra.Command) error {
	err := cmp.Or(cli.Refuse(c, "goes with --queries, the number of labels that share it", "budget-eps", "budget-delta"),
		cli.Refuse(c, "goes with --queries", "mechanism", "labels"))
	if err == nil && c.Flags().Changed("num-classes") {
		err = cli.Refuse(c, "of more than two classes goes with --queries", "shares", "cost")
	}
	if err == nil && f.missing != votes.MissingError {
		err = cli.Usagef("--missing %s goes with --queries: a table for one label %w", f.missing, ensemble.ErrMissing)
	}
	return cmp.Or(err, f.CheckClasses(c, f.private(), "gap", "plot-gap"), cli.Require(c, "K", problem.RequiredBudget))
}

// private reports whether a promise of the teachers is stated.
func (f *solveFlags) private() bool { return f.Promised() || f.Each().Delta != 0 }

// noise finds the table of two classes.
func (f *solveFlags) noise(c *cobra.Command, a *cli.App) error {
	s, err := f.Solve(c, a, f.K, ofFigures)
	if err != nil {
		return err
	}
	origin := s.Origin(s.Table.Solver)
	if s.Table.Certificate().Method == gamma.PostProcessing {
		origin = "Nothing had to be solved."
	}
	return f.files.write(c, a, release.Table{Gamma: s.Table}, origin, s.Unsaved)
}

// solveFiles are the files that solve writes, "" for none.
type solveFiles struct{ out, plot, plotGap string }

func (f *solveFiles) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVarP(&f.out, "out", "o", "",
		"also write the table to this file, as JSON; \"-\" for JSON on stdout instead")
	fl.StringVar(&f.plot, "plot", "",
		"draw γ against the votes, and the baselines, into this file ("+figure.Formats+"); with --num-classes "+
			"or --queries how often the answer is right, against the lead of the first class")
	fl.StringVar(&f.plotGap, "plot-gap", "",
		"many classes: draw the gap between value and bound against time into this file ("+figure.Formats+")")
	cli.TakesFile(c, "out", cli.TableFiles...)
	cli.TakesFile(c, "plot", cli.PictureFiles...)
	cli.TakesFile(c, "plot-gap", cli.PictureFiles...)
}

// checkAnswers checks the flags of a table for many answers.
func (f *solveFlags) checkAnswers(c *cobra.Command) error {
	return cmp.Or(f.checkNoise(c), cli.Refuse(c, "is of one label and does not go with --queries: state --budget-eps "+
		"and --budget-delta, of all labels", "m", "label-eps", "delta"),
		cli.Refuse(c, "does not go with --queries", "prior", "prior-mean", "shape", "method", "gap", "plot-gap"),
		f.CheckByVotes("queries", f.private()), cli.Require(c, "K", "budget-eps", "budget-delta", "affected|data"))
}

// answers makes the table for many answers.
func (f *solveFlags) answers(c *cobra.Command, a *cli.App) error {
	p := answers.Problem{K: f.K, Classes: 2, Answers: f.queries, Epsilon: f.budget.Epsilon,
		Delta: f.budget.Delta}
	if c.Flags().Changed("num-classes") {
		p.Classes = f.Classes
	}
	var err error
	if p.Affected, _, err = f.Reach(c, f.K); err != nil {
		return err
	}
	losses, err := f.losses(p.Classes)
	if err != nil {
		return err
	}
	p.Named, p.Labels = losses.Stated(), len(losses.Yes)
	prior := losses.Prior(plurality.Objective{})
	p.Abstain, p.Missing = f.Many.Abstain != nil, f.missing == votes.MissingAbstain
	noise := p // noise knows no shares, costs and abstentions
	noise.Named, noise.Labels, noise.Abstain = false, 0, false
	limit, err := tooLarge(c.Context(), p)
	switch err := cmp.Or(renamed(err), f.CheckTimeout(c)); { // before a file is read
	case err != nil:
		return err
	case f.method == ensemble.LabelNoise:
		return f.priced(c, a, p)
	case limit != nil && (noise != p || f.files.plot != ""):
		return limit
	case limit != nil:
		a.Say("darrm: %v; noise that is priced by its label takes the place of a table (%s)", limit, ensemble.LabelNoise)
		return f.priced(c, a, p)
	}
	prior.Objective, err = f.Many.WithCounts(c.Context(), f.Noise.PriorCounts, f.K, p.Classes,
		problem.Histograms(a))
	if p.Missing && prior.Counts == nil { // how many votes there are is private
		prior.Present = answers.DefaultPresent
	}
	if err := cmp.Or(err, prior.Validate(p)); err != nil {
		return err
	}
	s, err := f.SolveAnswers(c.Context(), a, p, prior, f.Noise.OnInterrupt == choose.Best)
	if err != nil {
		return err
	}
	return f.files.write(c, a, release.Table{Answers: s.Table}, s.PricedAs("Made"), s.Unsaved)
}

// losses returns what is stated of the classes, which have numbers here.
func (f *solveFlags) losses(classes int) (l plan.Losses, err error) {
	names := choose.Numbered(classes)
	if f.labels != "" {
		if f.Many.Labels, err = votes.ParseColumns(f.labels); err != nil {
			return l, err
		}
		names = []string{"no", "yes"}
	}
	l, err = f.Many.Losses(names)
	if err == nil && f.labels != "" && (l.Yes == nil || classes != 2) {
		err = cli.Usagef("--labels goes with two classes and a --shares of each label that differ: with one share for all, leave it out")
	}
	if err == nil && l.Stated() && f.Noise.PriorCounts != "" {
		err = cli.Usagef("--shares and --cost go with --accuracy or --concentration, and not with --prior-counts, " +
			"whose histograms are sorted")
	}
	return l, err
}

// renamed returns the error of a problem with the name that its number of answers has here.
func renamed(err error) error {
	bad := (*check.Error)(nil)
	if !errors.As(err, &bad) || bad.Name != "answers" {
		return err
	}
	here := *bad
	here.Name = "queries"
	return &here
}

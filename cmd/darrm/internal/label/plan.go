package label

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// planFlags are the flags of plan.
type planFlags struct {
	problem   problem.Flags // what is stated of the teachers, and the prior
	read      readFlags
	budget    release.LabelBudget
	ledger    string
	queries   int
	purpose   plan.Purpose
	numbers   *cli.List[int] // of labels, to compare
	agreement float64
	abstain   bool
	sampled   int // queries in the files
	classes   []string
	charge    release.Charge // only its Records
	sizes     sizesFlags
}

// NewPlan makes the command that finds the mechanism for a budget.
func NewPlan(a *cli.App) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan [FILE...]",
		Short: "Choose the mechanism for a budget, and print the command to run",
		Long: `State what all labels together may cost (--budget-eps, --budget-delta), what your teachers
promise (--eps, --teacher-delta, --teachers; default nothing) and how many of them one record reaches
(--affected or --data). plan ranks mechanisms by what their labels are worth to a model trained on
them (--for labels: by agreement with the majority), and prints costs and the aggregate command.
It charges nothing. Without flags it describes the FILEs.

  private teachers, frozen   no noise is needed if their training fits the budget
  private teachers, fresh    the largest m that fits, or noise on the counts
  teachers without privacy   --eps inf: as little noise as the budget allows

How many labels? Without --queries it prints the worth of 50, 200, 1000 … labels, up to the
number of the FILEs' queries (--compare-queries takes other numbers), and plans for the largest
number within 5 % of the best worth. "2,000 labels tell a student as much as 44.3 labels without noise"
follows from the law of a label, for classes that are equally frequent.

Agreement and worth are expectations under a prior: each teacher votes for the likelier
class with probability --prior-mean. For more than two classes and without that flag,
the classes have uneven shares of a query's votes. State --K, and --num-classes or the classes'
names (--classes). Of FILEs only the columns and the number of queries are used. With --for
labels the expectations are computed from the FILEs' votes: NOT PRIVATE. The budget does not cover
a choice of mechanism by private votes: use public ones. The default of --queries is then the
number of their queries.

How many teachers? --compare-K plans for each of several numbers, prints the smallest one that
reaches the wanted agreement, and draws them (--plot). More teachers mean less data for each:
--compare-prior-mean states how good one teacher is at each number.

docs/plan.md describes the output and --json.`,
		Example: `  darrm plan votes.csv
  darrm plan --K 101 --data disjoint --budget-eps 2 --budget-delta 1e-5
  darrm plan --K 101 --data disjoint --budget-eps 2 --budget-delta 1e-5 --queries 100 --for labels
  darrm plan --K 11 --eps 0.1 --teacher-delta 0 --teachers frozen --budget-eps 2 --budget-delta 0 --queries 1000
  darrm plan --compare-K 40,100,200,400 --data disjoint --budget-eps 3 --budget-delta 1e-6 --queries 500 \
    --plot teachers.svg
  darrm plan public-votes.csv --for labels --affected 2 --budget-eps 1 --budget-delta 1e-6`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cli.CompleteFiles(votes.FileEndings()...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	fl := c.Flags()
	cli.Register(c, &f.budget)
	fl.StringVar(&f.ledger, "ledger", "",
		"plan within what this ledger has left: all of it, unless a budget is given")
	cli.TakesFile(c, "ledger", cli.LedgerFiles...)
	fl.IntVar(&f.queries, "queries", 0, "how many labels (default: the largest of --compare-queries "+
		"whose worth is within 5 % of the best; with --for labels as many as the FILEs have queries)")
	registerPurpose(c, &f.purpose)
	f.numbers = cli.NewList("", cli.IntList(func(n int) error {
		return check.Whole("queries", n, 1, accountant.MaxOptimalCount)
	}))
	fl.Var(f.numbers, "compare-queries", "instead of --queries: print what each of these numbers of labels is "+
		"worth to a student (default 50,200,1000,5000,… up to the FILEs' queries); ranges are first:last:step")
	cli.Exclude(c, "", "queries", "compare-queries")
	f.problem.Register(c, "eps", "teacher-delta", "teachers", "neighbours", "prior-mean", "solve-within",
		"shares", "cost")
	f.problem.RegisterReach(c)
	c.Flag("eps").Usage = "ε of each teacher; inf for teachers that promise nothing"
	c.Flag("prior-mean").Usage = "mean probability that a teacher votes for the likelier class (more than two " +
		"classes: uneven shares unless it is given)"
	fl.Float64Var(&f.agreement, "agreement", 0.9,
		"wanted agreement: where a plan misses it, plan prints the budget, or "+
			"the number of labels, that reaches it; 0 for none. With --for student the default is none")
	fl.BoolVar(&f.abstain, "abstentions", false, "consider "+choose.CheckNames()+
		" too, whose labels may be abstentions")
	cli.Register(c, &f.charge, "records")
	f.sizes.register(c)
	f.read.register(c)
	f.problem.RegisterCache(c)
	f.problem.RegisterTimeout(c, "give up solving after this time, such as 90s (default none)")
	cli.First(c, problem.FlagGroups, "budget-eps", "budget-delta", "queries", "K", "data",
		"num-classes", "ledger", "for")
	return c
}

func (f *planFlags) run(c *cobra.Command, a *cli.App, files []string) error {
	if len(files) > 0 && bare(c) {
		s := survey{&f.read, &f.problem, false}
		return s.tell(c, a, files)
	}
	if err := f.prepare(c, files); err != nil {
		return err
	}
	f.read.tell(&f.problem.Request)
	r := plan.Request{Stated: f.problem.Stated, Queries: f.queries, Agreement: f.agreement, Abstain: f.abstain, For: f.purpose}
	if f.purpose == plan.ForStudent && !c.Flags().Changed("agreement") && !f.sizes.teachers.Given {
		r.Agreement = 0
	}
	var err error
	if r.Budget, err = f.budget.Left(c.Context(), f.ledger); err != nil {
		return err
	}
	if f.sizes.teachers.Given {
		return f.compareSizes(c, a, r)
	}
	if err := f.votes(c, a, files, &r); err != nil {
		return err
	}
	if r.Stated, err = f.problem.Of(c, r.K, r.Classes); err != nil {
		return err
	}
	if r.Several.Labels > 0 {
		if r.Queries == 0 { // all questions of the files
			r.Queries = r.Several.Questions(f.sampled)
		}
		each := r.Several.PerQuestion(r.Reach(r.K))
		if r.Queries == 0 || r.Queries > accountant.MaxOptimalCount/each {
			return check.Wantf("queries", r.Queries, "the number of questions with several labels, from 1 to %d",
				accountant.MaxOptimalCount/each)
		}
		r.Queries *= each
	}
	solvers(a, &r, &f.problem)
	numbers, err := f.compareNumbers(c, a, &r)
	if err != nil {
		return err
	}
	p, err := newPlan(c, a, &f.problem, r)
	if err != nil {
		return err
	}
	o, err := f.outcome(c, r, p, files)
	if err != nil {
		return err
	}
	o.numbers = numbers
	o.report.Numbers = plan.ReportNumbers(numbers)
	err = a.Show(o.report, o.render)
	if err != nil {
		return err
	}
	return f.problem.Unsaved
}

// prepare checks the flags.
func (f *planFlags) prepare(c *cobra.Command, files []string) error {
	if err := f.read.prepare(c, files); err != nil {
		return err
	}
	if f.problem.Many.Lossy() && !c.Flags().Changed("for") {
		f.purpose = plan.ForLabels
	}
	// Teachers promise nothing unless it is stated.
	if !slices.ContainsFunc([]string{"eps", "teacher-delta", "teachers"}, c.Flags().Changed) {
		if err := c.Flags().Set("eps", "inf"); err != nil {
			return err
		}
	}
	needed := []string{"eps"}
	if f.ledger == "" {
		needed = []string{"budget-eps", "budget-delta", "eps"}
	} else {
		f.budget.Epsilon.Rest = f.budget.Epsilon.Rest || !c.Flags().Changed("budget-eps")
		f.budget.Delta.Rest = f.budget.Delta.Rest || !c.Flags().Changed("budget-delta")
	}
	if !f.problem.PresumesNothing() {
		needed = append(needed, "teacher-delta", "teachers")
	} else if f.problem.Teachers != "" {
		return cli.Usagef("teachers = %q, but teachers that promise nothing have no privacy to add up: "+
			"leave it out", f.problem.Teachers)
	}
	if err := f.sizes.check(c, files); err != nil {
		return err
	}
	if statesLabels(c) {
		switch {
		case f.sizes.teachers.Given || f.numbers.Given:
			return cli.Usagef("--labels goes without --compare-K and --compare-queries")
		case f.problem.Promised():
			return cli.Usagef("--eps goes without --labels: a promise about one label is none about all of them")
		case len(files) == 0:
			needed = append(needed, "queries")
		}
	}
	if f.numbers.Given && f.purpose != plan.ForStudent {
		return cli.Usagef("--compare-queries goes with --for student: it compares what labels are worth")
	}
	switch {
	case f.sizes.teachers.Given:
		needed = append(needed, "queries")
	case len(files) == 0 && f.purpose == plan.ForStudent:
		needed = append(needed, "K")
	case len(files) == 0:
		needed = append(needed, "K", "queries")
	}
	if err := cli.Require(c, needed...); err != nil {
		return err
	}
	if err := release.CheckRecords(f.charge.Records); err != nil {
		return err
	}
	return cmp.Or(f.problem.CheckTimeout(c), choose.CheckWithin(f.problem.SolveWithin))
}

// teachers sets the number of teachers.
func (f *planFlags) teachers(r *plan.Request, k int) (err error) {
	r.K = k
	if r.Several, err = f.read.several().Of(k); err != nil {
		return &release.UsageError{Err: err}
	}
	return nil
}

// votes sets the law of votes over which agreement is expected.
func (f *planFlags) votes(c *cobra.Command, a *cli.App, files []string,
	r *plan.Request) (err error) {
	if len(files) == 0 {
		f.classes = f.problem.Names
		return cmp.Or(f.teachers(r, r.K), stateLosses(c, &f.problem, f.classes, r))
	}
	if o := f.read.options; o.Layout == votes.LayoutLong && (o.QueryIDs == nil || o.K == 0) {
		return cli.Usagef("--layout long needs --query-ids and --K: the votes determine neither")
	}
	err = f.read.each(c.Context(), a, files, func(v *votes.Reader) error {
		r.Classes, f.classes = len(v.Classes()), v.Classes()
		if err := f.teachers(r, v.K()); err != nil {
			return err
		}
		if r.Several.Labels > 0 {
			f.classes = f.problem.Names
		}
		if f.purpose == plan.ForStudent || f.problem.Many.Lossy() { // nothing of the votes is used
			return stateLosses(c, &f.problem, f.classes, r)
		}
		if r.Votes, err = plan.NewSample(r.Several.Votes(r.K), r.Classes); err == nil && f.read.abstain() {
			r.Votes.AllowMissing()
		}
		return err
	}, func(b *votes.Batch) error {
		f.sampled += b.Len()
		for i := range b.Len() {
			if !r.Votes.FromVotes() {
				break
			}
			if err := r.Votes.Add(b.Row(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if r.Queries == 0 && f.purpose != plan.ForStudent && r.Several.Labels == 0 { // with labels, Queries counts questions here
		r.Queries = f.sampled
	}
	return err
}

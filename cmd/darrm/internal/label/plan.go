package label

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/commandline"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// planFlags are the flags of plan.
type planFlags struct {
	problem   problem.Flags // what is said of the teachers, and of the prior
	mechanism problem.MechanismFlags
	optimal   problem.OptimalFlags // how long it may take
	read      readFlags
	teachers  string
	budget    release.LabelBudget
	ledger    string
	queries   int
	agreement float64
	abstain   bool
	sampled   int // queries in the files
	classes   []string
	records   int
	sizes     sizesFlags
}

// NewPlan makes the command that finds the mechanism for a budget.
func NewPlan(a *cli.App) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan [FILE...]",
		Short: "Tell which mechanism to use for a budget, and the command to run",
		Long: `Budget in, plan out. Say what all labels together may cost (--budget-eps,
--budget-delta) and how many there will be (--queries), what your teachers promise
(--eps, --teacher-delta, --teachers; nothing unless it is said) and how many of them one record reaches (--affected or --data). plan tells the mechanism whose labels are expected to agree
with the majority most often, what one label and all labels cost by every bound, and
the aggregate command to run. Nothing is released and nothing is charged. With FILEs and
nothing else it prints what is in them and which commands fit, and exits 2.

  private teachers, frozen   no noise is needed if their training fits the budget
  private teachers, fresh    the largest m that fits, or noise on the counts
  teachers without privacy   --eps inf: noise, with labels as dear as the budget allows

Without a FILE expected agreement is over a prior: each teacher votes for the likelier
class with probability --prior-mean, or, of more than two classes and without that flag,
the classes have uneven shares of a query's votes; say --K, and --num-classes or their
names (--classes). With FILEs it is computed from their votes: NOT PRIVATE, and choosing a
mechanism by private votes is not covered by the budget: use public votes. The default
of --queries is then their number.

How many teachers? --compare-K plans for each of several numbers, says from which on the
wanted agreement is reached, and draws it (--plot). More teachers mean less data for each:
--compare-prior-mean takes how good one of so many is.

docs/plan.md describes the output and --json.`,
		Example: `  darrm plan votes.csv
  darrm plan --K 101 --data disjoint --budget-eps 2 --budget-delta 1e-5 --queries 100
  darrm plan --K 11 --eps 0.1 --teacher-delta 0 --teachers frozen --budget-eps 2 --budget-delta 0 --queries 1000
  darrm plan --compare-K 40,100,200,400 --data disjoint --budget-eps 3 --budget-delta 1e-6 --queries 500
  darrm plan public-votes.csv --eps inf --affected 2 --budget-eps 1 --budget-delta 1e-6`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cli.CompleteFiles(votes.FileEndings()...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	fl := c.Flags()
	registerBudget(c, &f.budget)
	fl.StringVar(&f.ledger, "ledger", "",
		"plan within what this ledger has left: all of it, unless a budget is given")
	cli.TakesFile(c, "ledger", cli.LedgerFiles...)
	fl.IntVar(&f.queries, "queries", 0, "how many labels (default: as many as the FILEs have queries)")
	fl.Float64Var(&f.problem.Epsilon, "eps", 0,
		"ε of each teacher; inf for teachers that promise nothing")
	fl.Float64Var(&f.problem.TeacherDelta, "teacher-delta", 0, problem.UsageTeacherDelta)
	fl.StringVar(&f.teachers, "teachers", "",
		"\"fresh\": each vote is a new run of a private mechanism, or \"frozen\": each teacher's "+
			"training was private, and it votes ever after")
	cli.OneOf(c, "teachers", problem.TeacherNames...)
	fl.IntVar(&f.problem.Affected, "affected", 0, problem.UsageAffected)
	fl.StringVar(&f.problem.Data, "data", "", problem.UsageData)
	cli.OneOf(c, "data", release.DataNames()...)
	cli.Exclude(c, "", "affected", "data")
	f.mechanism.RegisterRelation(c)
	fl.Float64Var(&f.problem.PriorMean, "prior-mean", solve.DefaultPriorMean,
		"mean probability that a teacher votes for the likelier class (more than two classes: uneven "+
			"shares unless it is given)")
	fl.Float64Var(&f.agreement, "agreement", 0.9,
		"expected agreement that labels are wanted for: where it is missed, plan says which budget, or "+
			"how many labels, would reach it; 0 for none")
	fl.BoolVar(&f.abstain, "abstentions", false, "consider "+choose.CheckNames()+
		" too, whose labels may be abstentions")
	problem.RegisterRecords(c, &f.records)
	f.sizes.register(c)
	f.optimal.Gap = choose.DefaultGap
	f.optimal.RegisterWithin(c)
	f.read.register(c)
	f.problem.RegisterCache(c)
	f.problem.RegisterTimeout(c, "give up solving after this time, such as 90s (default none)")
	cli.First(c, problem.FlagGroups, "budget-eps", "budget-delta", "queries", "K", "data",
		"num-classes", "ledger",
		"agreement")
	return c
}

func (f *planFlags) run(c *cobra.Command, a *cli.App, files []string) error {
	if len(files) > 0 && bare(c) {
		s := survey{&f.read, &f.problem, &f.optimal, &f.mechanism, false}
		return s.tell(c, a, files)
	}
	if err := f.prepare(c, files); err != nil {
		return err
	}
	r := plan.Request{
		Teachers:   accountant.Cost{Epsilon: f.problem.Epsilon, Delta: f.problem.TeacherDelta},
		Neighbours: f.mechanism.Relation,
		Queries:    f.queries, Agreement: f.agreement, Abstain: f.abstain,
		Missing: f.read.abstain(),
	}
	r.Randomness = problem.RandomnessOf(f.teachers)
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
	if r.Affected, _, err = f.problem.Reach(c, r.K); err != nil {
		return err
	}
	var unsaved error
	solvers(c, a, &r, &f.problem, &f.optimal, &unsaved)
	p, err := newPlan(c, a, &f.problem, r)
	if err != nil {
		return err
	}
	o, err := f.outcome(c, r, p, files)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.DeliverJSON("", o.report)
	} else {
		err = a.Print(o.render)
	}
	if err != nil {
		return err
	}
	return unsaved
}

// prepare checks the flags.
func (f *planFlags) prepare(c *cobra.Command, files []string) error {
	if err := f.read.prepare(c, files); err != nil {
		return err
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
		f.budget.RestEpsilon = f.budget.RestEpsilon || !c.Flags().Changed("budget-eps")
		f.budget.RestDelta = f.budget.RestDelta || !c.Flags().Changed("budget-delta")
	}
	if !math.IsInf(f.problem.Epsilon, 1) {
		needed = append(needed, "teacher-delta", "teachers")
	} else if f.teachers != "" {
		return cli.Usagef("teachers = %q, but teachers that promise nothing have no privacy to add up: "+
			"leave it out", f.teachers)
	}
	if err := f.sizes.check(c, files); err != nil {
		return err
	}
	switch {
	case f.sizes.teachers.Given:
		needed = append(needed, "queries")
	case len(files) == 0:
		needed = append(needed, "K", "queries")
	}
	if err := cli.Require(c, needed...); err != nil {
		return err
	}
	if err := f.mechanism.PrepareRelation(); err != nil {
		return err
	}
	if err := release.CheckRecords(f.records); err != nil {
		return err
	}
	return cmp.Or(f.problem.CheckTimeout(c), choose.CheckWithin(cli.WhenGiven(c, "solve-within", &f.optimal.Within)))
}

// votes sets the law of votes over which agreement is expected.
func (f *planFlags) votes(c *cobra.Command, a *cli.App, files []string,
	r *plan.Request) (err error) {
	if len(files) == 0 {
		r.K, r.Classes = f.read.options.K, len(f.read.options.Classes)
		r.Votes, err = law(c, r.K, r.Classes, f.problem.PriorMean)
		return err
	}
	if o := f.read.options; o.Layout == votes.LayoutLong && (o.QueryIDs == nil || o.K == 0) {
		return cli.Usagef("--layout long needs --query-ids, all queries, and --K: neither follows from " +
			"the votes")
	}
	ctx := c.Context()
	v, err := f.read.open(ctx, a.In, files)
	if err != nil {
		return err
	}
	defer v.Close()
	r.K, r.Classes, f.classes = v.K(), len(v.Classes()), v.Classes()
	if r.Votes, err = plan.NewSample(r.K, r.Classes); err != nil {
		return err
	}
	if f.read.abstain() {
		r.Votes.AllowMissing()
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	show := bar.Rows("reading")
	queries := 0
	for b, err := range v.Batches() {
		if err != nil {
			return release.Unreadable(ctx, err)
		}
		if b.Missing != nil && !f.read.abstain() {
			// A missing vote would have to be drawn, and plan draws nothing.
			return &release.InputError{Err: fmt.Errorf("the votes have missing ones, which plan takes with " +
				"--missing abstain only: say so, or leave the FILEs out")}
		}
		for i := range b.Len() {
			if err := r.Votes.Add(b.Row(i)); err != nil {
				return err
			}
		}
		queries += b.Len()
		b.Release()
		show(v.Progress())
	}
	f.sampled = queries
	if r.Queries == 0 {
		r.Queries = queries
	}
	return nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// outcome is the printed form of a plan.
type outcome struct {
	r        plan.Request
	p        *plan.Plan
	report   *plan.Report
	commands [][]string // of the first choice, in the order in which they are run
}

func (f *planFlags) outcome(c *cobra.Command, r plan.Request, p *plan.Plan,
	files []string) (*outcome, error) {
	for i, x := range p.Refused {
		p.Refused[i].Err = cli.NameFlag(c, cmp.Or(choose.TooLong(x.Err), x.Err))
	}
	o := &outcome{r: r, p: p, report: plan.NewReport(r, p, plan.ReportOptions{
		ReachStated: c.Flags().Changed("affected") || c.Flags().Changed("data"), Records: f.records,
		Classes: f.classes,
		Name:    func(parameter string) string { return cli.FlagOf(check.Parameter(parameter)) },
	})}
	if f.sampled != r.Queries { // the files are not what is to be answered
		files = nil
	}
	var err error
	o.commands, err = f.stated(c, files).Complete(o.report, r, p)
	return o, err
}

// stated returns what the flags state, for the commands that carry out the plan.
func (f *planFlags) stated(c *cobra.Command, files []string) commandline.Stated {
	reading := &cobra.Command{}
	new(readFlags).register(reading)
	s := commandline.Stated{
		Flags: map[string][]string{}, Files: files, CacheDir: f.problem.CacheDir,
		Reading: func(flag string) bool { return reading.Flags().Lookup(flag) != nil },
	}
	c.Flags().Visit(func(flag *pflag.Flag) { s.Flags[flag.Name] = valuesOf(flag) })
	return s
}

func (o *outcome) render(w *terminal.Page) error {
	r, best := o.r, o.p.Choices[0]
	w.Fact("plan:", fmt.Sprintf("%d labels of %d classes, within %v", r.Queries, r.Classes, r.Budget))
	promise := "promise nothing themselves"
	if o.report.PerTeacher != nil {
		promise = fmt.Sprintf("%s, each (%v, %v)-differentially private", o.report.Teachers,
			r.Teachers.Epsilon, r.Teachers.Delta)
	}
	w.Fact("teachers:", fmt.Sprintf("K = %d, %s; one record reaches at most %d (neighbours %s)", r.K,
		promise, r.Affected, r.Neighbours))
	w.Fact("use:", best.Title())
	if best.Mechanism.AnswersTable() == nil {
		w.Fact("one label:", best.Mechanism.PerAnswer().Short()+"-DP")
	}
	w.Fact("all labels:", fmt.Sprintf("%s-DP, by %s", best.Total.Short(), best.Rule))
	w.Fact("agreement:", expected(best, r.Votes))
	if best.Bound > 0 && best.Bound < 1 {
		w.Fact("at most:", fmt.Sprintf("%s is what any one table that is used for all %d labels can give",
			num.Percent(best.Bound), r.Queries))
	}
	for _, n := range o.report.Notes {
		w.Fact("note:", n)
	}
	for _, n := range o.report.Warnings {
		w.Fact("WARNING:", n)
	}
	w.Printf("\nWhat fits the budget, the best first:\n\n")
	header, rows := o.p.Table()
	if always := o.report.Always; always != nil {
		rows = append(rows, []string{"always " + always.Class, "0", "0",
			strings.TrimSuffix(num.Percent(always.Agreement), " %"), "0", "0"})
	}
	if err := w.Table(terminal.TextTable{Header: header, Rows: rows}); err != nil {
		return err
	}
	for _, x := range o.p.Refused {
		w.Hang("  ", "    ", fmt.Sprintf("not %s: %v", x.Name, x.Err))
	}
	w.Printf("\nAll %d labels of the first, by every bound:\n\n", r.Queries)
	rows = nil
	for _, b := range best.Bounds.Bounds {
		holds := "holds"
		if !b.Holds {
			holds = "does not hold"
		}
		rows = append(rows, []string{string(b.Method), fmt.Sprintf("%d %s", b.Count, b.Of),
			num.Outward(b.Cost.Epsilon, 6, true), num.Outward(b.Cost.Delta, 6, true), holds})
	}
	if err := w.Table(terminal.TextTable{Header: []string{"bound", "composed", "ε", "δ", ""},
		Rows: rows}); err != nil {
		return err
	}
	w.Printf("\nRun:\n\n")
	for _, args := range o.commands {
		w.Printf("%s\n", strings.Join(shellLines(args, w.Width), " \\\n"))
	}
	return nil
}

// shellLines breaks a command into lines of at most width columns, where its words allow it. A
// flag stays beside its value.
func shellLines(args []string, width int) (lines []string) {
	line := "  darrm"
	words := commandline.ShellWords(args[1:])
	for i := 0; i < len(words); i++ {
		unit := words[i]
		if strings.HasPrefix(unit, "--") && !strings.Contains(unit, "=") {
			i++
			unit += " " + words[i]
		}
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(unit)+len(` \`) > width {
			lines, line = append(lines, line), "   "
		}
		line += " " + unit
	}
	return append(lines, line)
}

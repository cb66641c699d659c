package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// planFlags are the flags of plan.
type planFlags struct {
	problem   problemFlags // what is said of the teachers, and of the prior
	mechanism mechanismFlags
	optimal   optimalFlags // how long it may take
	read      readFlags
	teachers  string
	budget    accountant.Cost
	queries   int
	agreement float64
	abstain   bool
	sampled   int // queries in the files
	records   int
}

func newPlan(a *app) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan [FILE...]",
		Short: "Tell which mechanism to use for a budget, and the command to run",
		Long: `Budget in, plan out. Say what all labels together may cost (--budget-eps,
--budget-delta) and how many there will be (--queries), what your teachers promise
(--eps, --teacher-delta, --teachers; of more than two classes nothing unless it is
said) and how many of them one record reaches (--affected or --data). plan tells the mechanism whose labels are expected to agree
with the majority most often, what one label and all labels cost by every bound, and
the aggregate command to run. Nothing is released and nothing is charged.

  private teachers, frozen   no noise is needed if their training fits the budget
  private teachers, fresh    the largest m that fits, or noise on the counts
  teachers without privacy   --eps inf: noise, with labels as dear as the budget allows

Without a FILE expected agreement is over a prior: each teacher votes for the likelier
class with probability --prior-mean, or, of more than two classes and without that flag,
the classes have uneven shares of a query's votes; say --K, and --num-classes or their
names (--classes). With FILEs it is computed from their votes: NOT PRIVATE, and choosing a
mechanism by private votes is not covered by the budget: use public votes. The default
of --queries is then their number.

docs/plan.md describes the output and --json.`,
		Example: `  darrm plan --K 101 --eps inf --data disjoint --budget-eps 2 --budget-delta 1e-5 --queries 100
  darrm plan --K 11 --eps 0.1 --teacher-delta 0 --teachers frozen --budget-eps 2 --budget-delta 0 --queries 1000
  darrm plan --K 50 --num-classes 4 --data disjoint --budget-eps 4 --budget-delta 1e-5 --queries 50
  darrm plan public-votes.csv --eps inf --affected 2 --budget-eps 1 --budget-delta 1e-6`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeFiles(votes.FileEndings()...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	fl := c.Flags()
	fl.Float64Var(&f.budget.Epsilon, "budget-eps", 0, "ε that all labels together may cost")
	fl.Float64Var(&f.budget.Delta, "budget-delta", 0, "δ that all labels together may cost")
	fl.IntVar(&f.queries, "queries", 0, "how many labels (default: as many as the FILEs have queries)")
	fl.Float64Var(&f.problem.epsilon, "eps", 0, "ε of each teacher; inf for teachers that promise nothing")
	fl.Float64Var(&f.problem.teacherDelta, "teacher-delta", 0, usageTeacherDelta)
	fl.StringVar(&f.teachers, "teachers", "", "\"fresh\": each vote is a new run of a private mechanism, or \"frozen\": each teacher's training was private, and it votes ever after")
	oneOf(c, "teachers", teacherNames...)
	fl.IntVar(&f.problem.affected, "affected", 0, usageAffected)
	fl.StringVar(&f.problem.data, "data", "", usageData)
	oneOf(c, "data", release.DataNames()...)
	f.mechanism.registerRelation(c)
	fl.Float64Var(&f.problem.priorMean, "prior-mean", solve.DefaultPriorMean, "mean probability that a teacher votes for the likelier class (more than two classes: uneven shares unless it is given)")
	fl.Float64Var(&f.agreement, "agreement", 0.9, "expected agreement that labels are wanted for: where it is missed, plan says which budget, or how many labels, would reach it; 0 for none")
	fl.BoolVar(&f.abstain, "abstain", false, "consider "+choose.CheckNames()+" too, whose labels may be abstentions")
	registerRecords(c, &f.records)
	f.optimal.gap = choose.DefaultGap
	f.optimal.registerWithin(c)
	f.read.register(c)
	f.problem.registerCache(c)
	f.problem.registerTimeout(c, "give up solving after this time, such as 90s (default none)")
	return c
}

func (f *planFlags) run(c *cobra.Command, a *app, files []string) error {
	if err := f.prepare(c, files); err != nil {
		return err
	}
	r := plan.Request{
		Teachers: accountant.Cost{Epsilon: f.problem.epsilon, Delta: f.problem.teacherDelta}, Neighbours: f.mechanism.relation,
		Budget: f.budget, Queries: f.queries, Agreement: f.agreement, Abstain: f.abstain,
	}
	r.Randomness = randomnessOf(f.teachers)
	if err := f.votes(c, a, files, &r); err != nil {
		return err
	}
	var err error
	if r.Affected, _, err = f.problem.reach(c, r.K); err != nil {
		return err
	}
	var unsaved error
	solveNoise, solvePlurality := f.problem.solvers(a, &f.optimal, &unsaved)
	// Labels are for use, so γ is optimal for agreement.
	r.Solve = func(ctx context.Context, p constraints.Problem) (*gamma.Table, error) {
		o, err := choose.Noise{Objective: choose.Agreement, PriorMean: whenGiven(c, "prior-mean", &f.problem.priorMean)}.Complete(ctx, p.K, nil)
		if err != nil {
			return nil, err
		}
		return solveNoise(ctx, p, o)
	}
	r.SolveWithin, r.SolvePlurality = f.optimal.within, solvePlurality
	// The time is for all that is solved, and so for the plan.
	ctx, cancel := f.problem.limit(c.Context())
	defer cancel()
	c.SetContext(ctx)
	bar := newProgress(a)
	r.Progress = bar.count("planning", "mechanisms")
	p, err := plan.New(ctx, r)
	bar.stop()
	var infeasible *plan.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		return usageError{Err: fmt.Errorf("--budget-eps, --budget-delta and --queries do not go together: %w", err)}
	case err != nil:
		return f.problem.late("solve", err)
	}
	for i, x := range p.Refused {
		p.Refused[i].Err = nameFlag(c, cmp.Or(choose.TooLong(x.Err), x.Err))
	}
	o, err := f.outcome(c, r, p, files)
	if err != nil {
		return err
	}
	if a.json {
		err = a.deliverJSON("", o.json())
	} else {
		err = a.print(o.render)
	}
	if err != nil {
		return err
	}
	return unsaved
}

// prepare checks the flags.
func (f *planFlags) prepare(c *cobra.Command, files []string) error {
	if err := f.read.prepare(c); err != nil {
		return err
	}
	// What serves more than two classes presumes nothing of the teachers, unless something is said of them.
	if len(f.read.options.Classes) > 2 && !slices.ContainsFunc([]string{"eps", "teacher-delta", "teachers"}, c.Flags().Changed) {
		if err := c.Flags().Set("eps", "inf"); err != nil {
			return err
		}
	}
	needed := []string{"budget-eps", "budget-delta", "eps"}
	if !math.IsInf(f.problem.epsilon, 1) {
		needed = append(needed, "teacher-delta", "teachers")
	} else if f.teachers != "" {
		return usagef("teachers = %q, but teachers that promise nothing have no privacy to add up: leave it out", f.teachers)
	}
	if len(files) == 0 {
		needed = append(needed, "K", "queries")
	}
	if err := require(c, needed...); err != nil {
		return err
	}
	if err := f.mechanism.prepareRelation(); err != nil {
		return err
	}
	if err := release.CheckRecords(f.records); err != nil {
		return err
	}
	return cmp.Or(f.problem.checkTimeout(c), choose.CheckWithin(f.optimal.within))
}

// votes says over which votes agreement is expected.
func (f *planFlags) votes(c *cobra.Command, a *app, files []string, r *plan.Request) (err error) {
	if len(files) == 0 {
		r.K, r.Classes = f.read.options.K, len(f.read.options.Classes)
		if r.Classes > 2 && !c.Flags().Changed("prior-mean") {
			r.Votes, err = plan.Uneven(r.K, r.Classes, plurality.DefaultConcentration)
		} else {
			r.Votes, err = plan.Prior(r.K, r.Classes, f.problem.priorMean)
		}
		return err
	}
	ctx := c.Context()
	v, err := f.read.open(ctx, a.in, files)
	if err != nil {
		return err
	}
	defer v.Close()
	r.K, r.Classes = v.K(), len(v.Classes())
	if r.Votes, err = plan.NewSample(r.K, r.Classes); err != nil {
		return err
	}
	bar := newProgress(a)
	defer bar.stop()
	show := bar.rows("reading")
	queries := 0
	for b, err := range v.Batches() {
		if err != nil {
			return release.Unreadable(ctx, err)
		}
		if b.Missing != nil {
			// Whatever stood for a missing vote would be a draw, and nothing is drawn here.
			return inputError{Err: fmt.Errorf("the votes have missing ones, which plan does not take: leave the FILEs out")}
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

// command is the aggregate command of a choice, as arguments.
func (f *planFlags) command(c *cobra.Command, r plan.Request, choice plan.Choice, files []string) []string {
	if len(files) == 0 || f.sampled != r.Queries {
		files = []string{placeholder}
	}
	args := append([]string{"darrm", "aggregate"}, files...)
	add := func(name, value string) { args = append(args, "--"+name, value) }
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	// What was said of the files holds for aggregate too.
	reading := &cobra.Command{}
	new(readFlags).register(reading)
	c.Flags().Visit(func(flag *pflag.Flag) {
		if reading.Flags().Lookup(flag.Name) != nil {
			add(flag.Name, flag.Value.String())
		}
	})
	p := choice.Problem
	private := !math.IsInf(p.Epsilon, 1)
	if choice.Name == ensemble.OptimalNoise {
		add("eps", strings.ToLower(strings.TrimPrefix(number(p.Epsilon), "+")))
		if private {
			add("teacher-delta", number(p.TeacherDelta))
			add("teachers", f.teachers)
			add("m", number(p.M))
		}
		add("objective", choose.Agreement)
		if c.Flags().Changed("prior-mean") {
			add("prior-mean", number(f.problem.priorMean))
		}
	} else {
		add("mechanism", choice.Name)
	}
	switch o := choice.Objective; {
	case choice.Plurality == nil:
	case o.Concentration != 0:
		add("concentration", number(o.Concentration))
	default:
		add("accuracy", number(o.Accuracy))
	}
	if p.TotalEpsilon != 0 {
		add("total-eps", number(p.TotalEpsilon))
	}
	if p.Delta != 0 || private {
		add("delta", number(p.Delta))
	}
	add("affected", strconv.Itoa(p.Affected))
	if c.Flags().Changed("neighbours") {
		add("neighbours", f.mechanism.neighbours)
	}
	if !choice.Frozen {
		add("slack", number(choice.Slack))
	}
	if c.Flags().Changed("records") {
		add("records", strconv.Itoa(f.records))
	}
	add("out", "labels.csv")
	return args
}

// placeholder stands for votes that are not there yet.
const placeholder = "votes.csv"

// shellWords are arguments as a shell reads them.
func shellWords(args []string) []string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if arg == "" || strings.ContainsFunc(arg, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./,+=:%@", c))
		}) {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return words
}

// outcome is a plan with what is to be said about it.
type outcome struct {
	r        plan.Request
	p        *plan.Plan
	teachers string
	commands [][]string // of the choices
	sample   bool       // the files are not what is to be answered
	notes    []string
	warnings []string
}

func (f *planFlags) outcome(c *cobra.Command, r plan.Request, p *plan.Plan, files []string) (*outcome, error) {
	o := &outcome{r: r, p: p, teachers: f.teachers, sample: len(files) == 0 || f.sampled != r.Queries}
	for _, choice := range p.Choices {
		// What aggregate charges is worked out by the release itself, and must be the same.
		charged, err := release.Plan{Mechanism: choice.Mechanism, Problem: choice.Problem, Certified: choice.Certified, Plurality: choice.Plurality, Queries: r.Queries}.Totals(&choice.Slack)
		if err != nil {
			return nil, err
		}
		cost := charged.Fresh.Cost
		if choice.Frozen {
			cost = charged.Frozen.Cost
		}
		if cost != choice.Total {
			return nil, fmt.Errorf("%s was planned to cost %v, but a release would charge %v", choice.Name, choice.Total, cost)
		}
		o.commands = append(o.commands, f.command(c, r, choice, files))
	}
	o.advise(c, f.records)
	return o, nil
}

// advise says what should be known beside the figures.
func (o *outcome) advise(c *cobra.Command, records int) {
	r, p, best := o.r, o.p, o.p.Choices[0]
	note := func(format string, args ...any) { o.notes = append(o.notes, fmt.Sprintf(format, args...)) }
	switch {
	case best.Frozen && r.Affected == 1:
		note("No noise is needed: the teachers are private, and with disjoint data (--affected 1) one record reaches one of them. All labels together cost %s, however many.", best.Total.Short())
	case best.Frozen:
		note("No noise is needed: the teachers are private, and all labels are computed from them. One record reaches %d of them, which cost %s together, however many labels.", r.Affected, best.Total.Short())
	case best.NoNoise:
		note("No noise is needed: all the votes that one record reaches may be revealed within the budget.")
	case p.Fits:
		note("The teachers' own privacy fits the budget without noise: the class with the most votes may be released as it is. aggregate has no such mechanism for %d classes; the noise below is not needed.", r.Classes)
	case p.Training != nil:
		note("The teachers' own privacy does not fit: their training costs %s, however few labels. They are planned for as teachers that promise nothing, with noise on each label.", p.Training.Cost.Short())
	}
	if p.Useless {
		note("No mechanism is useful: none within the budget agrees with the majority much more often than a guess. Have one record reach fewer teachers, ask for fewer labels, or raise the budget.")
	}
	if p.FitsIfDisjoint && !p.Fits {
		note("If the teachers' data are disjoint, say --affected 1: then no noise is needed.")
	} else if r.Affected == r.K && r.K > 1 && !p.Fits && !c.Flags().Changed("affected") && !c.Flags().Changed("data") {
		note("Neither --affected nor --data was given, so one record may reach all %d teachers. If their data are disjoint, say --data disjoint: labels are then much better.", r.K)
	}
	if a := p.Advice; a != nil {
		wanted := fmt.Sprintf("%s agreement", percent(r.Agreement))
		if a.Epsilon > 0 {
			note("For %s, %d labels need a budget of ε = %v at δ = %v (%s).", wanted, r.Queries, a.Epsilon, r.Budget.Delta, a.EpsilonName)
		} else {
			note("No budget up to ε = 700 gives %s at δ = %v.", wanted, r.Budget.Delta)
		}
		if a.Queries > 0 {
			note("For %s, this budget pays for %d labels (%s).", wanted, a.Queries, a.QueriesName)
		} else {
			note("For %s, this budget pays for no label.", wanted)
		}
	}
	if o.sample {
		note("%s stands for the votes to answer.", placeholder)
	}
	if r.Votes.FromVotes() {
		o.warnings = append(o.warnings, "agreement was computed from the votes: it is NOT PRIVATE, and a choice by private votes is not covered by the budget. Use public votes, or leave the files out and state --K")
	}
	if reason, worthless := ensemble.Worthless(best.Total, records); worthless {
		o.warnings = append(o.warnings, reason)
	}
}

// title names a choice with its parameters.
func title(c plan.Choice) string {
	switch {
	case c.NoNoise:
		return "majority, no noise"
	case c.Name == ensemble.OptimalNoise && c.Problem.M != 0:
		return fmt.Sprintf("darrm, m = %v", c.Problem.M)
	case c.Name == ensemble.OptimalNoise:
		return "darrm, optimal γ"
	}
	if d, _ := ensemble.Describe(c.Name); d.Check {
		return d.Title // with the check's parameters it is too long for a table
	}
	return c.Mechanism.Title()
}

func agreement(a plan.Agreement) string {
	if a.StandardError > 0 {
		return fmt.Sprintf("%.1f ± %.1f %%", 100*a.Expected, 100*a.StandardError)
	}
	return percent(a.Expected)
}

func (o *outcome) render(w *terminal.Page) error {
	r, best := o.r, o.p.Choices[0]
	w.Fact("plan:", fmt.Sprintf("%d labels of %d classes, within %v", r.Queries, r.Classes, r.Budget))
	promise := "promise nothing themselves"
	if o.teachers != "" {
		promise = fmt.Sprintf("%s, each (%v, %v)-differentially private", o.teachers, r.Teachers.Epsilon, r.Teachers.Delta)
	}
	w.Fact("teachers:", fmt.Sprintf("K = %d, %s; one record reaches at most %d (neighbours %s)", r.K, promise, r.Affected, r.Neighbours))
	w.Fact("use:", title(best))
	w.Fact("one label:", best.Mechanism.PerAnswer().Short()+"-DP")
	w.Fact("all labels:", fmt.Sprintf("%s-DP, by %s", best.Total.Short(), best.Rule))
	from := fmt.Sprintf("if each teacher votes for the likelier class with probability %v", r.Votes.Mean())
	switch {
	case r.Votes.FromVotes():
		from = "on these votes (NOT PRIVATE)"
	case r.Votes.Concentration() != 0:
		from = fmt.Sprintf("if classes have uneven shares of the votes (concentration %v)", r.Votes.Concentration())
	}
	w.Fact("agreement:", fmt.Sprintf("%s with the majority, %s; a guess agrees with %s (%s)", agreement(best.Agreement), from, percent(r.Votes.Guess()), agrees))
	for _, n := range o.notes {
		w.Fact("note:", n)
	}
	for _, n := range o.warnings {
		w.Fact("WARNING:", n)
	}
	w.Printf("\nWhat fits the budget, the best first:\n\n")
	var rows [][]string
	for _, c := range o.p.Choices {
		per := c.Mechanism.PerAnswer()
		rows = append(rows, []string{title(c), num.Outward(per.Epsilon, 4, true), num.Outward(per.Delta, 3, true), agreement(c.Agreement), num.Outward(c.Total.Epsilon, 5, true), num.Outward(c.Total.Delta, 3, true)})
	}
	if err := w.Table(terminal.Table{Header: []string{"mechanism", "ε of one label", "δ of one label", "agreement", "ε of all", "δ of all"}, Rows: rows}); err != nil {
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
		rows = append(rows, []string{string(b.Method), fmt.Sprintf("%d %s", b.Count, b.Of), num.Outward(b.Cost.Epsilon, 6, true), num.Outward(b.Cost.Delta, 6, true), holds})
	}
	if err := w.Table(terminal.Table{Header: []string{"bound", "composed", "ε", "δ", ""}, Rows: rows}); err != nil {
		return err
	}
	w.Printf("\nRun:\n\n%s\n", strings.Join(shellLines(o.commands[0], w.Width), " \\\n"))
	return nil
}

// shellLines breaks a command into lines of at most width columns, where its words allow it. A
// flag stays beside its value.
func shellLines(args []string, width int) (lines []string) {
	line := "  darrm"
	words := shellWords(args[1:])
	for i := 0; i < len(words); i++ {
		unit := words[i]
		if strings.HasPrefix(unit, "--") {
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

func (o *outcome) json() any {
	type bound struct {
		Of      string  `json:"of"`
		Count   int     `json:"count"`
		Method  string  `json:"method"`
		Epsilon float64 `json:"epsilon"`
		Delta   float64 `json:"delta"`
		Holds   bool    `json:"holds"`
	}
	type choice struct {
		Mechanism     string          `json:"mechanism"`
		Title         string          `json:"title"`
		NoNoise       bool            `json:"no_noise"`
		M             float64         `json:"m,omitempty"`
		PerLabel      accountant.Cost `json:"per_label"`
		Slack         float64         `json:"slack"`
		AllLabels     accountant.Cost `json:"all_labels"`
		Rule          string          `json:"rule"`
		Agreement     float64         `json:"agreement"`
		StandardError float64         `json:"agreement_standard_error"`
		Abstained     float64         `json:"abstained"`
		Bounds        []bound         `json:"bounds"`
		Command       string          `json:"command"`
		Args          []string        `json:"args"`
	}
	type refusal struct {
		Mechanism string `json:"mechanism"`
		Why       string `json:"why"`
	}
	type advice struct {
		Agreement float64 `json:"agreement"`
		Epsilon   float64 `json:"least_budget_epsilon"`
		Queries   int     `json:"most_queries"`
	}
	r := o.r
	out := struct {
		Queries       int              `json:"queries"`
		K             int              `json:"k"`
		Classes       int              `json:"classes"`
		Affected      int              `json:"affected"`
		Neighbours    string           `json:"neighbours"`
		Budget        accountant.Cost  `json:"budget"`
		Teachers      string           `json:"teachers"`
		PerTeacher    *accountant.Cost `json:"per_teacher"`
		Training      *accountant.Cost `json:"training"`
		NoNoiseNeeded bool             `json:"no_noise_needed"`
		Useless       bool             `json:"useless"`
		AgreementFrom string           `json:"agreement_from"`
		PriorMean     float64          `json:"prior_mean,omitempty"`
		Concentration float64          `json:"prior_concentration,omitempty"`
		Choices       []choice         `json:"choices"`
		Refused       []refusal        `json:"refused"`
		Advice        *advice          `json:"advice"`
		Notes         []string         `json:"notes"`
		Warnings      []string         `json:"warnings"`
	}{
		Queries: r.Queries, K: r.K, Classes: r.Classes, Affected: r.Affected, Neighbours: r.Neighbours.String(), Budget: r.Budget,
		Teachers: o.teachers, NoNoiseNeeded: o.p.Fits, Useless: o.p.Useless, AgreementFrom: "prior", PriorMean: r.Votes.Mean(), Concentration: r.Votes.Concentration(),
		Refused: []refusal{}, Notes: slices.Concat([]string{}, o.notes), Warnings: slices.Concat([]string{}, o.warnings),
	}
	if o.teachers == "" {
		out.Teachers = "promise nothing"
	} else {
		out.PerTeacher = &r.Teachers
	}
	if t := o.p.Training; t != nil {
		out.Training = &t.Cost
	}
	if r.Votes.FromVotes() {
		out.AgreementFrom = "votes"
	}
	for i, c := range o.p.Choices {
		j := choice{
			Mechanism: c.Name, Title: title(c), NoNoise: c.NoNoise, M: c.Problem.M, PerLabel: c.Mechanism.PerAnswer(), Slack: c.Slack,
			AllLabels: c.Total, Rule: c.Rule, Agreement: c.Agreement.Expected, StandardError: c.Agreement.StandardError,
			Abstained: c.Agreement.Abstained, Command: strings.Join(shellWords(o.commands[i]), " "), Args: o.commands[i],
		}
		for _, b := range c.Bounds.Bounds {
			j.Bounds = append(j.Bounds, bound{b.Of, b.Count, string(b.Method), b.Cost.Epsilon, b.Cost.Delta, b.Holds})
		}
		out.Choices = append(out.Choices, j)
	}
	for _, x := range o.p.Refused {
		out.Refused = append(out.Refused, refusal{x.Name, x.Err.Error()})
	}
	if x := o.p.Advice; x != nil {
		out.Advice = &advice{r.Agreement, x.Epsilon, x.Queries}
	}
	return out
}

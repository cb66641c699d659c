package label

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// within holds the budget of all labels of a release, and the plan that was made for it.
type within struct {
	budget  release.LabelBudget
	queries int // that the budget is for, in all; 0 for those of the files
	purpose plan.Purpose
	law     *plan.Law
	choice  *plan.Choice // nil before the votes are counted
	reach   string       // what a reach costs that was not stated
}

// excluded are the flags of a mechanism, of its objective, and of the cost of one label. A budget of all labels
// determines all of these.
var excluded = []string{"label-eps", "m", "delta", "mechanism", "table", "threshold", "check-ratio",
	"objective", "prior", "prior-counts", "shape", "method", "gap", "accuracy", "concentration",
	"abstain", "on-interrupt", "slack"}

func (w *within) register(c *cobra.Command, f *problem.Flags) {
	cli.Register(c, &w.budget)
	c.Flags().IntVar(&w.queries, "queries", 0, "how many labels one charge pays for, in all that is "+
		"released under it (default: those of the FILEs)")
	registerPurpose(c, &w.purpose)
	f.Register(c, "shares", "cost", "accept-constant")
	for _, name := range excluded {
		if c.Flags().Lookup(name) != nil {
			cli.Exclude(c, "the budget of all labels, and their number, determine the mechanism and what "+
				"one label costs", name, "budget-eps")
		}
	}
}

// states returns what the flags state of teachers and votes.
func (f *answerFlags) states() *problem.Flags {
	f.read.tell(&f.Request)
	f.Teachers = f.charge.Teachers
	return &f.Flags
}

// asked reports whether a budget of all labels is stated.
func (w *within) asked(c *cobra.Command) bool {
	return c.Flags().Changed("budget-eps") || c.Flags().Changed("budget-delta")
}

// prepare checks the flags that go with a budget of all labels.
func (w *within) prepare(c *cobra.Command, f *problem.Flags) error {
	needed := []string{"budget-eps", "budget-delta"}
	switch {
	case f.Promised() && f.Several.Labels > 0:
		return cli.Usagef("--eps goes without --labels: a promise about one label is none about all of them")
	case f.Promised():
		needed = append(needed, "teacher-delta", "teachers")
	case f.Teachers != "" || f.TeacherDelta != nil:
		return cli.Usagef("--teachers and --teacher-delta are of private teachers: state their --eps, or " +
			"leave them out")
	}
	if err := cli.Require(c, needed...); err != nil {
		return err
	}
	return cmp.Or(checkBudget(w.budget), w.checkQueries(c), f.CheckTimeout(c), choose.CheckWithin(f.SolveWithin))
}

// checkQueries checks --queries where it is given.
func (w *within) checkQueries(c *cobra.Command) error {
	if !c.Flags().Changed("queries") {
		return nil
	}
	return check.Whole("queries", w.queries, 1, accountant.MaxOptimalCount)
}

// checkBudget checks the numbers of a budget that are stated.
func checkBudget(b release.LabelBudget) (err error) {
	if !b.Epsilon.Rest {
		err = check.UpTo("budget epsilon", b.Epsilon.Number, check.MaxTotalEpsilon)
	}
	if !b.Delta.Rest {
		err = cmp.Or(err, check.Delta("budget delta", b.Delta.Number))
	}
	return err
}

// stated returns w where a budget of all labels is stated, else nil.
func (w *within) stated(c *cobra.Command) *within {
	if w.asked(c) {
		return w
	}
	return nil
}

// purposeOf is the purpose of the labels as a statement has it: "" for a student.
func (w *within) purposeOf(losses plan.Losses) string {
	if losses.Stated() {
		return string(plan.ForLabels)
	}
	if w.purpose == plan.ForStudent {
		return ""
	}
	return string(w.purpose)
}

// plans returns the plan for so many labels, and its request. As the command plan it goes by the prior, and never
// by the votes.
func (w *within) plans(c *cobra.Command, a *cli.App, f *problem.Flags, budget accountant.Cost, k, classes,
	queries int) (*plan.Plan, plan.Request, error) {
	stated, err := f.Of(c, k, classes)
	if err != nil {
		return nil, plan.Request{}, err
	}
	r := plan.Request{Stated: stated, Budget: budget, For: w.purpose}
	r.Queries = r.Several.Answers(queries, r.Reach(r.K))
	if err := stateLosses(c, f, f.Names, &r); err != nil {
		return nil, r, err
	}
	solvers(a, &r, f)
	p, err := newPlan(c, a, f, r)
	if err != nil {
		return nil, r, err
	}
	// The release works out what is charged, and it must be what was planned.
	return p, r, choose.CheckPlanned(p.Choices[0], r.Queries)
}

// plan returns the mechanism and the slack of the best choice for so many labels.
func (w *within) plan(c *cobra.Command, a *cli.App, f *problem.Flags, budget accountant.Cost, k, classes,
	queries int) (choose.Choice, float64, error) {
	p, r, err := w.plans(c, a, f, budget, k, classes, queries)
	if err != nil {
		return choose.Choice{}, 0, err
	}
	best := p.Choices[0]
	if err := f.Many.CheckTells(c.Context(), best.Answers, best.Noise); err != nil {
		return choose.Choice{}, 0, err
	}
	planned, err := choose.PlanOf(best)
	w.law, w.choice = r.Votes, &best
	w.reach = reachText(k, best.Agreement, disjointGain(c.Context(), c, r))
	return choose.Choice{Plan: planned}, best.Slack, err
}

// settle fills in the choice of an earlier charge in the ledger. Nothing was planned for it, so the expected agreement
// is worked out from the mechanism.
func (w *within) settle(c *cobra.Command, f *answerFlags, s *release.Summary) (err error) {
	if !w.asked(c) || w.choice != nil || s.Plan.Mechanism() == nil {
		return nil
	}
	m := s.Plan.Mechanism()
	r := plan.Request{Stated: ensemble.Stated{K: s.Several.TeachersOf(m.Setting().K), Classes: m.Setting().Classes, Several: s.Several}}
	if err := stateLosses(c, &f.Flags, f.Names, &r); err != nil {
		return err
	}
	w.law = r.Votes
	choice := plan.Choice{Name: m.Name(), Mechanism: m, Total: s.Totals.Fresh.Cost}
	if choice.Agreement, err = r.Losses.Agreement(c.Context(), w.law, m); err != nil {
		return err
	}
	if r.Losses.Stated() { // a worth is of classes that are alike
		// The table is the one that is kept beside the charge, with the prior that it was made for.
		t := s.Plan.Table()
		choice.Noise, choice.Answers = t.Gamma, t.Answers
		w.choice = &choice
		return nil
	}
	choice.Worth, err = w.law.Worth(c.Context(), m, choice.Agreement, plannedLabels(s))
	w.choice = &choice
	return err
}

// plannedLabels returns how many labels the budget is for: of questions with several all of them.
func plannedLabels(s *release.Summary) int {
	if s.Together.Most == 0 {
		return s.Queries
	}
	each := s.Several.PerQuestion(s.Problem.Affected)
	return s.Together.Most / each * max(1, s.Several.Labels)
}

// report prints the choice and the agreement to expect; nothing where no budget is stated.
func (w *within) report(a *cli.App, s *release.Summary) {
	if w.choice == nil { // else the summary has its budget
		return
	}
	what := num.Count(plannedLabels(s), "label")
	if s.Several.Labels > 0 {
		what += " of " + num.Count(s.Several.Questions(plannedLabels(s)), "question")
	}
	a.Fact("planned:", fmt.Sprintf("%s, for %s within %v", w.choice.Title(), what, *s.Budget))
	a.Fact("expected:", expected(*w.choice, w.law))
	for _, note := range namesOf(s).ClassNotes(*w.choice) {
		a.Fact("classes:", note)
	}
	if worth := w.choice.Worth.Sentence(w.choice.Agreement); worth != "" {
		a.Fact("worth:", worth)
	}
	if w.reach != "" {
		a.Fact("reach:", w.reach)
	}
}

// stateLosses sets the losses of the request, its prior, and what labels with losses are for.
func stateLosses(c *cobra.Command, f *problem.Flags, names []string, r *plan.Request) error {
	if err := f.Many.State(r, names, f.Noise.PriorMean); err != nil {
		return err
	}
	if r.Losses.Stated() && r.For == plan.ForStudent && !c.Flags().Changed("for") {
		r.For = plan.ForLabels
	}
	return nil
}

// solvers sets what a plan solves with.
func solvers(a *cli.App, r *plan.Request, f *problem.Flags) {
	by := f.Solvers(a)
	choose.SolveNoise(r, f.Noise.PriorMean, by.Noise)
	r.SolvePlurality, r.SolveAnswers, r.PriceNoise = by.Plurality, f.AnswersSolver(a), f.NoisePricer(a)
}

// planned plans within the time of --timeout, which limits all solving together, and shows the progress by what
// is counted.
func planned[T any](c *cobra.Command, a *cli.App, f *problem.Flags, what string,
	by func(ctx context.Context, progress func(done, of int)) (T, error)) (T, error) {
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	bar := cli.NewProgress(a)
	p, err := by(ctx, bar.Count("planning", what))
	bar.Stop()
	return p, f.Late("solve", err)
}

// newPlan returns the plan for r, whose refusals name flags.
func newPlan(c *cobra.Command, a *cli.App, f *problem.Flags, r plan.Request) (*plan.Plan, error) {
	p, err := planned(c, a, f, "mechanisms", func(ctx context.Context, progress func(done, of int)) (*plan.Plan, error) {
		r.Progress = progress
		return plan.New(ctx, r)
	})
	var infeasible *plan.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		return nil, &release.UsageError{Err: fmt.Errorf("the budget and the number of labels do not go "+
			"together: %w", err)}
	case err != nil:
		return nil, err
	}
	for i, x := range p.Refused {
		p.Refused[i].Err = cli.NameFlag(c, cmp.Or(choose.TooLong(x.Err), x.Err))
	}
	return p, nil
}

// expected describes the expected agreement of a choice under the law.
func expected(c plan.Choice, law *plan.Law) string {
	from := fmt.Sprintf("if each teacher votes for the likelier class with probability %v", law.Mean())
	says, threshold := law.Says()
	switch {
	case threshold:
		from = "if " + says.String()
	case law.FromVotes():
		from = "on these votes (NOT PRIVATE)"
	case law.Concentration() != 0:
		from = fmt.Sprintf("if classes have uneven shares of the votes (concentration %v)",
			law.Concentration())
	}
	if c.Mechanism.Setting().Missing && !law.FromVotes() {
		from = "if every teacher votes and " + strings.TrimPrefix(from, "if ")
	}
	// Where a class is rarer, always another one agrees more often than a guess: ClassNotes has that.
	beside := fmt.Sprintf("; a guess agrees with %s", num.Percent(law.Guess()))
	if law.Named() {
		beside = ", for classes of the stated shares"
	}
	with, rule := "majority", problem.AgreementRule
	if threshold {
		with, rule = "votes", says.Rule()
	}
	return fmt.Sprintf("%s with the %s, %s%s (%s)", c.Agreement, with, from, beside, rule)
}

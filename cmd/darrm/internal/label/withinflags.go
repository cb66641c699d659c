package label

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// within states the budget of all labels of a release, and has the plan that was made for it.
type within struct {
	budget  release.LabelBudget
	queries int // that the budget is for, in all; 0 for those of the files
	law     *plan.Law
	choice  *plan.Choice // nil before the votes are counted
	reach   string       // what a reach costs that was not stated
}

// excluded are the flags that state a mechanism, what it is best for, or what one label costs. A
// budget of all labels determines all of these.
var excluded = []string{"label-eps", "m", "delta", "mechanism", "table", "threshold", "check-ratio",
	"objective", "prior", "prior-counts", "shape", "method", "gap", "accuracy", "concentration",
	"abstain", "on-interrupt", "slack"}

func (w *within) register(c *cobra.Command) {
	registerBudget(c, &w.budget)
	c.Flags().IntVar(&w.queries, "queries", 0, "how many labels one charge pays for, in all that is "+
		"released under it (default: those of the FILEs)")
	for _, name := range excluded {
		if c.Flags().Lookup(name) != nil {
			cli.Exclude(c, "the budget of all labels, and their number, determine the mechanism and what "+
				"one label costs", name, "budget-eps")
		}
	}
}

// planning has the flags that a plan within a budget is made of.
type planning struct {
	problem   *problem.Flags
	mechanism *problem.MechanismFlags
	optimal   *problem.OptimalFlags
	teachers  ensemble.TeacherRandomness
	missing   bool   // votes may be none
	unsaved   *error // a cache's
}

func (f *answerFlags) planning() planning {
	return planning{&f.Flags, &f.mechanism, &f.optimal, f.charge.Teachers, f.read.abstain(), &f.unsaved}
}

// asked reports whether a budget of all labels is stated.
func (w *within) asked(c *cobra.Command) bool {
	return c.Flags().Changed("budget-eps") || c.Flags().Changed("budget-delta")
}

// prepare checks the flags that go with a budget of all labels.
func (w *within) prepare(c *cobra.Command, f planning) error {
	if !c.Flags().Changed("eps") { // teachers promise nothing unless it is stated
		f.problem.Epsilon = math.Inf(1)
	}
	needed := []string{"budget-eps", "budget-delta"}
	switch private := !math.IsInf(f.problem.Epsilon, 1); {
	case private:
		needed = append(needed, "teacher-delta", "teachers")
	case f.teachers != "" || c.Flags().Changed("teacher-delta"):
		return cli.Usagef("--teachers and --teacher-delta are of private teachers: state their --eps, or " +
			"leave them out")
	}
	if err := cli.Require(c, needed...); err != nil {
		return err
	}
	return cmp.Or(checkBudget(w.budget), w.checkQueries(c), f.problem.CheckTimeout(c),
		choose.CheckWithin(cli.WhenGiven(c, "solve-within", &f.optimal.Within)), f.mechanism.PrepareRelation())
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
	if !b.RestEpsilon {
		err = check.UpTo("budget epsilon", b.Epsilon, check.MaxTotalEpsilon)
	}
	if !b.RestDelta {
		err = cmp.Or(err, check.Delta("budget delta", b.Delta))
	}
	return err
}

// plans plans so many labels, by the prior and never by the votes, as the command plan does. The
// request is what the plan was made for.
func (w *within) plans(c *cobra.Command, a *cli.App, f planning, budget accountant.Cost, k, classes,
	queries int) (*plan.Plan, plan.Request, error) {
	w.budget.Cost = budget // in numbers
	r := plan.Request{
		K: k, Classes: classes, Queries: queries, Budget: budget,
		Teachers:   accountant.Cost{Epsilon: f.problem.Epsilon, Delta: f.problem.TeacherDelta},
		Randomness: f.teachers, Neighbours: f.mechanism.Relation, Missing: f.missing,
	}
	if math.IsInf(r.Teachers.Epsilon, 1) {
		r.Teachers.Delta = 0
	}
	var err error
	if r.Affected, _, err = f.problem.Reach(c, k); err != nil {
		return nil, r, err
	}
	if r.Votes, err = law(c, k, classes, f.problem.PriorMean); err != nil {
		return nil, r, err
	}
	solvers(c, a, &r, f.problem, f.optimal, f.unsaved)
	p, err := newPlan(c, a, f.problem, r)
	if err != nil {
		return nil, r, err
	}
	// The release works out what is charged, and it must be what was planned.
	return p, r, choose.CheckPlanned(p.Choices[0], queries)
}

// plan returns the mechanism and the slack of the best choice for so many labels.
func (w *within) plan(c *cobra.Command, a *cli.App, f planning, budget accountant.Cost, k, classes,
	queries int) (choose.Choice, float64, error) {
	p, r, err := w.plans(c, a, f, budget, k, classes, queries)
	if err != nil {
		return choose.Choice{}, 0, err
	}
	best := p.Choices[0]
	planned, err := choose.PlanOf(best)
	w.law, w.choice = r.Votes, &best
	w.reach = reachText(k, best.Agreement, disjointGain(c.Context(), c, r))
	return choose.Choice{Plan: planned}, best.Slack, err
}

// settle fills in the choice where a charge that is in the ledger decided on it: then nothing was
// planned, and what is to be expected is worked out from the mechanism.
func (w *within) settle(c *cobra.Command, f *answerFlags, s *release.Summary) (err error) {
	if !w.asked(c) || w.choice != nil || s.Plan.Mechanism() == nil {
		return nil
	}
	if s.Budget != nil {
		w.budget.Cost = *s.Budget
	}
	m := s.Plan.Mechanism()
	if w.law, err = law(c, m.Setting().K, m.Setting().Classes, f.PriorMean); err != nil {
		return err
	}
	choice := plan.Choice{Name: m.Name(), Mechanism: m, Total: s.Totals.Fresh.Cost}
	if choice.Agreement, err = w.law.Agreement(c.Context(), m); err != nil {
		return err
	}
	w.choice = &choice
	return nil
}

// report prints what was chosen, and the agreement to expect; nothing where no budget is stated.
func (w *within) report(a *cli.App, s *release.Summary) {
	if w.choice == nil {
		return
	}
	labels := s.Queries
	if s.Together.Most > 0 {
		labels = s.Together.Most
	}
	a.Fact("planned:", fmt.Sprintf("%s, for %d labels within %v", w.choice.Title(), labels,
		w.budget.Cost))
	a.Fact("expected:", expected(*w.choice, w.law))
	if w.reach != "" {
		a.Fact("reach:", w.reach)
	}
}

// law returns the prior of votes: by --prior-mean where it is given.
func law(c *cobra.Command, k, classes int, mean float64) (*plan.Law, error) {
	if c.Flags().Changed("prior-mean") {
		return plan.Prior(k, classes, mean)
	}
	return plan.DefaultLaw(k, classes)
}

// solvers sets what a plan solves with. Labels are meant for use, so γ is optimal for agreement.
func solvers(c *cobra.Command, a *cli.App, r *plan.Request, f *problem.Flags,
	o *problem.OptimalFlags, unsaved *error) {
	solveNoise, solvePlurality := f.Solvers(a, o, unsaved)
	r.Solve = func(ctx context.Context, p constraints.Problem) (*gamma.Table, error) {
		options, err := choose.Noise{Objective: choose.Agreement,
			PriorMean: cli.WhenGiven(c, "prior-mean", &f.PriorMean)}.Complete(ctx, p.K, nil)
		if err != nil {
			return nil, err
		}
		return solveNoise(ctx, p, options)
	}
	r.SolvePlurality, r.SolveAnswers = solvePlurality, f.AnswersSolver(a, o.Within, unsaved)
}

// newPlan plans within the time of --timeout, which limits all solving together.
func newPlan(c *cobra.Command, a *cli.App, f *problem.Flags, r plan.Request) (*plan.Plan, error) {
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	bar := cli.NewProgress(a)
	r.Progress = bar.Count("planning", "mechanisms")
	p, err := plan.New(ctx, r)
	bar.Stop()
	var infeasible *plan.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		return nil, &release.UsageError{Err: fmt.Errorf("the budget and the number of labels do not go "+
			"together: %w", err)}
	case err != nil:
		return nil, f.Late("solve", err)
	}
	return p, nil
}

// expected describes the expected agreement of a choice under the law.
func expected(c plan.Choice, law *plan.Law) string {
	from := fmt.Sprintf("if each teacher votes for the likelier class with probability %v", law.Mean())
	switch {
	case law.FromVotes():
		from = "on these votes (NOT PRIVATE)"
	case law.Concentration() != 0:
		from = fmt.Sprintf("if classes have uneven shares of the votes (concentration %v)",
			law.Concentration())
	}
	if c.Mechanism.Setting().Missing && !law.FromVotes() {
		from = "if every teacher votes and " + strings.TrimPrefix(from, "if ")
	}
	return fmt.Sprintf("%s with the majority, %s; a guess agrees with %s (%s)",
		c.Agreement, from, num.Percent(law.Guess()), problem.AgreementRule)
}

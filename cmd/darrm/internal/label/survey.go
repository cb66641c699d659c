package label

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// A survey describes files of votes when no flags are given, and proposes commands. It releases
// nothing, and is for the eyes of the owner of the votes. Agreement is expected by the prior.
type survey struct {
	read     *readFlags
	problem  *problem.Flags
	compares bool // the commands that fit are of compare
}

// missing returns the error that what may be spent was not stated; where ends it.
func (s *survey) missing(where string) error {
	if s.compares {
		return cli.Usagef("state --label-eps%s", where)
	}
	return cli.Usagef("state --budget-eps and --budget-delta%s", where)
}

// bare reports whether all flags that are given describe the files.
func bare(c *cobra.Command) bool {
	_, reading := readingCommand()
	stated := false
	c.Flags().Visit(func(f *pflag.Flag) {
		stated = stated || reading.Flags().Lookup(f.Name) == nil &&
			c.InheritedFlags().Lookup(f.Name) == nil && f.Name != "out"
	})
	return !stated
}

// The budgets of the commands that are proposed. None is presumed: who runs a command states its δ,
// and the release says that it was not compared with the number of records.
var proposed = []struct {
	budget   accountant.Cost
	disjoint bool
}{{accountant.Cost{Epsilon: 3}, false}, {accountant.Cost{Epsilon: 3}, true},
	{accountant.Cost{Epsilon: 3, Delta: 1e-6}, true}}

// surveyWork bounds the search for a table of many classes: a second or so.
const surveyWork = plan.DefaultWork / 20

// surveyTeachers is the largest number of teachers for which a survey solves for the optimum of two classes,
// up to three times: for 1001 each takes seconds. Beyond, what is said to fit agrees in at least so many.
const surveyTeachers = 301

// leastGain is the agreement that a proposal with a δ adds at least to those without one.
const leastGain = 0.01

// tell prints what the files hold and what fits, and returns the error that a budget is missing.
func (s *survey) tell(c *cobra.Command, a *cli.App, paths []string) error {
	found, err := lookAt(c, a, s.read, paths)
	if err != nil {
		return err
	}
	if a.JSON { // a program reads one error
		return &cli.FoundError{Err: s.missing(""), Found: s.json(c, found, paths)}
	}
	for _, fact := range factsOf(c, found) {
		a.Fact(fact.Title+":", fact.Text)
	}
	done := ", as above; nothing was released"
	if s.compares {
		done = ", as above; nothing was compared"
	}
	switch {
	case len(found.Readings) == 0:
		return s.missing(", and what is asked")
	case len(found.Asked) > 0:
		for _, reading := range found.Readings {
			a.Fact("if:", reading.Consequence())
			s.propose(a, s.answered(c, a, paths, reading))
		}
		return s.missing(done)
	}
	reading := found.Readings[0]
	d := reading.Description
	if s.compares {
		each := eachLabel(d)
		for _, p := range proposed[:2] {
			a.Fact("fits:", fmt.Sprintf("every mechanism at ε = %s a label, so that %d labels cost ε = %v "+
				"at most, %s", each, d.Queries, p.budget.Epsilon, reachOf(p.disjoint)))
			s.propose(a, s.command(c, paths, reading, p.disjoint, "label-eps", each))
		}
		return s.missing(done)
	}
	fit, pure := 0, 0.0 // what fits, and the best agreement without a δ
	for _, p := range proposed {
		best, guess, err := s.best(c, a, reading, p.budget, affectedOf(d, p.disjoint))
		var infeasible *release.UsageError
		reach := reachOf(p.disjoint)
		switch {
		case errors.As(err, &infeasible):
			continue
		case err != nil:
			return err
		case p.budget.Delta == 0:
			pure = max(pure, best.Agreement.Expected)
		case best.Agreement.Expected < pure+leastGain:
			continue
		default:
			reach += "; its δ must be far below one over the number of records"
		}
		fit++
		least := ""
		if leftOut(d) {
			least = "at least "
		}
		a.Fact("fits:", fmt.Sprintf("%s%s expected agreement (a guess: %s), %s", least, best.Agreement,
			num.Percent(guess), reach))
		s.propose(a, s.aggregate(c, paths, reading, p.budget, p.disjoint))
	}
	if fit == 0 {
		return cli.Usagef("no mechanism answers %d queries within ε = %v: answer fewer, or see darrm plan",
			d.Queries, proposed[len(proposed)-1].budget.Epsilon)
	}
	return s.missing(done)
}

// leftOut reports whether the optimum of two classes is left out.
func leftOut(d *votes.Description) bool { return d.K > surveyTeachers && len(d.Classes) <= 2 }

func reachOf(disjoint bool) string {
	if disjoint {
		return "if no person is in two teachers' data"
	}
	return "whatever a person's data reach"
}

func affectedOf(d *votes.Description, disjoint bool) int {
	if disjoint {
		return 1
	}
	return d.K
}

// eachLabel is the ε of one label of which all cost that of the first budget.
func eachLabel(d *votes.Description) string {
	return num.Outward(proposed[0].budget.Epsilon/float64(d.Queries), 3, false)
}

// answered returns the command of one answer: within the first budget that something fits.
func (s *survey) answered(c *cobra.Command, a *cli.App, paths []string, reading *votes.Reading) []string {
	if s.compares {
		return s.command(c, paths, reading, false, "label-eps", eachLabel(reading.Description))
	}
	for _, p := range proposed {
		if _, _, err := s.best(c, a, reading, p.budget, affectedOf(reading.Description,
			p.disjoint)); err == nil {
			return s.aggregate(c, paths, reading, p.budget, p.disjoint)
		}
	}
	return nil
}

// propose prints a command, or that there is none.
func (s *survey) propose(a *cli.App, args []string) {
	w := a.Talk()
	if args == nil {
		w.Printf("  no command fits\n")
		return
	}
	w.Printf("%s\n", strings.Join(shellLines(args, w.Width), " \\\n"))
}

// json is the survey as a program reads it.
func (s *survey) json(c *cobra.Command, found *votes.Survey, paths []string) any {
	return struct {
		*votes.Survey
		Commands []readCommand `json:"commands"` // a budget is still to be stated
	}{found, readCommands(c, s.read, paths, found, "darrm", s.name())}
}

func (s *survey) name() string {
	if s.compares {
		return "compare"
	}
	return "aggregate"
}

// best returns the best plan for teachers that promise nothing, and how often a guess agrees.
func (s *survey) best(c *cobra.Command, a *cli.App, reading *votes.Reading, budget accountant.Cost,
	affected int) (best plan.Choice, guess float64, err error) {
	d := reading.Description
	classes := max(2, len(d.Classes))
	several, err := release.SeveralOf(reading.Options).Of(d.K)
	if err != nil {
		return best, 0, err
	}
	r := plan.Request{Stated: ensemble.Stated{K: d.K, Classes: classes, Affected: &affected, Neighbours: s.problem.Neighbours,
		Missing: d.Missing > 0, Several: several}}
	r.Queries, r.Budget = several.Answers(int(d.Queries), affected), budget
	if err := (choose.Many{}).State(&r, nil, s.problem.Noise.PriorMean); err != nil {
		return best, 0, err
	}
	solvers(a, &r, s.problem) // a survey needs no cache
	r.Work = surveyWork
	if leftOut(d) {
		r.Solve = func(context.Context, constraints.Problem) (*gamma.Table, error) {
			return nil, errors.New("no part of a survey of so many teachers")
		}
	}
	p, err := newPlan(c, a, s.problem, r)
	if err != nil {
		return best, 0, err
	}
	return p.Choices[0], r.Votes.Guess(), nil
}

// aggregate returns the command that releases the labels of a reading within a budget, as arguments.
func (s *survey) aggregate(c *cobra.Command, paths []string, reading *votes.Reading, budget accountant.Cost,
	disjoint bool) []string {
	args := s.command(c, paths, reading, disjoint, "budget-eps", num.Shortest(budget.Epsilon), "budget-delta",
		num.Shortest(budget.Delta))
	if args == nil || args[1] != "aggregate" {
		return args
	}
	return append(args, "--out", "labels.csv")
}

// command returns a command about the files, as arguments; nil where it would read them otherwise.
// cost are the flags of the budget, each with its value.
func (s *survey) command(c *cobra.Command, paths []string, reading *votes.Reading, disjoint bool,
	cost ...string) []string {
	args := readArgs(c, s.read, paths, reading)
	if args == nil {
		return nil
	}
	if reading.Options.Layout == votes.LayoutLong && !s.compares &&
		(reading.Options.K == 0 || reading.Options.QueryIDs == nil) { // neither follows from the votes
		return append([]string{"darrm", "votes", "describe"}, args...)
	}
	args = append([]string{"darrm", s.name()}, args...)
	for flag := range slices.Chunk(cost, 2) {
		args = append(args, "--"+flag[0], flag[1])
	}
	if disjoint {
		args = append(args, "--data", "disjoint")
	}
	return args
}

// disjointGain returns the agreement that is expected if one record reaches one teacher, where the
// reach was not stated; nil where it was, or where it makes no difference.
func disjointGain(ctx context.Context, c *cobra.Command, r plan.Request) *plan.Agreement {
	if c.Flags().Changed("affected") || c.Flags().Changed("data") || r.Reach(r.K) <= 1 {
		return nil
	}
	questions := r.Questions()
	r.Affected, r.Progress, r.Agreement = new(1), nil, 0
	r.Queries = questions * r.Several.PerQuestion(1)
	r.Work = surveyWork
	p, err := plan.New(ctx, r)
	if err != nil {
		return nil
	}
	return &p.Choices[0].Agreement
}

// reachText returns the sentence on how much agreement an unstated reach costs; "" where gain is
// nil.
func reachText(k int, now plan.Agreement, gain *plan.Agreement) string {
	if gain == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d teachers (not stated): %s expected; if no person is in two teachers' "+
		"data, --data disjoint: %s", k, k, now, *gain)
}

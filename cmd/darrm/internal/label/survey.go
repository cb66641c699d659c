package label

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// A survey tells who gives nothing but files of votes what is in them, and which commands fit. It
// releases nothing, and is for the eyes of who has the votes. Agreement is expected by the prior.
type survey struct {
	read      *readFlags
	problem   *problem.Flags
	optimal   *problem.OptimalFlags
	mechanism *problem.MechanismFlags
	compares  bool // the commands that fit are of compare
}

// missing returns the error that what may be spent was not stated; where ends it.
func (s *survey) missing(where string) error {
	if s.compares {
		return cli.Usagef("say what one label may cost: --label-eps%s", where)
	}
	return cli.Usagef("say what all labels may cost: --budget-eps and --budget-delta%s", where)
}

// bare reports whether nothing is stated beside what describes the files.
func bare(c *cobra.Command) bool {
	reading := &cobra.Command{}
	new(readFlags).register(reading)
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

// surveyTime bounds the search for a table of many classes.
const surveyTime = time.Second

// leastGain is the agreement that a proposal with a δ adds at least to those without one.
const leastGain = 0.01

// mostValues is the largest number of values of votes that a survey names. More are no classes.
const mostValues = 20

// tell prints what the files hold and what fits, and returns the error that a budget is missing.
func (s *survey) tell(c *cobra.Command, a *cli.App, paths []string) error {
	if a.JSON || slices.Contains(paths, "-") { // a program reads one error; stdin is read once
		return s.missing("")
	}
	found, seen, err := s.look(c, a, paths)
	if err != nil {
		return err
	}
	a.Fact("found:", fmt.Sprintf("%d queries, K = %d teachers; %s", found.Queries, found.K,
		found.Columns))
	if found.Missing > 0 {
		a.Fact("gaps:", fmt.Sprintf("%d votes are missing; --missing abstain takes them for no answer",
			found.Missing))
	}
	if f := c.Flags(); f.Changed("classes") || f.Changed("num-classes") {
		a.Fact("classes:", strings.Join(seen, ", ")+", as you state")
	} else {
		a.Fact("values:", strings.Join(seen, ", ")+", FOR YOUR EYES ONLY: the votes may lack a class. "+
			"Confirm them by the task: --classes names all that a vote can be")
	}
	fit, pure := 0, 0.0 // what fits, and the best agreement without a δ
	for _, p := range proposed {
		affected, reach := found.K, "whatever a person's data reach"
		if p.disjoint {
			affected, reach = 1, "if no person is in two teachers' data"
		}
		if s.compares && p.budget.Delta > 0 {
			continue // the ε of one label is that of δ = 0
		}
		if fit++; s.compares {
			each := num.Outward(p.budget.Epsilon/float64(found.Queries), 3, false)
			a.Fact("fits:", fmt.Sprintf("every mechanism at ε = %s a label, so that %d labels cost ε = %v "+
				"at most, %s", each, found.Queries, p.budget.Epsilon, reach))
			s.propose(a, s.command(c, "compare", paths, seen, found, p.disjoint, "label-eps", each))
			continue
		}
		best, guess, err := s.best(c, a, found, p.budget, affected)
		var infeasible *release.UsageError
		switch {
		case errors.As(err, &infeasible):
			fit--
			continue
		case err != nil:
			return err
		case p.budget.Delta == 0:
			pure = max(pure, best.Agreement.Expected)
		case best.Agreement.Expected < pure+leastGain:
			fit--
			continue
		default:
			reach += "; its δ must be far below one over the number of records"
		}
		a.Fact("fits:", fmt.Sprintf("%s expected agreement (a guess: %s), %s", best.Agreement,
			num.Percent(guess), reach))
		s.propose(a, append(s.command(c, "aggregate", paths, seen, found, p.disjoint, "budget-eps",
			number(p.budget.Epsilon), "budget-delta", number(p.budget.Delta)), "--out", "labels.csv"))
	}
	if fit == 0 {
		return cli.Usagef("no mechanism answers %d queries within ε = %v: answer fewer, or see darrm plan",
			found.Queries, proposed[len(proposed)-1].budget.Epsilon)
	}
	if s.compares {
		return s.missing(", such as above; nothing was compared")
	}
	return s.missing(", such as above; nothing was released")
}

// propose prints a command.
func (s *survey) propose(a *cli.App, args []string) {
	w := a.Talk()
	w.Printf("%s\n", strings.Join(shellLines(args, w.Width), " \\\n"))
}

// look describes the files. Where no classes are stated, seen are the values that occur, sorted.
func (s *survey) look(c *cobra.Command, a *cli.App, paths []string) (d *votes.Description,
	seen []string, err error) {
	if err := s.read.prepare(c, paths); err != nil {
		return nil, nil, err
	}
	f := *s.read
	if f.options.Missing == votes.MissingError {
		f.options.Missing = votes.MissingCoin // which counts them; nothing is drawn
	}
	if c.Flags().Changed("classes") || c.Flags().Changed("num-classes") ||
		f.options.Layout == votes.LayoutCounts {
		d, err = describeVotes(c.Context(), a, &f, paths)
		return d, f.options.Classes, err
	}
	// The usual classes, or none, settle which columns are votes.
	d, err = describeVotes(c.Context(), a, &f, paths)
	var wrong *votes.ParseError
	if !errors.As(err, &wrong) || wrong.Value == "" {
		return d, f.options.Classes, err
	}
	// A value that is in no list stops the reader, joins the list, and the files are read again.
	for {
		f.options.Classes = padded(seen)
		d, err = describeVotes(c.Context(), a, &f, paths)
		if !errors.As(err, &wrong) || wrong.Value == "" || slices.Contains(seen, wrong.Value) {
			slices.Sort(seen)
			return d, seen, err
		}
		if seen = append(seen, wrong.Value); len(seen) > mostValues {
			return nil, nil, &release.InputError{Err: fmt.Errorf("more than %d values occur (%s, …), and "+
				"votes are classes: --vote-columns names the columns of votes", mostValues,
				strings.Join(seen[:4], ", "))}
		}
	}
}

// padded returns at least two names of classes: those that were seen, and names that no vote has.
func padded(seen []string) []string {
	names := slices.Clone(seen)
	for i := len(names); i < 2; i++ {
		names = append(names, fmt.Sprintf("\uF8FF%d", i)) // a private-use character
	}
	return names
}

// best returns the best plan for teachers that promise nothing, and how often a guess agrees.
func (s *survey) best(c *cobra.Command, a *cli.App, d *votes.Description, budget accountant.Cost,
	affected int) (best plan.Choice, guess float64, err error) {
	if err := s.mechanism.PrepareRelation(); err != nil {
		return best, 0, err
	}
	classes := max(2, len(d.Classes))
	r := plan.Request{K: d.K, Classes: classes, Queries: int(d.Queries), Budget: budget,
		Teachers: accountant.Cost{Epsilon: math.Inf(1)}, Affected: affected,
		Neighbours: s.mechanism.Relation, Missing: d.Missing > 0}
	if r.Votes, err = law(c, d.K, classes, s.problem.PriorMean); err != nil {
		return best, 0, err
	}
	var unsaved error // a survey needs no cache
	solvers(c, a, &r, s.problem, s.optimal, &unsaved)
	r.SolveWithin = surveyTime
	p, err := newPlan(c, a, s.problem, r)
	if err != nil {
		return best, 0, err
	}
	return p.Choices[0], r.Votes.Guess(), nil
}

// command returns a command about the files, as arguments. cost are the flags of what may be spent,
// each with its value.
func (s *survey) command(c *cobra.Command, name string, paths, seen []string, d *votes.Description,
	disjoint bool, cost ...string) []string {
	args := append([]string{"darrm", name}, paths...)
	add := func(name, value string) { args = append(args, "--"+name, value) }
	reading := &cobra.Command{}
	new(readFlags).register(reading)
	c.Flags().Visit(func(f *pflag.Flag) {
		if reading.Flags().Lookup(f.Name) != nil {
			add(f.Name, f.Value.String())
		}
	})
	binary := slices.Equal(seen, []string{"0", "1"})
	if !binary && !c.Flags().Changed("classes") && !c.Flags().Changed("num-classes") {
		add("classes", strings.Join(seen, ","))
	}
	if d.Missing > 0 && !c.Flags().Changed("missing") {
		add("missing", votes.MissingAbstain.String())
	}
	if d.Columns.Layout == votes.LayoutLong.String() && name == "aggregate" {
		for _, f := range []struct{ name, value string }{{"K", "NUMBER"}, {"query-ids", "FILE"}} {
			if !c.Flags().Changed(f.name) { // neither follows from the votes
				add(f.name, f.value)
			}
		}
	}
	for flag := range slices.Chunk(cost, 2) {
		add(flag[0], flag[1])
	}
	if disjoint {
		add("data", "disjoint")
	}
	return args
}

// disjointGain returns the agreement that is expected if one record reaches one teacher, where the
// reach was not stated; nil where it was, or where it makes no difference.
func disjointGain(ctx context.Context, c *cobra.Command, r plan.Request) *plan.Agreement {
	if c.Flags().Changed("affected") || c.Flags().Changed("data") || r.Affected <= 1 {
		return nil
	}
	r.Affected, r.Progress, r.Agreement = 1, nil, 0
	r.SolveWithin = surveyTime
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

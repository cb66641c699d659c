package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// Request states the input of a plan. All privacy figures are for one neighbouring relation.
type Request struct {
	// Stated is what is known of the teachers and their votes: K, Classes and Neighbours are required, and
	// Teachers where they promise something. Teachers whose votes may be missing, or are on several labels, must
	// promise nothing: nothing says that their promise covers whether they vote, or all labels together. Several
	// knows its teachers (ensemble.Several.Of). The parameters of one answer are left out: a plan finds them.
	ensemble.Stated
	Budget accountant.Cost // (E, D) for all labels together: ε in (0, 700], δ in [0, 1)
	// Queries is Q, how many labels, from 1 to accountant.MaxOptimalCount. With Several it is the number of answers
	// that they are charged as (ensemble.Several.Answers), a whole number for each question.
	Queries int  `flag:"queries"`
	Votes   *Law // what expected agreement is over. Defaults to DefaultLaw.
	// Abstain allows mechanisms that may not name a class: those that take an ensemble.Check, with its
	// defaults.
	Abstain bool
	// Losses tell the classes apart. Votes must then be a NamedLaw, which it defaults to.
	Losses Losses
	// For decides which choice is the first. Defaults to ForStudent.
	For Purpose
	// Agreement in [0, 1] is the wanted expected agreement. A plan that does not reach it advises a
	// budget, or a number of queries, that does. 0 asks for no advice.
	Agreement float64 `flag:"agreement"`
	// Solve returns the optimal noise function for a problem. Defaults to solve.Optimal for
	// agreement under gamma.TwoSidedCounts of the prior's mean, or of its default.
	Solve func(context.Context, constraints.Problem) (*gamma.Table, error)
	// Work is how much work one optimal table of many classes, or for many answers, may take. It is
	// counted before or while it is done, and is the same on every machine: a plan depends on no
	// clock. What takes more is left out. Defaults to DefaultWork.
	Work int64
	// SolvePlurality returns the optimal table of many classes, or a *solve.LimitError where that
	// takes more work than is stated. Defaults to SolvePlurality of this package.
	SolvePlurality func(ctx context.Context, p plurality.Problem, o plurality.Objective,
		work int64) (*plurality.Table, error)
	// SolveAnswers returns a table for many answers. Defaults to Best of package
	// plurality/answers/solve.
	SolveAnswers func(context.Context, answers.Problem, answers.Prior) (*answers.Table, error)
	// PriceNoise returns noise that is priced by its labels. Defaults to noisymax.Best.
	PriceNoise func(context.Context, noisymax.Problem) (*noisymax.Table, error)
	// Progress, unless nil, is called with the number of mechanisms that were worked out.
	Progress func(done, of int)
	// Early, unless nil, is called once with the plan of the mechanisms without tables, where any of these
	// fits and tables are still to be made: they are refused by ErrBeingMade. It has no advice, and the plan is not to be changed.
	Early func(*Plan)
}

// DefaultWork is the default of Request.Work: some twenty seconds of a core.
const DefaultWork = 400_000_000

// SolvePlurality returns the optimal table of many classes, to 1e-4 of the objective, or a
// *solve.LimitError where it takes more work than is stated (solve.Options.Work).
func SolvePlurality(ctx context.Context, p plurality.Problem, o plurality.Objective,
	work int64) (*plurality.Table, error) {
	return pluralitysolve.Optimal(ctx, p, o, pluralitysolve.Options{Gap: 1e-4, Work: work})
}

// ofOneAnswer are the parameters of ensemble.Stated that a plan finds.
var ofOneAnswer = []string{"m", "label-eps", "delta", "mechanism", "threshold", "check-ratio"}

// validate fills in the defaults and checks the rest.
func (r *Request) validate() error {
	for _, p := range param.Of(r.Stated) {
		if p.Stated() && slices.Contains(ofOneAnswer, p.Flag) {
			return check.Want(string(p.Name), reflect.Indirect(p.Value).Interface(), "left out: a plan finds it")
		}
	}
	if err := cmp.Or(r.setting().Validate(), r.checkSeveral(), r.checkLosses()); err != nil {
		return err
	}
	if r.Votes == nil {
		var err error
		if r.Votes, err = DefaultLaw(r.votes(), r.Classes); err != nil {
			return err
		}
	}
	switch {
	case !(r.Budget.Epsilon > 0 && r.Budget.Epsilon <= maxEpsilon):
		return check.Wantf("budget epsilon", r.Budget.Epsilon, "in (0, %d]", maxEpsilon)
	case r.Queries < 1 || r.Queries > accountant.MaxOptimalCount:
		return check.Wantf("queries", r.Queries, "between 1 and %d", accountant.MaxOptimalCount)
	case r.Votes.k != r.votes() || r.Votes.classes != r.Classes:
		return errors.New("the expected votes must have the same numbers of teachers and classes")
	}
	if err := cmp.Or(check.Delta("budget delta", r.Budget.Delta),
		check.Probability("agreement", r.Agreement), r.For.check()); err != nil {
		return err
	}
	if r.Solve == nil && r.Classes == 2 {
		counts, err := gamma.TwoSidedCounts(r.votes(), cmp.Or(r.Votes.mean, gamma.DefaultPriorMean))
		if err != nil {
			return err
		}
		r.Solve = func(ctx context.Context, p constraints.Problem) (*gamma.Table, error) {
			o := solve.Options{Counts: counts}
			if err := r.ByName(&o, p.K, r.Votes.mean); err != nil {
				return nil, err
			}
			return solve.Optimal(ctx, p, o)
		}
	}
	if r.SolvePlurality == nil {
		r.SolvePlurality = SolvePlurality
	}
	if r.SolveAnswers == nil {
		r.SolveAnswers = func(ctx context.Context, p answers.Problem, prior answers.Prior) (
			*answers.Table, error) {
			return answerssolve.Best(ctx, p, prior, answerssolve.Options{})
		}
	}
	if r.PriceNoise == nil {
		r.PriceNoise = func(ctx context.Context, p noisymax.Problem) (*noisymax.Table, error) {
			c, err := noisymax.Best(ctx, p) // without the cache's files, which the page in web has not
			if err != nil {
				return nil, err
			}
			return &noisymax.Table{Certified: c}, nil
		}
	}
	if r.Work < 0 {
		return check.Want("work", r.Work, "≥ 0")
	}
	r.Work = cmp.Or(r.Work, DefaultWork)
	if each := r.Several.PerQuestion(r.reach()); r.Queries%each != 0 || r.Several.Labels > 0 && r.Classes != 2 {
		return check.Wantf("queries", r.Queries, "a multiple of %d, the number of answers that each question is "+
			"charged as", each)
	}
	if !r.promise() {
		return check.Delta("teacher delta", r.Each().Delta)
	}
	if r.Several.Labels > 0 {
		return check.Want("epsilon", r.Each().Epsilon, "infinite for several labels of a question: a promise "+
			"about one label is none about all of them")
	}
	if r.Missing {
		return check.Want("epsilon", r.Each().Epsilon,
			"infinite where a vote may be missing: the teachers' promise need not cover whether they vote")
	}
	if r.Each() == (accountant.Cost{}) {
		return check.Want("teachers' cost", r.Each(),
			"stated: more than (0, 0), or with epsilon = +Inf where they promise nothing")
	}
	if r.Teachers != ensemble.FreshTeachers && r.Teachers != ensemble.FrozenTeachers {
		return check.Want("teachers", "not stated", `"fresh" or "frozen"`)
	}
	return cmp.Or(check.TeacherEpsilon(r.Each().Epsilon),
		check.Delta("teacher delta", r.Each().Delta))
}

// checkSeveral checks the statement of several labels, and fills in the law of votes that follows from it.
func (r *Request) checkSeveral() error {
	s := r.Several
	if err := cmp.Or(s.Validate(), s.Fits(r.votes())); err != nil {
		return err
	}
	if s.YesFrom == "" {
		return nil
	}
	if r.Classes != 2 {
		return check.Want("yes from", s.YesFrom, fmt.Sprintf("left out beside %d classes: it goes with two, of which the second is yes", r.Classes))
	}
	if err := check.Affected(r.reach(), s.Teachers); err != nil {
		return err
	}
	if r.Missing {
		return check.Want("yes from", s.YesFrom, "left out where votes may be missing: a blank of several labels counts as no, one of a single "+
			"question as a coin")
	}
	var err error
	if r.Votes == nil {
		r.Votes, err = YesLaw(s, 0, r.Losses)
	}
	return err
}

// Questions returns how many questions the plan is for; as many as labels where each has one.
func (r *Request) Questions() int {
	r = handle.Made(r)
	return r.Queries / max(1, r.Several.PerQuestion(r.reach()))
}

// Labels returns how many labels are drawn: Queries, or all of all questions.
func (r *Request) Labels() int { return r.Questions() * max(1, handle.Made(r).Several.Labels) }

func (r *Request) promise() bool { return r.Promised() }

// votes returns how many votes a label has: those of the teachers, and public ones.
func (r *Request) votes() int { return r.Several.Votes(r.K) }

// reach returns t, the most teachers that one record reaches.
func (r *Request) reach() int { return r.Reach(r.K) }

// setting returns the setting of mechanisms over vote counts.
func (r *Request) setting() ensemble.Setting { return r.Setting(r.K, r.Classes) }

package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// maxEpsilon bounds the budget's ε, and that of one label.
const maxEpsilon = check.MaxTotalEpsilon

// Request states the input of a plan. All privacy figures are for one neighbouring relation.
type Request struct {
	// Stated is what is known of the teachers and their votes: K, Classes and Neighbours are required, and
	// Teachers where they promise something. Teachers whose votes may be missing, or are on several labels, must
	// promise nothing: nothing says that their promise covers whether they vote, or all labels together. Several
	// knows its teachers (ensemble.Several.Of). What is of one answer is left out: it is what a plan finds.
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
	// Early, unless nil, is called once with the plan of what needs no table, where anything of that
	// fits and tables are still to be made: they are refused by ErrBeingMade. It has no advice, and the plan is not to be changed.
	Early func(*Plan)
}

// ErrBeingMade is why a mechanism that is a table is none of an early plan.
var ErrBeingMade = errors.New("it is being worked out")

// DefaultWork is the default of Request.Work: some twenty seconds of a core.
const DefaultWork = 400_000_000

// Plan lists the mechanisms that keep a budget.
type Plan struct {
	// Training is the cost of frozen private teachers by themselves, for any number of labels
	// computed from them; nil for other teachers. If Fits, there is no other cost, and no noise
	// is needed.
	Training *ensemble.Total
	// Fits reports whether the teachers' own privacy keeps the budget without any noise: frozen
	// teachers by Training, fresh ones by the privacy of all their votes.
	Fits bool
	// FitsIfDisjoint reports whether Fits would hold if one record reached one teacher only.
	FitsIfDisjoint bool
	// Useless reports whether no mechanism within the budget is much better than a guess: the gain
	// is less than a twentieth of the guess's disagreement.
	Useless bool
	Choices []Choice  // that keep the budget, the best for Request.For first
	Refused []Refusal // what does not
	Advice  *Advice   // nil where the first choice agrees as often as was wanted
}

// Choice is a mechanism with what it costs.
type Choice struct {
	Name      string              // the mechanism's
	Mechanism *ensemble.Mechanism // made for the promise, so its noise is known
	// Noise, Optimum and Answers are the table that Mechanism is of; all are nil of one without a table.
	Noise     *gamma.Table
	Optimum   *plurality.Table
	Answers   *answers.Table
	Priced    *noisymax.Table     // likewise, of noise that is priced for all labels
	Objective plurality.Objective // what that is best for
	// no table that is used for all labels agrees more often under the prior: 1 where that is not
	// known, and where Agreement is by another law than the table's prior
	Bound     float64
	Slack     float64         // δ' that the composition spends
	NoNoise   bool            // the majority itself is released
	Frozen    bool            // the training was paid for, and labels cost nothing more
	Total     accountant.Cost // of all labels: what a release charges
	Rule      string          // what Total follows from, for people
	Bounds    ensemble.Report // all bounds, of which Total is the smallest that holds
	Agreement Agreement
	Worth     Worth

	answers ensemble.Answers
	kind    int     // its index
	x       float64 // what was chosen
}

// Refusal is a mechanism that does not keep the budget.
type Refusal struct {
	Name string
	Err  error
}

// Advice gives a budget, and a number of queries, that reach the wanted agreement.
type Advice struct {
	// of the least budget for as many labels, with its δ as it was; 0 if none up to 700
	Epsilon     float64
	EpsilonName string // by which mechanism
	Queries     int    // most labels in the budget as it is; 0 if not one
	QueriesName string
	Worth       Worth // of these labels; none where there are none
}

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

// checkSeveral checks what is stated of several labels, and fills in the law of votes that follows from it.
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

// New plans the labels. The errors name the parameter that breaks its rule; are an
// *InfeasibleError where no mechanism keeps the budget; or are a solver's, or ctx.Err().
//
// Cost: some dozen compositions, and some linear programs: a second or two for two classes, ten
// where Q is a million; for more, what SolvePlurality takes.
func New(ctx context.Context, r Request) (*Plan, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	p := &Plan{}
	if r.promise() {
		if err := r.own(p); err != nil {
			return nil, err
		}
		if p.Fits && p.Training != nil && r.Classes == 2 {
			c, err := r.frozen(ctx, p.Training)
			p.Choices = []Choice{c}
			return p, err
		}
	}
	promise := r.promise() && r.Teachers == ensemble.FreshTeachers
	if r.Missing {
		for _, d := range ensemble.Mechanisms() {
			if d.Table != ensemble.NoTable && !d.Missing {
				p.Refused = append(p.Refused, Refusal{d.Name, ensemble.ErrMissing})
			}
		}
	}
	all := r.kinds(promise)
	results := make([]result, len(all))
	order, tables := earlyFirst(all)
	for n, i := range order {
		if n == tables && r.Early != nil {
			if early := p.with(all, results); len(early.Choices) > 0 {
				early.rank(r.For, r.Losses.Costs != nil)
				r.Early(early)
			}
		}
		c, err := r.choose(ctx, all[i])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if late := ByClock(err); late != nil { // without the limit another may be the best
			return nil, late
		}
		c.kind = i
		results[i] = result{c, err, true}
		if r.Progress != nil {
			r.Progress(n+1, len(all)+1)
		}
	}
	p = p.with(all, results)
	if len(p.Choices) == 0 {
		return nil, &InfeasibleError{r.Budget, r.Queries, p.Refused}
	}
	p.rank(r.For, r.Losses.Costs != nil)
	p.Useless = r.Votes.useless(p.Choices[0].Agreement.Expected) &&
		!slices.ContainsFunc(p.Refused, func(f Refusal) bool {
			var useless *UselessError
			return r.Classes > 2 && f.Name == ensemble.OptimalCounts && !errors.As(f.Err, &useless) && // who knows
				!errors.Is(f.Err, ensemble.ErrMissing)
		})
	best := p.Choices[0]
	if best.NoNoise || best.Agreement.Expected >= r.Agreement {
		return p, nil
	}
	var err error
	p.Advice, err = r.advise(ctx, promise, p.Choices)
	return p, err
}

// result is the outcome of trying a kind of mechanism.
type result struct {
	choice Choice
	err    error
	made   bool // it is worked out
}

// earlyFirst returns the places of kinds, those that need no table before the others, and how many
// the former are.
func earlyFirst(all []kind) (order []int, tables int) {
	for _, table := range [2]bool{false, true} {
		for i, k := range all {
			if d, _ := ensemble.Describe(k.name); (d.Table != ensemble.NoTable) == table {
				order = append(order, i)
			}
		}
		if !table {
			tables = len(order)
		}
	}
	return order, tables
}

// with returns the plan with what became of all kinds, in their order. What is not made yet is refused
// by ErrBeingMade.
func (p *Plan) with(all []kind, results []result) *Plan {
	q := *p
	q.Choices, q.Refused = nil, slices.Clone(p.Refused)
	for i, x := range results {
		switch {
		case !x.made:
			q.refuse(all[i].name, ErrBeingMade)
		case x.err != nil:
			q.refuse(all[i].name, x.err)
		default:
			q.Choices = append(q.Choices, x.choice)
		}
	}
	return &q
}

// refuse notes why a mechanism is none, once where it is so with a δ of each label and without.
func (p *Plan) refuse(name string, err error) {
	same := func(r Refusal) bool { return r.Name == name && r.Err.Error() == err.Error() }
	if !slices.ContainsFunc(p.Refused, same) {
		p.Refused = append(p.Refused, Refusal{name, err})
	}
}

// ByClock returns an error with advice where a stated limit of time ended a search, and nil for
// other errors.
func ByClock(err error) error {
	var one *pluralitysolve.LimitError
	var many *answerssolve.LimitError
	if errors.As(err, &one) && one.Limit > 0 || errors.As(err, &many) {
		return check.Namedf("%w: state more, or leave it out (%s)", err, timeToSolve)
	}
	return nil
}

const timeToSolve check.Parameter = "time to solve"

// InfeasibleError reports that no mechanism keeps the budget, with the reason for each one.
type InfeasibleError struct {
	Budget  accountant.Cost
	Queries int
	Refused []Refusal
}

func (e *InfeasibleError) Error() string {
	s := fmt.Sprintf("budget = %v, but it must be larger for %d labels, or the labels fewer", e.Budget,
		e.Queries)
	for _, f := range e.Refused {
		s += fmt.Sprintf("; %s: %v", f.Name, f.Err)
	}
	return s
}

// alike is the unit to which expected agreements, and the roots of what one label is worth, are rounded
// for comparison. Of equal ones the mechanism that comes first in kinds is preferred.
const alike = 1e-6

// rank sorts the choices by what they are for, and keeps the better of two of one name. Of labels of two
// classes that never tie both orders are the same: the root of the worth of one is 2a-1. With costs the value
// decides.
func (p *Plan) rank(purpose Purpose, costs bool) {
	value := func(c Choice) float64 { return math.Round(math.Sqrt(c.Worth.Each()) / alike) }
	if purpose == ForLabels {
		value = func(c Choice) float64 { return math.Round(c.Agreement.Expected / alike) }
	}
	if costs {
		value = func(c Choice) float64 {
			_, v := c.byClass()
			return math.Round(v / alike)
		}
	}
	slices.SortStableFunc(p.Choices, func(x, y Choice) int { return cmp.Compare(value(y), value(x)) })
	var names []string
	p.Choices = slices.DeleteFunc(p.Choices, func(c Choice) bool {
		seen := slices.Contains(names, c.Name)
		names = append(names, c.Name)
		return seen
	})
}

// own sets p.Fits, p.Training and p.FitsIfDisjoint by the teachers' own privacy.
func (r *Request) own(p *Plan) error {
	a := ensemble.Answers{K: r.votes(), Affected: r.reach(), Teachers: r.Each(), Randomness: r.Teachers,
		Queries: r.Queries}
	if r.Teachers == ensemble.FreshTeachers {
		a.Delta = r.Budget.Delta // the votes themselves may be composed at any δ
	}
	fits := func(a ensemble.Answers) (*ensemble.Total, bool, error) {
		t, err := a.AnyNumber()
		if errors.Is(err, accountant.ErrDeltaTooSmall) {
			return nil, false, nil
		}
		return &t, err == nil && within(t.Cost, r.Budget), err
	}
	training, ok, err := fits(a)
	if err != nil {
		return err
	}
	if p.Fits = ok; r.Teachers == ensemble.FrozenTeachers {
		p.Training = training
	}
	a.Affected = 1
	_, p.FitsIfDisjoint, err = fits(a)
	return err
}

// roundedBelow reports whether c exceeds the budget by no more than what a δ loses that was computed
// in floating point. The comparison is exact: such a budget does not pay for c.
func (r *Request) roundedBelow(c accountant.Cost) bool {
	over := c.Delta - r.Budget.Delta
	return c.Epsilon <= r.Budget.Epsilon && over > 0 && over <= float64(r.votes()+4)*0x1p-52 &&
		over <= c.Delta/100
}

// frozen returns the choice to release the majority of frozen private teachers, whose training is
// paid for.
func (r *Request) frozen(ctx context.Context, training *ensemble.Total) (Choice, error) {
	problem, err := r.plain()
	if err != nil {
		return Choice{}, err
	}
	c, err := r.solved(ctx, problem)
	if err != nil {
		return Choice{}, err
	}
	if !c.NoNoise {
		return Choice{}, fmt.Errorf("the majority of teachers that cost %v is not shown to cost %v",
			r.Each(), training.Cost)
	}
	c.Slack, c.Frozen, c.Total, c.Rule = 0, true, training.Cost, training.Rule
	c.answers.Slack, c.answers.Randomness = 0, ensemble.FrozenTeachers
	if c.Bounds, err = c.answers.Bounds(); err != nil {
		return Choice{}, err
	}
	return r.judged(ctx, c)
}

// judged returns the choice with what is expected of its labels.
func (r *Request) judged(ctx context.Context, c Choice) (Choice, error) {
	var err error
	if c.Agreement, err = r.Losses.Agreement(ctx, r.Votes, c.Mechanism); err != nil {
		return Choice{}, err
	}
	if r.Losses.Stated() { // a worth is of classes that are alike
		return c, nil
	}
	if c.NoNoise { // whatever table stands for the majority
		c.Worth = Worth{Labels: float64(r.Queries), Of: r.Queries}
		return c, nil
	}
	c.Worth, err = r.Votes.Worth(ctx, c.Mechanism, c.Agreement, r.Labels())
	return c, err
}

// choose returns the mechanism of a kind that spends the most of the budget. What it costs is
// worked out again, from the mechanism itself.
func (r *Request) choose(ctx context.Context, k kind) (Choice, error) {
	if k.whole != nil {
		return r.madeForAll(ctx, k)
	}
	x, err := r.largest(ctx, k)
	if err != nil {
		return Choice{}, err
	}
	if k.tries > 0 {
		// A larger x may fit, but not twice as large.
		label := k.label(2 * x)
		if most := r.Votes.most(r.reach(), label); r.Votes.useless(most) {
			return Choice{}, &UselessError{label, most, r.Votes.Guess()}
		}
	}
	c, err := r.built(ctx, k, x)
	if err == nil && !within(c.Total, r.Budget) {
		err = fmt.Errorf("it costs %v, more than planned", c.Total)
	}
	if err != nil {
		return Choice{}, err
	}
	if c, err = r.larger(ctx, k, c); err != nil {
		return Choice{}, err
	}
	return r.judged(ctx, c)
}

// built makes the mechanism of a kind at x, with its own cost.
func (r *Request) built(ctx context.Context, k kind, x float64) (Choice, error) {
	build := func(x float64) (Choice, error) {
		c, err := k.build(ctx, x)
		if err != nil {
			return Choice{}, err
		}
		return c.priced()
	}
	if k.priced != nil {
		build = k.priced
	}
	c, err := build(x)
	c.x = x
	return c, err
}

// priced returns the choice with what a release charges for it.
func (c Choice) priced() (Choice, error) {
	var err error
	if c.Bounds, err = c.answers.Bounds(); err != nil {
		return Choice{}, err
	}
	total, ok := c.Bounds.Best() // what Answers.Total says
	if !ok {
		_, err := c.answers.Total() // which says why
		return Choice{}, err
	}
	c.Total, c.Rule = total.Cost, total.Rule()
	return c, nil
}

// larger returns a choice with a larger x than c that fits, or c. A mechanism that is priced after it
// is built costs less than the estimate that x was chosen by. Each try takes a build.
func (r *Request) larger(ctx context.Context, k kind, c Choice) (Choice, error) {
	if k.tries == 0 {
		return c, nil
	}
	defer func(work int64) { r.Work = work }(r.Work)
	r.Work /= int64(k.tries) // all tries together take no more than the first
	var tooMuch *Choice
	for range k.tries {
		// Costs are roughly proportional to x, and between two of them to a power of it.
		power := 1.0
		if tooMuch != nil {
			power = math.Log(tooMuch.x/c.x) / math.Log(tooMuch.Total.Epsilon/c.Total.Epsilon)
		}
		x := min(c.x*math.Pow(r.Budget.Epsilon/c.Total.Epsilon, power), k.most)
		if tooMuch != nil && !(x < tooMuch.x) {
			x = (c.x + tooMuch.x) / 2
		}
		if x = gridValue(gridBelow(num.Decimal(x))); x <= c.x*(1+worthwhile) {
			break
		}
		next, err := r.built(ctx, k, x)
		if ctx.Err() != nil {
			return Choice{}, ctx.Err()
		}
		if err != nil {
			break // c is there
		}
		if within(next.Total, r.Budget) {
			c = next
		} else {
			tooMuch = &next
		}
	}
	return c, nil
}

// worthwhile is the relative growth of x below which no further mechanism is built.
const worthwhile = 0.005

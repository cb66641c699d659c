package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// maxEpsilon bounds the budget's ε, and that of one label.
const maxEpsilon = check.MaxTotalEpsilon

// ErrBeingMade is why a mechanism that is a table is none of an early plan.
var ErrBeingMade = errors.New("it is being worked out")

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

// judged returns the choice with the expected agreement and worth of its labels.
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

package plan

import (
	"context"
	"math"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
)

// kind is a mechanism with one number x to choose: the allowance m for private teachers, else
// ε₀, the ε of one label. A larger x costs more and agrees more often.
type kind struct {
	name  string         // the mechanism's
	most  float64        // the largest x that makes a difference
	guess func() float64 // where to begin the search, which takes some time to say
	// answers returns the charge for all labels at x, without a solver.
	answers func(x float64) (ensemble.Answers, error)
	// priced replaces answers where build needs no solver: it returns the choice of build with its price.
	priced func(x float64) (Choice, error)
	build  func(ctx context.Context, x float64) (Choice, error)
	tries  int // builds beside the first, where one may cost less than answers says
	// label returns the cost of one label at x. It is nil unless the mechanism sees only vote
	// counts.
	label func(x float64) accountant.Cost
	// atLeast returns how often labels at x agree at least, without a solver; nil where nothing is known.
	atLeast func(ctx context.Context, x float64) (float64, error)
	// whole replaces all others where there is no x: it returns the choice for all labels and the whole
	// budget. needs then returns what the wanted agreement costs.
	whole func(ctx context.Context) (Choice, error)
	needs func(ctx context.Context) (n answerssolve.Needs, ok bool, err error)
}

// kinds returns the mechanisms to try. promise is true if the teachers' own privacy counts: they
// are fresh and promise some privacy.
func (r *Request) kinds(promise bool) (all []kind) {
	switch {
	case r.Losses.Costs != nil && r.Classes > 2: // the optimum of one answer is best for agreement
	case r.Missing: // no table for one answer takes such votes
	case r.Classes > 2:
		all = append(all, r.plurality())
	case promise:
		all = append(all, r.allowance(r.perLabelDelta()))
	default:
		all = append(all, r.optimal(0))
		if r.Budget.Delta > 0 {
			all = append(all, r.optimal(r.perLabelDelta()))
		}
	}
	if r.Budget.Delta > 0 || r.Losses.Stated() && r.Classes > 2 {
		all = append(all, r.manyAnswers())
	}
	if r.Losses.Costs != nil { // others are best for agreement
		return all
	}
	for _, d := range ensemble.Mechanisms() {
		switch {
		case !d.Serves(r.setting()), d.Delta && r.Budget.Delta == 0, d.Check && !r.Abstain:
		case d.Delta:
			all = append(all, r.counts(d, r.perLabelDelta()))
		default:
			all = append(all, r.counts(d, 0))
		}
	}
	// The last, so that the others have the same places for every number of queries.
	if r.Budget.Delta > 0 && r.pricedNoise().Validate() == nil && r.tableOfAnswers(context.Background()) != nil {
		all = append(all, r.labelNoise())
	}
	return all
}

// perLabelDelta is the δ₀ of one label where all labels may spend half of the budget's δ on
// their own δ, and the rest on their composition.
func (r *Request) perLabelDelta() float64 {
	return gridFloor(new(big.Rat).Quo(num.Decimal(r.Budget.Delta), big.NewRat(2*int64(r.Queries), 1)))
}

// slack returns the δ' that a composition may spend where each label has δ of its own:
// D - Qδ, rounded down, so that 1-(1-δ)^Q·(1-δ') ≤ D. ok is false where Qδ > D.
func (r *Request) slack(delta float64) (slack float64, ok bool) {
	if delta == 0 {
		return r.Budget.Delta, true
	}
	own := num.Decimal(delta)
	left := new(big.Rat).Sub(num.Decimal(r.Budget.Delta),
		own.Mul(own, big.NewRat(int64(r.Queries), 1)))
	if left.Sign() <= 0 {
		return 0, left.Sign() == 0
	}
	return gridFloor(left), true
}

// allowance returns the kind of DaRRM for fresh private teachers, with labels of δ =
// 1-(1-Δ)^min(m,t) or limit, whichever is less. An m beyond t reveals no more than m = t, where all
// the votes that one record reaches may be revealed.
func (r *Request) allowance(limit float64) kind {
	problem := func(m float64) (constraints.Problem, error) {
		if m == float64(r.reach()) {
			return r.plain()
		}
		p := constraints.Problem{
			K: r.votes(), M: m, Epsilon: r.Each().Epsilon, TeacherDelta: r.Each().Delta,
			Delta: r.Each().Delta, Affected: r.reach(),
		}
		if err := p.Validate(); err != nil {
			return p, err
		}
		p.Delta = gridFloor(num.Decimal(min(p.DefaultDelta(), limit)))
		if m >= 1 { // a label that costs a teacher's ε cannot promise less δ
			p.Delta = max(p.Delta, p.TeacherDelta)
		}
		return p, p.Validate()
	}
	return kind{
		name: ensemble.OptimalTeachers, most: float64(r.reach()),
		guess: func() float64 { return r.sharedEpsilon() / max(r.Each().Epsilon, 1e-9) },
		answers: func(m float64) (ensemble.Answers, error) {
			p, err := problem(m)
			if err != nil {
				return ensemble.Answers{}, err
			}
			return r.dearest(p, r.Each())
		},
		build: func(ctx context.Context, m float64) (Choice, error) {
			p, err := problem(m)
			if err != nil {
				return Choice{}, err
			}
			return r.solved(ctx, p)
		},
	}
}

// plain returns the problem of releasing the majority itself: m = t. Its δ is rounded up, so that
// the teachers reached certainly cost no more.
func (r *Request) plain() (constraints.Problem, error) {
	all, err := accountant.Basic(r.reach(), r.Each())
	if err != nil {
		return constraints.Problem{}, err
	}
	p := constraints.Problem{
		K: r.votes(), M: float64(r.reach()), Epsilon: r.Each().Epsilon, TeacherDelta: r.Each().Delta,
		Delta: all.Delta, Affected: r.reach(),
	}
	return p, p.Validate()
}

// optimal returns the kind of DaRRM for teachers that promise nothing, with labels of δ = delta.
func (r *Request) optimal(delta float64) kind {
	nothing := accountant.Cost{Epsilon: math.Inf(1)}
	problem := func(epsilon float64) constraints.Problem {
		return constraints.Problem{K: r.votes(), TotalEpsilon: epsilon, Epsilon: nothing.Epsilon, Delta: delta,
			Affected: r.reach()}
	}
	return kind{
		name: ensemble.OptimalCounts, most: maxEpsilon, guess: r.sharedEpsilon, label: labelOf(delta),
		answers: func(x float64) (ensemble.Answers, error) { return r.dearest(problem(x), nothing) },
		build: func(ctx context.Context, x float64) (Choice, error) {
			return r.solved(ctx, problem(x))
		},
	}
}

// dearest returns the charge for labels of any noise function for p, by the cost of one label
// alone.
func (r *Request) dearest(p constraints.Problem,
	teachers accountant.Cost) (ensemble.Answers, error) {
	epsilon, delta := p.Total()
	slack, ok := r.slack(delta)
	if !ok {
		return ensemble.Answers{}, errOverBudget
	}
	return r.charged(accountant.Cost{Epsilon: epsilon, Delta: delta}, teachers, slack), p.Validate()
}

// charged returns the charge for labels of which each costs so much.
func (r *Request) charged(label, teachers accountant.Cost, slack float64) ensemble.Answers {
	return ensemble.Answers{Queries: r.Queries, PerAnswer: label, Teachers: teachers, K: r.votes(), Affected: r.reach(),
		Randomness: ensemble.FreshTeachers, Slack: slack}
}

// made returns the choice of a mechanism whose labels' composition spends slack.
func (r *Request) made(m *ensemble.Mechanism, slack float64) Choice {
	return Choice{Name: m.Name(), Mechanism: m, Slack: slack, answers: m.Answers(r.Queries, slack)}
}

// solved returns the optimal noise function for p.
func (r *Request) solved(ctx context.Context, p constraints.Problem) (Choice, error) {
	table, err := r.Solve(ctx, p)
	if err != nil {
		return Choice{}, err
	}
	m, err := ensemble.Optimal(table, r.Neighbours)
	if err != nil {
		return Choice{}, err
	}
	slack, _ := r.slack(p.Delta)
	c := r.made(m, slack)
	c.Noise, c.NoNoise = table, table.Certificate().Method == gamma.PostProcessing
	return c, nil
}

// plurality returns the kind of the optimum of many classes, with labels of δ = 0: a δ of its own
// gains a label less than it takes from the composition, and takes longer to solve.
func (r *Request) plurality() kind {
	nothing := accountant.Cost{Epsilon: math.Inf(1)}
	problem := func(epsilon float64) plurality.Problem {
		return plurality.Problem{K: r.votes(), Classes: r.Classes, Epsilon: epsilon, Affected: r.reach()}
	}
	return kind{
		name: ensemble.OptimalCounts, most: maxEpsilon, guess: r.sharedEpsilon, tries: 4,
		label: labelOf(0), atLeast: r.permuteAndFlip,
		answers: func(x float64) (ensemble.Answers, error) {
			if err := problem(x).Validate(); err != nil {
				return ensemble.Answers{}, err
			}
			slack, _ := r.slack(0)
			return r.charged(accountant.Cost{Epsilon: x}, nothing, slack), nil
		},
		build: func(ctx context.Context, x float64) (Choice, error) {
			table, err := r.SolvePlurality(ctx, problem(x), r.objective(), r.Work)
			if err != nil {
				return Choice{}, err
			}
			m, err := ensemble.OptimalPlurality(table, r.Neighbours)
			if err != nil {
				return Choice{}, err
			}
			slack, _ := r.slack(0)
			c := r.made(m, slack)
			c.Optimum, c.Objective = table, table.Objective
			return c, nil
		},
	}
}

// permuteAndFlip returns how often permute-and-flip of this ε agrees: no optimum of the same ε agrees
// less often, but for what a solver leaves undone.
func (r *Request) permuteAndFlip(ctx context.Context, epsilon float64) (float64, error) {
	m, err := ensemble.PermuteAndFlip(r.setting(), epsilon)
	if err != nil {
		return 0, err
	}
	a, err := r.Votes.Agreement(ctx, m)
	return a.Expected - undone, err
}

// undone is more than a solver leaves undone of an optimum.
const undone = 1e-3

// labelOf returns the cost of a label of δ = delta by its ε.
func labelOf(delta float64) func(epsilon float64) accountant.Cost {
	return func(epsilon float64) accountant.Cost {
		return accountant.Cost{Epsilon: epsilon, Delta: delta}
	}
}

// objective returns the objective of the optimum of many classes: the prior. It is never the votes
// at hand, which would become part of the mechanism.
func (r *Request) objective() plurality.Objective {
	switch {
	case r.Votes.mean != 0:
		return plurality.Objective{Accuracy: r.Votes.mean}
	case r.Votes.concentration != 0:
		return plurality.Objective{Concentration: r.Votes.concentration}
	}
	return plurality.DefaultObjective(r.Classes)
}

// counts returns the kind of a calibrated mechanism, with labels of δ = delta.
func (r *Request) counts(d ensemble.Description, delta float64) kind {
	build := func(x float64) (Choice, error) {
		promise := accountant.Cost{Epsilon: x, Delta: delta}
		m, err := ensemble.Calibrated(d.Name, r.setting(), promise,
			ensemble.Check{Ratio: ensemble.CheckRatio})
		if err != nil {
			return Choice{}, err
		}
		slack, ok := r.slack(delta)
		if !ok {
			return Choice{}, errOverBudget
		}
		return r.made(m, slack), nil
	}
	made := make(map[float64]Choice) // what a search ends at was priced by it
	return kind{
		name: d.Name, most: maxEpsilon, label: labelOf(delta),
		guess: func() float64 {
			if epsilon, ok := d.GuessEpsilon(r.Budget, r.Queries, delta); ok {
				return epsilon
			}
			return r.sharedEpsilon()
		},
		priced: func(x float64) (c Choice, err error) {
			if c, ok := made[x]; ok {
				return c, nil
			}
			if c, err = build(x); err == nil {
				c, err = c.priced()
			}
			if err == nil {
				made[x] = c
			}
			return c, err
		},
		build: func(_ context.Context, x float64) (Choice, error) { return build(x) },
	}
}

// sharedEpsilon guesses the ε of one label, of which Q cost E together: the larger of E/Q and
// what Q labels cost when they add up like the square root of their number.
func (r *Request) sharedEpsilon() float64 {
	e, q := r.Budget.Epsilon, float64(r.Queries)
	if r.Budget.Delta == 0 {
		return e / q
	}
	root := math.Sqrt(2 * math.Log(1/r.Budget.Delta))
	return max(e/q, 2*e/(root+math.Sqrt(root*root+2*e))/math.Sqrt(q))
}

package plan

import (
	"cmp"
	"context"
	"fmt"

	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
)

// manyAnswers returns the kind of tables of which all labels are priced together. Such a table is
// made for the whole budget: there is no ε of one label to choose.
func (r *Request) manyAnswers() kind {
	p := answers.Problem{K: r.votes(), Classes: r.Classes, Affected: r.reach(), Answers: r.Queries,
		Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Missing: r.Missing}
	prior := r.Losses.Prior(r.objective())
	objective, failed := r.yesPrior(prior.Objective)
	if prior.Objective = objective; objective.Counts != nil {
		prior.Shares = nil // which the counts have
	}
	p.Named, p.Labels = r.Losses.Stated(), len(r.Losses.Yes)
	if r.Missing { // how many votes there are is private
		prior.Present = answers.DefaultPresent
	}
	return kind{
		name: ensemble.TableOfAnswers,
		whole: func(ctx context.Context) (Choice, error) {
			if err := cmp.Or(failed, p.Validate()); err != nil {
				return Choice{}, err
			}
			if err := r.countAnswers(ctx, p, r.Work); err != nil {
				return Choice{}, err
			}
			table, err := r.SolveAnswers(ctx, p, prior)
			if err != nil {
				return Choice{}, err
			}
			m, err := ensemble.ManyAnswers(table.Certified, r.Neighbours)
			if err != nil {
				return Choice{}, err
			}
			bound := table.UpperBound
			// It is one for the votes that the prior leaves out, and the Law for all; and votes at hand are
			// another law than the prior.
			if r.Missing || r.Votes.FromVotes() || r.Losses.Costs != nil {
				bound = 1
			}
			return Choice{Name: ensemble.TableOfAnswers, Mechanism: m, Answers: table,
				Objective: prior.Objective, Bound: bound, answers: m.Answers(r.Queries, 0)}, nil
		},
		needs: func(ctx context.Context) (answerssolve.Needs, bool, error) {
			if p.Named || failed != nil { // which is told of normal noise that treats the classes alike
				return answerssolve.Needs{}, false, nil
			}
			if err := r.countAnswers(ctx, p, r.Work/advisedShare); err != nil {
				return answerssolve.Needs{}, false, err
			}
			return answerssolve.NeedsOf(ctx, p, prior, r.Agreement)
		},
	}
}

// pricedNoise returns the problem of noise that is priced by its labels, all together.
func (r *Request) pricedNoise() noisymax.Problem {
	return noisymax.Problem{Teachers: r.votes(), Classes: r.Classes, Missing: r.Missing, Affected: r.reach(),
		Answers: r.Queries, Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta}
}

// labelNoise returns the kind of noise that is priced by its labels, all together. It is for
// what is too large for a table for many answers, which knows more of the votes.
func (r *Request) labelNoise() kind {
	return kind{
		name: ensemble.LabelNoise,
		whole: func(ctx context.Context) (Choice, error) {
			table, err := r.PriceNoise(ctx, r.pricedNoise())
			if err != nil {
				return Choice{}, err
			}
			m, err := ensemble.NoiseOfAnswers(table.Certified, r.Neighbours)
			if err != nil {
				return Choice{}, err
			}
			return Choice{Name: m.Name(), Mechanism: m, Priced: table, answers: m.Answers(r.Queries, 0)}, nil
		},
		needs: func(context.Context) (answerssolve.Needs, bool, error) {
			return answerssolve.Needs{}, false, nil
		},
	}
}

// tableOfAnswers returns nil where the plan makes a table for many answers.
func (r *Request) tableOfAnswers(ctx context.Context) error {
	p := answers.Problem{K: r.votes(), Classes: r.Classes, Affected: r.reach(), Answers: r.Queries,
		Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Missing: r.Missing}
	if err := p.Validate(); err != nil {
		return err
	}
	return r.countAnswers(ctx, p, r.Work)
}

// advisedShare is the share of the work of one table up to which advice is worked out, which takes
// a dozen prices.
const advisedShare = 40

// perPair is the work of one answer to one pair of neighbours, in a price: 20 million of them take some ten
// seconds of a core.
const perPair = 20

// countAnswers refuses a table for many answers that takes more work than is stated: a price goes
// through all pairs of neighbours for each answer.
func (r *Request) countAnswers(ctx context.Context, p answers.Problem, most int64) error {
	s, err := answers.NewSystem(ctx, p)
	if err != nil {
		return err
	}
	if pairs := int64(s.PairCount()); pairs > most/perPair/int64(p.Answers) {
		return &WorkError{Answers: p.Answers, Pairs: pairs, Most: most / perPair}
	}
	return nil
}

// WorkError reports that a table for many answers takes more work than a plan counts for one.
type WorkError struct {
	Answers int
	Pairs   int64 // of neighbours
	Most    int64 // answers times pairs
}

func (e *WorkError) Error() string {
	return fmt.Sprintf("a table for %d answers has %d pairs of neighbours, and the plan makes one of up "+
		"to %.2g pairs times answers", e.Answers, e.Pairs, float64(e.Most))
}

// madeForAll returns the choice of a kind that is made for the whole budget.
func (r *Request) madeForAll(ctx context.Context, k kind) (Choice, error) {
	c, err := k.whole(ctx)
	if err != nil {
		return Choice{}, err
	}
	if c, err = c.priced(); err != nil {
		return Choice{}, err
	}
	if !within(c.Total, r.Budget) {
		return Choice{}, errOverBudget
	}
	return r.judged(ctx, c)
}

// adviseAll adds to a what a kind that is made for the whole budget needs for the wanted agreement.
func (r *Request) adviseAll(ctx context.Context, a *Advice, k kind) {
	needs, ok, err := k.needs(ctx)
	if err != nil || !ok { // not known in time, or there is none
		return
	}
	if e := gridCeil(needs.Epsilon); e <= maxEpsilon && (a.Epsilon == 0 || e < a.Epsilon) {
		a.Epsilon, a.EpsilonName = e, k.name
	}
	if needs.Answers > a.Queries {
		a.Queries, a.QueriesName = needs.Answers, k.name
	}
}

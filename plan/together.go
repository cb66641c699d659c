package plan

import (
	"context"
	"errors"
	"time"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
)

// manyAnswers returns the kind of tables of which all labels are priced together. Such a table is
// made for the whole budget: there is no ε of one label to choose.
func (r *Request) manyAnswers() kind {
	p := answers.Problem{K: r.K, Classes: r.Classes, Affected: r.Affected, Answers: r.Queries,
		Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Missing: r.Missing}
	prior := answers.Prior{Objective: r.objective()}
	if r.Missing { // how many votes there are is private
		prior.Present = answers.DefaultPresent
	}
	return kind{
		name: ensemble.TableOfAnswers,
		whole: func(ctx context.Context) (Choice, error) {
			if err := p.Validate(); err != nil {
				return Choice{}, err
			}
			left, err := r.left(&answerssolve.LimitError{Problem: p, Limit: r.SolveWithin})
			if err != nil {
				return Choice{}, err
			}
			began := time.Now()
			table, err := r.SolveAnswers(ctx, p, prior, left)
			r.solving += time.Since(began)
			var limit *answerssolve.LimitError
			if errors.As(err, &limit) {
				limit.Limit = r.SolveWithin // what was stated, and not what was left
			}
			if err != nil {
				return Choice{}, err
			}
			m, err := ensemble.ManyAnswers(table.Certified, r.Neighbours)
			if err != nil {
				return Choice{}, err
			}
			bound := table.UpperBound
			if r.Missing { // it is one for the votes that the prior leaves out, and the Law for all
				bound = 1
			}
			return Choice{Name: ensemble.TableOfAnswers, Mechanism: m, Answers: table,
				Objective: prior.Objective, Bound: bound, answers: m.Answers(r.Queries, 0)}, nil
		},
		needs: func(ctx context.Context) (answerssolve.Needs, bool, error) {
			left, err := r.left(context.DeadlineExceeded)
			if err != nil {
				return answerssolve.Needs{}, false, err
			}
			if left > 0 {
				limited, cancel := context.WithTimeout(ctx, left)
				defer cancel()
				ctx = limited
			}
			return answerssolve.NeedsOf(ctx, p, prior, r.Agreement)
		},
	}
}

// left returns what is left of SolveWithin, 0 for no limit. The error is late where nothing is.
func (r *Request) left(late error) (time.Duration, error) {
	left := r.SolveWithin - r.solving
	if r.SolveWithin > 0 && left <= 0 {
		return 0, late
	}
	return max(0, left), nil
}

// solveAnswers is the default of Request.SolveAnswers.
func solveAnswers(ctx context.Context, p answers.Problem, prior answers.Prior,
	within time.Duration) (*answers.Table, error) {
	if within == 0 {
		return answerssolve.Best(ctx, p, prior, answerssolve.Options{})
	}
	found, err := answerssolve.Within(ctx, within, nil, p, prior, answerssolve.Options{})
	return found.Table, err
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
	c.Agreement, err = r.Votes.Agreement(ctx, c.Mechanism)
	return c, err
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

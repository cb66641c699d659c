package plan

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
)

// Given is a mechanism that is compared with those of a plan, such as that of a table, and the title of its row.
type Given struct {
	Title     string
	Mechanism *ensemble.Mechanism
}

// Compare scores the choices of the plan that New returned for r on votes at hand, and marks the first,
// which a release takes. Behind them are the given mechanisms, or why they do not keep the budget. The plan must
// be by a prior: a choice by private votes is covered by no
// budget, and neither is one by these scores. Cost: that of ensemble.CompareTogether.
func (p *Plan) Compare(ctx context.Context, r Request, b *ensemble.Ballots, given ...Given) (*ensemble.Comparison, error) {
	p = handle.Made(p)
	if r.Votes != nil && r.Votes.FromVotes() {
		return nil, errors.New("the plan must be by a prior, and not by votes")
	}
	rows := make([]ensemble.Ready, 0, len(p.Choices)+len(p.Refused)+len(given))
	for i, c := range p.Choices {
		rows = append(rows, ensemble.Ready{Name: c.Name, Title: c.Title(), Mechanism: c.Mechanism, Planned: c.planned(i == 0)})
	}
	for _, x := range p.Refused {
		rows = append(rows, ensemble.Ready{Name: x.Name, Refused: x.Err})
	}
	if len(given) > 0 {
		if err := r.validate(); err != nil { // with the prior that New took
			return nil, err
		}
	}
	for _, g := range given {
		c, err := r.given(ctx, g.Mechanism)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows = append(rows, ensemble.Ready{Name: ensemble.OtherTable, Title: g.Title, Mechanism: g.Mechanism, Refused: err,
			Planned: c.planned(false)})
	}
	c, err := ensemble.CompareTogether(ctx, b, r.setting(), r.Budget, r.Queries, rows)
	if err == nil {
		c.Several = r.Several
	}
	return c, err
}

// planned returns the choice's figures.
func (c Choice) planned(chosen bool) *ensemble.Planned {
	return &ensemble.Planned{Total: c.Total, Expected: c.Agreement.Expected, Worth: c.Worth.Labels, Chosen: chosen}
}

// given returns the price of all labels by a given mechanism. The error says why the mechanism does not serve, or does
// not keep the budget.
func (r *Request) given(ctx context.Context, m *ensemble.Mechanism) (c Choice, err error) {
	if m == nil {
		return c, errors.New("there is no mechanism")
	}
	s, of, each := r.setting(), m.Setting(), m.Teachers()
	fresh := r.promise() && r.Teachers == ensemble.FreshTeachers
	switch {
	case of.K != s.K || of.Classes != s.Classes:
		return c, fmt.Errorf("it is for K = %d and %d classes, not %d and %d", of.K, of.Classes, s.K, s.Classes)
	case of.Affected < s.Affected:
		return c, fmt.Errorf("it presumes that one record reaches at most %d of the teachers, not %d", of.Affected, s.Affected)
	case of.Neighbours != s.Neighbours:
		return c, fmt.Errorf("it is for the neighbours %v, not %v", of.Neighbours, s.Neighbours)
	case s.Missing && !of.Missing:
		return c, ensemble.ErrMissing
	case !math.IsInf(each.Epsilon, 1) && !(fresh && r.Each().Epsilon <= each.Epsilon && r.Each().Delta <= each.Delta):
		return c, fmt.Errorf("it presumes fresh teachers that are (%v, %v)-private each", each.Epsilon, each.Delta)
	}
	slack, ok := 0.0, true
	if m.Together().Most == 0 {
		slack, ok = r.slack(m.PerAnswer().Delta)
	}
	if !ok {
		return c, errOverBudget
	}
	if c, err = r.made(m, slack).priced(); err != nil {
		return c, err
	}
	if !within(c.Total, r.Budget) {
		return c, fmt.Errorf("all labels cost %s, which is more than the budget", c.Total.Short())
	}
	return r.judged(ctx, c)
}

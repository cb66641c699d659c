package plan

import (
	"context"
	"errors"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
)

// Compare scores the choices of the plan that New returned for r on votes at hand, and marks the first,
// which a release takes. The plan must be by a prior: a choice by private votes is covered by no
// budget, and neither is one by these scores. Cost: that of ensemble.CompareTogether.
func (p *Plan) Compare(ctx context.Context, r Request, b *ensemble.Ballots) (*ensemble.Comparison, error) {
	p = handle.Made(p)
	if r.Votes != nil && r.Votes.FromVotes() {
		return nil, errors.New("the plan must be by a prior, and not by votes")
	}
	rows := make([]ensemble.Ready, 0, len(p.Choices)+len(p.Refused))
	for i, c := range p.Choices {
		rows = append(rows, ensemble.Ready{Name: c.Name, Title: c.Title(), Mechanism: c.Mechanism,
			Planned: &ensemble.Planned{Total: c.Total, Expected: c.Agreement.Expected,
				Worth: c.Worth.Labels, Chosen: i == 0}})
	}
	for _, x := range p.Refused {
		rows = append(rows, ensemble.Ready{Name: x.Name, Refused: x.Err})
	}
	c, err := ensemble.CompareTogether(ctx, b, r.setting(), r.Budget, r.Queries, rows)
	if err == nil {
		c.Several = r.Several
	}
	return c, err
}

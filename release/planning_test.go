package release

import (
	"context"

	"github.com/darrm/darrm/accountant"
)

// planning is a release of labels whose plan is made once the votes are counted: by Plan, or within a
// budget by Within.
type planning struct {
	Labels
	Plan   func(ctx context.Context, k, classes int) (Plan, error)
	Within func(ctx context.Context, budget accountant.Cost, k, classes, queries int) (Plan, float64, error)
}

func (l planning) open(ctx context.Context, quote bool) (*LabelRun, error) {
	if l.Within != nil && l.Budget == nil {
		l.Budget = new(LabelBudget)
	}
	r, err := l.Open(ctx, quote)
	if err != nil || r.Need() == nil {
		return r, err
	}
	var p Plan
	var slack float64
	if need := r.Need(); l.Within != nil {
		p, slack, err = l.Within(ctx, need.Budget, need.Teachers, need.Classes, need.Queries)
	} else {
		p, err = l.Plan(ctx, need.Teachers, need.Classes)
	}
	if err == nil {
		err = r.Use(p, slack)
	}
	if err != nil {
		r.Close()
	}
	return r, err
}

func (l planning) Run(ctx context.Context) (*Summary, error) {
	r, err := l.open(ctx, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Run(ctx)
}

func (l planning) Quote(ctx context.Context) (*Quote, error) {
	r, err := l.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Quote(ctx)
}

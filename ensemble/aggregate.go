package ensemble

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/votes"
)

// contextEvery is how many queries pass between two looks at the context.
const contextEvery = 4096

// Aggregate answers every query of t once, in order. On error, or when ctx is
// done, no answer is returned: an answer that was drawn and thrown away revealed
// nothing. Cost: two draws a query.
func (m *Mechanism) Aggregate(ctx context.Context, t *votes.Table) ([]votes.Label, error) {
	return m.aggregate(ctx, t, m.Release)
}

// Aggregate is Mechanism.Aggregate with simulated answers. They are not private.
func (s *Simulation) Aggregate(ctx context.Context, t *votes.Table) ([]votes.Label, error) {
	return s.mechanism.aggregate(ctx, t, s.Draw)
}

func (m *Mechanism) aggregate(ctx context.Context, t *votes.Table, answer func(int) (bool, error)) ([]votes.Label, error) {
	if t.K != m.K() {
		return nil, fmt.Errorf("the votes have K = %d teachers, but the noise function is for %d", t.K, m.K())
	}
	labels := make([]votes.Label, t.Len())
	for i := range labels {
		if i%contextEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		one, err := answer(t.Query(i).Ones)
		if err != nil {
			return nil, err
		}
		labels[i] = votes.LabelOf(one)
	}
	return labels, nil
}

package ensemble

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/votes"
)

// AnswerBatch answers every query of a batch, in its order: a class each, or Abstained.
// Missing votes, where the reader's policy lets any be, become fair coins over the
// classes first. Every answer is a new private one, as Release's; the randomness is the
// operating system's. It stops with the context's error. On error there are no answers.
func (a *Aggregator) AnswerBatch(ctx context.Context, b *votes.Batch) ([]int, error) {
	return a.answerBatch(ctx, a.secure, b)
}

// DrawBatch is AnswerBatch from the simulation's seed. It is not private.
func (s *AggregatorSimulation) DrawBatch(ctx context.Context, b *votes.Batch) ([]int, error) {
	return s.aggregator.answerBatch(ctx, s.src, b)
}

func (a *Aggregator) answerBatch(ctx context.Context, src randsrc.Source, b *votes.Batch) ([]int, error) {
	err := b.ResolveMissing(func(classes int) (int, error) {
		c, err := noise.Uniform(src, uint64(classes))
		return int(c), err
	})
	if err != nil {
		return nil, err
	}
	answers := make([]int, b.Len())
	for i := range answers {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if answers[i], err = a.answer(src, b.Row(i)); err != nil {
			return nil, fmt.Errorf("query %q: %w", b.ID(i), err)
		}
	}
	return answers, nil
}

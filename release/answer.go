package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/votes"
)

// errSimulated refuses coins from a seed for votes that were paid for.
var errSimulated = errors.New("answers drawn from a seed are no release")

// answer answers a batch of votes, in its order: a class each, or [ensemble.Abstained].
// Missing votes, where the reader's policy lets any be, become fair coins over the classes
// first, unless the mechanism takes missing votes. Where the votes were paid for, coins from
// a seed are an errSimulated. It stops with the context's error. On error there are no answers.
// Several goroutines may call it at once.
func (r *reading) answer(ctx context.Context, m *ensemble.Mechanism, coins randsrc.Coins,
	b *votes.Batch) ([]int, error) {
	if r.paid != nil && !r.free && !coins.Private() {
		return nil, errSimulated
	}
	coins = coins.Own()
	named := coins.Named()
	answers := make([]int, b.Len())
	for i := range answers {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		missing := 0
		if b.Missing != nil && !m.Setting().Missing {
			missing, b.Missing[i] = b.Missing[i], 0
		}
		name := ""
		if named { // an id that counts up is formatted, which takes as long as to draw
			name = b.ID(i)
		}
		var err error
		if answers[i], err = m.AnswerMissing(coins, name, b.Row(i), missing); err != nil {
			return nil, fmt.Errorf("query %q: %w", b.ID(i), err)
		}
	}
	return answers, nil
}

package ensemble

import (
	"context"
	"fmt"
	"sync"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// JointPrice prices many answers of one table together: the laws of an answer under every pair of
// neighbouring histograms as a game (package accountant/game), in which each pair is chosen after
// all earlier answers. No composition of what one answer costs is below it. It is safe for
// concurrent use.
type JointPrice struct{ *joint } // shared by copies of the handle

type joint struct {
	count int // ordered pairs
	game  func() (*game.Game, error)

	prices memo.Of[jointAt, float64]
}

type jointAt struct {
	delta   float64
	answers int
}

// maxJointWork bounds ordered pairs times answers: about a second.
const maxJointWork = 1 << 22

// maxPlayWork bounds the atoms × points × answers of each play: some seconds. Losses that are told apart may
// leave a rare answer of a large ratio, by which Rényi composition guesses too large an ε.
const maxPlayWork = 5e10

// newJointPrice prices with the default options: every figure of a table is the same everywhere.
func newJointPrice(count int, laws game.Pairs) *JointPrice {
	return &JointPrice{&joint{count: count,
		game: sync.OnceValues(func() (*game.Game, error) {
			return game.New(context.Background(), laws, game.Options{Work: maxPlayWork})
		})}}
}

// epsilon returns an ε such that so many answers are (ε, delta)-DP together, delta in (0,1). It is
// never below the true one. The error is accountant.ErrUnsupported where pairs times answers are
// above maxJointWork, and game.ErrDelta where no ε will do.
func (j *JointPrice) epsilon(ctx context.Context, delta float64, answers int) (float64, error) {
	if j.joint == nil {
		return 0, fmt.Errorf("the joint price must be that of a mechanism: %w", accountant.ErrUnsupported)
	}
	if answers > maxJointWork/j.count {
		return 0, fmt.Errorf("%d answers of a table with %d pairs of neighbours: at most %d of their "+
			"product are priced together: %w", answers, j.count, maxJointWork, accountant.ErrUnsupported)
	}
	g, err := j.game()
	if err != nil {
		return 0, err
	}
	return j.prices.Get(jointAt{delta, answers}, func() (float64, error) { return g.Epsilon(ctx, delta, answers) })
}

// jointOfNoise returns the price of answers of a noise function to votes that promise nothing.
func jointOfNoise(c *gamma.Certified) *JointPrice {
	k, t, d := c.Problem().K, c.Problem().Affected, darrm{c.Func()}
	of := func(numerator uint64) game.Probability {
		return game.Probability{Mass: numerator, Classes: 2} // over 2⁵⁴
	}
	one := func(ones int) game.Probability { return of(d.numeratorOfOne(ones)) }
	zero := func(ones int) game.Probability { return of(2*game.One - d.numeratorOfOne(ones)) }
	count := 0
	for ones := range k {
		count += 2 * (min(k, ones+t) - ones)
	}
	return newJointPrice(count, func(yield func(game.Pair, error) bool) {
		for from := range k {
			for to := from + 1; to <= min(k, from+t); to++ {
				pair := game.Pair{{Count: 1, P: zero(from), PPrime: zero(to)},
					{Count: 1, P: one(from), PPrime: one(to)}}
				if !yield(pair, nil) {
					return
				}
			}
		}
	})
}

// jointOfTable returns the price of answers of a table for many classes.
func jointOfTable(c *plurality.Certified) *JointPrice {
	space := c.System().Space
	masses := make([]uint64, space.Variables())
	for i := range masses {
		masses[i] = c.Mass(i)
	}
	return newJointPrice(int(min(c.Certificate().Pairs, maxJointWork)),
		answers.Laws(context.Background(), space, c.Problem().Affected, masses))
}

package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
)

// Release trains one private model with the operating system's randomness; there is no way
// to pass another. All its randomness is one secret key, drawn when it is made: however
// often it is interrupted and resumed, it releases the same model, and is to be charged
// for once, by its ID, before Run. It is not safe for concurrent use.
type Release struct {
	r *run
}

// NewRelease begins a release that will cost a.Cost. It refuses what a.Releasable does.
func NewRelease(a Algorithm) (*Release, error) {
	if err := a.Releasable(); err != nil {
		return nil, err
	}
	coins, err := stream.Secret()
	if err != nil {
		return nil, err
	}
	return &Release{newRun(a, coins)}, nil
}

// run returns the run, and for the zero Release one that does nothing.
func (r *Release) run() *run {
	if r == nil || r.r == nil {
		return newRun(Algorithm{}, Coins{})
	}
	return r.r
}

// ID returns a name of the release that tells nothing of its randomness and stays the
// same when it is resumed: a ledger charges a request of one name once.
func (r *Release) ID() string {
	key := r.run().coins.Key()
	h := sha256.Sum256(append([]byte("darrm training release id v1"), key[:]...))
	return hex.EncodeToString(h[:16])
}

// Cost returns the privacy cost of the model.
func (r *Release) Cost() accountant.Cost {
	return r.run().a.Cost
}

// Round returns the number of rounds done.
func (r *Release) Round() int {
	return r.run().round
}

// Run does the remaining rounds and returns the private model. After each round it calls
// after, unless nil, with the number of rounds done; an error from it ends the run, as
// the context does, between or within rounds. The release can then go on with Run, or
// elsewhere from a Checkpoint. A second Run after the last round returns the same model.
//
// An error of a run that diverges tells that it did, and in which round: a function of the states
// after rounds. Where the promise covers the last model alone (iteration.LastIterate), it does not
// cover that. No run diverges but with parameters whose steps are of the order of 1e100.
func (r *Release) Run(ctx context.Context, after func(round int) error) ([]float64, error) {
	var each func() error
	if after != nil {
		each = func() error { return after(r.run().round) }
	}
	if err := r.run().finish(ctx, each); err != nil {
		return nil, err
	}
	return r.run().released(), nil
}

// Choice returns the run's choice, nil for a method that chooses nothing.
func (r *Release) Choice() *Choice {
	return r.run().choice()
}

// grid returns the power of two to whose multiples a released model is rounded: 2⁻²⁰ of
// the noise's scale. Rounding is post-processing; it takes away low bits, which no accuracy
// needs and whose pattern could betray summands.
func grid(a Algorithm) float64 {
	scale := a.NoiseScale
	if scale == 0 {
		return 0
	}
	_, e := math.Frexp(scale)
	return math.Ldexp(1, e-21)
}

// roundToGrid rounds x to multiples of the grid.
func roundToGrid(x []float64, grid float64) {
	if grid == 0 {
		return
	}
	for j, v := range x {
		if q := v / grid; math.Abs(q) < 1<<53 {
			x[j] = math.RoundToEven(q) * grid
		}
	}
}

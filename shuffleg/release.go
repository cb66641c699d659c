package shuffleg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

const (
	shuffledOnce = iteration.ShuffledOnce
	reshuffled   = iteration.Reshuffled
)

// Release trains one private model with the operating system's randomness; there is no way
// to pass another. All its randomness is one secret key, drawn when it is made: however
// often it is interrupted and resumed, it releases the same model, and is to be charged
// for once, by its ID, before Run. It is not safe for concurrent use.
type Release struct {
	e *engine
}

// NewRelease begins a release that will cost Cost. It refuses a plan that is not private
// (ε = +Inf) and, with iteration.ErrNotCertified, one whose amplification could rest on a
// smoothness taken from the private data. Which of the two a plan is does not depend on
// the data.
func (p *Plan) NewRelease() (*Release, error) {
	if err := p.releasable(); err != nil {
		return nil, err
	}
	k, err := secureKey(randsrc.NewSecure())
	if err != nil {
		return nil, err
	}
	return &Release{newEngine(p, k, true)}, nil
}

func (p *Plan) releasable() error {
	if math.IsInf(p.report.Cost.Epsilon, 1) {
		return errors.New("epsilon = +Inf: a run on private data without noise can be simulated, not released")
	}
	if p.fromData {
		return fmt.Errorf("%w: the smoothness rests on the longest private record: state a radius, to which longer ones are shortened", iteration.ErrNotCertified)
	}
	return nil
}

// ID returns a name of the release that tells nothing of its randomness and stays the
// same when it is resumed: a ledger charges a request of one name once.
func (r *Release) ID() string {
	h := sha256.Sum256(append([]byte("darrm shuffleg release id v1"), r.e.key[:]...))
	return hex.EncodeToString(h[:16])
}

// Cost returns what the model costs.
func (r *Release) Cost() accountant.Cost { return r.e.p.Cost() }

// Epoch returns how many epochs are done.
func (r *Release) Epoch() int { return r.e.epoch }

// Run does the remaining epochs and returns the private model. After each epoch it calls
// after, unless nil, with the number of epochs done; an error from it ends the run, as
// the context does, between or within epochs. The release can then go on with Run, or
// elsewhere from a Checkpoint. A second Run after the last epoch returns the same model.
//
// That and when a run diverges is a function of its iterates after epochs. Where only the
// last is covered (iteration.CrossEpoch) it is so much more than may be said, but
// cannot happen short of parameters whose steps are of the order of 1e100.
func (r *Release) Run(ctx context.Context, after func(epoch int) error) ([]float64, error) {
	for !r.e.done() {
		if err := r.e.runEpoch(ctx); err != nil {
			return nil, fmt.Errorf("epoch %d: %w", r.e.epoch+1, err)
		}
		if after != nil {
			if err := after(r.e.epoch); err != nil {
				return nil, err
			}
		}
	}
	x := r.e.model()
	coarsen(x, r.e.p.grid())
	return x, nil
}

// grid returns the power of two to whose multiples a released model is rounded: 2⁻²⁰ of
// the standard deviation of one step's noise, ησ. Rounding is post-processing; it takes
// away low bits, which no accuracy needs and whose pattern could betray summands.
func (p *Plan) grid() float64 {
	sigma := max(p.report.Noise, p.report.PublicNoise)
	if sigma == 0 {
		return 0 // no private data went in
	}
	_, e := math.Frexp(p.c.StepSize * sigma)
	return math.Ldexp(1, e-21)
}

// coarsen rounds x to multiples of the grid.
func coarsen(x []float64, grid float64) {
	if grid == 0 {
		return
	}
	for j, v := range x {
		if q := v / grid; math.Abs(q) < 1<<53 {
			x[j] = math.RoundToEven(q) * grid
		}
	}
}

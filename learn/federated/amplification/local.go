package amplification

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// LocalStep is one step of a silo's local phase: the mean over a batch, drawn uniformly without
// replacement from its n records, of gradient differences of norm at most c, and c·σ·N(0, I) added.
// It costs the records of this silo alone. A replaced record moves the mean by at most 2c/B, so the
// noise multiplier is σB/2. The first step of a phase starts where it stands, has c = 0 and touches
// no data.
//
// Noise is drawn in floating point; what that may reveal is in internal/randsrc/stream.
type LocalStep struct {
	Noise   float64 // σ > 0
	Batch   int     // B ≥ 1
	Records int     // n ≥ B
}

func (s LocalStep) check() error {
	return cmp.Or(
		check.Positive("noise of a local step", s.Noise),
		check.Whole("records of a silo", s.Records, 1, 0),
		check.Whole("batch of a local step", s.Batch, 1, s.Records),
	)
}

// RDP returns the divergence at integer order α: accountant.FixedBatchRDP.
func (s LocalStep) RDP(alpha int) (float64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	b := float64(s.Batch)
	return accountant.FixedBatchRDP(s.Noise*b/2*(1-num.Margin),
		b/float64(s.Records)*(1+num.Margin*min(1, float64(s.Records-s.Batch))), alpha)
}

// Event returns one step as an event for an accountant.Accountant.
func (s LocalStep) Event() (accountant.Event, error) {
	var orders, rho []float64
	for a := 2; a <= accountant.MaxFixedBatchOrder; a += max(1, a/16) {
		r, err := s.RDP(a)
		if err != nil {
			return nil, err
		}
		if math.IsInf(r, 1) {
			break // little noise; lower orders are enough
		}
		orders, rho = append(orders, float64(a)), append(rho, r)
	}
	if len(orders) == 0 {
		return nil, fmt.Errorf("local step with noise %g: %w", s.Noise, accountant.ErrUnsupported)
	}
	return curve(fmt.Sprintf("a local step, noise %g, batch %d of %d", s.Noise, s.Batch, s.Records),
		orders, rho)
}

func checkTarget(target accountant.Cost) error {
	return cmp.Or(check.Positive("epsilon", target.Epsilon), check.Within("delta", target.Delta))
}

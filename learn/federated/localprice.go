package federated

import (
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/federated/amplification"
)

// localEvent returns the event of all local phases for a record, and sets σ. Each silo has at most
// ⌈R/M⌉ phases of H-1 steps that touch its records. Where σ is not stated, the phases by themselves
// cost ε/√2 of the target. Costs of this kind add up nearly in squares, so about as much is left
// for the server.
func (p *Plan) localEvent() (accountant.Event, error) {
	phases := func(sigma float64) (accountant.Event, error) {
		// The smallest silo's records come up most often.
		step, err := amplification.LocalStep{Noise: sigma, Batch: p.Local.Batch,
			Records: p.smallest}.Event()
		if err != nil {
			return nil, err
		}
		return accountant.Compose(accountant.Charge{Event: step, Count: (p.Local.Steps - 1) * p.turns()})
	}
	if p.sigma = p.Local.Noise; p.sigma == 0 {
		half := accountant.Cost{Epsilon: p.Target.Epsilon / math.Sqrt2, Delta: p.Target.Delta}
		// of the multiplier σB/2
		toSigma := func(inverse float64) float64 { return 2 / (float64(p.Local.Batch) * inverse) }
		inverse, err := calibrate(p.price.Method+": local phase", half, accountant.MethodRDP,
			func(x float64) (accountant.Event, error) { return phases(toSigma(x)) })
		if err != nil {
			return nil, err
		}
		p.sigma = toSigma(inverse)
	}
	return phases(p.sigma)
}

package federated

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/train"
)

// Central is gradient descent by a server that sees all records and adds normal noise to means of
// clipped gradients: the trusted-server baselines of Murata and Suzuki, DIFF2 (2023).
//
//	Period  Local.Steps   method
//	1       1             dp-gd
//	T > 1   1             diff2-gd: a gradient in every T-th round, differences in the others
//	T > 1   H > 1         diff2-bvr-lsgd: the same with a local phase
//
// Cost: one or two gradients of each record a round.
type Central struct {
	Setting
	Period int // T; 0 is 1
	// Noise is Calibrated by the exact law of normal noise, or what the source prints, with
	// α = 1 + ⌈2·ln(1/δ)/ε⌉ by Rényi divergences.
	Noise train.Noise
}

// share is the u of the source: gradients take 1/u of the budget, differences the rest.
const share = 1.25

// Plan prices the method for the records of all silos.
func (c Central) Plan(n, features int) (train.Plan, error) {
	return train.PlanOf(c.New(n, features))
}

// New is Plan, for callers that need more of it than train.Plan has.
func (c Central) New(n, features int) (*Plan, error) {
	t, err := c.check(n, features)
	if err != nil {
		return nil, err
	}
	c.Period = cmp.Or(c.Period, 1)
	if err := check.Whole("period", c.Period, 1, maxRounds); err != nil {
		return nil, err
	}
	if err := t.checkDifferences(c.Period > 1); err != nil {
		return nil, err
	}
	if err := t.checkStep(false); err != nil {
		return nil, err
	}
	if err := check.Target(t.Target.Epsilon, t.Target.Delta); err != nil {
		return nil, err
	}
	p := &Plan{plan{task: *t, kind: trusted, period: c.Period}}
	p.price = train.Price{Method: c.name(), Records: n, Dim: p.d, Relation: accountant.ReplaceOne}
	if p.Local.Steps > 1 && c.Noise == train.Printed {
		return nil, check.Want("noise", c.Noise, "calibrated beside a local phase")
	}
	if p.noise, err = check.OneOf("noise", c.Noise, train.Calibrated, train.Printed); err != nil {
		return nil, err
	}
	if p.noise == train.Printed {
		return p, p.printedMeans()
	}
	return p, p.calibrateMeans()
}

func (c Central) name() string {
	switch {
	case c.Local.Steps > 1:
		return "diff2-bvr-lsgd"
	case c.Period > 1:
		return "diff2-gd"
	}
	return "dp-gd"
}

// checkDifferences checks C_1, which a method without differences has not.
func (t *task) checkDifferences(has bool) error {
	if has {
		return train.CheckScale("difference clip", t.DifferenceClip)
	}
	if t.DifferenceClip != 0 {
		return check.Want("difference clip", t.DifferenceClip, "left out for a method without differences")
	}
	return nil
}

// setMeans gives the streams the multipliers that together cost what one release with the
// multiplier total does: normal noise composes by Σ 1/z².
func (p *plan) setMeans(total float64) {
	count := p.streams()
	of := func(k randomiser.Stream, part float64) float64 {
		return total * math.Sqrt(float64(count[k])/part) * (1 + train.Slack)
	}
	if count[differences] == 0 {
		p.multipliers = [2]float64{gradients: of(gradients, 1)}
		return
	}
	p.multipliers = [2]float64{differences: of(differences, (share-1)/share),
		gradients: of(gradients, 1/share)}
}

// means returns the event of all noisy means.
func (p *plan) means() (accountant.Event, error) {
	var charges []accountant.Charge
	for k, n := range p.streams() {
		if n > 0 {
			charges = append(charges,
				accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: min(p.multipliers[k]*
					(1-train.Slack), accountant.MaxNoise), Neighbours: accountant.ReplaceOne}, Count: n})
		}
	}
	return accountant.Compose(charges...)
}

// calibrateMeans sets the noise of the means and of the local phase to what the target needs.
func (p *Plan) calibrateMeans() error {
	target := p.Target
	if p.Local.Steps == 1 {
		total, err := train.NoiseFor(target)
		if err != nil {
			return err
		}
		p.setMeans(total)
		event, err := p.means()
		if err != nil {
			return err
		}
		p.blocks()
		return p.price.Settle(event, accountant.MethodGaussian, target, true)
	}
	local, err := p.localEvent()
	if err != nil {
		return err
	}
	total, err := train.NoiseFor(target)
	if err != nil {
		return err
	}
	event := func(less float64) (accountant.Event, error) {
		p.setMeans(total / less)
		means, err := p.means()
		if err != nil {
			return nil, err
		}
		return compose(means, local)
	}
	less, err := calibrate(p.price.Method, target, accountant.MethodRDP, event)
	if err != nil {
		return fmt.Errorf("the local phase leaves too little for the server (more local noise, fewer "+
			"steps): %w", err)
	}
	e, err := event(less)
	if err != nil {
		return err
	}
	p.blocks()
	return p.price.Settle(e, accountant.MethodRDP, target, false)
}

// printedMeans sets what the source prints:
//
//	s_1² = 4uαR/(TN²ε),  s_2² = 4u/(u-1)·αR/(N²ε),  T = 1: s_1² = 4αR/(N²ε),   α = 1 + ⌈2·ln(1/δ)/ε⌉
//
// Its sensitivity of a mean is 2C/N, so z = sN/2.
func (p *Plan) printedMeans() error {
	alpha := 1 + math.Ceil(2*math.Log(1/p.Target.Delta)/p.Target.Epsilon)
	z := math.Sqrt(alpha * float64(p.Rounds) / p.Target.Epsilon)
	if p.period == 1 {
		p.multipliers = [2]float64{gradients: z}
	} else {
		p.multipliers = [2]float64{differences: z * math.Sqrt(share/(share-1)),
			gradients: z * math.Sqrt(share/float64(p.period))}
	}
	event, err := p.means()
	if err != nil {
		return err
	}
	p.blocks()
	return p.price.Settle(event, accountant.MethodGaussian, p.Target, false)
}

// blocks states the noise of the streams, at clipping norms of 1 for differences' distances.
func (p *Plan) blocks() {
	p.price.Blocks = nil
	count := p.streams()
	for k, name := range []string{"gradients", "differences, for a distance of 1"} {
		if count[k] == 0 {
			continue
		}
		norm := []float64{p.GradientClip, p.DifferenceClip}[k]
		p.price.Blocks = append(p.price.Blocks, train.Block{
			Name: name, To: p.n, Releases: count[k], StepSize: p.StepSize,
			Sensitivity: sensitivity(norm, p.least(p.Rounds-1)),
			Deviation:   p.deviation(randomiser.Stream(k), norm, p.least(p.Rounds-1)),
		})
	}
	if p.Local.Steps > 1 {
		p.price.Notes = append(p.price.Notes,
			fmt.Sprintf("local phase: each silo at most %d times, %d noisy steps on %d records each, "+
				"noise multiplier %.6g", p.turns(), p.Local.Steps-1, p.Local.Batch,
				p.sigma*float64(p.Local.Batch)/2))
	}
}

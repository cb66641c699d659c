package pairwise

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// OnePass is private localised gradient descent that visits each record once: phase k has the
// next ⌊n/2ᵏ⌋ records and steps of η/4ᵏ, each on a record and the one before it,
//
//	u ← Π_W(u - η_k·∇f(u; z_i, z_{i-1})),   w_k = Π_W(average of u + N(0, σ_k²I)).
//
// The loss is convex and smooth. Cost: a gradient a record; memory for the records alone.
//
// Privacy: a step of at most 2/L is non-expansive, so a record that is replaced moves every iterate
// of its phase, and their average, by at most Δ_k = cGη_k, with certainty. Other phases see it
// through the noised average only.
type OnePass struct {
	Setting
	// StepSize is η; 0 is (D/G)·min{1/√n, 1/(c·σ*·√d), 8G/(LD)}, which needs a ball.
	StepSize float64
}

// Cyclic is OnePass with k passes over each phase's records, always in the same order, each pass
// with partners of its own: pass p, from 0, pairs record i with record i - s_p of the phase, around
// its end,
//
//	s_p = 1 + ⌊p·⌊n_k/2⌋/k⌋.
//
// So the k·n_k pairs are different as far as there are as many, which is what a gradient over all
// pairs has over one over n_k of them; and records that are sorted by class still meet. A record is
// once the current one and once a partner in each pass, whatever s_p, so the p-th pass moves the
// iterates from its begin on by at most cGη_k, a share 1-p/k of them: Δ_k = cGη_k(k+1)/2 for steps
// k times as many, and noise per step falls to a half of OnePass's.
type Cyclic struct {
	Setting
	StepSize float64 // η; 0 is (D/G)·min{1/(√n·k), 1/(M·√d), 8G/(LD)}, which needs a ball
	Passes   int     // k; 0 is 32, or for few records 2¹⁸/n, beyond which noise per step hardly falls
}

// phased is a priced plan of either method, or of FullBatch.
type phased struct {
	planned
	form   phaseForm
	noise  train.Noise
	rule   Rule // of Localized
	passes int  // of Cyclic
	eta    float64
	blocks []draws
	scales []float64        // M_k: σ_k = M_k·Gη_k
	known  []train.PriceRow // of methods whose sensitivity is certain
}

// phaseForm names the way a phase goes through its records.
type phaseForm string

const (
	inOrder  phaseForm = "one-pass"
	cyclic   phaseForm = "cyclic"
	drawn    phaseForm = "localized"
	allPairs phaseForm = "full-batch"
)

// maxPasses bounds the passes of a phase.
const maxPasses = 1e6

// Plan prices the method for n records of dimension d.
func (c OnePass) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c OnePass) plan(n, d int) (*phased, error) {
	p, err := newPhased(c.Setting, inOrder, c.StepSize, n, d)
	if err != nil {
		return nil, err
	}
	p.split(func(records int) int { return records - 1 })
	return p.deterministic(c.StepSize, 1/math.Sqrt(float64(n)), func(draws) float64 { return 1 })
}

// Plan prices the method for n records of dimension d.
func (c Cyclic) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c Cyclic) plan(n, d int) (*phased, error) {
	p, err := newPhased(c.Setting, cyclic, c.StepSize, n, d)
	if err != nil {
		return nil, err
	}
	c.Passes = cmp.Or(c.Passes, cyclicPasses(n))
	if err := check.Whole("passes", c.Passes, 1, maxPasses); err != nil {
		return nil, err
	}
	p.passes = c.Passes
	p.split(func(records int) int { return records * c.Passes })
	return p.deterministic(c.StepSize, 1/(math.Sqrt(float64(n))*float64(c.Passes)),
		func(draws) float64 { return cyclicMoved(c.Passes) })
}

// cyclicPasses returns the number of passes that Cyclic makes over n records.
func cyclicPasses(n int) int { return max(32, (1<<18+n-1)/n) }

// cyclicMoved bounds the distance by which a record moves the average of k passes in order, in
// steps: Σ_p (1-p/k), of the first record.
func cyclicMoved(passes int) float64 { return float64(passes+1) / 2 }

// deterministic prices phases whose sensitivity is cGη_k·moved, with a default step size of at most
// (D/G)·first.
func (p *phased) deterministic(eta, first float64,
	moved func(d draws) float64) (*phased, error) {
	star, err := train.NoiseFor(p.Target)
	if err != nil {
		return nil, err
	}
	for _, d := range p.blocks {
		p.scales = append(p.scales, p.occurrence*moved(d)*star)
	}
	if err := p.choose(eta, first); err != nil {
		return nil, err
	}
	if err := p.fill(func(k int) float64 { return p.occurrence * moved(p.blocks[k]) }); err != nil {
		return nil, err
	}
	once := moved(p.blocks[0])
	p.known = []train.PriceRow{p.row(train.Calibrated, "a record counts as in two pairs (2·2Gη)",
		4*once, 4*once*star, p.Target.Epsilon)}
	if p.occurrence < 4 {
		p.known = append(p.known, p.row(train.Calibrated,
			"of two gradients that a record is in, each changes by G, or one by 2G (2Gη)", p.occurrence*once,
			p.scales[0], p.Target.Epsilon))
	}
	p.known[len(p.known)-1].InUse = true
	m := min(math.Sqrt(2*math.Log(1.25/p.Target.Delta))/p.Target.Epsilon*(1-train.Slack),
		accountant.MaxNoise)
	// A row to compare with: beyond the accountant's range there is none, and the plan stands.
	if epsilon, err := accountant.GaussianEpsilon(m, p.Target.Delta); err == nil {
		p.known = append(p.known, p.row(classical, "the same by the formula √(2·ln(1.25/δ))/ε",
			p.occurrence*once, p.occurrence*once*m, epsilon))
	}
	return p, p.price.SettleGaussian(p.Target, true)
}

func newPhased(s Setting, form phaseForm, eta float64, n, d int) (*phased, error) {
	t, err := s.private(n, d, true)
	if err != nil {
		return nil, err
	}
	if err := t.smoothLoss(); err != nil {
		return nil, err
	}
	if n < 4 {
		return nil, check.Want("number of records", n,
			"at least 4: the phases have n/2, n/4, … records, 2 or more")
	}
	p := &phased{planned: planned{task: t}, form: form, noise: train.Calibrated}
	if err := p.ready(eta); err != nil {
		return nil, err
	}
	p.price = train.Price{Method: string(form), Records: n, Dim: d, Relation: t.Neighbours}
	p.rows = p.compare
	p.start = func(own *data.Records, coins train.Coins) train.Run { return newPhasedRun(p, own, coins) }
	return p, nil
}

// split makes the phases.
func (p *phased) split(steps func(records int) int) {
	for records := p.n / 2; records >= 2; records /= 2 {
		p.blocks = append(p.blocks, draws{records, steps(records)})
	}
}

// diameter returns D, 0 where W is all of Rᵈ.
func (t *task) diameter() float64 { return 2 * t.Ball }

// ready refuses an η that choose would refuse, before noise is calibrated for it.
func (p *phased) ready(eta float64) error {
	if eta != 0 {
		return p.steps(eta)
	}
	if p.Ball == 0 {
		return check.SettledBy(check.Want("step size", 0,
			"stated where there is no ball: the default needs its diameter"), "step size", "ball")
	}
	return nil
}

// choose sets η, or the default for 0, whose part for the rate is (D/G)·first.
func (p *phased) choose(eta, first float64) error {
	if eta == 0 {
		eta = defaultStep(p.diameter(), p.norm, p.smooth, first, p.scales[0], p.d)
	}
	p.eta = eta
	return p.steps(eta)
}

// defaultStep is (D/G)·min{first, 1/(M√d), 8G/(LD)}.
func defaultStep(diameter, norm, smooth, first, scale float64, d int) float64 {
	return diameter / norm * min(first, 1/(scale*math.Sqrt(float64(d))),
		8*norm/(smooth*diameter)*(1-2*train.Slack))
}

// fill sets the blocks, of sensitivities in units of Gη_k.
func (p *phased) fill(sensitivity func(k int) float64) error {
	p.price.Notes = []string{
		fmt.Sprintf("eta = %.6g, G = %.6g, L = %.6g; a record that is replaced moves %g·G·eta_k an "+
			"occurrence", p.eta, p.norm, p.smooth, p.occurrence),
	}
	p.details = p.blocks
	return p.phases(p.eta, func(k int, b *train.Block) error {
		unit := p.norm * b.StepSize * (1 + train.Slack)
		b.Sensitivity, b.Deviation = sensitivity(k)*unit, p.scales[k]*unit
		return nil
	})
}

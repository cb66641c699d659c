package pairwise

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// Minimised is private localised minimisation, for losses that need not be smooth (Algorithm 5, on
// top of Algorithm 4). Phase k has the next n_k = ⌊n/2ᵏ⌋ records and ζ_k = ζ/4ᵏ:
//
//	w_k = Π_W(w̄_k + N(0, σ_k²I)),   w̄_k ≈ argmin F_{S_k}(w) + ‖w-w_{k-1}‖²/(ζ_k·n_k).
//
// The objective is α_k-strongly convex, α_k = 2/(ζ_k·n_k), and a record that is replaced moves its
// gradient by at most cG/n_k, so its minimiser by at most cGζ_k/2.
//
// The source approaches the minimiser by random steps, to G²ζ_k/n_k with probability 1-δ/4, and
// pays 2Gζ_k for it. Here the solver is deterministic and ends at a gradient of norm γ, which costs
// γ/α_k in each world and no probability. A loss with kinks is replaced by its Moreau envelope,
// which has the same slopes and is below it by at most half of the source's G²ζ_k/n_k: the
// account is for the minimiser of the envelope, and F_{S_k} is still minimised as well as in the
// source. Cost: O(n_k·ln) gradients over all pairs for the hinge, each of O(n_k·(d +
// ln n_k)); for smooth losses √(ζ_k·n_k·L) in place of n_k.
type Minimised struct {
	Setting
	// Scale is ζ; 0 is (D/G)·min{4/√n, 1/(M·√d)} for noise M·Gζ_k, which needs a ball.
	Scale float64
	// Noise is Calibrated for "". Printed is the source's 4Gζ_k·√(ln(2.5/δ))/ε, which lacks a √2:
	// it is refused where it breaks the promise. Corrected has the √2.
	Noise train.Noise
}

// Corrected is the source's noise with what is missing from it.
const Corrected train.Noise = "corrected"

// tolerance is γ as a share of what one record moves a gradient by.
const tolerance = 1e-3

// minimised is a priced plan.
type minimised struct {
	planned
	noise  train.Noise
	zeta   float64
	star   float64 // noise per sensitivity that the target needs
	solved []objective
}

// objective is the function that phase k minimises.
type objective struct {
	task      task // with the loss that is minimised, smooth
	alpha     float64
	curvature float64 // of F_{S_k}, a bound
	tolerance float64 // γ
	bias      float64 // F_{S_k} is above what is minimised by at most this
}

// Plan prices the method for n records of dimension d.
func (c Minimised) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c Minimised) plan(n, d int) (*minimised, error) {
	t, err := c.private(n, d, false)
	if err != nil {
		return nil, err
	}
	if n < 4 {
		return nil, check.Want("number of records", n,
			"at least 4: the phases have n/2, n/4, … records, 2 or more")
	}
	p := &minimised{planned: planned{task: t}}
	p.rows = p.compare
	p.start = func(own *data.Records, coins train.Coins) train.Run {
		return newMinimisedRun(p, own, coins.Normals())
	}
	p.price = train.Price{Method: "minimised", Records: n, Dim: d, Relation: t.Neighbours}
	star, err := train.NoiseFor(t.Target)
	if err != nil {
		return nil, err
	}
	sensitivity := t.occurrence / 2 * (1 + 2*tolerance) // in units of Gζ_k
	scale := sensitivity * star
	if p.noise, err = check.OneOf("noise", c.Noise, train.Calibrated, Corrected,
		train.Printed); err != nil {
		return nil, err
	}
	switch p.noise {
	case Corrected:
		scale = 4 * classicalNoise(t.Target)
	case train.Printed:
		scale = 4 * classicalNoise(t.Target) / math.Sqrt2
	}
	if p.zeta, err = p.chooseScale(c.Scale, scale); err != nil {
		return nil, err
	}
	if err := p.makePhases(scale); err != nil {
		return nil, err
	}
	if err := p.price.SettleGaussian(t.Target, p.noise == train.Calibrated); err != nil {
		return nil, check.SettledBy(err, "noise=calibrated")
	}
	p.star = star
	first := p.solved[0]
	p.price.Notes = []string{
		fmt.Sprintf("zeta = %.6g, G = %.6g; the first minimiser is found to a gradient of norm %.3g, "+
			"of a loss at most %.3g below the stated", p.zeta, p.norm, first.tolerance, first.bias),
	}
	return p, nil
}

// chooseScale returns ζ, or the default for 0.
func (p *minimised) chooseScale(zeta, scale float64) (float64, error) {
	if zeta == 0 {
		if p.Ball == 0 {
			return 0, check.SettledBy(check.Want("step size", 0,
				"stated where there is no ball: the default needs its diameter"), "step size", "ball")
		}
		zeta = p.diameter() / p.norm * min(4/math.Sqrt(float64(p.n)), 1/(scale*math.Sqrt(float64(p.d))))
	}
	return zeta, train.CheckScale("step size", zeta, ": the scale zeta")
}

// makePhases sets blocks and objectives, for noise scale·Gζ_k.
func (p *minimised) makePhases(scale float64) error {
	var details []any
	err := p.phases(p.zeta, func(_ int, b *train.Block) error {
		zeta, n := b.StepSize, float64(b.To-b.From)
		o := objective{task: p.task, alpha: 2 / (zeta * n)}
		// Half of the source's tolerance.
		o.bias = p.norm * p.norm * zeta / n / 2
		if math.IsInf(p.smooth, 1) {
			beta := p.slope * p.slope / (2 * o.bias)
			smoothed, err := p.Loss.Smoothed(beta)
			if err != nil {
				return err
			}
			o.task.Loss, o.task.smooth = smoothed, smoothed.Smoothness(p.Radius)
			o.task.bound()
		} else {
			o.bias = 0
		}
		// At most n²/4 of the n(n-1)/2 pairs are of two classes.
		o.curvature = o.task.smooth * n / (2 * (n - 1)) * (1 + train.Slack)
		// The centre is in W, or no longer than a thousand times what noise makes it, and the
		// minimiser within G/α of it.
		length := p.norm/o.alpha + p.Ball
		if p.Ball == 0 {
			length += 1000 * (1 + scale*p.norm*p.zeta*math.Sqrt(float64(p.d)))
		}
		o.tolerance = max(tolerance*p.occurrence*p.norm/n, 4*o.rounding(b.To-b.From, length))
		b.Sensitivity = (p.occurrence*p.norm/n + 2*o.tolerance) / o.alpha * (1 + train.Slack)
		b.Deviation = scale * p.norm * zeta * (1 + train.Slack)
		if p.noise == train.Calibrated { // also where the solver's tolerance had to be wider
			b.Deviation *= max(1, b.Sensitivity/(p.norm*zeta*p.occurrence/2*(1+2*tolerance)))
		}
		p.solved = append(p.solved, o)
		return nil
	})
	for _, o := range p.solved[:p.rounds] {
		details = append(details, o.task.Loss.Name(), o.alpha, o.tolerance)
	}
	p.details = details
	return err
}

// compare prices the source's noise as printed and corrected, and the noise in use.
func (p *minimised) compare() ([]train.PriceRow, error) {
	var rows []train.PriceRow
	b := p.price.Blocks[0]
	unit := p.norm * b.StepSize
	half, err := train.NoiseFor(halved(p.Target))
	if err != nil {
		return nil, err
	}
	for _, r := range []struct {
		noise      train.Noise
		reading    string
		multiplier float64
	}{
		{train.Printed, "printed: the minimiser moves by 2Gζ, random steps leave 2Gζ; no √2",
			classicalNoise(p.Target) / math.Sqrt2},
		{Corrected, "corrected: with √2", classicalNoise(p.Target)},
		{train.Calibrated, "corrected, by the exact account", half},
	} {
		row := train.PriceRow{Noise: r.noise, Reading: r.reading, Sensitivity: 4 * unit,
			Deviation: 4 * unit * r.multiplier, Holds: true}
		// Lemma 5 leaves δ/2 for the noise.
		if row.Epsilon, err = accountant.GaussianEpsilon(min(r.multiplier*(1-train.Slack),
			accountant.MaxNoise), p.Target.Delta/2); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	certified := p.price.Used(p.noise, "certified: a deterministic solver, the whole of δ for the noise", b)
	if p.noise == train.Calibrated {
		certified.Deviation = b.Sensitivity * p.star
	}
	return append(rows, certified), nil
}

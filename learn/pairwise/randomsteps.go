package pairwise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// RandomSteps is the source's private localised minimisation, by its own random solver (Algorithm
// 5). It has the phases, objectives and projections of Minimised, and approaches each minimiser by
// T_k steps of Algorithm 1 on W ∩ Ball(w_{k-1}, Gζ_k·n_k), whose lagged-strong average is within
// G²ζ_k/n_k of the minimum with probability 1-δ/4,
//
//	T_k = ⌈294·n_k²·ln(8/δ)⌉,
//
// by Theorem 7(b) with its constants put right: gaps are at most (44(3G)²/α_k + 16B)ln(8/δ)/(T+1)
// for the loss with its regulariser, 3G-Lipschitz there and of a range B ≤ 6G²ζ_k·n_k. The source
// says only T_k ≍ n_k²·ln(1/δ), and about a thousandth was enough on every data set that was tried;
// a number of steps that was tried proves nothing.
//
// Privacy: by strong convexity that is within Gζ_k of the minimiser, which a record moves by at
// most cGζ_k/2. So where the steps succeed in both worlds, as they do but for δ/2, w̄_k moves by at
// most (c/2+2)Gζ_k. The same coins drive both worlds, so the outcome's law is a mixture over them,
// and the failures cost δ/2. Minimised spends neither: it has about half the noise, in less time.
// This method is for repeating the source. Cost: T_k gradients, seconds for 256 records.
type RandomSteps struct {
	Setting         // Ball is needed
	Scale   float64 // ζ; 0 is Minimised's, for this noise
	// Noise is Calibrated for "". Printed is the source's 4Gζ_k·√(ln(2.5/δ))/ε, which lacks a √2:
	// it is refused where it breaks the promise. Corrected has the √2.
	Noise train.Noise
}

// stepsOfPhase returns T_k.
func stepsOfPhase(records int, delta float64) float64 {
	n := float64(records)
	return math.Ceil(294 * n * n * math.Log(8/delta) * (1 + train.Slack))
}

// maxRandomSteps bounds the steps of a run: an hour or so.
const maxRandomSteps = 1 << 37

type randomSteps struct {
	planned
	zeta float64
}

// Plan prices the method for n records of dimension d.
func (c RandomSteps) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c RandomSteps) plan(n, d int) (*randomSteps, error) {
	t, err := c.private(n, d, false)
	if err != nil {
		return nil, err
	}
	if n < 4 || !(t.Ball > 0) {
		return nil, check.SettledBy(check.Want("random-steps", fmt.Sprintf("n = %d, ball = %g", n, t.Ball),
			"for at least 4 records and a ball above 0: models are projected to it"), "ball")
	}
	if steps := stepsOfPhase(n/2, t.Target.Delta); steps > maxRandomSteps {
		return nil, check.Wantf("number of records", n,
			"fewer: the first phase alone would take %.3g steps; \"minimised\" finds the same minimiser",
			steps)
	}
	p := &randomSteps{planned: planned{task: t}}
	p.price = train.Price{Method: "random-steps", Records: n, Dim: d, Relation: t.Neighbours}
	moves := t.occurrence/2 + 2 // in units of Gζ_k
	gamma := t.Target.Delta / 2
	event := func(m float64) (accountant.Event, error) {
		return failing(t.Neighbours, gamma, min(m*(1-train.Slack), accountant.MaxNoise))
	}
	multiplier, noise := 0.0, c.Noise
	switch c.Noise {
	case "", train.Calibrated:
		noise = train.Calibrated
		guess, err := train.NoiseFor(halved(t.Target))
		if err != nil {
			return nil, err
		}
		if multiplier, _, err = calibrate(t.Target, guess, event); err != nil {
			return nil, err
		}
		multiplier *= 1 + 4*train.Slack
	case Corrected:
		multiplier = 4 / moves * classicalNoise(t.Target)
	case train.Printed:
		multiplier = 4 / moves * classicalNoise(t.Target) / math.Sqrt2
	default:
		return nil, check.Want("noise", c.Noise, "calibrated, corrected or printed")
	}
	scale := moves * multiplier
	same := minimised{planned: planned{task: t}} // its ζ
	if p.zeta, err = same.chooseScale(c.Scale, scale); err != nil {
		return nil, err
	}
	least := math.Inf(1)
	if err := p.phases(p.zeta, func(_ int, b *train.Block) error {
		unit, records := t.norm*b.StepSize, b.To-b.From
		// A sum of T iterates of that length is rounded T times, in both worlds.
		rounding := 2 * 0x1p-51 * stepsOfPhase(records, t.Target.Delta) *
			(t.Ball + unit*float64(records))
		b.Sensitivity = (moves*unit + rounding) * (1 + train.Slack)
		b.Deviation = scale * unit * (1 + train.Slack)
		if noise == train.Calibrated {
			b.Deviation = b.Sensitivity * multiplier
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, b := range p.price.Blocks {
		least = min(least, b.Multiplier())
	}
	e, err := event(least)
	if err != nil {
		return nil, err
	}
	if err := p.price.Settle(e, accountant.MethodPLD, t.Target, noise == train.Calibrated); err != nil {
		return nil, check.SettledBy(err, "noise=calibrated")
	}
	first := p.price.Blocks[0]
	p.price.Notes = []string{fmt.Sprintf("zeta = %.6g, G = %.6g; %.0f random steps in the first phase, "+
		"which end near enough to the minimiser but for delta/4", p.zeta, t.norm,
		stepsOfPhase(first.To-first.From, t.Target.Delta))}
	// The rows of Minimised are of this method, but for its own in use.
	same.price.Blocks, same.noise, same.star = p.price.Blocks, noise, 1
	rows, err := same.compare()
	if err != nil {
		return nil, err
	}
	rows = append(rows[:len(rows)-1], p.price.Used(noise,
		"random steps, which fail with probability δ/4 in each world", first))
	p.rows = func() ([]train.PriceRow, error) { return slices.Clone(rows), nil }
	p.details = []any{p.zeta, "random steps"}
	p.start = func(own *data.Records, coins train.Coins) train.Run {
		at := newPhaseSteps(&p.task, own, coins)
		return newPhaseRun(&p.planned, coins.Normals(), func(ctx context.Context, k int, b train.Block,
			w, to []float64) error {
			copy(to, w)
			return at.run(ctx, k, b, p.norm, int(stepsOfPhase(b.To-b.From, p.Target.Delta)), to)
		})
	}
	return p, nil
}

// phaseSteps does the steps of a phase of Algorithms 4 and 5.
type phaseSteps struct {
	t      *task
	rows   samples
	coins  train.Coins
	rng    rand.ChaCha8
	at     *iterates
	centre []float64
}

func newPhaseSteps(t *task, rows samples, coins train.Coins) *phaseSteps {
	return &phaseSteps{t: t, rows: rows, coins: coins, at: newIterates(t, LaggedStrong),
		centre: make([]float64, t.d)}
}

// run replaces w, the centre, by the lagged-strong average of so many steps of Algorithm 1 on
// F_S(w) + ‖w-centre‖²/(ζ·n) for the block's records, ζ its step size, within W and the ball of
// radius Gζn around the centre.
func (e *phaseSteps) run(ctx context.Context, k int, b train.Block, norm float64, steps int,
	w []float64) error {
	n := b.To - b.From
	weight := b.StepSize * float64(n) // ζ_k·n_k
	copy(e.centre, w)
	e.at.from(w)
	e.at.lambda, e.at.centre = 1/weight, e.centre
	e.at.within = func(w []float64) { intersect(w, e.t.Ball, e.centre, norm*weight) }
	e.coins.Restart(&e.rng, streamIndex, k)
	draw := func() int { return b.From + int(stream.Below(&e.rng, uint64(n))) }
	before := draw()
	for t := 1; t <= steps; t++ {
		if t%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		now := draw()
		e.at.step(t, weight/float64(t+1), e.rows.Row(now), e.rows.Response(now), e.rows.Row(before),
			e.rows.Response(before))
		before = now
	}
	copy(w, e.at.model())
	return nil
}

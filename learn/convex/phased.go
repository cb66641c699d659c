package convex

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// PhasedSGD is phased stochastic gradient descent on the Moreau envelope of a convex
// generalised linear loss (Algorithm 4). Phase k of ⌊log₂ n⌋ visits the next ⌊n/2ᵏ⌋ records
// once each with steps of η/4ᵏ, takes the average of its iterates and adds normal noise to it:
//
//	u ← Π_W(u - η_k·env′(⟨u,x⟩, y)·x)
//	w_k = average of u + N(0, σ_k²I)
//
// The excess risk is of the order L0·R·D·(1/√n + √(d·ln(1/δ))/(nε)), smooth or not. Cost:
// n closed-form slopes, or n·log₂ n evaluations by bisection; memory for the records alone.
//
// Privacy: a step is non-expansive (η_k ≤ 2/(βR²)), so a record that differs moves the average
// of its phase by at most Δ_k = 2η_k(L0·R + αT_k), with α = 0 for Fast; other phases do not see
// it but through noised vectors.
type PhasedSGD struct {
	Setting
	// Ball is the radius of W, a ball around 0, and D its diameter; 0 is all of Rᵈ. It is
	// also applied to the model, which costs nothing.
	Ball float64
	// Rank bounds the rank of the features' span, for W = Rᵈ; 0 is min(n, d).
	Rank   int
	Noise  Noise      // "" is Calibrated
	Oracle OracleKind // "" is Fast where there is one
	// Interval is M, the predictions that the loss is for; the zero value is all numbers.
	Interval Interval
	// StepFactor multiplies η; 0 is 1. The source's η is for the worst data, and larger steps
	// often learn more. Noise grows with them, and what a model costs stays the same. They end
	// where steps would be expansive, at 24 for a step limited by √n.
	StepFactor float64
}

// phasedPlan is a priced PhasedSGD.
type phasedPlan struct {
	task
	c        PhasedSGD
	schedule phasedSchedule
	oracle   oracle
	star     float64 // noise per sensitivity that the target needs
	price    train.Price
}

// phasedSchedule are the parameters of PhasedSGD that follow from the setting.
type phasedSchedule struct {
	Rho      float64 // ρ = ε/(2√ln(1/δ))
	StepSize float64 // η
	Beta     float64 // Moreau parameter
	Alpha    float64 // accuracy asked of the oracle
	Phases   []train.Block
}

// Plan prices the method for n records of dimension d.
func (c PhasedSGD) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c PhasedSGD) plan(n, d int) (*phasedPlan, error) {
	if err := checkBall(c.Ball); err != nil {
		return nil, err
	}
	t, err := checkedOn(c.Interval, c.Setting, n, d, math.Inf(1)) // noised iterates leave the ball
	if err != nil {
		return nil, err
	}
	if err := t.replaced(); err != nil {
		return nil, err
	}
	if n < 2 {
		return nil, check.Want("number of records", n, "at least 2: the phases have n/2, n/4, … records")
	}
	if c.Rank < 0 || c.Rank > 0 && c.Ball > 0 {
		return nil, check.Want("rank", c.Rank, "0 for min(n, d), or above it without a ball")
	}
	if c.Noise, err = check.OneOf("noise", c.Noise, Calibrated, Printed); err == nil && c.Noise == Printed {
		err = t.theorem()
	}
	if err != nil {
		return nil, err
	}
	p := &phasedPlan{task: t, c: c}
	if err := p.makeSchedule(); err != nil {
		return nil, err
	}
	return p, p.account()
}

// makeSchedule sets the phases, with the noise of the plan.
func (p *phasedPlan) makeSchedule() (err error) {
	n, s := float64(p.n), &p.schedule
	s.Rho = p.Target.Epsilon / (2 * math.Sqrt(-math.Log(p.Target.Delta)))
	s.Alpha = p.norm / (n * math.Log2(n))
	if p.c.Ball > 0 {
		diameter := 2 * p.c.Ball
		s.StepSize = diameter / (3 * p.norm) * min(s.Rho/math.Sqrt(float64(p.d)), 1/math.Sqrt(n))
		s.Beta = math.Sqrt(n) * p.slope / (p.Radius * diameter)
	} else {
		rank := float64(p.c.rank(p.n, p.d))
		s.StepSize = 1 / (3 * p.norm) * min(s.Rho/math.Sqrt(rank), 1/math.Sqrt(n))
		s.Beta = math.Sqrt(n) * p.slope / p.Radius
	}
	if p.oracle, err = newOracle(p.link, p.c.Oracle, p.c.Interval, s.Beta, p.slope, p.Radius,
		s.Alpha); err != nil {
		return err
	}
	p.c.StepFactor = cmp.Or(p.c.StepFactor, 1)
	// The proof needs η/4, the largest step, to be at most 2/(βR²).
	if limit := 8 / (s.Beta * p.Radius * p.Radius) / s.StepSize * (1 - slack); !(p.c.StepFactor > 0 &&
		p.c.StepFactor <= limit) {
		return check.Want("step factor", p.c.StepFactor,
			fmt.Sprintf("in (0, %.6g], beyond which steps are expansive", limit))
	}
	s.StepSize *= p.c.StepFactor
	if p.star, err = train.NoiseFor(p.Target); err != nil {
		return err
	}
	size := math.Sqrt(n) // all steps together are no longer than √n/24
	if p.c.Ball > 0 {
		size = 2 * p.c.Ball
	}
	s.Phases, err = train.Phases(p.n, 1, s.StepSize, size, func(_ int, b *train.Block) error {
		b.Sensitivity = p.sensitivity(*b)
		b.Deviation = b.Sensitivity * p.star
		if p.c.Noise == Printed {
			b.Deviation = 4 * p.norm * b.StepSize / s.Rho
		}
		return nil
	})
	if err == nil && len(s.Phases) == 0 {
		err = check.Want("noise", 4*p.norm*s.StepSize,
			"within the precision of float64: a larger ball, or a smaller epsilon")
	}
	return err
}

// sensitivity returns Δ_k: a neighbour's step differs by the step size times one gradient or
// two, and each of the T_k steps may be off by α from a non-expansive one, in both worlds.
func (p *phasedPlan) sensitivity(b train.Block) float64 {
	steps := float64(b.To - b.From)
	return b.StepSize * (p.gradients()*p.norm + 2*p.oracle.alpha*steps) * (1 + slack)
}

// loosest is the widest reading of the source, whose text bounds each gradient by 3·L0·R.
func (p *phasedPlan) loosest(b train.Block) float64 { return 6 * p.norm * b.StepSize * (1 + slack) }

// account sets the price.
func (p *phasedPlan) account() (err error) {
	p.price = train.Price{Method: "phased-sgd", Records: p.n, Dim: p.d, Relation: p.Neighbours,
		Blocks: p.schedule.Phases}
	if p.Target.Epsilon > math.Sqrt(-math.Log(p.Target.Delta)) {
		p.price.Notes = append(p.price.Notes,
			"epsilon is above sqrt(ln(1/delta)): the account holds, the source's bound on the risk is not "+
				"stated there")
	}
	return p.price.SettleGaussian(p.Target, p.c.Noise == Calibrated)
}

// Compare prices the printed noise as the text has it and as it is, and the calibrated noise.
func (p *phasedPlan) Compare() ([]train.PriceRow, error) {
	first := p.schedule.Phases[0] // with the most steps, it costs most
	printed := 4 * p.norm * first.StepSize / p.schedule.Rho
	return compare(p.Target, []train.PriceRow{
		{Noise: Printed, Reading: "as the text bounds gradients (3·L0·R each)",
			Sensitivity: p.loosest(first), Deviation: printed},
		{Noise: Printed, Reading: "corrected", Sensitivity: first.Sensitivity, Deviation: printed,
			Holds: true, InUse: p.c.Noise == Printed},
		{Noise: Calibrated, Reading: "corrected", Sensitivity: first.Sensitivity,
			Deviation: first.Sensitivity * p.star, Holds: true, InUse: p.c.Noise == Calibrated},
	})
}

// Plan returns the plan for others.
func (p *phasedPlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train,
		Theory: p.bound}
}

// Train returns the method on these records.
func (p *phasedPlan) Train(r *data.Records) (train.Algorithm, error) {
	own, err := p.take(r, false)
	if err != nil {
		return train.Algorithm{}, err
	}
	a := p.algorithm(p.price, len(p.schedule.Phases), train.DigestOf(own.Digest(),
		"darrm convex phased-sgd v2\n%q %v %v %v %v\n%v %v %v\n", p.link.Name(), p.slope, p.Radius, p.c.Ball,
		p.c.Interval, p.schedule, p.oracle.steps, p.oracle.alpha))
	a.NoiseScale = p.schedule.Phases[len(p.schedule.Phases)-1].Deviation
	a.Start = func(coins train.Coins) train.Run { return newPhasedRun(p, own, coins.Normals()) }
	return a, nil
}

// phasedRun is one run of PhasedSGD. Its state is the last noised average.
type phasedRun struct {
	p     *phasedPlan
	rows  samples
	noise normals

	w         []float64 // w̃_k
	u, sum, z []float64
	out       []float64
}

// streamNoise is the stream of the noise, one for each round.
const streamNoise = "noise"

// checkEvery is after how many records the context is looked at.
const checkEvery = 1024

func newPhasedRun(p *phasedPlan, rows samples, noise normals) *phasedRun {
	v := func() []float64 { return make([]float64, p.d) }
	return &phasedRun{p: p, rows: rows, noise: noise, w: v(), u: v(), sum: v(), z: v(), out: v()}
}

// State returns w̃_k, which is all that passes from phase to phase: the proof needs that
// nothing else does.
func (e *phasedRun) State() []train.Vector { return []train.Vector{{Name: "w", Values: e.w}} }

// Output returns Π_W(w̃_k).
func (e *phasedRun) Output() []float64 {
	copy(e.out, e.w)
	if e.p.c.Ball > 0 {
		vec.Clip(e.out, e.p.c.Ball)
	}
	return e.out
}

// Round does phase k+1.
func (e *phasedRun) Round(ctx context.Context, k int) error {
	phase := e.p.schedule.Phases[k]
	copy(e.u, e.w)
	clear(e.sum)
	for i := phase.From; i < phase.To; i++ {
		if (i-phase.From)%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		x := e.rows.Row(i)
		slope := e.p.oracle.Slope(floats.Dot(e.u, x), e.rows.Response(i))
		if math.IsNaN(slope) { // a state out of range: the round ends with ErrDiverged
			e.w[0] = math.NaN()
			return nil
		}
		floats.AddScaled(e.u, -phase.StepSize*slope, x)
		if e.p.c.Ball > 0 {
			vec.Clip(e.u, e.p.c.Ball)
		}
		floats.Add(e.sum, e.u)
	}
	e.noise.Restart(streamNoise, k)
	e.noise.Fill(e.z)
	count := float64(phase.To - phase.From)
	for j := range e.w {
		e.w[j] = e.sum[j]/count + phase.Deviation*e.z[j]
	}
	return nil
}

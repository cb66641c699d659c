package convex

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// ProximallyGuided is the proximally guided private method (PGPSMD, Algorithm 2) for weakly convex
// losses that need not be smooth, in a ball of ‖·‖_p, 1 < p ≤ 2. Round r takes the next block of
// records S_r and goes from w_r to about the proximal point
//
//	w_{r+1} ≈ argmin_{w∈W} F(w) + (β/2)‖w - w_r‖_p², β = 2ρκ, κ = 1/(p-1),
//
// and the model is one of the iterates w_1, …, w_R, drawn uniformly: it is near a point that is
// nearly stationary. Records are measured in ℓq, 1/p + 1/q = 1. The inner solver is mirror descent
// on the whole block by noised subgradients and the mirror map h = ½‖· - w_r‖_p², T steps of
// 2/(μ(t+1)), with their weighted average 2Σt·v_t/(T(T+1)); the source only cites one (Theorem 29).
// As F + ρκh is convex, F + βh is μ-strongly convex relative to h, μ = β - ρκ. For p = 2 that is
// projected subgradient descent. The proximal term is not of the data and gets no noise.
//
// Privacy: each inner step is a Gaussian release of a mean gradient, which a record that differs
// moves by at most 2L0·R/m in ℓq, so by at most d^{1/p-1/2} times that in ℓ2; T of them compose
// exactly, blocks in parallel. Steps are functions of what was released, so no account rests on how
// exact they are. Cost: R·T·m = nT gradients.
type ProximallyGuided struct {
	Setting
	Ball float64 // radius of W, a ball around 0; required
	Norm float64 // its p, in [1.1, 2], from 1 + 1/ln d where that is less; 0 is 2
	// WeakConvexity is ρ, in ‖·‖_p; 0 is the loss's own for features within Radius.
	WeakConvexity float64
	Rounds        int // R; 0 is the schedule's
	Steps         int // T; 0 is the records of a block
	// Start is w_1 in W; nil draws a direction uniformly, and takes half the ball's radius.
	// 0 is a bad start: for phase retrieval it is stationary.
	Start []float64
}

// proximalSchedule are the parameters of PGPSMD in ℓp that follow from the setting.
type proximalSchedule struct {
	Kappa, KappaTilde float64 // κ = 1/(p-1) and κ̃ = 1 + ln d·1{p<2}; both 1 for p = 2
	Beta              float64 // β = 2ρκ
	ByData, ByNoise   float64 // the two terms whose minimum R is
	Rounds, Block     int     // R and ⌊n/R⌋
	// Rate is the expression in Theorem 16's O(·) for the distance to a nearly stationary
	// point, with the exponents corrected.
	Rate float64
}

// newProximalSchedule returns the schedule for p in (1, 2], n records of dimension d, ρ, the
// Lipschitz constant L0 of f and the diameter D. Below p = 1 + 1/ln d the source takes that for p,
// so that κ is at most ln d. For the same, state a ball with that p.
func newProximalSchedule(p float64, n, d int, epsilon, delta, rho, lipschitz,
	diameter float64) (proximalSchedule, error) {
	var s proximalSchedule
	for _, v := range []struct {
		name  string
		value float64
	}{{"epsilon", epsilon}, {"weak convexity rho", rho}, {"Lipschitz constant", lipschitz},
		{"diameter", diameter}} {
		if err := check.Positive(v.name, v.value); err != nil {
			return s, err
		}
	}
	if err := cmp.Or(check.Within("delta", delta), check.Whole("number of records", n, 1, 0),
		check.Whole("dimension", d, 1, 0)); err != nil {
		return s, err
	}
	least := 1.1
	if d > 1 {
		least = min(least, 1+1/math.Log(float64(d)))
	}
	if !(p >= least && p <= 2) {
		return s, check.Wantf("norm p of the set", p,
			"between %.4g and 2 for this method: 1/(p-1) is a factor of its steps and noise", least)
	}
	dim, count, logs := float64(d), float64(n), -math.Log(delta)
	s.Kappa, s.KappaTilde = 1, 1
	if p < 2 {
		s.Kappa, s.KappaTilde = 1/(p-1), 1+math.Log(dim)
	}
	s.Beta = 2 * rho * s.Kappa
	s.ByData = math.Sqrt(count * diameter * rho / (s.Kappa * lipschitz))
	noise := count * epsilon * (count * epsilon) * rho
	s.ByNoise = math.Cbrt(diameter * noise / (s.KappaTilde * s.Kappa * s.Kappa * lipschitz * dim *
		logs))
	// 200 for 199.999…: L0 is rounded up
	s.Rounds = int(max(1, min(s.ByData, s.ByNoise, count)*(1+1e-9)))
	s.Rounds = min(s.Rounds, n)
	s.Block = n / s.Rounds
	s.Rate = max(1, 2*rho*diameter*s.Kappa) / math.Sqrt(rho) *
		(math.Pow(lipschitz, 0.75)*math.Pow(diameter*s.Kappa/(count*rho), 0.25) +
			math.Pow(s.KappaTilde*s.Kappa*s.Kappa, 1.0/6)*math.Cbrt(lipschitz*lipschitz*diameter)*
				math.Pow(dim*logs/noise, 1.0/6))
	return s, nil
}

// proximalPlan is a priced ProximallyGuided.
type proximalPlan struct {
	task
	c        ProximallyGuided
	schedule proximalSchedule
	star     float64
	mu       float64 // of strong convexity relative to h
	price    train.Price
}

// Plan prices the method for n records of dimension d.
func (c ProximallyGuided) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c ProximallyGuided) plan(n, d int) (*proximalPlan, error) {
	if err := train.CheckScale("ball", c.Ball); err != nil {
		return nil, err
	}
	t, err := checked(c.Setting, n, d, c.Ball)
	if err != nil {
		return nil, err
	}
	if err := t.replaced(); err != nil {
		return nil, err
	}
	p := &proximalPlan{task: t, c: c}
	p.c.WeakConvexity = cmp.Or(p.c.WeakConvexity, t.link.WeakConvexity()*t.Radius*t.Radius)
	if err := check.Positive("weak convexity rho", p.c.WeakConvexity); err != nil {
		return nil, fmt.Errorf("%w: for a convex loss state one, or take phased-sgd", err)
	}
	p.c.Norm = cmp.Or(p.c.Norm, 2)
	if p.schedule, err = newProximalSchedule(p.c.Norm, n, d, t.Target.Epsilon, t.Target.Delta,
		p.c.WeakConvexity, t.norm, 2*c.Ball); err != nil {
		return nil, err
	}
	if c.Rounds != 0 {
		if err := check.Whole("rounds", c.Rounds, 1, n); err != nil {
			return nil, err
		}
		p.schedule.Rounds, p.schedule.Block = c.Rounds, n/c.Rounds
	}
	p.c.Steps = cmp.Or(p.c.Steps, p.schedule.Block)
	if err := check.Whole("steps", p.c.Steps, 1, math.MaxInt32); err != nil {
		return nil, err
	}
	if c.Start != nil {
		if len(c.Start) != d || !(geometry.Norm(c.Start, p.c.Norm) <= c.Ball*(1+1e-9)) {
			return nil, check.Wantf("start", c.Start, "%d numbers within the ball of radius %v", d, c.Ball)
		}
		p.c.Start = slices.Clone(c.Start)
	}
	p.mu = p.schedule.Beta - p.c.WeakConvexity*p.schedule.Kappa
	return p, p.account()
}

// account sets the blocks and the price.
func (p *proximalPlan) account() (err error) {
	if p.star, err = train.NoiseFor(p.Target); err != nil {
		return err
	}
	p.price = train.Price{Method: "proximally-guided", Records: p.n, Dim: p.d, Relation: p.Neighbours}
	m := p.schedule.Block
	// By which an ℓ2 norm can be above the ℓq norm.
	widening := math.Pow(float64(p.d), 1/p.c.Norm-0.5) * (1 + slack)
	for r := range p.schedule.Rounds {
		b := train.Block{Name: fmt.Sprintf("round %d", r+1), From: r * m, To: (r + 1) * m,
			Releases: p.c.Steps, StepSize: 2 / p.mu}
		b.Sensitivity = p.gradients() * widening * p.norm / float64(m) * (1 + slack)
		b.Deviation = b.Sensitivity * math.Sqrt(float64(p.c.Steps)) * p.star
		p.price.Blocks = append(p.price.Blocks, b)
	}
	return p.price.SettleGaussian(p.Target, true)
}

// Plan returns the plan for others.
func (p *proximalPlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train,
		Theory: p.bound}
}

// Compare prices the noise in use. The source prints none: it cites its inner solver.
func (p *proximalPlan) Compare() ([]train.PriceRow, error) {
	b := p.price.Blocks[0]
	return compare(p.Target, []train.PriceRow{{
		Noise: Calibrated, Reading: fmt.Sprintf("corrected, %d releases a block", b.Releases),
		InUse: true, Holds: true,
		// As one release of all steps.
		Sensitivity: b.Sensitivity * math.Sqrt(float64(b.Releases)), Deviation: b.Deviation,
	}})
}

// Train returns the method on these records.
func (p *proximalPlan) Train(r *data.Records) (train.Algorithm, error) {
	own, err := p.takeIn(r, geometry.Dual(p.c.Norm))
	if err != nil {
		return train.Algorithm{}, err
	}
	first := p.price.Blocks[0]
	a := p.algorithm(p.price, p.schedule.Rounds, train.DigestOf(own.Digest(),
		"darrm convex proximally-guided v1\n%q %v %v %v %v\n%v %v %v %v\n%v\n", p.link.Name(), p.slope,
		p.Radius, p.c.Norm, p.c.Ball, p.schedule, p.mu, p.c.Steps, first, p.c.Start))
	// The least that one step's noise leaves: the last steps are 2/(μT), of weight 2/T.
	t := float64(p.c.Steps)
	a.NoiseScale = first.Deviation * first.StepSize / (t + 1) * 2 / (t + 1)
	a.Start = func(coins train.Coins) train.Run { return newProximalRun(p, own, coins) }
	return a, nil
}

package convex

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// DPSGD is noised stochastic gradient descent on Poisson samples (Abadi et al., Deep Learning
// with Differential Privacy, 2016), the usual baseline: each step takes every record with
// probability q, independently, adds their gradients of norm at most L0·R and normal noise of
// σ·L0·R, divides by the expected number nq, and projects to W.
//
// It is for AddOrRemoveOne only, the relation that its accountant knows. The number of records
// is then private: n is a public figure near it, not that number itself, since steps and rates
// follow from it and the Price shows it. Train takes any number. Cost: n coins a step, and
// nq gradients.
type DPSGD struct {
	Setting
	Ball     float64 // radius of W, a ball around 0; 0 is all of Rᵈ
	Rate     float64 // q; 0 is 256/n, at most 1
	Steps    int     // 0 is ten passes, 10/q
	StepSize float64 // η; 0 is what the theory has for a convex loss on Ball
	Lambda   float64 // λ of the regulariser (λ/2)‖w‖²
	// Average makes the model the average of the iterates, the t-th with weight t, in place
	// of the last.
	Average bool
}

// sampledPlan is a priced DPSGD.
type sampledPlan struct {
	task
	c     DPSGD
	noise float64 // σ
	price train.Price
}

// Plan prices the method for about n records of dimension d. It takes seconds: the noise is
// calibrated by privacy loss distributions.
func (c DPSGD) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c DPSGD) plan(n, d int) (*sampledPlan, error) {
	if err := checkBall(c.Ball, false); err != nil {
		return nil, err
	}
	model := math.Inf(1)
	if c.Ball > 0 {
		model = c.Ball
	}
	t, err := checked(c.Setting, n, d, model)
	if err != nil {
		return nil, err
	}
	if t.Neighbours == 0 {
		t.Neighbours = accountant.AddOrRemoveOne
	}
	if t.Neighbours != accountant.AddOrRemoveOne {
		return nil, &check.Error{Name: "neighbours", Value: t.Neighbours,
			Rule: "add or remove one record for dp-sgd: its accountant knows Poisson samples under no other"}
	}
	if c.Rate == 0 {
		c.Rate = min(1, 256/float64(n))
	}
	if !(c.Rate > 0 && c.Rate <= 1) {
		return nil, &check.Error{Name: "sampling rate", Value: c.Rate,
			Rule: "in (0,1], or 0 for 256 records"}
	}
	if c.Steps == 0 {
		c.Steps = int(math.Ceil(10 / c.Rate))
	}
	if err := check.Whole("steps", c.Steps, 1, math.MaxInt32); err != nil {
		return nil, err
	}
	if !(c.Lambda >= 0 && c.Lambda <= data.MaxMagnitude) {
		return nil, &check.Error{Name: "lambda", Value: c.Lambda, Rule: "finite and ≥ 0"}
	}
	if !(c.StepSize > 0 && c.StepSize <= data.MaxMagnitude) && !(c.StepSize == 0 && c.Ball > 0) {
		return nil, &check.Error{Name: "step size", Value: c.StepSize,
			Rule: fmt.Sprintf("in (0, %g], or 0 beside a ball", data.MaxMagnitude)}
	}
	p := &sampledPlan{task: t, c: c}
	if err := p.calibrate(); err != nil {
		return nil, err
	}
	if c.StepSize == 0 {
		noise := p.noise * t.norm / (float64(n) * c.Rate)
		p.c.StepSize = c.Ball / math.Sqrt(float64(c.Steps)*(t.norm*t.norm+float64(d)*noise*noise))
	}
	p.price.Blocks = []train.Block{{
		Name: "sampled steps", To: n, Releases: c.Steps, StepSize: p.c.StepSize,
		Sensitivity: t.norm, Deviation: p.noise * t.norm,
	}}
	p.price.Notes = []string{
		fmt.Sprintf("each step samples every record with probability %.6g; noise multiplier %.6g", c.Rate,
			p.noise),
		"for records that are added or removed: to replace one is two such steps, and costs " +
			"(2·epsilon, (1+e^epsilon)·delta)",
	}
	return p, nil
}

// event is the run with noise σ.
func (p *sampledPlan) event(sigma float64) (accountant.Event, error) {
	return accountant.Compose(accountant.Charge{
		Event: accountant.SubsampledGaussian{NoiseMultiplier: sigma, SamplingRate: p.c.Rate,
			Neighbours: p.Neighbours}, Count: p.c.Steps,
	})
}

func (p *sampledPlan) epsilon(sigma float64, method accountant.Method) (accountant.Bound, error) {
	e, err := p.event(sigma)
	if err != nil {
		return accountant.Bound{}, err
	}
	return train.LeastEpsilon(e, p.Neighbours, p.Target.Delta, method)
}

// calibrate sets σ: first by Rényi divergences, which take milliseconds, and from there by
// privacy loss distributions, which are tighter.
func (p *sampledPlan) calibrate() error {
	find := func(start float64, method accountant.Method) (float64, error) {
		s := train.Search{Start: start, Least: start * 1e-6, Most: max(start, accountant.MaxNoise),
			Tolerance: 5e-3}
		sigma, _, err := train.Calibrate(context.Background(), p.Target.Epsilon, s,
			func(sigma float64) (float64, error) {
				b, err := p.epsilon(sigma, method)
				return b.Cost.Epsilon, err
			})
		return sigma, err
	}
	high, err := find(1, accountant.MethodRDP)
	if err != nil {
		return fmt.Errorf("dp-sgd: no noise up to %g meets epsilon = %g at delta = %g (%w)",
			float64(accountant.MaxNoise), p.Target.Epsilon, p.Target.Delta, err)
	}
	method := accountant.MethodRDP
	// else too many steps for it
	if tighter, err := find(high*0.95, accountant.MethodPLD); err == nil && tighter < high {
		high, method = tighter, accountant.MethodPLD
	}
	best, err := p.epsilon(high, method)
	if err != nil {
		return err
	}
	p.noise = high
	if p.price.Event, err = p.event(high); err != nil {
		return err
	}
	p.price.Method, p.price.Records, p.price.Dim, p.price.Relation = "dp-sgd", p.n, p.d, p.Neighbours
	p.price.Cost, p.price.Bound = best.Cost, best.Method
	return p.price.Within(p.Target)
}

// Plan returns the plan for others.
func (p *sampledPlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train}
}

// Compare prices the noise in use by two rules.
func (p *sampledPlan) Compare() ([]train.PriceRow, error) {
	b := p.price.Blocks[0]
	row := train.PriceRow{Noise: Calibrated, Sensitivity: b.Sensitivity, Deviation: b.Deviation,
		Holds: true}
	moments, err := p.epsilon(p.noise, accountant.MethodRDP)
	if err != nil {
		return nil, err
	}
	rdp, used := row, row
	rdp.Reading, rdp.Epsilon = "by Rényi differential privacy", moments.Cost.Epsilon
	used.Reading, used.Epsilon, used.InUse = "by "+string(p.price.Bound), p.price.Cost.Epsilon, true
	return []train.PriceRow{rdp, used}, nil
}

// Train returns the method on these records, of any number.
func (p *sampledPlan) Train(r *data.Records) (train.Algorithm, error) {
	own, err := p.take(r, true)
	if err != nil {
		return train.Algorithm{}, err
	}
	b := p.price.Blocks[0]
	a := p.algorithm(p.price, p.c.Steps, train.DigestOf(own.Digest(),
		"darrm convex dp-sgd v1\n%q %v %v %v\n%v %v %v %v %v %v %v\n", p.link.Name(), p.slope, p.Radius,
		p.c.Ball, p.n, p.c.Rate, p.c.Steps, p.c.StepSize, p.c.Lambda, p.c.Average, p.noise))
	a.NoiseScale = b.StepSize * b.Deviation / (float64(p.n) * p.c.Rate)
	if p.c.Average {
		a.NoiseScale /= float64(p.c.Steps)
	}
	a.Start = func(coins train.Coins) train.Run {
		v := func() []float64 { return make([]float64, p.d) }
		return &sampledRun{p: p, rows: own, count: own.Len(), noise: coins.Normals(), coins: coins,
			w: v(), mean: v(), g: v(), z: v()}
	}
	return a, nil
}

// sampledRun is one run of DPSGD.
type sampledRun struct {
	p     *sampledPlan
	rows  samples
	count int
	noise normals
	coins train.Coins
	rng   rand.ChaCha8

	w, mean, g, z []float64
}

const streamSample = "sample"

// State returns the iterate and the average of those so far.
func (e *sampledRun) State() []train.Vector {
	return []train.Vector{{Name: "w", Values: e.w}, {Name: "mean", Values: e.mean}}
}

// Output returns the iterate, or the average.
func (e *sampledRun) Output() []float64 {
	if e.p.c.Average {
		return e.mean
	}
	return e.w
}

// Round does step k+1.
func (e *sampledRun) Round(ctx context.Context, k int) error {
	c, b := e.p.c, e.p.price.Blocks[0]
	clear(e.g)
	e.coins.Restart(&e.rng, streamSample, k)
	// Rounded down: a record comes in no more often than the account has it.
	threshold := uint64(math.MaxUint64)
	if c.Rate < 1 {
		threshold = uint64(c.Rate * 0x1p64)
	}
	for i := range e.count {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if u := e.rng.Uint64(); u >= threshold && c.Rate < 1 {
			continue
		}
		x := e.rows.Row(i)
		s := e.p.link.Slope(floats.Dot(e.w, x), e.rows.Response(i))
		if math.IsNaN(s) {
			s = 0 // within the bound
		}
		floats.AddScaled(e.g, max(-e.p.slope, min(e.p.slope, s)), x)
	}
	e.noise.Restart(streamNoise, k)
	e.noise.Fill(e.z)
	expected := float64(e.p.n) * c.Rate
	for j := range e.w {
		e.w[j] -= b.StepSize * ((e.g[j]+b.Deviation*e.z[j])/expected + c.Lambda*e.w[j])
	}
	if c.Ball > 0 {
		vec.Clip(e.w, c.Ball)
	}
	weight := 2 / float64(k+2) // of w after k+1 steps, where the t-th has weight t
	for j := range e.mean {
		e.mean[j] += weight * (e.w[j] - e.mean[j])
	}
	return nil
}

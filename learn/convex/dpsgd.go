package convex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// DPSGD is noised gradient descent. At a rate q below 1 it is stochastic, on Poisson samples (Abadi et al.,
// Deep Learning with Differential Privacy, 2016): each step takes every record with probability q,
// independently, adds their gradients of norm at most C and normal noise of deviation σ, divides by the
// expected number nq, and projects to W. At q = 1 each step takes all records, and the steps together are
// one release of normal noise with μ = √T·Δ/σ, priced exactly.
//
// The loss is a generalised linear one, or loss.Softmax: then a record's gradient is that of all classes
// together, bounded in Frobenius norm, and ε is for the model of all classes.
//
// Below rate 1 it is for AddOrRemoveOne only, the relation that its accountant knows; at rate 1 for
// ReplaceOne (Δ = 2C) and BlankOne (Δ = C) too. Under AddOrRemoveOne (Δ = C) the number of records
// is private: n is a public figure near it, not that number itself, since steps, rates and divisors
// follow from it and the Price shows it. Train takes any number then. Cost: n coins a step below rate 1, and
// 4·K·d operations for each of nq gradients.
//
// With WeightBound a record has a weight, of data.Records.Weighted. Its gradient is that of the weight times the
// loss, and is shortened to C after weighting, so that C alone counts: a record moves the sum by C at most, or by 2C
// where it is replaced, whatever its weight and that of the other are. The sum is divided by n, never by the
// sum of the weights, which is private.
//
// Gradients above C could be set to 0 in place of being shortened. That costs the same, since what is
// left has norm up to C in any direction, and it learns less.
type DPSGD struct {
	Setting
	Ball     float64 // radius of W, a ball around 0; 0 is all of Rᵈ
	Rate     float64 // q; 0 is 256/n, at most 1, and 1 where a record is replaced
	Steps    int     // T; 0 is ten passes, 10/q, and at rate 1 the rule of schedule
	StepSize float64 // η; 0 is what the theory has for a convex loss on Ball, and at rate 1 the rule of schedule
	// GradientNorm is C, to which longer gradients are shortened; 0 is what slopes and Radius allow, and
	// at rate 1 the rule of schedule.
	GradientNorm float64
	Lambda       float64 // λ of the regulariser (λ/2)‖w‖²
	// WeightBound is W, a public bound to which larger weights are cut; the bounds on gradients and curvature are
	// W times those of a weight of 1. 0 refuses records with weights.
	WeightBound float64
	// Average makes the model the average of the last half of the iterates in place of the last. At
	// rate 1 it always is.
	Average bool
}

// sampledPlan is a priced DPSGD.
type sampledPlan struct {
	task
	c     DPSGD
	noise float64 // σ/Δ of a step
	limit float64 // C
	most  float64 // W, 1 without weights
	price train.Price
}

// Plan prices the method for about n records of dimension d. Below rate 1 it takes seconds: the noise is
// calibrated by privacy loss distributions.
func (c DPSGD) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c DPSGD) plan(n, d int) (*sampledPlan, error) {
	if err := checkBall(c.Ball); err != nil {
		return nil, err
	}
	model := math.Inf(1)
	if c.Ball > 0 {
		model = c.Ball
	}
	t, err := checkedScores(c.Setting, n, d, model)
	if err != nil {
		return nil, err
	}
	if c.Rate == 0 {
		c.Rate = min(1, 256/float64(n))
		if t.Neighbours == accountant.ReplaceOne || t.Neighbours == accountant.BlankOne {
			c.Rate = 1
		}
	}
	if !(c.Rate > 0 && c.Rate <= 1) {
		return nil, check.Want("sampling rate", c.Rate, "in (0,1], or 0 for 256 records")
	}
	t.Neighbours = cmp.Or(t.Neighbours, accountant.AddOrRemoveOne)
	if c.Rate < 1 && t.Neighbours != accountant.AddOrRemoveOne {
		return nil, check.Want("neighbours", t.Neighbours, "add or remove one record for dp-sgd below rate 1: its accountant knows Poisson samples "+
			"under no other")
	}
	if err := cmp.Or(train.CheckScaleOr0("gradient norm", c.GradientNorm, "0"), train.CheckLambda(c.Lambda)); err != nil {
		return nil, err
	}
	if c.WeightBound != 0 {
		if err := train.CheckScale("weight bound", c.WeightBound,
			": a public bound on the weight of a record; larger ones are cut to it"); err != nil {
			return nil, err
		}
	}
	stated := c.StepSize
	if stated == 0 && (c.Ball > 0 || c.Rate == 1) {
		stated = 1 // the default
	}
	if !(stated > 0 && stated <= data.MaxMagnitude) {
		return nil, check.Want("step size", c.StepSize,
			fmt.Sprintf("in (0, %g], or 0 beside a ball or at rate 1", data.MaxMagnitude))
	}
	if err := check.Whole("steps", c.Steps, 0, math.MaxInt32); err != nil {
		return nil, err
	}
	p := &sampledPlan{task: t, c: c, most: 1}
	if c.WeightBound > 0 {
		p.most = c.WeightBound
		p.norm *= p.most * (1 + 0x1p-50)
	}
	p.limit = p.norm
	if c.Rate == 1 {
		return p, p.fullBatch()
	}
	if c.Steps == 0 {
		p.c.Steps = int(math.Ceil(10 / c.Rate))
	}
	if c.GradientNorm > 0 {
		p.limit = min(p.limit, c.GradientNorm)
	}
	if err := p.calibrate(); err != nil {
		return nil, err
	}
	if c.StepSize == 0 {
		noise := p.noise * p.limit / (float64(n) * c.Rate)
		p.c.StepSize = c.Ball / math.Sqrt(float64(p.c.Steps)*(p.limit*p.limit+
			float64(p.size())*noise*noise))
	}
	p.price.Blocks = []train.Block{{
		Name: "sampled steps", To: n, Releases: p.c.Steps, StepSize: p.c.StepSize,
		Sensitivity: p.limit, Deviation: p.noise * p.limit,
	}}
	p.price.Notes = []string{
		fmt.Sprintf("each step samples every record with probability %.6g; noise multiplier %.6g", c.Rate,
			p.noise),
		"for records that are added or removed: to replace one is two such steps, and costs " +
			"(2·epsilon, (1+e^epsilon)·delta)",
	}
	return p, nil
}

// size returns how many numbers a model has.
func (p *sampledPlan) size() int { return p.classes * p.d }

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
	p.price.Method, p.price.Records, p.price.Dim, p.price.Relation = "dp-sgd", p.n, p.size(),
		p.Neighbours
	p.price.Cost, p.price.Bound = best.Cost, best.Method
	return p.price.Within(p.Target)
}

// Plan returns the plan for others.
func (p *sampledPlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train}
}

// Compare prices the noise in use by two rules; at rate 1 the exact one is all.
func (p *sampledPlan) Compare() ([]train.PriceRow, error) {
	b := p.price.Blocks[0]
	used := p.price.Used(Calibrated, "by "+string(p.price.Bound), b)
	if p.c.Rate == 1 {
		return []train.PriceRow{used}, nil
	}
	moments, err := p.epsilon(p.noise, accountant.MethodRDP)
	if err != nil {
		return nil, err
	}
	row := used
	row.Reading, row.Epsilon, row.InUse = "by Rényi differential privacy", moments.Cost.Epsilon, false
	return []train.PriceRow{row, used}, nil
}

// Train returns the method on these records, of any number where that is private.
func (p *sampledPlan) Train(r *data.Records) (train.Algorithm, error) {
	var weights []float64
	if p.c.WeightBound > 0 && r != nil {
		weights, r = r.Weights(), r.Unweighted()
	}
	own, err := p.take(r, p.Neighbours == accountant.AddOrRemoveOne)
	if err != nil {
		return train.Algorithm{}, err
	}
	b := p.price.Blocks[0]
	a := p.algorithm(p.price, p.c.Steps, train.DigestOf(own.Digest(),
		"darrm convex dp-sgd v3\n%q %v %v %v\n%v %v %v %v %v %v %v\n%v %v %v\n%s", p.name(), p.slope, p.Radius,
		p.c.Ball, p.n, p.c.Rate, p.c.Steps, p.c.StepSize, p.c.Lambda, p.c.Average, p.noise, p.limit,
		p.Neighbours, b.Deviation, weightsText(p.c.WeightBound, weights)))
	a.NoiseScale = b.StepSize * b.Deviation / (float64(p.n) * p.c.Rate)
	if p.c.Average {
		a.NoiseScale /= float64(p.c.Steps)
	}
	// Records are rounded once, and not before a run has a step to do: a checkpoint's size and a price need none.
	sums := sync.OnceValue(func() *gradients {
		g := newGradients(&p.task, p.limit, own, own.Len())
		if weights != nil {
			g.weigh(weights, p.most)
		}
		return g
	})
	a.Start = func(coins train.Coins) train.Run {
		v := func() []float64 { return make([]float64, p.size()) }
		return &sampledRun{p: p, shared: sums,
			noise: coins.Normals(), coins: coins, w: v(), mean: v(), g: v(), z: v()}
	}
	return a, nil
}

// weightsText is the part of a digest on weights: empty without weights, else the bound and a hash.
func weightsText(bound float64, weights []float64) string {
	if bound == 0 {
		return ""
	}
	b, _ := binary.Append(nil, binary.LittleEndian, weights) // numbers of one size always fit
	return fmt.Sprintf("weights %v %x\n", bound, sha256.Sum256(b))
}

// name returns that of the loss that is minimised.
func (p *sampledPlan) name() string {
	if p.link != nil {
		return p.link.Name()
	}
	return p.Loss.Name()
}

// sampledRun is one run of DPSGD.
type sampledRun struct {
	p      *sampledPlan
	shared func() *gradients // of all runs
	sums   *gradients        // of this one, from its first step on
	noise  normals
	coins  train.Coins
	rng    rand.ChaCha8
	list   []int32 // records of a sample

	w, mean, g, z []float64
}

const streamSample = "sample"

// State returns the iterate and the average of those that count in it.
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

// sample returns the records of step k+1, nil for all.
func (e *sampledRun) sample(k int) []int32 {
	if e.p.c.Rate == 1 {
		return nil
	}
	e.coins.Restart(&e.rng, streamSample, k)
	// Rounded down: a record comes in no more often than the account has it.
	threshold := uint64(e.p.c.Rate * 0x1p64)
	e.list = slices.Grow(e.list[:0], 1)
	for i := range e.sums.count {
		if e.rng.Uint64() < threshold {
			e.list = append(e.list, int32(i))
		}
	}
	return e.list
}

// Round does step k+1.
func (e *sampledRun) Round(ctx context.Context, k int) error {
	c, b := e.p.c, e.p.price.Blocks[0]
	if e.sums == nil {
		e.sums = e.shared().own()
	}
	if err := e.sums.sum(ctx, e.g, e.w, e.sample(k)); err != nil {
		return err
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
	if first := c.Steps / 2; k >= first { // the last half
		weight := 1 / float64(k-first+1)
		for j := range e.mean {
			e.mean[j] += weight * (e.w[j] - e.mean[j])
		}
	}
	return nil
}

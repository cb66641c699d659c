package convex

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// Corrected is the source's noise where that was shown to be enough, with what its proof
// missed put right: for NSFW the step before moved by D·η_{t-1}, not D·η_t.
const Corrected Noise = "corrected"

// NSFW is the noisy stochastic Frank-Wolfe method in ℓp, 1 < p ≤ 2 (Algorithm 6 of the source):
// variance-reduced estimates of the gradient with normal noise, each step towards the point of
// the set where the noised estimate is least. The loss is smooth, and need not be convex.
// Records are measured in ℓq, 1/p + 1/q = 1.
type NSFW struct {
	Setting
	Set     geometry.Set // of a norm in (1,2]
	Batches Batches
	// Noise is Calibrated ("" too): what the noised sum of a step needs, by its real batch size;
	// Corrected, which is refused where batches that do not divide evenly need more; or
	// Printed, refused where its promise breaks.
	Noise Noise
}

type nsfwPlan struct {
	smooth
	c       NSFW
	p       float64
	batches []batch
	blocks  []train.Block // a step each
	price   train.Price
	quiet   bool // no noise: for tests
}

// Plan prices the method for n records of dimension d.
func (c NSFW) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c NSFW) plan(n, d int) (*nsfwPlan, error) {
	s, err := smoothTask(c.Setting, c.Set, n, d)
	if err != nil {
		return nil, err
	}
	p := &nsfwPlan{smooth: s, c: c, p: c.Set.Norm()}
	if !(p.p > 1 && p.p <= 2) {
		return nil, check.Want("norm p of the set", p.p, "in (1, 2]; for polytopes in ℓ1 take poly-sfw")
	}
	if p.c.Noise, err = check.OneOf("noise", c.Noise, Calibrated, Corrected, Printed); err != nil {
		return nil, err
	}
	if p.batches, err = p.c.Batches.schedule(n, p.theory()); err != nil {
		return nil, err
	}
	if p.blocks, err = p.noised(p.c.Noise); err != nil {
		return nil, err
	}
	p.price = train.Price{Method: "nsfw", Records: p.n, Dim: p.d, Relation: p.Neighbours,
		Blocks: p.blocks}
	p.price.Notes = append(p.price.Notes,
		fmt.Sprintf("%d rounds, %d steps, batches of %d records and less, %d of %d records are read",
			p.c.Batches.Rounds, len(p.batches), p.c.Batches.Size, p.batches[len(p.batches)-1].to, p.n),
		"each record is in one batch, whose noised estimate is all that shows it")
	if err := p.price.SettleGaussian(p.Target, p.c.Noise == Calibrated); err != nil {
		if p.c.Noise != Calibrated {
			err = check.SettledBy(fmt.Errorf("%w: take calibrated noise", err), "noise=calibrated")
		}
		return nil, err
	}
	return p, nil
}

// regularity returns the source's κ of the dual norm and κ̃.
func (p *nsfwPlan) regularity() (kappa, tilde float64) {
	if p.p == 2 {
		return 1, 1
	}
	log := math.Log(float64(p.d))
	return max(1, min(1/(p.p-1), 2*log)), 1 + log
}

// theory returns the source's number of rounds, (4/5)·log₂(nε/(√(dκ̃·ln(1/δ))·κ^{5/3}·ln²n)), in
// low dimensions that of the dimension where its two cases meet.
func (p *nsfwPlan) theory() float64 {
	n, eps, l := float64(p.n), p.Target.Epsilon, -math.Log(p.Target.Delta)
	kappa, tilde := p.regularity()
	log := math.Log(n)
	wide := max(float64(p.d)*tilde, math.Cbrt(n)*eps*eps/(l*math.Pow(log, 2.0/3)))
	return 4.0 / 5 * math.Log2(n*eps/(math.Sqrt(wide*l)*math.Pow(kappa, 5.0/3)*log*log))
}

// widening returns d^{1/p-1/2}, the largest ratio of an ℓ2 norm to the ℓq norm.
func (p *nsfwPlan) widening() float64 {
	return math.Pow(float64(p.d), 1/p.p-0.5) * (1 + slack)
}

// statistics returns the ℓ2 sensitivities of the batch's mean gradient and of its mean change,
// by the batch's real size.
func (p *nsfwPlan) statistics(b batch) (gradient, change float64) {
	each := p.gradients() * p.widening() / b.records() * (1 + slack)
	if b.step == 0 {
		return each * p.norm, 0
	}
	return each * p.norm, each * p.change * stepSize(b.step-1)
}

// deviations returns the source's noise on the two statistics, σ and σ̂, which take b/(t+1) for
// the batch's size.
func (p *nsfwPlan) deviations(b batch, noise Noise) (gradient, change float64) {
	unit := 4 * float64(b.step+1) * p.widening() * math.Sqrt(-math.Log(p.Target.Delta)) /
		(float64(p.c.Batches.Size) * p.Target.Epsilon)
	if b.step == 0 {
		return unit * p.norm, 0
	}
	moved := stepSize(b.step - 1)
	if noise == Printed {
		moved = stepSize(b.step)
	}
	return unit * p.norm, unit * p.change * moved
}

// noised returns the steps with the noise on the estimate. Both statistics show the record, so
// their noises count together: 1/multiplier² = (Δ_g/σ)² + (Δ_Δ/σ̂)². Only the noised sum
// (1-η)(Δ+N̂) + η(g+N) is used, so calibrated noise is for the sum alone.
func (p *nsfwPlan) noised(noise Noise) ([]train.Block, error) {
	star := 0.0
	if noise == Calibrated {
		var err error
		if star, err = train.NoiseFor(p.Target); err != nil {
			return nil, err
		}
	}
	blocks := make([]train.Block, 0, len(p.batches))
	for _, b := range p.batches {
		block := train.Block{Name: fmt.Sprintf("round %d, step %d", b.round, b.step), From: b.from,
			To: b.to, Releases: 1, StepSize: stepSize(b.step)}
		block.Sensitivity = p.widening() * p.moved(b)
		if noise == Calibrated {
			block.Deviation = block.Sensitivity * star
			blocks = append(blocks, block)
			continue
		}
		eta := block.StepSize
		gradient, change := p.statistics(b)
		sigma, hat := p.deviations(b, noise)
		joint := gradient / sigma
		block.Deviation = sigma
		if b.step > 0 {
			joint = math.Hypot(joint, change/hat)
			block.Deviation = math.Hypot((1-eta)*hat, eta*sigma)
		}
		block.Sensitivity = block.Deviation * joint * (1 + slack)
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// Plan returns the plan for others.
func (p *nsfwPlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.dense(p.TrainSparse),
		TrainSparse: p.TrainSparse, Theory: p.bound}
}

// Compare prices the printed noise, the corrected and the calibrated, each in the step that
// costs most.
func (p *nsfwPlan) Compare() ([]train.PriceRow, error) {
	var rows []train.PriceRow
	for _, noise := range []Noise{Printed, Corrected, Calibrated} {
		blocks, err := p.noised(noise)
		if err != nil {
			return nil, err
		}
		worst := blocks[0]
		for _, b := range blocks {
			if b.Multiplier() < worst.Multiplier() {
				worst = b
			}
		}
		rows = append(rows, train.PriceRow{Noise: noise,
			Reading: "both statistics together, real batch sizes", Sensitivity: worst.Sensitivity,
			Deviation: worst.Deviation, Holds: true, InUse: noise == p.c.Noise})
	}
	return compare(p.Target, rows)
}

// TrainSparse returns the method on these records.
func (p *nsfwPlan) TrainSparse(r *data.Sparse) (train.Algorithm, error) {
	own, err := p.takeSparse(r, geometry.Dual(p.p))
	if err != nil {
		return train.Algorithm{}, err
	}
	a := p.algorithm(p.price, len(p.batches), train.DigestOf(own.Digest(),
		"darrm convex nsfw v1\n%q %v %v %q\n%v\n%v\n", p.link.Name(), p.slope, p.Radius, p.set.Name(),
		p.c.Batches, p.blocks))
	// The linear minimisation turns noise into a choice among points of W, so their diameter is the
	// scale that rounds a release.
	a.NoiseScale = p.diameter
	a.Start = func(coins train.Coins) train.Run { return p.newRun(own, coins, coins.Normals()) }
	return a, nil
}

func (p *nsfwPlan) newRun(rows features, coins train.Coins, noise normals) *stochasticRun {
	e := newStochasticRun(p.smooth, p.batches, rows, coins, p.c.Batches.InOrder)
	z := make([]float64, p.d)
	e.direct = func(k int, estimate, v []float64) error {
		if !p.quiet {
			noise.Restart(streamNoise, k)
			noise.Fill(z)
			for j := range estimate { // the noise stays in the estimate
				estimate[j] += p.blocks[k].Deviation * z[j]
			}
		}
		p.set.Minimize(v, estimate)
		return nil
	}
	return e
}

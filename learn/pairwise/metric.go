package pairwise

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// Metric learns a Mahalanobis distance (x-x′)ᵀM(x-x′), M positive semidefinite, that puts records of
// one class near to each other and others far apart. The loss of two records is the logistic one,
//
//	f(M; z, z′) = ln(1 + e^{-τ(b - (x-x′)ᵀM(x-x′))}),   τ = 1 for records of one class, else -1,
//
// convex in M. The method is OnePass: phases of ⌊n/2ᵏ⌋ records, steps of η/4ᵏ on a record and the
// one before it, the average noised, and projected to the positive semidefinite matrices of
// Frobenius norm at most Bound. The model is M, d×d and row by row; geometry.FactorPSD makes L of
// rank r with M ≈ LᵀL of it, which costs nothing. (To learn L itself is not convex, and steps on it
// may drive runs apart: no sensitivity is known.) Cost: O(d²) a record, O(d³) a phase.
//
// Privacy: with ‖x‖ ≤ R the feature (x-x′)(x-x′)ᵀ has Frobenius norm ‖x-x′‖² ≤ 4R², so that G = 4R²
// and L = (4R²)²/4 = 4R⁴ on all symmetric matrices. Steps of at most 2/L are non-expansive; a
// record is in two gradients, each of which it changes by at most 2G, so that Δ_k = 4Gη_k. Within a
// phase nothing is projected; between phases projecting is post-processing. The noise is normal on
// the space of symmetric matrices: variance σ² on the diagonal, σ²/2 off it, which is σ² on every
// coordinate of an orthonormal basis.
type Metric struct {
	Radius float64 // R, public: longer records are shortened
	Bound  float64 // of the Frobenius norm of M
	// Threshold is b > 0, the squared distance that is neither near nor far; 0 is R².
	Threshold  float64
	StepSize   float64 // η; 0 is (2·Bound/G)·min{1/√n, 1/(4σ*·√(d(d+1)/2)), 4G/(L·Bound)}
	Target     accountant.Cost
	Neighbours accountant.Relation // 0 is ReplaceOne, and no other is known
}

// maxMetricDim bounds d: the model has d² numbers.
const maxMetricDim = 1000

// Plan prices the method for n records of dimension d.
func (c Metric) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c Metric) plan(n, d int) (*metricPlan, error) {
	if err := cmp.Or(train.CheckScale("radius", c.Radius, ": a public bound on the norm of a record's features"),
		train.CheckScale("bound", c.Bound, ": of the norm of the matrix"),
		train.CheckScaleOr0("threshold", c.Threshold, "0 for the squared radius"),
		check.Whole("number of records", n, 4, 0), check.Whole("dimension", d, 1, maxMetricDim)); err != nil {
		return nil, err
	}
	if c.Neighbours != 0 && c.Neighbours != accountant.ReplaceOne {
		return nil, check.Want("neighbours", c.Neighbours,
			"replace one record: phases and pairs are fixed by the records' numbers")
	}
	star, err := train.NoiseFor(c.Target)
	if err != nil {
		return nil, err
	}
	c.Threshold = cmp.Or(c.Threshold, c.Radius*c.Radius)
	g := 4 * c.Radius * c.Radius * (1 + train.Slack)
	smooth := g * g / 4 * (1 + train.Slack)
	limit := 8 / smooth * (1 - train.Slack) // the first phase takes a quarter
	if c.StepSize == 0 {
		coordinates := float64(d) * float64(d+1) / 2
		c.StepSize = min(2*c.Bound/g*min(1/math.Sqrt(float64(n)), 1/(4*star*math.Sqrt(coordinates))),
			limit)
	}
	if !(c.StepSize > 0 && c.StepSize <= limit) {
		return nil, check.Wantf("step size", c.StepSize,
			"above 0 and at most 8/L = %.6g, beyond which steps are expansive", limit)
	}
	p := &metricPlan{c: c, n: n, d: d}
	p.price = train.Price{Method: "metric", Records: n, Dim: d, Relation: accountant.ReplaceOne}
	p.price.Blocks, err = train.Phases(n, 2, c.StepSize, c.Bound, func(_ int, b *train.Block) error {
		b.Sensitivity = 4 * g * b.StepSize * (1 + train.Slack)
		b.Deviation = b.Sensitivity * star
		return nil
	})
	if err == nil && len(p.price.Blocks) == 0 {
		err = check.Want("step size", c.StepSize, "larger: the noise would be lost in rounding")
	}
	if err != nil {
		return nil, err
	}
	// The phases have records of their own: the run costs what one does.
	return p, p.price.SettleGaussian(c.Target, true)
}

// metricPlan is a priced Metric.
type metricPlan struct {
	c     Metric
	n, d  int
	price train.Price
}

// Plan returns the plan for others.
func (p *metricPlan) Plan() train.Plan {
	return train.Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train}
}

// Compare has the noise in use alone.
func (p *metricPlan) Compare() ([]train.PriceRow, error) {
	return []train.PriceRow{p.price.Used(train.Calibrated, "two gradients of 2G each (4Gη)", p.price.Blocks[0])}, nil
}

// Train returns the method on these records, whose responses are their classes, any numbers.
func (p *metricPlan) Train(r *data.Records) (train.Algorithm, error) {
	if r == nil || r.Len() != p.n || r.Dim() != p.d || !r.HasResponses() {
		return train.Algorithm{}, check.Wantf("records", "others", "%d of dimension %d, with classes", p.n,
			p.d)
	}
	own := r.Shortened(p.c.Radius)
	last := p.price.Blocks[len(p.price.Blocks)-1].Deviation
	return train.Algorithm{Cost: p.price.Cost, Rounds: len(p.price.Blocks), Digest: train.DigestOf(
		own.Digest(), "darrm pairwise metric v1\n%v %v %v %v %v\n%v\n", p.c.Radius, p.c.Bound, p.c.Threshold,
		p.n, p.d, p.price.Blocks), NoiseScale: last / math.Sqrt2,
		Start: func(coins train.Coins) train.Run {
			v := func() []float64 { return make([]float64, p.d*p.d) }
			return &metricRun{p: p, rows: own, noise: coins.Normals(), m: v(), u: v(), sum: v(), z: v(),
				apart: make([]float64, p.d)}
		}}, nil
}

// metricRun is one run of Metric. Its state is the last phase's matrix.
type metricRun struct {
	p            *metricPlan
	rows         samples
	noise        normals
	m, u, sum, z []float64
	apart        []float64 // x - x′
}

func (e *metricRun) State() []train.Vector { return []train.Vector{{Name: "m", Values: e.m}} }
func (e *metricRun) Output() []float64     { return e.m }

// Round does phase k+1.
func (e *metricRun) Round(ctx context.Context, k int) error {
	b, d := e.p.price.Blocks[k], e.p.d
	copy(e.u, e.m)
	clear(e.sum)
	for i := b.From + 1; i < b.To; i++ {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(i, i-1, b.StepSize)
		floats.Add(e.sum, e.u)
	}
	e.noise.Restart(streamNoise, k)
	e.noise.Fill(e.z)
	steps := float64(b.To - b.From - 1)
	for i := range d {
		for j := range i + 1 {
			z := e.z[i*d+j]
			if i != j {
				z /= math.Sqrt2
			}
			e.m[i*d+j] = e.sum[i*d+j]/steps + b.Deviation*z
			e.m[j*d+i] = e.m[i*d+j]
		}
	}
	return geometry.ProjectPSD(e.m, d, e.p.c.Bound)
}

// step subtracts eta times the gradient of the pair of records i and j from u, which is
// τσ(-s)(x-x′)(x-x′)ᵀ for the margin s.
func (e *metricRun) step(i, j int, eta float64) {
	floats.SubTo(e.apart, e.rows.Row(i), e.rows.Row(j))
	tau := -1.0
	if e.rows.Response(i) == e.rows.Response(j) {
		tau = 1
	}
	d, form := e.p.d, 0.0
	for a, v := range e.apart {
		form += v * floats.Dot(e.u[a*d:(a+1)*d], e.apart)
	}
	s := tau * (e.p.c.Threshold - form)
	slope := tau / (1 + math.Exp(s))
	if math.IsNaN(slope) {
		return // a state out of range ends the round
	}
	for a, v := range e.apart {
		floats.AddScaled(e.u[a*d:(a+1)*d], -eta*slope*v, e.apart)
	}
}

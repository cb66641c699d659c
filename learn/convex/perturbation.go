package convex

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// OutputPerturbation adds normal noise to the minimiser of the regularised mean loss (Chaudhuri,
// Monteleoni and Sarwate, Differentially Private Empirical Risk Minimization, 2011, Algorithm
// 1, there with ε-DP noise). J is λ-strongly convex, so a record that is replaced moves its
// minimiser by at most 2L0·R/(nλ); the minimiser is found to a gradient of certified norm γ,
// which adds γ/λ in each world.
type OutputPerturbation struct {
	Setting
	// Lambda is λ of (λ/2)‖w‖²; 0 takes the λ that balances noise and bias in Ball.
	Lambda float64
	// Ball is the radius of a ball that the model is projected to; 0 is none.
	Ball float64
	// Smoothing is the Moreau parameter that a loss with kinks is smoothed at, and a smooth
	// one where it is not 0; 0 is √n·L0/R.
	Smoothing float64
}

// ObjectivePerturbation adds a random linear term to the regularised mean loss and minimises it
// (Chaudhuri, Monteleoni and Sarwate, 2011, Algorithm 2; Kifer, Smith and Thakurta, 2012),
// approximately, with noise for that (Iyengar et al., Towards Practical Differentially Private
// Convex Optimization, 2019, Algorithm 1).
//
// The account is by (ε₁, δ₁) for the exact minimiser, and (ε₂, δ₂) for the noise on what stopping
// at γ leaves. The minimiser w has the density of b = -∇J₀(w) times a determinant. Between
// neighbours the determinants differ by a factor of at most 1 + CR²/(nλ), since the Hessian of
// one generalised linear loss has rank 1, and b by a vector v(w) of norm at most Δ = 2L0·R/n in
// the plane of the two records' features. There ‖b‖/σ is Rayleigh-distributed, so that the
// privacy loss is at most ln(1 + CR²/(nλ)) + μr + μ²/2 with μ = Δ/σ and r Rayleigh, and
//
//	ε₁ = ln(1 + CR²/(nλ)) + e, δ₁ = E(1 - e^{e-μr-μ²/2})₊ = μ√(2π)·eᵉ·Φ(-e/μ-μ/2), e ≥ μ²/2.
//
// It needs: φ convex, φ′ Lipschitz with constant C, λ > 0 and all of Rᵈ, which is checked; a
// projection comes after.
type ObjectivePerturbation struct {
	Setting
	Lambda    float64 // λ of (λ/2)‖w‖²; 0 is what balances noise and bias in Ball
	Ball      float64 // radius of a ball that the model is projected to; 0 is none
	Smoothing float64 // as for OutputPerturbation
}

// What objective perturbation spends on its approximate minimiser.
const (
	approximateEpsilon = 0.01 // of ε
	approximateDelta   = 0.5  // of δ
)

// minimised is a plan of either method.
type minimised struct {
	erm
	ball        float64
	linear      float64 // deviation of b, 0 for output perturbation
	output      float64 // deviation of the noise on the minimiser
	sensitivity float64 // of the minimiser that is noised
	price       train.Price
}

// Plan prices the method for n records of dimension d.
func (c OutputPerturbation) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c OutputPerturbation) plan(n, d int) (*minimised, error) {
	e, err := newERM(c.Setting, n, d, c.Smoothing, c.Ball)
	if err != nil {
		return nil, err
	}
	star, err := train.NoiseFor(c.Target)
	if err != nil {
		return nil, err
	}
	p := &minimised{erm: e, ball: c.Ball}
	// λB²/2 of bias against L0·R·√d·σ of noise.
	suggested := 0.0
	if c.Ball > 0 {
		suggested = 2 * e.norm / c.Ball * math.Sqrt(math.Sqrt(float64(d))*star/float64(n))
	}
	if err := p.regularise(c.Lambda, suggested); err != nil {
		return nil, err
	}
	p.tolerate(1e-3, 0)
	p.sensitivity = (p.gradients()*p.norm/float64(n) + 2*p.tolerance) / p.lambda * (1 + slack)
	p.output = p.sensitivity * star
	p.price = train.Price{Method: "output-perturbation", Records: n, Dim: d, Relation: p.Neighbours,
		Blocks: []train.Block{{
			Name: "minimiser", To: n, Releases: 1, Sensitivity: p.sensitivity, Deviation: p.output,
		}}}
	p.price.Notes = []string{fmt.Sprintf("lambda = %.6g; the minimiser is found to a gradient of "+
		"norm %.3g", p.lambda, p.tolerance)}
	return p, p.price.SettleGaussian(p.Target, true)
}

// Plan prices the method for n records of dimension d.
func (c ObjectivePerturbation) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c ObjectivePerturbation) plan(n, d int) (*minimised, error) {
	e, err := newERM(c.Setting, n, d, c.Smoothing, c.Ball)
	if err != nil {
		return nil, err
	}
	p := &minimised{erm: e, ball: c.Ball}
	second := accountant.Cost{Epsilon: approximateEpsilon * c.Target.Epsilon,
		Delta: approximateDelta * c.Target.Delta}
	first := accountant.Cost{Epsilon: (c.Target.Epsilon - second.Epsilon) * (1 - slack),
		Delta: (c.Target.Delta - second.Delta) * (1 - slack)}
	delta := p.gradients() * p.norm / float64(n) * (1 + slack)
	bend := p.curvature * p.Radius * p.Radius / float64(n) * (1 + slack) // CR²/n
	suggested := 0.0
	if c.Ball > 0 {
		// λB²/2 of bias against dσ²/(2λ) of noise, and no more than a quarter of ε₁ for the
		// determinant.
		mu, err := planeMu(accountant.Cost{Epsilon: first.Epsilon * 0.75, Delta: first.Delta})
		if err != nil {
			return nil, err
		}
		suggested = max(math.Sqrt(float64(d))*delta/mu/c.Ball, bend/math.Expm1(first.Epsilon/4))
	}
	if err := p.regularise(c.Lambda, suggested); err != nil {
		return nil, err
	}
	rest := first.Epsilon - math.Log1p(bend/p.lambda)*(1+slack)
	if !(rest >= first.Epsilon/1000) {
		return nil, check.Wantf("lambda", p.lambda, "at least %.6g: ln(1+C·R²/(n·lambda)) is to leave some of epsilon = %g",
			bend/math.Expm1(first.Epsilon*0.99), c.Target.Epsilon)
	}
	mu, err := planeMu(accountant.Cost{Epsilon: rest, Delta: first.Delta})
	if err != nil {
		return nil, err
	}
	p.linear = delta / mu * (1 + slack)
	p.tolerate(1e-4, p.linear*(math.Sqrt(float64(d))+12)) // longer with probability below e⁻⁷²
	p.sensitivity = 2 * p.tolerance / p.lambda * (1 + slack)
	multiplier, err := train.NoiseFor(second)
	if err != nil {
		return nil, err
	}
	p.output = p.sensitivity * multiplier
	p.price = train.Price{
		Method: "objective-perturbation", Records: n, Dim: d, Relation: p.Neighbours,
		Event: accountant.ApproxDP{Cost: c.Target, Neighbours: p.Neighbours}, Cost: c.Target,
		Bound: accountant.MethodBasic,
		Blocks: []train.Block{
			{Name: "linear term", To: n, Releases: 1, Sensitivity: delta, Deviation: p.linear},
			{Name: "approximate minimiser", To: n, Releases: 1, Sensitivity: p.sensitivity,
				Deviation: p.output},
		},
		Notes: []string{fmt.Sprintf("lambda = %.6g; (%.4g, %.4g) for the minimiser, of which %.4g for "+
			"the determinant, (%.4g, %.4g) for stopping at a gradient of norm %.3g",
			p.lambda, first.Epsilon, first.Delta, first.Epsilon-rest, second.Epsilon, second.Delta,
			p.tolerance)},
	}
	return p, nil
}

// planeMu returns the largest μ with planeDelta(ε, μ) ≤ δ, rounded down.
func planeMu(target accountant.Cost) (float64, error) {
	// Beyond √(2ε) the formula ends; it grows up to there.
	end := math.Sqrt(2 * target.Epsilon)
	s := train.Search{Start: end / 2, Least: end * 1e-9, Most: end, Growing: true, Tolerance: 1e-12}
	mu, _, err := train.Calibrate(context.Background(), target.Delta, s,
		func(mu float64) (float64, error) { return planeDelta(target.Epsilon, mu), nil })
	return mu, err
}

// planeDelta returns μ√(2π)·e^ε·Φ(-ε/μ-μ/2) for ε ≥ μ²/2, rounded up: the δ of a privacy loss of
// at most μr + μ²/2, r Rayleigh-distributed. Erfc is good to a few units in the last place, but
// its argument's rounding counts by its square.
func planeDelta(epsilon, mu float64) float64 {
	if mu == 0 {
		return 0
	}
	z := (epsilon/mu + mu/2) / math.Sqrt2
	if z > 20 {
		// e^ε·erfc(z) ≤ e^{ε-z²}/(z√π), where erfc would underflow before e^ε makes up for it.
		// ε - z² is a square, without cancellation.
		root := (epsilon/mu - mu/2) / math.Sqrt2
		return mu/(math.Sqrt2*z)*math.Exp(-root*root*(1-0x1p-40))*(1+0x1p-40) +
			math.SmallestNonzeroFloat64
	}
	return mu * math.Sqrt(2*math.Pi) * math.Exp(epsilon) * math.Erfc(z) / 2 * (1 + 0x1p-45*(1+z*z)) *
		(1 + epsilon*0x1p-45)
}

// Plan returns the plan for others.
func (p *minimised) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train}
}

// Compare prices the noise in use; objective perturbation's is no plain Gaussian.
func (p *minimised) Compare() ([]train.PriceRow, error) {
	if p.linear > 0 {
		return []train.PriceRow{p.price.Used(Calibrated, "densities of the minimiser", p.price.Blocks[0])}, nil
	}
	exact := p.gradients() * p.norm / float64(p.n) / p.lambda * (1 + slack)
	return compare(p.Target, []train.PriceRow{
		{Noise: Printed, Reading: "as if the minimiser were exact", Sensitivity: exact,
			Deviation: p.output},
		{Noise: Calibrated, Reading: "with the certified gradient", Sensitivity: p.sensitivity,
			Deviation: p.output, InUse: true, Holds: true},
	})
}

// Train returns the method on these records.
func (p *minimised) Train(r *data.Records) (train.Algorithm, error) {
	own, err := p.take(r, false)
	if err != nil {
		return train.Algorithm{}, err
	}
	a := p.algorithm(p.price, 1, train.DigestOf(own.Digest(),
		"darrm convex %s v1\n%q %v %v %v\n%v %v %v %v\n", p.price.Method, p.link.Name(), p.slope, p.Radius,
		p.ball, p.lambda, p.tolerance, p.linear, p.output))
	a.NoiseScale = p.output
	a.Start = func(coins train.Coins) train.Run {
		return &minimisedRun{p: p, rows: own, noise: coins.Normals(), w: make([]float64, p.d),
			out: make([]float64, p.d)}
	}
	return a, nil
}

// minimisedRun is one run of a minimised plan, of a single round.
type minimisedRun struct {
	p      *minimised
	rows   *data.Records
	noise  normals
	w, out []float64
}

// The streams of a run.
const (
	streamLinear = "linear term"
	streamOutput = "output"
)

// State returns the noised minimiser.
func (e *minimisedRun) State() []train.Vector { return []train.Vector{{Name: "w", Values: e.w}} }

// Output returns the noised minimiser, in the ball if there is one.
func (e *minimisedRun) Output() []float64 {
	copy(e.out, e.w)
	if e.p.ball > 0 {
		vec.Clip(e.out, e.p.ball)
	}
	return e.out
}

// Round does all of it.
func (e *minimisedRun) Round(ctx context.Context, k int) error {
	b, z, w := make([]float64, e.p.d), make([]float64, e.p.d), make([]float64, e.p.d)
	if e.p.linear > 0 {
		e.noise.Restart(streamLinear, k)
		e.noise.Fill(b)
		for j := range b {
			b[j] *= e.p.linear
		}
	}
	if err := e.p.solve(ctx, e.rows, b, w); err != nil {
		return err
	}
	e.noise.Restart(streamOutput, k)
	e.noise.Fill(z)
	for j := range w {
		e.w[j] = w[j] + e.p.output*z[j]
	}
	return nil
}
